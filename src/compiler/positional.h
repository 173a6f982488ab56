// What depends on positions alone is known at compile time: an expression of the position is a
// table, and the width or mean of a selector between positions is a function of the query's
// position and of the length. When that function is linear, or does not depend on the length, no
// head is needed.
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir.h"

namespace rasp::compiler {

// The values of an expression that reads the position alone (not the length) at 0 .. max_length -
// 1; nullopt when it reads something else.
[[nodiscard]] std::optional<std::vector<std::optional<value::Atom>>> positional_values(const Ir& ir,
                                                                                       IrId sop);
// The same expression as `weight * position + offset` where that holds.
[[nodiscard]] std::optional<IrId> positional_affine(Ir& ir, IrId sop);

// The node that these mean, when positions decide it and it is simple; nullopt when a head has to
// find out.
[[nodiscard]] std::optional<IrId> positional_width(Ir& ir, IrId selector);
[[nodiscard]] std::optional<IrId> positional_exists(Ir& ir, IrId selector);
[[nodiscard]] std::optional<IrId> positional_mean(Ir& ir, IrId selector, IrId value,
                                                  const value::Atom& otherwise);

// For each query position (rows) the keys that a selector between positions selects, were all
// max_length keys there.
[[nodiscard]] std::optional<std::vector<std::vector<bool>>> positional_matrix(const Ir& ir,
                                                                              IrId selector);

}  // namespace rasp::compiler
