// What language.md section 4 says, as plainly as possible: one position after the other, through
// the operator table alone. What the interpreter is compared with.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace rasp::test {

// An element or a row: its value, or the message of why it has none.
template <typename T>
struct Outcome {
  std::optional<T> value;
  std::string why;
};
using Element = Outcome<value::Atom>;
using Row = Outcome<std::vector<bool>>;

class ReferenceEvaluator {
 public:
  ReferenceEvaluator(const graph::Graph& graph, value::Sequence input, bool causal)
      : graph_(graph), input_(std::move(input)), causal_(causal) {}

  // Recursive: for shallow graphs.
  const std::vector<Element>& sequence(graph::NodeId id) {
    if (const auto found = sequences_.find(id); found != sequences_.end()) return found->second;
    std::vector<Element> elements;
    for (std::size_t i = 0; i < input_.size(); ++i) elements.push_back(element(id, i));
    forbid_mixture(id, elements);
    return sequences_[id] = std::move(elements);
  }

  const std::vector<Row>& rows(graph::NodeId id) {
    if (const auto found = rows_.find(id); found != rows_.end()) return found->second;
    std::vector<Row> rows;
    for (std::size_t q = 0; q < input_.size(); ++q) {
      rows.push_back(row(id, q));
      if (!causal_ || !rows.back().value) continue;
      for (std::size_t k = q + 1; k < input_.size(); ++k) (*rows.back().value)[k] = false;
    }
    return rows_[id] = std::move(rows);
  }

 private:
  std::string explain(graph::NodeId id, std::size_t position, const std::string& message) const {
    std::string text(1, '\'');
    text += graph::expression(graph_, id);
    text += "' is undefined at position " + std::to_string(position) + ": ";
    return text + message;
  }

  Element outcome(graph::NodeId id, std::size_t position, const value::OpResult& result) const {
    if (result) return {*result, {}};
    return {std::nullopt, explain(id, position, result.error().message)};
  }

  Element element(graph::NodeId id, std::size_t i) {
    const graph::Node& node = graph_[id];
    const auto arg = [&](std::size_t a) -> const Element& { return sequence(node.args[a])[i]; };
    switch (node.kind) {
      case graph::Kind::kTokens:
        return outcome(id, i, value::read_token(node.token_kind, input_[i]));
      case graph::Kind::kIndices:
        return {value::make_int(static_cast<std::int64_t>(i)), {}};
      case graph::Kind::kConstant:
        return {graph_.atom(node), {}};
      case graph::Kind::kMap: {
        std::vector<value::Atom> operands;
        for (std::size_t a = 0; a < node.arg_count; ++a) {
          if (!arg(a).value) return arg(a);
          operands.push_back(*arg(a).value);
        }
        return outcome(id, i, value::apply(node.op, operands));
      }
      case graph::Kind::kChoose:
        if (!arg(0).value) return arg(0);
        return value::truth(*arg(0).value) ? arg(1) : arg(2);
      case graph::Kind::kLookup:
        if (!arg(0).value) return arg(0);
        return outcome(id, i, value::lookup(graph_.table(node), *arg(0).value));
      case graph::Kind::kMember:
        if (!arg(0).value) return arg(0);
        return {value::member(graph_.table(node), *arg(0).value), {}};
      default:
        return mean(id, i);
    }
  }

  Element mean(graph::NodeId id, std::size_t q) {
    const graph::Node& node = graph_[id];
    const Row& row = rows(node.args[0])[q];
    if (!row.value) return {std::nullopt, row.why};
    const std::vector<Element>& values = sequence(node.args[1]);
    std::vector<const value::Atom*> selected;
    for (std::size_t k = 0; k < input_.size(); ++k) {
      if (!(*row.value)[k]) continue;
      if (!values[k].value) return values[k];
      selected.push_back(&*values[k].value);
    }
    return outcome(id, q, value::aggregate(selected, graph_.atom(node)));
  }

  Row row(graph::NodeId id, std::size_t q) {
    const graph::Node& node = graph_[id];
    if (node.kind == graph::Kind::kSelect) return select(id, q);
    Row result = rows(node.args[0])[q];
    if (node.arg_count == 1) {
      if (result.value) result.value->flip();
      return result;
    }
    const Row& other = rows(node.args[1])[q];
    if (!result.value || !other.value) return result.value ? other : result;
    for (std::size_t k = 0; k < input_.size(); ++k) {
      const bool a = (*result.value)[k];
      const bool b = (*other.value)[k];
      (*result.value)[k] = node.kind == graph::Kind::kSelectorAnd ? a && b : a || b;
    }
    return result;
  }

  Row select(graph::NodeId id, std::size_t q) {
    const graph::Node& node = graph_[id];
    const std::vector<Element>& keys = sequence(node.args[0]);
    for (const Element& key : keys) {
      if (!key.value) return {std::nullopt, key.why};
    }
    const std::vector<Element>& queries = sequence(node.args[1]);
    const Element& query = queries[q];
    if (!query.value) return {std::nullopt, query.why};
    std::vector<bool> bits;
    for (const Element& key : keys) {
      const value::OpResult holds = value::apply(node.op, *key.value, *query.value);
      if (!holds) {
        // The types of whole sequences do not compare: the first query that has a value says so.
        std::size_t first = 0;
        while (!queries[first].value) ++first;
        const value::OpResult why =
            value::apply(node.op, *keys.front().value, *queries[first].value);
        return {std::nullopt, explain(id, first, why.error().message)};
      }
      bits.push_back(std::get<bool>(*holds));
    }
    return {std::move(bits), {}};
  }

  static bool class_of(const value::Atom& atom) {
    return std::holds_alternative<std::string>(atom);
  }

  void forbid_mixture(graph::NodeId id, std::vector<Element>& elements) const {
    std::optional<std::size_t> first;
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (!elements[i].value) continue;
      if (!first) first = i;
      if (class_of(*elements[*first].value) == class_of(*elements[i].value)) continue;
      const std::string why =
          explain(id, i,
                  "strings and numbers do not mix in a sequence, and here are " +
                      value::describe(*elements[*first].value) + " (position " +
                      std::to_string(*first) + ") and " + value::describe(*elements[i].value));
      for (Element& element : elements) {
        if (element.value) element = {std::nullopt, why};
      }
      return;
    }
  }

  const graph::Graph& graph_;
  value::Sequence input_;
  bool causal_;
  std::map<graph::NodeId, std::vector<Element>> sequences_;
  std::map<graph::NodeId, std::vector<Row>> rows_;
};

}  // namespace rasp::test
