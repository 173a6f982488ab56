#include "model/atom_json.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace rasp::model {
namespace {

constexpr int kMaxDepth = 16;
constexpr std::size_t kMaxValues = 4'000'000;
constexpr std::int64_t kExactInDouble = std::int64_t{1} << 53;
constexpr std::size_t kMaxDigits = value::kMaxNumberBits * 302 / 1000;  // log10(2) = 0.30103

// Nesting and number of values, before anything is allocated for them.
Result<void> check_bounds(std::string_view text, std::string_view where) {
  int depth = 0;
  std::size_t values = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
      continue;
    }
    if (c == '"') in_string = true;
    if (c == '[' || c == '{') {
      ++values;
      if (++depth > kMaxDepth)
        return bad_file(std::string(where) + " nests JSON deeper than " +
                        std::to_string(kMaxDepth) + " levels");
    }
    if (c == ']' || c == '}') --depth;
    if (c == ',' && ++values > kMaxValues)
      return bad_file(std::string(where) + " holds more than " + std::to_string(kMaxValues) +
                      " JSON values");
  }
  return {};
}

bool is_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

// Decimal, without leading zeros (which Boost would take for octal), within the language's limit.
std::optional<value::BigInt> read_integer(std::string_view text) {
  const bool negative = text.starts_with('-');
  if (negative) text.remove_prefix(1);
  if (!is_digits(text) || text.size() > kMaxDigits) return std::nullopt;
  if (text.size() > 1 && text.front() == '0') return std::nullopt;
  value::BigInt magnitude(std::string{text});
  return negative ? value::BigInt(-magnitude) : magnitude;
}

Json number_to_json(const value::Number& number) {
  if (!number.is_exact()) return Json{{"inexact", number.to_double()}};
  if (number.is_int()) {
    const auto small = number.to_int64();
    if (small && *small > -kExactInDouble && *small < kExactInDouble) return Json(*small);
    return Json{{"int", numerator(number.to_rational()).str()}};
  }
  const value::BigRational exact = number.to_rational();
  const double nearest = number.to_double();
  if (std::isfinite(nearest) && value::BigRational(nearest) == exact) return Json(nearest);
  return Json{{"ratio", numerator(exact).str() + "/" + denominator(exact).str()}};
}

std::optional<value::Number> read_tagged(const std::string& tag, const Json& json) {
  if (tag == "inexact") {
    if (!json.is_number_float()) return std::nullopt;
    return value::Number::inexact(json.get<double>());
  }
  if (!json.is_string()) return std::nullopt;
  const std::string& text = json.get_ref<const std::string&>();
  if (tag == "int") {
    const auto whole = read_integer(text);
    if (!whole) return std::nullopt;
    return value::Number::integer(*whole);
  }
  const std::size_t slash = text.find('/');
  if (tag != "ratio" || slash == std::string::npos) return std::nullopt;
  const auto top = read_integer(std::string_view(text).substr(0, slash));
  const auto bottom = read_integer(std::string_view(text).substr(slash + 1));
  if (!top || !bottom || *bottom <= 0) return std::nullopt;
  return value::Number::rational(value::BigRational(*top, *bottom));
}

}  // namespace

tl::unexpected<Diagnostic> bad_file(std::string message, std::string hint) {
  if (hint.empty()) hint = "compile the program again to get an intact model file";
  return fail(ErrorKind::kModel, {}, std::move(message), std::move(hint));
}

Result<Json> parse_json(std::string_view text, std::string_view where) {
  RASP_CHECK_OK(check_bounds(text, where));
  std::vector<std::set<std::string>> keys;  // of the objects that are open
  std::string repeated;
  const auto watch = [&](int, Json::parse_event_t event, Json& parsed) {
    if (event == Json::parse_event_t::object_start) keys.emplace_back();
    if (event == Json::parse_event_t::object_end) keys.pop_back();
    if (event == Json::parse_event_t::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!keys.back().insert(key).second) repeated = key;
    }
    return true;
  };
  try {
    Json json = Json::parse(text.begin(), text.end(), watch);
    if (!repeated.empty())
      return bad_file(std::string(where) + " names \"" + repeated + "\" twice");
    return json;
  } catch (const Json::parse_error& error) {
    return bad_file(std::string(where) + " is not JSON (at byte " + std::to_string(error.byte) +
                    " of it)");
  } catch (const Json::exception&) {
    return bad_file(std::string(where) + " holds a number that is out of range");
  }
}

