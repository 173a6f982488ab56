// Text in columns.
#pragma once

#include <string>

namespace rasp::cli {

// Filled with blanks to `width` terminal columns.
[[nodiscard]] std::string pad_left(std::string text, std::size_t width);
[[nodiscard]] std::string pad_right(std::string text, std::size_t width);

}  // namespace rasp::cli
