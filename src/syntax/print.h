// The tree back to text, for tests, fuzzing and debugging.
#pragma once

#include <string>

#include "syntax/ast.h"

namespace rasp::syntax {

// The expression with parentheses around every operator, so that no precedence is left: parsing it
// gives the same tree again. No recursion.
[[nodiscard]] std::string to_text(const Program& program, ExprId id);
// One statement, on one line.
[[nodiscard]] std::string to_text(const Program& program, const Statement& statement);

}  // namespace rasp::syntax