Json atom_to_json(const value::Atom& atom) {
  if (const bool* flag = std::get_if<bool>(&atom)) return Json(*flag);
  if (const auto* text = std::get_if<std::string>(&atom)) return Json(*text);
  return number_to_json(std::get<value::Number>(atom));
}

Result<value::Atom> atom_from_json(const Json& json, const std::string& where) {
  if (json.is_boolean()) return value::Atom(json.get<bool>());
  if (json.is_string()) return value::Atom(json.get<std::string>());
  if (json.is_number_unsigned()) {
    if (json.get<std::uint64_t>() < static_cast<std::uint64_t>(kExactInDouble))
      return value::make_int(json.get<std::int64_t>());
  } else if (json.is_number_integer()) {
    if (json.get<std::int64_t>() > -kExactInDouble)
      return value::make_int(json.get<std::int64_t>());
  } else if (json.is_number_float()) {
    return value::Atom(value::Number::rational(value::BigRational(json.get<double>())));
  } else if (json.is_object() && json.size() == 1) {
    if (auto number = read_tagged(json.begin().key(), json.begin().value()))
      return value::Atom(*std::move(number));
  }
  return bad_file(where + " is no atom: " + json.dump(-1, ' ', true).substr(0, 60));
}

Json atoms_to_json(const std::vector<value::Atom>& atoms) {
  Json json = Json::array();
  for (const value::Atom& atom : atoms) json.push_back(atom_to_json(atom));
  return json;
}

Result<std::vector<value::Atom>> atoms_from_json(const Json& json, const std::string& where) {
  if (!json.is_array()) return bad_file(where + " is not a list");
  std::vector<value::Atom> atoms;
  atoms.reserve(json.size());
  for (const Json& entry : json) {
    RASP_TRY(value::Atom atom, atom_from_json(entry, where));
    atoms.push_back(std::move(atom));
  }
  return atoms;
}

Json real_to_json(double value) {
  if (std::isfinite(value)) return Json(value);
  if (std::isnan(value)) return Json("nan");
  return Json(value > 0 ? "inf" : "-inf");
}

Result<Fields> Fields::of(const Json& json, std::size_t count, std::string where) {
  if (!json.is_object()) return bad_file(where + " is not a JSON object");
  if (json.size() != count)
    return bad_file(where + " has " + std::to_string(json.size()) + " entries, expected " +
                    std::to_string(count));
  return Fields(&json, std::move(where));
}

Result<const Json*> Fields::any(const char* key) const {
  const auto found = json_->find(key);
  if (found == json_->end()) return bad_file(where_ + " has no \"" + key + "\"");
  return &*found;
}

Result<const Json*> Fields::array(const char* key) const {
  RASP_TRY(const Json* json, any(key));
  if (!json->is_array()) return bad_file(where_ + ": \"" + key + "\" is not a list");
  return json;
}

Result<std::string> Fields::text(const char* key) const {
  RASP_TRY(const Json* json, any(key));
  if (!json->is_string()) return bad_file(where_ + ": \"" + key + "\" is not a string");
  return json->get<std::string>();
}

Result<bool> Fields::boolean(const char* key) const {
  RASP_TRY(const Json* json, any(key));
  if (!json->is_boolean()) return bad_file(where_ + ": \"" + key + "\" is not true or false");
  return json->get<bool>();
}

Result<double> Fields::real(const char* key) const {
  RASP_TRY(const Json* json, any(key));
  if (json->is_number()) return json->get<double>();
  if (*json == "inf") return std::numeric_limits<double>::infinity();
  if (*json == "-inf") return -std::numeric_limits<double>::infinity();
  if (*json == "nan") return std::numeric_limits<double>::quiet_NaN();
  return bad_file(where_ + ": \"" + key + "\" is not a number");
}

Result<std::int64_t> Fields::integer(const char* key, std::int64_t low, std::int64_t high) const {
  RASP_TRY(const Json* json, any(key));
  const bool too_large = json->is_number_unsigned() &&
                         json->get<std::uint64_t>() >
                             static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!json->is_number_integer() || too_large || json->get<std::int64_t>() < low ||
      json->get<std::int64_t>() > high)
    return bad_file(where_ + ": \"" + key + "\" is not an integer from " + std::to_string(low) +
                    " to " + std::to_string(high));
  return json->get<std::int64_t>();
}

Result<std::uint32_t> Fields::size(const char* key) const {
  RASP_TRY(const std::int64_t value, integer(key, 0, std::numeric_limits<std::int32_t>::max()));
  return static_cast<std::uint32_t>(value);
}

}  // namespace rasp::model
