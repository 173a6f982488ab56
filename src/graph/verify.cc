#include <algorithm>
#include <string>
#include <unordered_map>

#include "graph/graph.h"
#include "graph/structure.h"

namespace rasp::graph {
namespace {

struct Shape {
  std::uint8_t selectors;  // the first arguments
  std::uint8_t sops;       // the others
  enum { kNothing, kAtom, kTable } payload;
};

Shape shape_of(const Node& node) {
  switch (node.kind) {
    case Kind::kTokens:
    case Kind::kIndices:
      return {0, 0, Shape::kNothing};
    case Kind::kConstant:
      return {0, 0, Shape::kAtom};
    case Kind::kMap:
      return {0, value::info(node.op).arity, Shape::kNothing};
    case Kind::kChoose:
      return {0, 3, Shape::kNothing};
    case Kind::kLookup:
    case Kind::kMember:
      return {0, 1, Shape::kTable};
    case Kind::kAggregate:
      return {1, 1, Shape::kAtom};
    case Kind::kSelect:
      return {0, 2, Shape::kNothing};
    case Kind::kSelectorAnd:
    case Kind::kSelectorOr:
      return {2, 0, Shape::kNothing};
    case Kind::kSelectorNot:
      return {1, 0, Shape::kNothing};
  }
  return {};
}

std::string check_arguments(const Graph& graph, NodeId id, const Shape& shape) {
  const Node& node = graph[id];
  if (node.arg_count != shape.selectors + shape.sops) return "has a wrong number of arguments";
  for (std::size_t i = 0; i < 3; ++i) {
    const NodeId arg = node.args[i];
    const std::string name = "argument " + std::to_string(i);
    if (i >= node.arg_count) {
      if (arg != kNoNode) return name + " should be empty";
      continue;
    }
    if (arg >= id) return name + " does not come before it";
    if (graph.is_selector(arg) != (i < shape.selectors)) return name + " is of the wrong sort";
  }
  return {};
}

std::string check_operator(const Graph& graph, const Node& node) {
  const bool map = node.kind == Kind::kMap;
  const bool select = node.kind == Kind::kSelect;
  if (!map && !select && node.op != Node{}.op) return "has an operator it does not use";
  if (node.kind != Kind::kTokens && node.token_kind != Node{}.token_kind) {
    return "has a token kind it does not use";
  }
  const auto constant = [&](NodeId arg) { return graph[arg].kind == Kind::kConstant; };
  if (map && std::ranges::all_of(node.arguments(), constant)) return "should have been folded";
  if ((node.kind == Kind::kChoose || node.kind == Kind::kLookup || node.kind == Kind::kMember) &&
      constant(node.args[0])) {
    return "should have been folded";
  }
  if (!select) return {};
  if (!value::is_comparison(node.op)) return "selects by an operator that is no comparison";
  const value::TypeSet operands[] = {graph[node.args[0]].types, graph[node.args[1]].types};
  if (value::info(node.op).result_types(std::span(operands)) == 0)
    return "compares types that never compare";
  return {};
}

// Whether another payload holds the same atom; `seen` maps hashes to payloads.
bool repeats_atom(const Graph& graph, const Node& node,
                  std::unordered_multimap<std::size_t, std::uint32_t>& seen) {
  const std::size_t hash = value::AtomIdentityHash{}(graph.atom(node));
  const auto [first, last] = seen.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (it->second == node.payload) return false;
    if (same_constant(graph.atom_at(it->second), graph.atom(node))) return true;
  }
  seen.emplace(hash, node.payload);
  return false;
}

std::string check_types(const Graph& graph, const Node& node) {
  if (is_selector(node.kind)) return node.types == 0 ? "" : "is a selector with element types";
  if (node.types == 0) return "can have no value";
  return node.types == infer_types(graph, node) ? "" : "has types other than its arguments give";
}

std::string find_repeated(const Graph& graph) {
  std::vector<std::pair<std::size_t, NodeId>> hashes;
  hashes.reserve(graph.size());
  for (NodeId id = 0; id < graph.size(); ++id) hashes.emplace_back(structural_hash(graph[id]), id);
  std::ranges::sort(hashes);
  for (std::size_t i = 0; i < hashes.size(); ++i) {
    for (std::size_t j = i + 1; j < hashes.size() && hashes[j].first == hashes[i].first; ++j) {
      if (!same_structure(graph[hashes[i].second], graph[hashes[j].second])) continue;
      return "node " + std::to_string(hashes[j].second) + " repeats node " +
             std::to_string(hashes[i].second);
    }
  }
  return {};
}

}  // namespace

std::string verify(const Graph& graph) {
  std::unordered_multimap<std::size_t, std::uint32_t> atoms;
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph[id];
    const std::string prefix = "node " + std::to_string(id) + " ";
    const Shape shape = shape_of(node);
    if ((shape.payload == Shape::kNothing) != (node.payload == kNoPayload)) {
      return prefix + "has a payload it should not have, or lacks one";
    }
    if (shape.payload == Shape::kAtom && node.payload >= graph.atom_count()) {
      return prefix + "refers to an atom that is not there";
    }
    if (shape.payload == Shape::kTable && node.payload >= graph.table_count()) {
      return prefix + "refers to a table that is not there";
    }
    if (auto broken = check_arguments(graph, id, shape); !broken.empty()) return prefix + broken;
    if (auto broken = check_operator(graph, node); !broken.empty()) return prefix + broken;
    if (auto broken = check_types(graph, node); !broken.empty()) return prefix + broken;
    if (shape.payload == Shape::kAtom && repeats_atom(graph, node, atoms)) {
      return prefix + "repeats an atom";
    }
  }
  return find_repeated(graph);
}

}  // namespace rasp::graph
