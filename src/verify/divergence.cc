#include "verify/divergence.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <string>

#include "interpreter/interpreter.h"

namespace rasp::verify {
namespace {

using graph::NodeId;
using model::Slice;

constexpr std::string_view kWidthOf = "width of ";
constexpr double kRoundingShare = 1e-4;  // of a value: far above rounding, far below any gap

// The nodes that the subject's answer is made of, by what slices call them: their expression (or
// name) and place.
class Nodes {
 public:
  explicit Nodes(const Subject& subject) : subject_(&subject) {
    for (const compiler::NamedNode& named : subject.names) names_.emplace(named.node, named.name);
    const std::array<NodeId, 1> roots{subject.node};
    for (const NodeId node : graph::reachable(subject.graph, roots)) {
      const std::string origin = compiler::place_in_model(
          subject.sources, subject.graph[subject.node].span, subject.graph[node].span);
      add(graph::expression(subject.graph, node), origin, node);
      if (const auto found = names_.find(node); found != names_.end()) {
        add(found->second, origin, node);
      }
    }
  }

  [[nodiscard]] NodeId find(std::string_view label, const std::string& origin) const {
    const auto found = nodes_.find({std::string(label), origin});
    return found == nodes_.end() ? graph::kNoNode : found->second;
  }
  // For people: the source's name for it, and the exact place.
  [[nodiscard]] std::string name(NodeId node) const {
    const auto found = names_.find(node);
    return found != names_.end() ? found->second : graph::expression(subject_->graph, node);
  }
  [[nodiscard]] std::string place(NodeId node) const {
    return subject_->sources.describe(subject_->graph[node].span);
  }

 private:
  void add(const std::string& label, const std::string& origin, NodeId node) {
    const auto [at, is_new] = nodes_.try_emplace({label, origin}, node);
    if (!is_new && at->second != node) at->second = graph::kNoNode;  // two of one label: neither
  }

  const Subject* subject_;
  std::map<NodeId, std::string> names_;
  std::map<std::pair<std::string, std::string>, NodeId> nodes_;
};

using Elements = std::vector<std::optional<value::Atom>>;

// What a slice should hold.
struct Meaning {
  std::string name;
  std::string origin;
  Elements elements;  // at every token; empty when nobody knows
};

class Meanings {
 public:
  Meanings(const Subject& subject, const value::Sequence& input)
      : subject_(&subject), nodes_(subject), input_(&input) {
    options_.causal = subject.model.causal;
  }

  [[nodiscard]] Meaning of(const Slice& slice) const {
    Meaning meaning{slice.name, slice.origin, {}};
    if (slice.encoding == Slice::Encoding::kFlag) return meaning;
    if (slice.first_step == 0) {
      meaning.elements = of_embedding(slice);
      return meaning;
    }
    const bool is_width = slice.name.starts_with(kWidthOf);
    const NodeId node =
        nodes_.find(is_width ? slice.name.substr(kWidthOf.size()) : slice.name, slice.origin);
    if (node == graph::kNoNode || subject_->graph.is_selector(node) != is_width) return meaning;
    meaning.name = (is_width ? std::string(kWidthOf) : "") + nodes_.name(node);
    meaning.origin = nodes_.place(node);
    meaning.elements = is_width ? widths(node) : elements(node);
    return meaning;
  }

 private:
  // Slices of the embedding hold the token as it is, or the position.
  [[nodiscard]] Elements of_embedding(const Slice& slice) const {
    Elements elements;
    const bool is_position = slice.name == "indices";
    for (std::size_t i = 0; i < input_->size(); ++i) {
      elements.emplace_back(is_position ? value::make_int(static_cast<std::int64_t>(i))
                                        : (*input_)[i]);
    }
    const bool is_token =
        std::ranges::equal(slice.values, subject_->model.vocabulary, value::AtomIdentical());
    return is_position || is_token ? elements : Elements{};
  }

  [[nodiscard]] Elements elements(NodeId node) const {
    interpreter::Evaluator evaluator(subject_->graph, {node}, options_);
    return evaluator.run(*input_) ? evaluator.elements(node) : Elements{};
  }

