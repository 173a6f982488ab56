// Text of graphs. No recursion: depth is the user's.
#include <utility>

#include "graph/graph.h"
#include "graph/text.h"

namespace rasp::graph {
namespace {

constexpr std::size_t kLiteralLimit = 1000;  // bytes of a text or table in a printed node
constexpr std::uint32_t kUnvisited = 0xFFFFFFFFu;

// Depth first from the roots, arguments before their users: unlike ids, this order does not depend
// on when a node was made.
std::vector<NodeId> canonical_order(const Graph& graph, std::span<const NodeId> roots,
                                    std::vector<std::uint32_t>& number) {
  number.assign(graph.size(), kUnvisited);
  std::vector<NodeId> order;
  std::vector<std::pair<NodeId, std::uint32_t>> stack;  // a node, how many arguments are done
  for (NodeId root : roots) {
    stack.emplace_back(root, 0);
    while (!stack.empty()) {
      auto& [id, next] = stack.back();
      if (number[id] != kUnvisited) {
        stack.pop_back();
      } else if (next < graph[id].arg_count) {
        const NodeId arg = graph[id].args[next++];
        stack.emplace_back(arg, 0);
      } else {
        number[id] = static_cast<std::uint32_t>(order.size());
        order.push_back(id);
        stack.pop_back();
      }
    }
  }
  return order;
}

// A node of the expression's tree, expanded or not (then it reads "…").
struct Fragment {
  NodeId node = kNoNode;
  Allowed allowed{};
  std::vector<Part> parts;  // `arg` of a part: index of the next child, in order
  std::size_t first_child = 0;
  bool parenthesised = false;
};

// Widest levels first until the text is `limit` long: what stays is the outer structure. Every
// expansion but a leaf's adds a character, so the work is bounded by `limit`, however shared or
// deep the graph.
std::vector<Fragment> expand(const Graph& graph, NodeId root, std::size_t limit) {
  std::vector<Fragment> tree(1);
  tree[0].node = root;
  std::size_t length = 1;
  for (std::size_t i = 0; i < tree.size(); ++i) {
    const Node& node = graph[tree[i].node];
    const bool parenthesised = needs_parentheses(graph, node, tree[i].allowed);
    std::vector<Part> parts = parts_of(graph, node, limit / 2);
    std::size_t longer = length - 1 + (parenthesised ? 2 : 0);
    for (const Part& part : parts) longer += part.arg == kNoNode ? part.text.size() : 1;
    if (longer > limit) continue;
    length = longer;
    tree[i].parenthesised = parenthesised;
    tree[i].first_child = tree.size();
    for (const Part& part : parts) {
      if (part.arg == kNoNode) continue;
      tree.emplace_back();
      tree.back().node = part.arg;
      tree.back().allowed = part.allowed;
    }
    tree[i].parts = std::move(parts);
  }
  return tree;
}

}  // namespace

std::string print(const Graph& graph, std::span<const NodeId> roots) {
  std::vector<std::uint32_t> number;
  std::string text;
  const auto name_of = [&](NodeId id) {
    std::string name(1, '%');
    return name += std::to_string(number[id]);
  };
  for (NodeId id : canonical_order(graph, roots, number)) {
    text += name_of(id);
    text += " = ";
    for (const Part& part : parts_of(graph, graph[id], kLiteralLimit)) {
      text += part.arg == kNoNode ? part.text : name_of(part.arg);
    }
    text += '\n';
  }
  return text;
}

std::string expression(const Graph& graph, NodeId node, std::size_t limit) {
  const std::vector<Fragment> tree = expand(graph, node, limit);
  struct Frame {
    std::size_t fragment;
    std::size_t next_part = 0;
    std::size_t next_child = 0;
  };
  std::string text;
  std::vector<Frame> stack{{0}};
  while (!stack.empty()) {
    Frame& frame = stack.back();
    const Fragment& fragment = tree[frame.fragment];
    if (fragment.parts.empty()) {
      text += "…";
      stack.pop_back();
      continue;
    }
    if (frame.next_part == 0 && fragment.parenthesised) text += '(';
    if (frame.next_part == fragment.parts.size()) {
      if (fragment.parenthesised) text += ')';
      stack.pop_back();
      continue;
    }
    const Part& part = fragment.parts[frame.next_part++];
    if (part.arg == kNoNode) {
      text += part.text;
    } else {
      stack.push_back({fragment.first_child + frame.next_child++});
    }
  }
  return text;
}

}  // namespace rasp::graph
