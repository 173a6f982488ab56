#include "base/utf8.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace rasp {
namespace {

std::string encoded(char32_t value) {
  std::string out;
  append_utf8(out, value);
  return out;
}

TEST(Utf8, EveryCodePointReadsBack) {
  for (char32_t value = 0; value <= 0x10FFFF; ++value) {
    if (value >= 0xD800 && value <= 0xDFFF) continue;
    const std::string text = encoded(value);
    const CodePoint point = decode_utf8(text, 0);
    ASSERT_TRUE(point.valid) << static_cast<std::uint32_t>(value);
    ASSERT_EQ(point.value, value);
    ASSERT_EQ(point.bytes, text.size());
  }
}

// Whatever the bytes are: progress is made, nothing is read past the end, and what counts as valid
// is exactly what encoding its value gives (so no overlong form and no surrogate passes).
TEST(Utf8, RandomBytesDecodeToTheirOnlyEncoding) {
  std::mt19937_64 random(1);
  for (int round = 0; round < 200'000; ++round) {
    std::string text;
    const std::size_t size = 1 + random() % 5;
    for (std::size_t i = 0; i < size; ++i) {
      // Lead and continuation bytes far more often than chance would have them.
      const auto pick = random() % 3;
      const auto byte = pick == 0   ? random() % 256
                        : pick == 1 ? 0x80 + random() % 64
                                    : 0xC0 + random() % 64;
      text += static_cast<char>(static_cast<unsigned char>(byte));
    }
    const std::string copy(text.begin(), text.end());  // exact size: the sanitizer sees overreads
    for (std::size_t at = 0; at < copy.size();) {
      const CodePoint point = decode_utf8(copy, at);
      ASSERT_GE(point.bytes, 1u);
      ASSERT_LE(at + point.bytes, copy.size());
      if (point.valid) {
        ASSERT_EQ(copy.substr(at, point.bytes), encoded(point.value));
      } else {
        ASSERT_EQ(point.bytes, 1u);
        ASSERT_EQ(point.value, kReplacement);
      }
      at += point.bytes;
    }
  }
}

TEST(Utf8, OverlongFormsSurrogatesAndTruncationAreInvalid) {
  for (const std::string_view text :
       {"\xC0\x80", "\xC1\xBF", "\xE0\x9F\xBF", "\xED\xA0\x80", "\xED\xBF\xBF", "\xF0\x8F\xBF\xBF",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xE2\x82", "\xF0\x9F\x98", "\x80", "\xFF"}) {
    EXPECT_FALSE(decode_utf8(text, 0).valid) << printable(text);
  }
}

TEST(Utf8, WidthsAreThoseOfATerminal) {
  EXPECT_EQ(display_width(U'a'), 1);
  EXPECT_EQ(display_width(U'é'), 1);
  EXPECT_EQ(display_width(char32_t{0x0301}), 0);
  EXPECT_EQ(display_width(U'漢'), 2);
  EXPECT_EQ(display_width(U'ｆ'), 2);
  EXPECT_EQ(display_width(U'😀'), 2);
  EXPECT_EQ(display_width(U'§'), 1);
  EXPECT_EQ(display_width("aé漢"), 4u);
  EXPECT_EQ(display_width("\x1b[1m"), printable("\x1b[1m").size());
}

TEST(Utf8, PrintableLeavesNothingThatDrivesATerminal) {
  EXPECT_EQ(printable("plain text, é漢"), "plain text, é漢");
  EXPECT_EQ(printable("a\x1b[31m\tb\n"), "a\\x1b[31m\\x09b\\x0a");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
  EXPECT_EQ(printable("\xff\xc3("), "\\xff\\xc3(");
  EXPECT_EQ(printable("\u202Eabc"), "\\u{202e}abc");
  EXPECT_EQ(printable("\u0085"), "\\u{0085}");
  EXPECT_EQ(printable("\U000E0041"), "\\u{e0041}");
  for (char32_t value = 0; value < 0x3000; ++value) {
    const std::string shown = printable(encoded(value));
    for (const char c : shown) EXPECT_GE(static_cast<unsigned char>(c), 0x20u);
    const bool control = value < 0x20 || (value >= 0x7F && value <= 0x9F);
    EXPECT_TRUE(!control || shown.size() > 1) << shown;
  }
}

}  // namespace
}  // namespace rasp
