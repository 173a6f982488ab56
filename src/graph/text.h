// The pieces of a node's text: what it says itself, and where its arguments go.
#pragma once

#include <string>
#include <vector>

#include "graph/graph.h"

namespace rasp::graph {

// The levels of language.md section 3, loosest last.
enum class Level : std::uint8_t {
  kPrimary = 1,
  kUnary,
  kPower,
  kProduct,
  kModulo,
  kSum,
  kComparison,
  kLogic,
  kConditional,
  kMembership,
};

// What may stand at a place without parentheses: levels up to `loosest`, a `not` only where it
// reads the same to somebody used to Python, and one of `and` (1) and `or` (2), none (0).
struct Allowed {
  Level loosest = Level::kMembership;
  bool negation = true;
  int logic = 0;
};

struct Part {
  std::string text;  // when arg is kNoNode
  NodeId arg = kNoNode;
  Allowed allowed{};
};

// The text of one node in RASP syntax. Texts and tables longer than `limit` are cut to "…".
[[nodiscard]] std::vector<Part> parts_of(const Graph& graph, const Node& node, std::size_t limit);
// Whether `node` needs parentheses at a place that allows `allowed`.
[[nodiscard]] bool needs_parentheses(const Graph& graph, const Node& node, const Allowed& allowed);
// An atom as RASP writes it: "it", True, 3, 0.5, (exactly) 1/3.
[[nodiscard]] std::string literal(const value::Atom& atom, std::size_t limit);

}  // namespace rasp::graph
