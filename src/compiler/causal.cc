#include "compiler/causal.h"

#include <array>
#include <optional>

namespace rasp::compiler {

using graph::Graph;
using graph::Kind;
using graph::NodeId;
using value::Number;
using value::Op;

namespace {

// `positions * position + offset`, positions being 0 or 1.
struct Shift {
  int positions = 0;
  Number offset;
};

std::optional<Shift> shift_of(const Graph& graph, NodeId id) {
  Shift shift;
  for (;;) {
    const graph::Node& node = graph[id];
    const auto constant = [&](NodeId arg) -> std::optional<Number> {
      if (graph[arg].kind != Kind::kConstant) return std::nullopt;
      return value::to_number(graph.atom(graph[arg]));
    };
    if (node.kind == Kind::kIndices) {
      shift.positions = 1;
      return shift;
    }
    if (const auto number = constant(id)) {
      shift.offset = shift.offset + *number;
      return shift;
    }
    if (node.kind != Kind::kMap || (node.op != Op::kAdd && node.op != Op::kSub)) {
      return std::nullopt;
    }
    if (const auto right = constant(node.args[1])) {
      shift.offset = node.op == Op::kAdd ? shift.offset + *right : shift.offset - *right;
      id = node.args[0];
    } else if (const auto left = constant(node.args[0]); left && node.op == Op::kAdd) {
      shift.offset = shift.offset + *left;
      id = node.args[1];
    } else {
      return std::nullopt;
    }
  }
}

Op negation(Op op) {
  switch (op) {
    case Op::kEq:
      return Op::kNe;
    case Op::kNe:
      return Op::kEq;
    case Op::kLt:
      return Op::kGe;
    case Op::kLe:
      return Op::kGt;
    case Op::kGt:
      return Op::kLe;
    default:
      return Op::kLt;
  }
}

// Whether `key op query` can hold for a key after the query.
bool can_look_ahead(const Graph& graph, const graph::Node& select, Op op) {
  const auto key = shift_of(graph, select.args[0]);
  const auto query = shift_of(graph, select.args[1]);
  if (!key || !query || key->positions == 0) return true;
  // k op q + reach, or k op reach: with q at 0, the first key ahead is 1 in both cases.
  const Number reach = query->offset - key->offset;
  const Number one = Number::integer(1);
  switch (op) {
    case Op::kEq:
    case Op::kLe:
      return reach >= one;
    case Op::kLt:
      return reach > one;
    default:
      return true;
  }
}

// Of a selector and of its negation.
struct Ahead {
  bool plain = true;
  bool negated = true;
};

Ahead ahead_of(const Graph& graph, NodeId id, const std::vector<Ahead>& known) {
  const graph::Node& node = graph[id];
  const auto arg = [&](std::size_t i) { return known[node.args[i]]; };
  switch (node.kind) {
    case Kind::kSelect:
      return {can_look_ahead(graph, node, node.op), can_look_ahead(graph, node, negation(node.op))};
    case Kind::kSelectorAnd:
      return {arg(0).plain && arg(1).plain, arg(0).negated || arg(1).negated};
    case Kind::kSelectorOr:
      return {arg(0).plain || arg(1).plain, arg(0).negated && arg(1).negated};
    default:
      return {arg(0).negated, arg(0).plain};
  }
}

}  // namespace

std::vector<NodeId> selectors_looking_ahead(const Graph& graph, NodeId root) {
  const std::array<NodeId, 1> roots{root};
  const std::vector<NodeId> order = graph::reachable(graph, roots);
  std::vector<Ahead> ahead(std::size_t{root} + 1);
  std::vector<bool> read(std::size_t{root} + 1, false);
  for (const NodeId id : order) {
    const graph::Node& node = graph[id];
    if (graph::is_selector(node.kind)) ahead[id] = ahead_of(graph, id, ahead);
    if (node.kind == Kind::kAggregate) read[node.args[0]] = true;
  }
  read[root] = graph.is_selector(root);
  std::vector<NodeId> found;
  for (const NodeId id : order) {
    if (read[id] && ahead[id].plain) found.push_back(id);
  }
  return found;
}

}  // namespace rasp::compiler
