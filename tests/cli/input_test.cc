// INPUT as the command line gives it.
#include "cli/input.h"

#include <gtest/gtest.h>

#include <random>

#include "cli/json.h"

namespace rasp::cli {
namespace {

value::Sequence tokens(std::string_view text) {
  const auto example = parse_input(text);
  EXPECT_TRUE(example) << text << ": " << (example ? "" : example.error().message);
  return example ? example->tokens : value::Sequence{};
}

TEST(Input, TextIsItsCharacters) {
  EXPECT_EQ(tokens("a§b"), (value::Sequence{"a", "§", "b"}));
  EXPECT_EQ(tokens("12"), (value::Sequence{"1", "2"}));
  EXPECT_EQ(tokens(" a"), (value::Sequence{" ", "a"}));
  EXPECT_TRUE(parse_input("ab")->text);
}

TEST(Input, JsonKeepsTypesApart) {
  const value::Sequence sequence = tokens(R"([1, 1.0, true, "1", -2e3])");
  ASSERT_EQ(sequence.size(), 5u);
  EXPECT_EQ(value::type_of(sequence[0]), value::Type::kInt);
  EXPECT_EQ(value::type_of(sequence[1]), value::Type::kFloat);
  EXPECT_EQ(value::type_of(sequence[2]), value::Type::kBool);
  EXPECT_EQ(value::type_of(sequence[3]), value::Type::kString);
  EXPECT_TRUE(value::identical(sequence[4], value::Number::rational(-2000, 1)));
  EXPECT_FALSE(parse_input("[1]")->text);
  EXPECT_EQ(tokens(R"x("[]()")x"), value::characters("[]()"));
  EXPECT_EQ(tokens(R"(["a\n\u00a7"])"), (value::Sequence{"a\n§"}));
}

TEST(Input, DecimalsAreExact) {
  EXPECT_TRUE(value::identical(tokens("[0.1]")[0], value::Number::rational(1, 10)));
  EXPECT_TRUE(value::identical(tokens("[25e-2]")[0], value::Number::rational(1, 4)));
  const std::string digits = "[123456789012345678901234567890]";
  EXPECT_EQ(json_atoms(tokens(digits)), digits);
}

TEST(Input, WhatIsWrongIsAnError) {
  for (const char* text :
       {"[",     "[1",         "[1,",   "[1,]", "[,1]",           "[1 2]",  "[01]",
        "[1.]",  "[.5]",       "[-]",   "[1e]", "[1e9999999999]", "[null]", "[[1]]",
        "[{}]",  "\"a",        "[\"a]", "[1]x", "[\"\\x\"]",      "[tru]",  "[+1]",
        "[NaN]", "[\"\xff\"]", "\xff",  "@",    "@/no/such/file"}) {
    const auto example = parse_input(text);
    ASSERT_FALSE(example) << text;
    EXPECT_EQ(example.error().kind, ErrorKind::kInput) << text;
  }
}

// Whatever the bytes are, the reader ends, and what it accepts it writes back as the same tokens.
TEST(Input, RandomBytesNeverHurt) {
  std::mt19937 random(20240611);
  const std::string alphabet = "[]\"\\,:{} 0123456789.eE+-truefalsn\xc3\xa9\n";
  for (int round = 0; round < 20'000; ++round) {
    std::string text = round % 2 == 0 ? "[" : "";
    const std::size_t length = random() % 12;
    for (std::size_t i = 0; i < length; ++i) text += alphabet[random() % alphabet.size()];
    const auto example = parse_input(text);
    if (!example) continue;
    const auto again = parse_input(json_input(*example));
    ASSERT_TRUE(again) << text;
    ASSERT_EQ(again->tokens.size(), example->tokens.size()) << text;
    for (std::size_t i = 0; i < again->tokens.size(); ++i) {
      EXPECT_TRUE(value::identical(again->tokens[i], example->tokens[i])) << text;
    }
  }
}

TEST(Json, FloatsReadBackAndKeepTheirPoint) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 5'000; ++round) {
    const auto numerator = static_cast<std::int64_t>(random() % 2'000'001) - 1'000'000;
    const auto denominator = static_cast<std::int64_t>(random() % 1000) + 1;
    const value::Number number = value::Number::rational(numerator, denominator);
    const std::string text = json_atom(number);
    EXPECT_NE(text.find_first_of(".eE"), std::string::npos) << text;
    EXPECT_EQ(std::stod(text), number.to_double()) << text;
  }
}

TEST(Json, NumbersBeyondDoublesStayNumbers) {
  const auto huge =
      value::Number::power(value::Number::rational(10, 1), value::Number::integer(400));
  ASSERT_TRUE(huge);
  const std::string text = json_atom(*huge);
  EXPECT_EQ(text.find_first_not_of("0123456789.e+"), std::string::npos) << text;
  EXPECT_EQ(json_atom(value::Atom(std::string("\"\x01"))), R"("\"\u0001")");
}

TEST(Example, WritesItselfAsItWasGiven) {
  EXPECT_EQ(describe(*parse_input("it's")), "\"it's\"");
  EXPECT_EQ(describe(*parse_input(R"([1, "a", 2.5, true])")), "[1, 'a', 2.5, True]");
  EXPECT_TRUE(as_example({"a", "§"}).text);
  EXPECT_FALSE(as_example({"ab"}).text);
  EXPECT_FALSE(as_example({value::make_int(1)}).text);
}

}  // namespace
}  // namespace rasp::cli
