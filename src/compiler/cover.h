// Pass 4: units. A table becomes one ReLU unit a box of a disjoint cover; a function of a number
// becomes one pair of units a step.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "compiler/circuit.h"

namespace rasp::compiler {

// relu(slope * s - bias) - relu(slope * s - bias - 1) is 0 below the step and 1 above it. `slope`
// is a power of two and `bias` whole, so that both units are exact where they are not 0 and their
// difference is exactly 0 or 1.
struct Step {
  double slope = 1;
  double bias = 0;
};

// A step that is 0 wherever the form's exact value is at most `below` and 1 where it is at least
// `above`; nullopt when the form's error leaves no room for one.
[[nodiscard]] std::optional<Step> step_between(const Circuit& circuit, const BankOp& bank,
                                               double below, double above);

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
