// Selectors that never select two keys: what they aggregate is picked, not averaged.
#pragma once

#include "compiler/ir.h"

namespace rasp::compiler {

// At most one key of any query; false where that is not plain to see.
[[nodiscard]] bool selects_at_most_one(const Ir& ir, IrId selector);
// The s-op numbers the positions of every sequence 0 .. n-1: it counts, for each, those before it
// in a strict total order, width(x < x') + width(x == x' and z < z') with a z that differs
// everywhere.
[[nodiscard]] bool is_rank(const Ir& ir, IrId sop);

}  // namespace rasp::compiler
