// What the builders of ir.h share.
#pragma once

#include <optional>

#include "compiler/ir.h"

namespace rasp::compiler {

inline constexpr auto kBoolType = static_cast<value::TypeSet>(value::Type::kBool);
inline constexpr auto kStringType = static_cast<value::TypeSet>(value::Type::kString);
inline constexpr auto kNumberTypes = static_cast<value::TypeSet>(value::kNumericTypes & ~kBoolType);

[[nodiscard]] inline bool is_numeric(const IrNode& node) {
  return node.types != 0 && (node.types & kStringType) == 0;
}
[[nodiscard]] inline bool is_const(const IrNode& node) { return node.kind == IrKind::kConst; }
[[nodiscard]] std::optional<value::Number> const_number(const IrNode& node);
// A number to add up: what is bool counts as 0 or 1.
[[nodiscard]] IrId as_number(Ir& ir, IrId id);

// select(indices, 0, ==), and indicator(indices == 0): how the language's library counts.
[[nodiscard]] IrId select_first(Ir& ir);
[[nodiscard]] IrId beacon(Ir& ir);

}  // namespace rasp::compiler
