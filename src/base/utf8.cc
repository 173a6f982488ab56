#include "base/utf8.h"

#include <algorithm>
#include <array>
#include <iterator>

namespace rasp {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

constexpr std::array kWide = {
    Range{0x1100, 0x115F},   Range{0x231A, 0x231B},   Range{0x2329, 0x232A},
    Range{0x23E9, 0x23EC},   Range{0x25FD, 0x25FE},   Range{0x2614, 0x2615},
    Range{0x2648, 0x2653},   Range{0x26CE, 0x26CE},   Range{0x2705, 0x2705},
    Range{0x274C, 0x274C},   Range{0x2753, 0x2755},   Range{0x2795, 0x2797},
    Range{0x2B1B, 0x2B1C},   Range{0x2B50, 0x2B50},   Range{0x2E80, 0x303E},
    Range{0x3041, 0x33FF},   Range{0x3400, 0x4DBF},   Range{0x4E00, 0xA4CF},
    Range{0xA960, 0xA97F},   Range{0xAC00, 0xD7A3},   Range{0xF900, 0xFAFF},
    Range{0xFE30, 0xFE6F},   Range{0xFF00, 0xFF60},   Range{0xFFE0, 0xFFE6},
    Range{0x16FE0, 0x18AFF}, Range{0x1B000, 0x1B2FF}, Range{0x1F004, 0x1F004},
    Range{0x1F0CF, 0x1F0CF}, Range{0x1F18E, 0x1F19A}, Range{0x1F200, 0x1F320},
    Range{0x1F32D, 0x1F64F}, Range{0x1F680, 0x1F6FF}, Range{0x1F7E0, 0x1F7EB},
    Range{0x1F90C, 0x1F9FF}, Range{0x1FA70, 0x1FAFF}, Range{0x20000, 0x3FFFD},
};

constexpr std::array kCombining = {
    Range{0x0300, 0x036F},   Range{0x0483, 0x0489}, Range{0x0591, 0x05BD}, Range{0x0610, 0x061A},
    Range{0x064B, 0x065F},   Range{0x06D6, 0x06DC}, Range{0x0900, 0x0902}, Range{0x093C, 0x093C},
    Range{0x0941, 0x0948},   Range{0x0E31, 0x0E31}, Range{0x0E34, 0x0E3A}, Range{0x0E47, 0x0E4E},
    Range{0x1AB0, 0x1AFF},   Range{0x1DC0, 0x1DFF}, Range{0x200B, 0x200D}, Range{0x20D0, 0x20FF},
    Range{0x302A, 0x302D},   Range{0x3099, 0x309A}, Range{0xFE00, 0xFE0F}, Range{0xFE20, 0xFE2F},
    Range{0xE0100, 0xE01EF},
};

// What must not reach a terminal raw although it is well-formed: controls, and marks that reorder,
// break or hide text.
constexpr std::array kUnsafe = {
    Range{0x0000, 0x001F}, Range{0x007F, 0x009F}, Range{0x00AD, 0x00AD},   Range{0x061C, 0x061C},
    Range{0x180E, 0x180E}, Range{0x200E, 0x200F}, Range{0x2028, 0x202E},   Range{0x2060, 0x206F},
    Range{0xFEFF, 0xFEFF}, Range{0xFFF9, 0xFFFB}, Range{0xE0000, 0xE007F},
};

template <std::size_t N>
bool in_any(const std::array<Range, N>& ranges, char32_t value) {
  const auto after = std::upper_bound(ranges.begin(), ranges.end(), value,
                                      [](char32_t v, const Range& r) { return v < r.first; });
  return after != ranges.begin() && value <= std::prev(after)->last;
}

void append_hex(std::string& out, char32_t value, int digits) {
  constexpr std::string_view kHex = "0123456789abcdef";
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) out += kHex[(value >> shift) & 15];
}

}  // namespace

CodePoint decode_utf8(std::string_view text, std::size_t offset) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[offset + i]); };
  const unsigned char first = byte(0);
  if (first < 0x80) return {first, 1, true};
  std::size_t bytes = 0;
  char32_t value = 0;
  char32_t least = 0;  // below it the encoding is overlong
  if (first >= 0xC2 && first <= 0xDF) {
    bytes = 2, value = first & 0x1Fu, least = 0x80;
  } else if (first >= 0xE0 && first <= 0xEF) {
    bytes = 3, value = first & 0x0Fu, least = 0x800;
  } else if (first >= 0xF0 && first <= 0xF4) {
    bytes = 4, value = first & 0x07u, least = 0x10000;
  } else {
    return {};
  }
  if (text.size() - offset < bytes) return {};
  for (std::size_t i = 1; i < bytes; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return {};
    value = (value << 6) | (byte(i) & 0x3Fu);
  }
  const bool surrogate = value >= 0xD800 && value <= 0xDFFF;
  if (value < least || value > 0x10FFFF || surrogate) return {};
  return {value, bytes, true};
}

void append_utf8(std::string& out, char32_t value) {
  const auto put = [&](char32_t byte) {
    out += static_cast<char>(static_cast<unsigned char>(byte));
  };
  if (value < 0x80) {
    put(value);
  } else if (value < 0x800) {
    put(0xC0 | (value >> 6)), put(0x80 | (value & 0x3F));
  } else if (value < 0x10000) {
    put(0xE0 | (value >> 12)), put(0x80 | ((value >> 6) & 0x3F)), put(0x80 | (value & 0x3F));
  } else {
    put(0xF0 | (value >> 18)), put(0x80 | ((value >> 12) & 0x3F));
    put(0x80 | ((value >> 6) & 0x3F)), put(0x80 | (value & 0x3F));
  }
}

int display_width(char32_t value) {
  if (value < 0x0300) return 1;
  if (in_any(kCombining, value)) return 0;
  return in_any(kWide, value) ? 2 : 1;
}

std::size_t display_width(std::string_view text) {
  std::size_t columns = 0;
  std::string shown;
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text, at);
    shown.clear();
    append_printable(shown, text, at, point);
    const bool escaped = shown.size() > 1 && shown[0] == '\\';
    columns += escaped ? shown.size() : static_cast<std::size_t>(display_width(point.value));
    at += point.bytes;
  }
  return columns;
}

bool is_printable(char32_t value) { return !in_any(kUnsafe, value); }

void append_printable(std::string& out, std::string_view text, std::size_t offset,
                      const CodePoint& point) {
  if (!point.valid) {
    out += "\\x";
    append_hex(out, static_cast<unsigned char>(text[offset]), 2);
  } else if (is_printable(point.value)) {
    out += text.substr(offset, point.bytes);
  } else if (point.value < 0x80) {
    out += "\\x";
    append_hex(out, point.value, 2);
  } else {
    out += "\\u{";
    append_hex(out, point.value, point.value > 0xFFFF ? 5 : 4);
    out += '}';
  }
}

std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text, at);
    append_printable(out, text, at, point);
    at += point.bytes;
  }
  return out;
}

}  // namespace rasp
