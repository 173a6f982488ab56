// The values that a scalar can have: what a head makes of the values it reads, in exact arithmetic.
#pragma once

#include <optional>
#include <vector>

#include "compiler/certify_logits.h"

namespace rasp::compiler::checker {

using Real = long double;

struct Outcomes {
  std::vector<Real> values;  // ascending, distinct; empty when they are too many to list
  Real low = 0;              // bounds of what the weights as they are give, listed or not
  Real high = 0;
  Real deviation = 0;  // how far that can be from the value in the list
};

// One number.
[[nodiscard]] Outcomes single_outcome(Real value);

// What a head with this selection gives: `rows` [.., 1] holds what a token's value adds to the
// target, or its lowest and highest where it is not `listed`, and `bos` what BOS's adds. Any
// multiset of 1 to n rows may be selected. A sink's rows are scaled by exp(-depth) here.
[[nodiscard]] Outcomes head_outcomes(const Selection& selection, const RowSet& rows, bool listed,
                                     double bos, std::uint32_t max_length);

// Every sum of one of `a` and one of `b`.
[[nodiscard]] Outcomes add(const Outcomes& a, const Outcomes& b);

}  // namespace rasp::compiler::checker
