// No text is too much: what exceeds a limit is a limit error, in bounded time and memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "parsed_text.h"

namespace rasp::syntax {
namespace {

using ::testing::IsEmpty;
using testing::ParsedText;
using ::testing::SizeIs;

std::string repeated(std::size_t count, const std::string& text) {
  std::string out;
  out.reserve(count * text.size());
  for (std::size_t i = 0; i < count; ++i) out += text;
  return out;
}

void expect_limit(const std::string& text, const std::string& message) {
  const ParsedText parsed(text);
  ASSERT_THAT(parsed.errors(), SizeIs(1)) << text.substr(0, 40);
  EXPECT_EQ(parsed.diagnostics()[0].kind, ErrorKind::kLimit) << parsed.errors()[0];
  EXPECT_THAT(parsed.diagnostics()[0].message, ::testing::HasSubstr(message));
}

// Ways to nest `depth` deep.
using Nest = std::function<std::string(std::size_t depth)>;
const std::vector<Nest>& nests() {
  static const std::vector<Nest> all = {
      [](std::size_t n) { return repeated(n, "(") + "x" + repeated(n, ")") + ";"; },
      [](std::size_t n) { return repeated(n, "[") + "x" + repeated(n, "]") + ";"; },
      [](std::size_t n) { return "y = " + repeated(n, "{1:") + "x" + repeated(n, "}") + ";"; },
      [](std::size_t n) { return repeated(n, "f(") + "x" + repeated(n, ")") + ";"; },
      [](std::size_t n) { return repeated(n, "x[") + "x" + repeated(n, "]") + ";"; },
      [](std::size_t n) { return repeated(n, "- ") + "x;"; },
      [](std::size_t n) { return repeated(n, "not ") + "x;"; },
      [](std::size_t n) { return repeated(n, "x if ") + "c" + repeated(n, " else y") + ";"; },
      [](std::size_t n) { return repeated(n, "for i in l { ") + repeated(n, "}"); },
      [](std::size_t n) { return repeated(n, "def f() { ") + repeated(n, " return 1; }"); },
  };
  return all;
}

TEST(Limits, NestingUpToTheLimitParses) {
  for (const Nest& nest : nests()) {
    const ParsedText parsed(nest(kMaxNesting));
    EXPECT_THAT(parsed.errors(), IsEmpty()) << nest(3);
    EXPECT_THAT(parsed.statements(), SizeIs(1)) << nest(3);
  }
}

TEST(Limits, DeeperNestingIsALimitError) {
  for (const Nest& nest : nests()) {
    expect_limit(nest(kMaxNesting + 1), "nest at most 200 deep");
    expect_limit(nest(20'000), "nest at most 200 deep");
  }
  expect_limit(repeated(10'000, "("), "nest at most 200 deep");
  expect_limit(repeated(1'000'000, "("), "nest at most 200 deep");
  expect_limit(repeated(300'000, "-"), "nest at most 200 deep");
  expect_limit(repeated(400'000, "(") + repeated(400'000, "]"), "nest at most 200 deep");
}

TEST(Limits, WhatIsBesideADeepStatementIsRead) {
  EXPECT_EQ(ParsedText("a;" + repeated(300, "(") + "x" + repeated(300, ")") + ";b;").printed(),
            "a;\nb;");
}

TEST(Limits, LongChainsParse) {
  for (const std::string link : {"+1", "^1", " and 1", " in 1", " if 1 else 1", "[1]", "()"}) {
    const ParsedText parsed("x" + repeated(kMaxChain - 1, link) + ";");
    EXPECT_THAT(parsed.errors(), IsEmpty()) << link;
    EXPECT_THAT(parsed.statements(), SizeIs(1)) << link;
    EXPECT_GT(parsed.printed().size(), kMaxChain) << link;
    expect_limit("x" + repeated(kMaxChain + 1, link) + ";", "20000");
  }
}

TEST(Limits, LongListsAndProgramsParse) {
  EXPECT_THAT(ParsedText("[" + repeated(100'000, "1,") + "1];").statements(), SizeIs(1));
  EXPECT_THAT(ParsedText(repeated(100'000, "1;")).statements(), SizeIs(100'000));
  EXPECT_THAT(ParsedText("#" + std::string(3'000'000, 'x') + "\na;").statements(), SizeIs(1));
  EXPECT_THAT(ParsedText("\"" + repeated(1'000'000, "§") + "\";").statements(), SizeIs(1));
  EXPECT_THAT(ParsedText(std::string(1'000'000, 'x') + ";").statements(), SizeIs(1));
}

TEST(Limits, TextsAreBounded) {
  expect_limit(std::string(kMaxSourceBytes + 1, ' '), "at most 4194304 bytes");
  expect_limit(std::string(10'000'000, 'x'), "at most 4194304 bytes");
  expect_limit(repeated(kMaxTokens / 2 + 1, "1;"), "at most 1000000 words and signs");
}

TEST(Limits, NumbersAreBounded) {
  EXPECT_THAT(ParsedText(std::string(39'000, '9') + ";").errors(), IsEmpty());
  expect_limit(std::string(40'000, '9') + ";", "digits");
  expect_limit(std::string(1'000'000, '0') + ";", "digits");
  expect_limit("0." + std::string(1'000'000, '1') + ";", "digits");
  expect_limit("puzzle p() { length 1 to " + std::string(1000, '1') + "; }", "at most 1000000");
}

}  // namespace
}  // namespace rasp::syntax
