// What a root needs, and how deep it is.
#include <algorithm>

#include "graph/graph.h"

namespace rasp::graph {

std::vector<NodeId> reachable(const Graph& graph, std::span<const NodeId> roots) {
  if (roots.empty()) return {};
  std::vector<bool> seen(std::size_t{*std::ranges::max_element(roots)} + 1);
  std::vector<NodeId> found;
  const auto visit = [&](NodeId id) {
    if (seen[id]) return;
    seen[id] = true;
    found.push_back(id);
  };
  for (NodeId root : roots) visit(root);
  for (std::size_t i = 0; i < found.size(); ++i) {
    for (NodeId arg : graph[found[i]].arguments()) visit(arg);
  }
  std::ranges::sort(found);
  return found;
}

Depth depth(const Graph& graph, NodeId node) {
  const std::vector<NodeId> order = reachable(graph, std::span(&node, 1));
  std::vector<std::size_t> layer(std::size_t{node} + 1);
  std::vector<std::pair<std::size_t, NodeId>> heads;  // layer, selector
  for (NodeId id : order) {
    for (NodeId arg : graph[id].arguments()) layer[id] = std::max(layer[id], layer[arg]);
    if (graph[id].kind == Kind::kAggregate) heads.emplace_back(layer[id]++, graph[id].args[0]);
  }
  std::ranges::sort(heads);
  heads.erase(std::unique(heads.begin(), heads.end()), heads.end());
  Depth result{layer[node], std::vector<std::size_t>(layer[node])};
  for (const auto& [at, selector] : heads) ++result.heads[at];
  return result;
}

}  // namespace rasp::graph
