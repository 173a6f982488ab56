#include "base/diagnostic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <sstream>
#include <string>

#include "base/result.h"
#include "base/utf8.h"

namespace rasp {
namespace {

struct Shown {
  std::vector<std::string> lines;
};

Shown show(const std::string& text, std::size_t begin, std::size_t end, std::string hint = {}) {
  SourceMap sources;
  const FileId file = sources.add("f.rasp", text);
  const Span span{file, static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end)};
  std::istringstream in(
      format(error(ErrorKind::kType, span, "it does not fit", std::move(hint)), sources));
  Shown shown;
  for (std::string line; std::getline(in, line);) shown.lines.push_back(line);
  return shown;
}

Shown show(const std::string& text, std::string_view part) {
  const std::size_t begin = text.find(part);
  return show(text, begin, begin + part.size());
}

TEST(Format, SaysWhereWhatAndWhy) {
  const Shown shown = show("a = 1;\nans = tokens-1;\n", 13, 21, "did you mean 'indices'?");
  ASSERT_EQ(shown.lines.size(), 4u);
  EXPECT_EQ(shown.lines[0], "f.rasp:2:7: type error: it does not fit");
  EXPECT_EQ(shown.lines[1], " 2 | ans = tokens-1;");
  EXPECT_EQ(shown.lines[2], "   |       ^~~~~~~~");
  EXPECT_EQ(shown.lines[3], "  hint: did you mean 'indices'?");
}

TEST(Format, WarningsAndNotesNameNoKind) {
  SourceMap sources;
  const FileId file = sources.add("f", "x;");
  EXPECT_EQ(format(warning(ErrorKind::kSyntax, {file, 0, 1}, "odd"), sources).substr(0, 18),
            "f:1:1: warning: od");
  EXPECT_EQ(format(note({}, "by the way"), sources), "note: by the way\n");
  EXPECT_EQ(format(error(ErrorKind::kLoad, {}, "no such file"), sources),
            "load error: no such file\n");
}

TEST(Format, TabsAndWideCharactersKeepTheUnderlineAligned) {
  EXPECT_EQ(show("\tbad", "bad").lines[1], " 1 |     bad");
  EXPECT_EQ(show("\tbad", "bad").lines[2], "   |     ^~~");
  EXPECT_EQ(show("ab\tbad", "bad").lines[2], "   |     ^~~");
  EXPECT_EQ(show("\"漢字\"+bad", "bad").lines[2], "   |        ^~~");
  EXPECT_EQ(show("\"é\"+bad", "bad").lines[2], "   |     ^~~");
  EXPECT_EQ(show("\"漢字\"+1", "\"漢字\"").lines[2], "   | ^~~~~~");
}

TEST(Format, NothingRawReachesTheTerminal) {
  const Shown shown = show("x\x1b[31m\xff bad", "bad");
  EXPECT_EQ(shown.lines[1], " 1 | x\\x1b[31m\\xff bad");
  EXPECT_EQ(shown.lines[2], "   |               ^~~");
  SourceMap sources;
  const FileId file = sources.add("evil\x1b", "x");
  EXPECT_EQ(format(error(ErrorKind::kName, {file, 0, 1}, "no '\x07'", "try\n"), sources),
            "evil\\x1b:1:1: name error: no '\\x07'\n 1 | x\n   | ^\n  hint: try\\x0a\n");
}

TEST(Format, ASpanOverSeveralLinesMarksTheFirst) {
  const Shown shown = show("f(a,\n  b)", 0, 9);
  EXPECT_EQ(shown.lines[1], " 1 | f(a,");
  EXPECT_EQ(shown.lines[2], "   | ^~~~");
}

TEST(Format, EmptySpansAndEndsOfFilesGetOneMark) {
  EXPECT_EQ(show("abc", 3, 3).lines[2], "   |    ^");
  EXPECT_EQ(show("abc", 1, 1).lines[2], "   |  ^");
  EXPECT_EQ(show("", 0, 0).lines[2], "   | ^");
  EXPECT_EQ(show("abc\n", 4, 4).lines[0].substr(0, 11), "f.rasp:2:1:");
  EXPECT_EQ(show("abc\r\n", 3, 5).lines[2], "   |    ^");
}

TEST(Format, LongLinesAreCutAroundThePlace) {
  const std::string text = std::string(5000, 'a') + "BAD" + std::string(5000, 'b');
  const Shown shown = show(text, "BAD");
  EXPECT_LE(display_width(shown.lines[1]), 120u);
  const std::size_t column = shown.lines[1].find("BAD");
  ASSERT_NE(column, std::string::npos);
  EXPECT_NE(shown.lines[1].find("…a"), std::string::npos);
  EXPECT_EQ(shown.lines[1].substr(shown.lines[1].size() - 3), "…");
  // The cut mark takes three bytes and one column.
  EXPECT_EQ(shown.lines[2].find("^~~"), column - 2);
  const Shown all = show(text, 0, text.size());
  EXPECT_LE(all.lines[2].size(), 120u);
}

TEST(Format, ColourOnlyWhenAsked) {
  SourceMap sources;
  const FileId file = sources.add("f", "x;");
  const Diagnostic diagnostic = error(ErrorKind::kName, {file, 0, 1}, "unknown", "known");
  const std::string plain = format(diagnostic, sources);
  std::string coloured = format(diagnostic, sources, {.colour = true});
  EXPECT_EQ(plain.find('\033'), std::string::npos);
  EXPECT_NE(coloured.find('\033'), std::string::npos);
  for (std::size_t at; (at = coloured.find('\033')) != std::string::npos;) {
    coloured.erase(at, coloured.find('m', at) - at + 1);
  }
  EXPECT_EQ(coloured, plain);
}

// The underline has the width of the part it marks, and starts below it, whatever the line holds.
TEST(Format, UnderlinesAreAlignedOnRandomLines) {
  std::mt19937_64 random(3);
  const std::string_view pieces[] = {"a", "é", "漢", "\xff", "\x01", "e\u0301", "+", "\u202e"};
  for (int round = 0; round < 2000; ++round) {
    std::string before, part, after;
    for (std::size_t i = random() % 8; i > 0; --i) before += pieces[random() % std::size(pieces)];
    for (std::size_t i = 1 + random() % 5; i > 0; --i) part += pieces[random() % std::size(pieces)];
    for (std::size_t i = random() % 8; i > 0; --i) after += pieces[random() % std::size(pieces)];
    part = "<" + part + ">";  // ASCII at the ends, so that pieces do not combine across them
    const Shown shown = show(before + part + after, before.size(), before.size() + part.size());
    ASSERT_EQ(shown.lines[1].substr(5), printable(before + part + after));
    const std::string expected =
        std::string(display_width(before), ' ') + "^" + std::string(display_width(part) - 1, '~');
    ASSERT_EQ(shown.lines[2].substr(5), expected) << shown.lines[1];
  }
}

TEST(Format, AnySpanOfAnyBytesIsShownInBoundedSpace) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 3000; ++round) {
    std::string text;
    for (std::size_t i = random() % 400; i > 0; --i) {
      text += static_cast<char>(static_cast<unsigned char>(random() % 256));
    }
    const Shown shown = show(text, random() % (text.size() + 5), random() % (text.size() + 5));
    ASSERT_EQ(shown.lines.size(), 3u);
    for (const std::string& line : shown.lines) {
      ASSERT_LE(line.size(), 600u);
      ASSERT_TRUE(std::all_of(line.begin(), line.end(), [](char c) {
        return static_cast<unsigned char>(c) >= 0x20 && c != '\x7f';
      }));
    }
    ASSERT_EQ(std::count(shown.lines[2].begin(), shown.lines[2].end(), '^'), 1);
  }
}

