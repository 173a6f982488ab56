// Values as --json prints them: {"name", "kind", "input", "type", "output"}.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/input.h"
#include "cli/workspace.h"
#include "lang/value.h"

namespace rasp::cli {

inline constexpr std::size_t kMaxJsonNesting = 100;
inline constexpr std::size_t kMaxJsonBytes = std::size_t{64} << 20;  // of one value

// One object for each example where the value depends on the input, one object otherwise. Fails
// where an s-op has no value on an example, or the text would be too long.
[[nodiscard]] Result<std::vector<std::string>> json_lines(std::string_view name,
                                                          const lang::Value& value,
                                                          const std::vector<Example>& examples,
                                                          const Workspace& workspace);

}  // namespace rasp::cli
