// The order of evaluation and where every result lies, worked out once for any number of inputs.
#pragma once

#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "graph/graph.h"

namespace rasp::interpreter {

inline constexpr std::uint32_t kNoSlot = 0xFFFFFFFFu;

struct Step {
  graph::NodeId node = graph::kNoNode;
  graph::Kind kind = graph::Kind::kConstant;
  value::Op op = value::Op::kAdd;
  value::TokenKind token_kind = value::TokenKind::kAsIs;
  bool may_mix = false;      // its elements could be of several types
  bool may_compact = false;  // its elements could all be ints or all bools
  std::uint32_t args[3] = {kNoSlot, kNoSlot, kNoSlot};
  std::uint32_t out = kNoSlot;
  std::uint32_t release_begin = 0;  // range of Plan::released: what nothing later reads
  std::uint32_t release_end = 0;
};

// A slot is a column or a block of rows. Slots of s-ops and of selectors are numbered apart.
struct Slot {
  std::uint32_t index = kNoSlot;
  bool is_rows = false;
  bool is_fixed = false;  // not shared with other nodes
};

struct Plan {
  // Steps [0, fixed_steps) depend on the length of the input only and keep slots of their own, so
  // their results hold until the length changes. Constants and indices are no steps.
  std::vector<Step> steps;
  std::size_t fixed_steps = 0;
  std::vector<Slot> released;
  std::uint32_t columns = 0;
  std::uint32_t row_blocks = 0;
  std::vector<std::pair<graph::NodeId, std::uint32_t>> constants;  // node, column
  std::uint32_t indices = kNoSlot;                                 // column
  std::unordered_map<graph::NodeId, Slot> roots;
};

[[nodiscard]] Plan make_plan(const graph::Graph& graph, std::span<const graph::NodeId> roots);

}  // namespace rasp::interpreter
