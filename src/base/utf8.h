// UTF-8 as text arrives: possibly broken. Decoding never fails and never reads past the end.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace rasp {

inline constexpr char32_t kReplacement = 0xFFFD;

struct CodePoint {
  char32_t value = kReplacement;
  std::size_t bytes = 1;  // how far it reaches; at least 1
  bool valid = false;     // false: a byte that is no part of well-formed UTF-8, value U+FFFD
};

// The code point at `offset`, which must be inside `text`.
[[nodiscard]] CodePoint decode_utf8(std::string_view text, std::size_t offset);
void append_utf8(std::string& out, char32_t value);

// Columns that a terminal gives the code point: 0 (combining marks), 1, or 2 (East Asian, emoji).
[[nodiscard]] int display_width(char32_t value);
// Columns of a whole text, as `printable` shows it.
[[nodiscard]] std::size_t display_width(std::string_view text);

// False for control characters and for marks that reorder, break or hide text.
[[nodiscard]] bool is_printable(char32_t value);
// The text with nothing in it that could drive a terminal: control characters, direction marks and
// invalid bytes are escaped as \x1b or \u{202e}. Line breaks and tabs are control characters too.
[[nodiscard]] std::string printable(std::string_view text);
// The same for the one code point; appends.
void append_printable(std::string& out, std::string_view text, std::size_t offset,
                      const CodePoint& point);

}  // namespace rasp
