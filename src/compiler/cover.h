// Pass 4: units. A table becomes one ReLU unit a box of a disjoint cover; a function of a number
// becomes one pair of units a step.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/circuit.h"

namespace rasp::compiler {

// A bank's steps: relu(slope * t - bias) - relu(slope * t - bias - 1) is 0 below the step and 1
// above it, where t is the bank's form moved to start at 0. `slope` is one power of two for all
// steps and every bias a whole number, not negative: then both units are exact where they are not 0
// (t, in floats, is a multiple of its last place, and so is what is left of it), and their
// difference is exactly 0 or 1.
struct Steps {
  double origin = 0;  // t = s - origin
  double slope = 1;
  std::vector<double> biases;  // one a change of F, in order
};

// The steps where `result` changes, or nullopt when the form's error leaves no room for one of
// them.
[[nodiscard]] std::optional<Steps> place_steps(const Circuit& circuit, const BankOp& bank,
                                               const std::vector<std::uint32_t>& result);

// Where F changes.
[[nodiscard]] std::size_t count_changes(const BankOp& bank);

struct Box {
  std::vector<std::vector<bool>> sets;  // one an input: the rows it admits; empty: all of them
  std::uint32_t result = 0;
};

// Disjoint boxes that cover every cell whose result is neither `omit` nor kUndefined. A dimension's
// last row may be its mixture (`mixes`): no box depends on that dimension where the mixture's
// result is read.
[[nodiscard]] std::vector<Box> cover(const std::vector<std::size_t>& sizes,
                                     const std::vector<bool>& mixes,
                                     const std::vector<std::uint32_t>& cells, std::uint32_t omit);

// The commonest defined result: the one to leave out.
[[nodiscard]] std::uint32_t commonest(const std::vector<std::uint32_t>& cells);

[[nodiscard]] std::size_t count_boxes(const Circuit& circuit, const TableOp& table);

}  // namespace rasp::compiler