TEST(Format, ATenMegabyteLineCostsNoMoreThanASmallOne) {
  SourceMap sources;
  const FileId file = sources.add("f", std::string(10'000'000, 'x'));
  const std::string shown =
      format(error(ErrorKind::kSyntax, {file, 9'999'000, 9'999'001}, "here"), sources);
  EXPECT_LE(shown.size(), 400u);
  EXPECT_EQ(shown.substr(0, 11), "f:1:9999001");
}

TEST(Closest, SuggestsWhatWasMeant) {
  const std::vector<std::string> names = {"tokens", "indices", "length", "select", "aggregate"};
  EXPECT_EQ(closest("token", names), "tokens");
  EXPECT_EQ(closest("tokesn", names), "tokens");
  EXPECT_EQ(closest("indexes", names), "indices");
  EXPECT_EQ(closest("lenght", names), "length");
  EXPECT_EQ(closest("Length", names), "length");
  EXPECT_EQ(closest("agregate", names), "aggregate");
  EXPECT_EQ(closest("banana", names), "");
  EXPECT_EQ(closest("x", {"y"}), "");
  EXPECT_EQ(closest("", names), "");
  EXPECT_EQ(closest("tokens", {}), "");
  EXPECT_EQ(closest(std::string(1'000'000, 'a'), names), "");
}

TEST(Closest, DoesNotDependOnTheOrderOfTheCandidates) {
  std::vector<std::string> names = {"cart", "card", "care", "cars", "core"};
  std::sort(names.begin(), names.end());
  do {
    ASSERT_EQ(closest("carx", names), "card");
  } while (std::next_permutation(names.begin(), names.end()));
}

Result<int> half(int value) {
  if (value % 2 != 0) return fail(ErrorKind::kValue, {}, "odd");
  return value / 2;
}
Result<int> quarter(int value) {
  RASP_TRY(const int once, half(value));
  RASP_TRY(const int twice, half(once));
  return twice;
}

TEST(Result, TryReturnsTheFirstFailure) {
  EXPECT_EQ(quarter(12).value(), 3);
  ASSERT_FALSE(quarter(6).has_value());
  EXPECT_EQ(quarter(6).error().message, "odd");
}

TEST(Names, EveryKindHasItsOwn) {
  std::vector<std::string_view> seen;
  for (int kind = 0; kind <= static_cast<int>(ErrorKind::kInput); ++kind) {
    const std::string_view name = name_of(static_cast<ErrorKind>(kind));
    EXPECT_FALSE(name.empty());
    EXPECT_EQ(std::count(seen.begin(), seen.end(), name), 0);
    seen.push_back(name);
  }
  EXPECT_EQ(name_of(Level::kNote), "note");
}

}  // namespace
}  // namespace rasp