  [[nodiscard]] Elements widths(NodeId selector) const {
    const auto matrix =
        interpreter::evaluate_selector(subject_->graph, selector, *input_, options_);
    Elements elements;
    for (std::size_t query = 0; matrix && query < matrix->size(); ++query) {
      std::int64_t width = 0;
      for (std::size_t key = 0; key < matrix->size(); ++key) width += matrix->at(query, key);
      elements.emplace_back(value::make_int(width));
    }
    return elements;
  }

  const Subject* subject_;
  Nodes nodes_;
  const value::Sequence* input_;
  interpreter::Options options_;
};

std::string number_text(double value) { return value::Number::inexact(value).brief(); }

std::string numbers_text(const model::Vector& columns) {
  std::string text;
  for (Eigen::Index i = 0; i < columns.size(); ++i) {
    if (!text.empty()) text += ", ";
    text += std::isfinite(columns[i]) ? number_text(columns[i]) : "not finite";
  }
  return columns.size() == 1 ? text : "[" + text + "]";
}

bool near(const model::Vector& a, const model::Vector& b) {
  const double scale = std::max({1.0, a.cwiseAbs().maxCoeff(), b.cwiseAbs().maxCoeff()});
  return (a - b).cwiseAbs().maxCoeff() <= kRoundingShare * scale;  // false on NaN
}

// What columns say, as text; nothing when they say `expected`. Features may show several values
// alike: then any of them will do.
std::optional<std::string> wrong(const Slice& slice, const model::Vector& columns,
                                 const value::Atom& expected) {
  if (slice.encoding == Slice::Encoding::kScalar) {
    const auto number = value::to_number(expected);
    if (!number) return std::nullopt;
    const double want = number->to_double();
    const double slack = slice.error + kRoundingShare * std::max(1.0, std::abs(want));
    return std::abs(columns[0] - want) <= slack ? std::nullopt
                                                : std::optional(numbers_text(columns));
  }
  std::optional<std::string> shown;
  for (std::size_t i = 0; i < slice.values.size(); ++i) {
    if (!near(slice.features.row(static_cast<Eigen::Index>(i)), columns)) continue;
    if (value::equal(slice.values[i], expected)) return std::nullopt;
    if (!shown) shown = value::repr(slice.values[i]);
  }
  return shown ? shown : numbers_text(columns);
}

std::optional<Divergence> check(const Slice& slice, const model::Matrix& stream,
                                const Meaning& meaning) {
  const auto width = static_cast<Eigen::Index>(slice.end - slice.begin);
  const auto columns = [&](std::size_t row) -> model::Vector {
    return stream.row(static_cast<Eigen::Index>(row)).segment(slice.begin, width);
  };
  Divergence result;
  result.layer = static_cast<std::int32_t>((slice.first_step + 1) / 2) - 1;
  result.slice = meaning.name;
  result.origin = meaning.origin;
  if (slice.bos_value.size() == width && width > 0 && !near(columns(0), slice.bos_value)) {
    result.at_bos = true;
    result.expected = numbers_text(slice.bos_value);
    result.got = numbers_text(columns(0));
    return result;
  }
  const Elements& elements = meaning.elements;
  for (std::size_t i = 0; width > 0 && i < elements.size(); ++i) {
    if (!elements[i]) continue;  // undefined: the columns may hold anything
    auto got = wrong(slice, columns(i + 1), *elements[i]);
    if (!got) continue;
    result.position = i;
    result.expected = value::repr(*elements[i]);
    result.got = std::move(*got);
    return result;
  }
  return std::nullopt;
}

}  // namespace

std::optional<Divergence> find_divergence(const Subject& subject, const value::Sequence& input,
                                          const runtime::Trace& trace) {
  const Meanings meanings(subject, input);
  std::vector<const Slice*> slices;
  for (const Slice& slice : subject.model.slices) slices.push_back(&slice);
  std::ranges::stable_sort(slices, {}, &Slice::first_step);
  for (const Slice* slice : slices) {
    const std::size_t stream = (slice->first_step + 1) / 2;
    if (stream >= trace.residual.size()) continue;
    if (auto found = check(*slice, trace.residual[stream], meanings.of(*slice))) return found;
  }
  return std::nullopt;
}

}  // namespace rasp::verify
