// Text in columns, for pictures of fixed width.
#pragma once

#include <string>
#include <vector>

namespace rasp::visual {

// Filled with blanks to `width` terminal columns.
[[nodiscard]] std::string pad_left(std::string text, std::size_t width);
[[nodiscard]] std::string pad_right(std::string text, std::size_t width);
// "1 layer", "2 layers".
[[nodiscard]] std::string counted(std::size_t count, const std::string& word);
// Few digits, for reading: "0.333", "1.27e-14", "12".
[[nodiscard]] std::string real_text(double value);

// Rows of cells, each column as wide as its widest cell, cells to the right but those of the first
// column to the left; no blanks at the end of a line.
[[nodiscard]] std::string table(const std::vector<std::vector<std::string>>& rows,
                                const std::string& indent);

}  // namespace rasp::visual
