#include "runtime/spec_json.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/utf8.h"
#include "model/atom_json.h"

namespace rasp::runtime {
namespace {

using model::Json;

constexpr double kMostKeys = 0x1p32;  // of a window: more than any sequence has

tl::unexpected<Diagnostic> refuse(const std::string& what, std::string hint = {}) {
  return fail(ErrorKind::kInput, {}, "attention spec: " + what, std::move(hint));
}

std::string shown(const Json& value) {
  std::string text = value.dump(-1, ' ', false, Json::error_handler_t::replace);
  constexpr std::size_t kMost = 40;
  return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

tl::unexpected<Diagnostic> wanted(std::string_view key, const std::string& what,
                                  const Json& found) {
  return refuse("\"" + std::string(key) + "\" expects " + what + ", got " + shown(found));
}

Result<double> real(std::string_view key, const Json& value) {
  if (value.is_number() && std::isfinite(value.get<double>())) return value.get<double>();
  return wanted(key, "a number", value);
}

Result<bool> truth(std::string_view key, const Json& value) {
  if (value.is_boolean()) return value.get<bool>();
  return wanted(key, "true or false", value);
}

Result<std::size_t> count(std::string_view key, const Json& value, double least) {
  const double number = value.is_number_integer() ? value.get<double>() : -1;
  if (number >= least && number <= kMostKeys) return static_cast<std::size_t>(number);
  return wanted(key, "a whole number from " + std::to_string(static_cast<int>(least)) + " up",
                value);
}

Result<std::vector<double>> reals(std::string_view key, const Json& value) {
  if (!value.is_array()) return wanted(key, "a list of numbers", value);
  std::vector<double> numbers;
  for (const Json& item : value) {
    RASP_TRY(const double number, real(key, item));
    numbers.push_back(number);
  }
  return numbers;
}

// One of `names`, as an index.
template <std::size_t N>
Result<std::size_t> choice(std::string_view key, const std::array<std::string_view, N>& names,
                           const Json& value) {
  std::string all;
  for (std::size_t i = 0; i < N; ++i) {
    if (value.is_string() && value.get_ref<const std::string&>() == names[i]) return i;
    all += (i == 0 ? "\"" : ", \"") + std::string(names[i]) + "\"";
  }
  return wanted(key, "one of " + all, value);
}

Result<void> check_keys(const Json& object, const std::string& where,
                        const std::vector<std::string>& known) {
  for (const auto& [key, value] : object.items()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    const std::string meant = closest(key, known);
    std::string all;
    for (const std::string& name : known) all += (all.empty() ? "" : ", ") + name;
    return refuse("unknown key '" + printable(key) + "'" + where,
                  meant.empty() ? "the keys are " + all : "did you mean '" + meant + "'?");
  }
  return {};
}

class SpecReader {
 public:
  SpecReader(const Json& object, const std::string& folder)
      : object_(object), folder_(folder), file_(std::make_unique<SpecFile>()) {}

  Result<std::unique_ptr<SpecFile>> read() {
    RASP_CHECK_OK(check_keys(
        object_, "",
        {"score", "scale", "sigma", "additive", "rope", "alibi", "positions", "mask", "causal",
         "left", "right", "window", "bias", "lengths", "normaliser", "feature", "equal_keys"}));
    RASP_CHECK_OK(read_score());
    RASP_CHECK_OK(read_rope());
    RASP_CHECK_OK(read_alibi());
    RASP_CHECK_OK(read_positions());
    RASP_CHECK_OK(read_masks());
    RASP_CHECK_OK(read_window());
    RASP_CHECK_OK(read_bias());
    RASP_CHECK_OK(read_normaliser());
    return std::move(file_);
  }

 private:
  [[nodiscard]] const Json* find(const char* key) const {
    const auto found = object_.find(key);
    return found == object_.end() ? nullptr : &*found;
  }
  // A key that goes with one choice only.
  [[nodiscard]] Result<void> only_with(const char* key, bool fits, const char* what) const {
    if (find(key) == nullptr || fits) return {};
    return refuse("\"" + std::string(key) + "\" goes with " + what + " only");
  }

  Result<void> read_score() {
    AttentionSpec& spec = file_->spec;
    if (const Json* score = find("score")) {
      constexpr std::array<std::string_view, 3> kNames = {"dot", "additive", "gaussian"};
      RASP_TRY(const std::size_t index, choice("score", kNames, *score));
      spec.score = static_cast<Score>(index);
    }
    RASP_CHECK_OK(only_with("scale", spec.score == Score::kDot, "score \"dot\""));
    RASP_CHECK_OK(only_with("sigma", spec.score == Score::kGaussian, "score \"gaussian\""));
    RASP_CHECK_OK(only_with("additive", spec.score == Score::kAdditive, "score \"additive\""));
    if (const Json* scale = find("scale")) {
      RASP_TRY(spec.scale, real("scale", *scale));
    }
    if (const Json* sigma = find("sigma")) {
      RASP_TRY(spec.sigma, real("sigma", *sigma));
    }
    if (const Json* additive = find("additive")) return read_additive(*additive);
    if (spec.score == Score::kAdditive)
      return refuse("score \"additive\" needs \"additive\": {\"wq\", \"wk\", \"v\"}");
    return {};
  }

  Result<void> read_additive(const Json& additive) {
    if (!additive.is_object())
      return wanted("additive", "{\"wq\": W, \"wk\": W, \"v\": V}", additive);
    RASP_CHECK_OK(check_keys(additive, " in \"additive\"", {"wq", "wk", "v"}));
    for (const char* key : {"wq", "wk", "v"})
      if (!additive.contains(key)) return refuse("\"additive\" lacks \"" + std::string(key) + "\"");
    AdditiveWeights& weights = file_->spec.additive;
    RASP_TRY(weights.v, reals("v", additive["v"]));
    weights.hidden = weights.v.size();
    RASP_TRY(weights.wq, matrix("wq", additive["wq"], weights.hidden));
    RASP_TRY(weights.wk, matrix("wk", additive["wk"], weights.hidden));
    return {};
  }

  // A list of `rows` lists of equal length.
  static Result<std::vector<double>> matrix(const char* key, const Json& value, std::size_t rows) {
    if (!value.is_array() || value.size() != rows)
      return wanted(key, std::to_string(rows) + " rows, as many as \"v\" has numbers,", value);
    std::vector<double> all;
    for (const Json& row : value) {
      RASP_TRY(const std::vector<double> numbers, reals(key, row));
      if (numbers.size() != value.front().size()) return wanted(key, "rows of one length", row);
      all.insert(all.end(), numbers.begin(), numbers.end());
    }
    return all;
  }

  Result<void> read_rope() {
    const Json* rope = find("rope");
    if (rope == nullptr || *rope == false) return {};
    Rope& chosen = file_->spec.rope.emplace();
    if (*rope == true) return {};
    if (!rope->is_object())
      return wanted("rope", "true or {\"base\": number, \"interleaved\": true | false}", *rope);
    RASP_CHECK_OK(check_keys(*rope, " in \"rope\"", {"base", "interleaved"}));
    if (const auto base = rope->find("base"); base != rope->end()) {
      RASP_TRY(chosen.base, real("base", *base));
    }
    if (const auto interleaved = rope->find("interleaved"); interleaved != rope->end()) {
      RASP_TRY(chosen.interleaved, truth("interleaved", *interleaved));
    }
    return {};
  }

  Result<void> read_alibi() {
    const Json* alibi = find("alibi");
    if (alibi == nullptr || *alibi == false) return {};
    Alibi& chosen = file_->spec.alibi.emplace();
    if (*alibi == true) return {};
    if (!alibi->is_array() || alibi->empty())
      return wanted("alibi", "true or a list of slopes", *alibi);
    RASP_TRY(chosen.slopes, reals("alibi", *alibi));
    return {};
  }

  Result<void> read_positions() {
    const Json* positions = find("positions");
    if (positions == nullptr) return {};
    if (!positions->is_string())
      return wanted("positions", "\"sinusoidal\", \"one-hot\" or the name of a file", *positions);
    const auto& name = positions->get_ref<const std::string&>();
    file_->positions = name == "sinusoidal" ? SpecFile::Positions::kSinusoidal
                       : name == "one-hot"  ? SpecFile::Positions::kOneHot
                                            : SpecFile::Positions::kGiven;
    if (file_->positions != SpecFile::Positions::kGiven) return {};
    RASP_TRY(const NpyArray array, load("positions", name));
    if (array.shape.size() != 2)
      return refuse("\"positions\" is " + shape_text(array.shape) + ", expected [positions, d]");
    RASP_TRY(std::vector<double> values, as_reals("positions", array));
    RASP_TRY(file_->position_table,
             given_positions(array.shape[0], array.shape[1], std::move(values)));
    return {};
  }

  Result<void> read_masks() {
    AttentionSpec& spec = file_->spec;
    const Json* causal = find("causal");
    if (causal != nullptr) {
      RASP_TRY(spec.causal, truth("causal", *causal));
    }
    if (const Json* equal_keys = find("equal_keys")) {
      RASP_TRY(spec.equal_keys, truth("equal_keys", *equal_keys));
    }
    if (const Json* lengths = find("lengths")) {
      if (!lengths->is_array()) return wanted("lengths", "a list of whole numbers", *lengths);
      for (const Json& item : *lengths) {
        RASP_TRY(const std::size_t length, count("lengths", item, 0));
        spec.lengths.push_back(length);
      }
    }
    const Json* mask = find("mask");
    if (mask == nullptr) return {};
    if (!mask->is_string())
      return wanted("mask", "\"full\", \"causal\" or the name of a file", *mask);
    const auto& name = mask->get_ref<const std::string&>();
    const bool named = name == "full" || name == "causal";
    if (named && causal != nullptr && spec.causal != (name == "causal"))
      return refuse("\"mask\" is \"" + name + "\", but \"causal\" is " + shown(*causal));
    if (name == "causal") spec.causal = true;
    if (named) return {};
    RASP_TRY(const NpyArray array, load("mask", name));
    if (array.type != NpyType::kBool && array.type != NpyType::kUint8)
      return refuse("\"mask\" has entries of " + std::string(name_of(array.type)) +
                    ", expected bool or uint8");
    const auto* entries = array.entries<std::uint8_t>();
    file_->mask_values.assign(entries, entries + array.size());
    RASP_TRY(spec.mask, per_pair<std::uint8_t>("mask", array.shape, file_->mask_values));
    return {};
  }

  Result<void> read_window() {
    AttentionSpec& spec = file_->spec;
    if (const Json* left = find("left")) {
      RASP_TRY(spec.left, count("left", *left, 0));
    }
    if (const Json* right = find("right")) {
      RASP_TRY(spec.right, count("right", *right, 0));
    }
    const Json* window = find("window");
    if (window == nullptr) return {};
    if (spec.left || spec.right)
      return refuse("\"window\" is a choice of its own, without \"left\" and \"right\"");
    RASP_TRY(const std::size_t keys, count("window", *window, 1));
    spec.set_window(keys);
    if (!spec.causal) spec.right = 0;
    return {};
  }

  Result<void> read_bias() {
    const Json* bias = find("bias");
    if (bias == nullptr) return {};
    if (!bias->is_string()) return wanted("bias", "the name of a file", *bias);
    RASP_TRY(const NpyArray array, load("bias", bias->get<std::string>()));
    RASP_TRY(file_->bias_values, as_reals("bias", array));
    RASP_TRY(file_->spec.bias, per_pair<double>("bias", array.shape, file_->bias_values));
    return {};
  }

  Result<void> read_normaliser() {
    AttentionSpec& spec = file_->spec;
    if (const Json* normaliser = find("normaliser")) {
      constexpr std::array<std::string_view, 3> kNames = {"softmax", "hard", "linear"};
      RASP_TRY(const std::size_t index, choice("normaliser", kNames, *normaliser));
      spec.normaliser = static_cast<Normaliser>(index);
    }
    RASP_CHECK_OK(
        only_with("feature", spec.normaliser == Normaliser::kLinear, "normaliser \"linear\""));
    if (const Json* feature = find("feature")) {
      constexpr std::array<std::string_view, 3> kNames = {"elu+1", "relu", "exp"};
      RASP_TRY(const std::size_t index, choice("feature", kNames, *feature));
      if (index == 1) spec.feature = [](double x) { return x < 0 ? 0.0 : x; };
      if (index == 2) spec.feature = [](double x) { return std::exp(x); };
    }
    return {};
  }

  [[nodiscard]] Result<NpyArray> load(const char* key, const std::string& name) const {
    if (name.empty()) return refuse("\"" + std::string(key) + "\" is an empty name");
    auto array = load_npy(name.front() == '/' || folder_.empty() ? name : folder_ + "/" + name);
    if (!array) array.error().message = "\"" + std::string(key) + "\": " + array.error().message;
    return array;
  }

  [[nodiscard]] static Result<std::vector<double>> as_reals(const char* key,
                                                            const NpyArray& array) {
    if (array.type == NpyType::kFloat64) {
      const auto* entries = array.entries<double>();
      return std::vector<double>(entries, entries + array.size());
    }
    if (array.type == NpyType::kFloat32) {
      const auto* entries = array.entries<float>();
      return std::vector<double>(entries, entries + array.size());
    }
    return refuse("\"" + std::string(key) + "\" has entries of " +
                  std::string(name_of(array.type)) + ", expected float32 or float64");
  }

  // Missing dimensions in front count 1.
  template <typename T>
  [[nodiscard]] static Result<View<const T>> per_pair(const char* key,
                                                      const std::vector<std::size_t>& shape,
                                                      const std::vector<T>& values) {
    if (shape.size() < 2 || shape.size() > 4)
      return refuse("\"" + std::string(key) + "\" is " + shape_text(shape) +
                    ", expected [q_len, kv_len], with [batch, q_heads] or [q_heads] in front");
    std::array<std::size_t, 4> full = {1, 1, 1, 1};
    std::copy(shape.rbegin(), shape.rend(), full.rbegin());
    return View<const T>(packed(values.data(), full[0], full[1], full[2], full[3]));
  }

  const Json& object_;
  const std::string& folder_;
  std::unique_ptr<SpecFile> file_;
};

}  // namespace

Result<std::unique_ptr<SpecFile>> parse_spec(std::string_view json, const std::string& folder) {
  auto object = model::parse_json(json, "the attention spec");
  if (!object) return fail(ErrorKind::kInput, {}, object.error().message);
  if (!object->is_object())
    return refuse("expected one JSON object, got " + shown(*object),
                  "for example {\"mask\": \"causal\", \"window\": 4, \"alibi\": true}");
  return SpecReader(*object, folder).read();
}

Result<std::optional<PositionTable>> position_table_of(const SpecFile& file, std::size_t length,
                                                       std::size_t dim) {
  switch (file.positions) {
    case SpecFile::Positions::kNone:
      return std::nullopt;
    case SpecFile::Positions::kSinusoidal:
      return sinusoidal_positions(length, dim);
    case SpecFile::Positions::kOneHot: {
      RASP_TRY(PositionTable table, one_hot_positions(length, dim));
      return table;
    }
    case SpecFile::Positions::kGiven:
      return file.position_table;
  }
  return std::nullopt;
}

}  // namespace rasp::runtime
