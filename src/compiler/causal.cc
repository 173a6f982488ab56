#include "compiler/causal.h"

#include <optional>

namespace rasp::compiler {

using graph::Graph;
using graph::Kind;
using graph::NodeId;
using value::Number;
using value::Op;

namespace {

// c where the node is `indices + c`.
std::optional<Number> shift_of(const Graph& graph, NodeId id) {
  const graph::Node& node = graph[id];
  if (node.kind == Kind::kIndices) return Number::integer(0);
  if (node.kind != Kind::kMap || (node.op != Op::kAdd && node.op != Op::kSub)) return std::nullopt;
  const auto constant = [&](NodeId arg) -> std::optional<Number> {
    if (graph[arg].kind != Kind::kConstant) return std::nullopt;
    return value::to_number(graph.atom(graph[arg]));
  };
  const auto left = shift_of(graph, node.args[0]);
  const auto right = constant(node.args[1]);
  if (left && right) return node.op == Op::kAdd ? *left + *right : *left - *right;
  const auto first = constant(node.args[0]);
  const auto second = node.op == Op::kAdd ? shift_of(graph, node.args[1]) : std::nullopt;
  if (first && second) return *first + *second;
  return std::nullopt;
}

}  // namespace

bool looks_ahead(const Graph& graph, NodeId select) {
  const graph::Node& node = graph[select];
  const auto key = shift_of(graph, node.args[0]);
  const auto query = shift_of(graph, node.args[1]);
  if (!key || !query) return true;
  const Number reach =
      *query - *key;  // the largest k - q that `k + key op q + query` admits, where bounded
  switch (node.op) {
    case Op::kEq:
    case Op::kLe:
      return reach > Number::integer(0);
    case Op::kLt:
      return reach > Number::integer(1);
    default:
      return true;
  }
}

}  // namespace rasp::compiler
