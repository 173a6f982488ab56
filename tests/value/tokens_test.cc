// How tokens are read.
#include <gtest/gtest.h>

#include <string>

#include "random_values.h"
#include "value/operators.h"

namespace rasp::value {
namespace {

using namespace std::string_literals;

std::string read(TokenKind kind, const Atom& token) {
  const OpResult result = read_token(kind, token);
  if (result) return std::string(name_of(type_of(*result))) + " " + repr(*result);
  return std::string(name_of(result.error().kind)) + " error: " + result.error().message;
}

TEST(Tokens, AreReadAsPythonReadsThem) {
  EXPECT_EQ(read(TokenKind::kInt, "12"s), "int 12");
  EXPECT_EQ(read(TokenKind::kInt, " -12\t"s), "int -12");
  EXPECT_EQ(read(TokenKind::kInt, "+1_000"s), "int 1000");
  EXPECT_EQ(read(TokenKind::kInt, "007"s), "int 7");
  EXPECT_EQ(read(TokenKind::kInt, Number::rational(-5, 2)), "int -2");
  EXPECT_EQ(read(TokenKind::kInt, true), "int 1");
  EXPECT_EQ(read(TokenKind::kInt, make_int(3)), "int 3");
  EXPECT_EQ(read(TokenKind::kFloat, "2"s), "float 2.0");
  EXPECT_EQ(read(TokenKind::kFloat, ".5"s), "float 0.5");
  EXPECT_EQ(read(TokenKind::kFloat, "5."s), "float 5.0");
  EXPECT_EQ(read(TokenKind::kFloat, "-1.25e2"s), "float -125.0");
  EXPECT_EQ(read(TokenKind::kFloat, "1E-3"s), "float 0.001");
  EXPECT_EQ(read(TokenKind::kFloat, make_int(3)), "float 3.0");
  EXPECT_EQ(read(TokenKind::kFloat, false), "float 0.0");
  EXPECT_EQ(read(TokenKind::kBool, ""s), "bool False");
  EXPECT_EQ(read(TokenKind::kBool, "False"s), "bool True");
  EXPECT_EQ(read(TokenKind::kBool, "0"s), "bool True");
  EXPECT_EQ(read(TokenKind::kBool, make_int(0)), "bool False");
  EXPECT_EQ(read(TokenKind::kString, make_int(3)), "string '3'");
  EXPECT_EQ(read(TokenKind::kString, Number::rational(1, 2)), "string '0.5'");
  EXPECT_EQ(read(TokenKind::kString, true), "string 'True'");
  EXPECT_EQ(read(TokenKind::kString, "x"s), "string 'x'");
  EXPECT_EQ(read(TokenKind::kAsIs, make_int(3)), "int 3");
}

TEST(Tokens, DecimalsAreExact) {
  EXPECT_EQ(std::get<Number>(*read_token(TokenKind::kFloat, "0.1"s)), Number::rational(1, 10));
  EXPECT_EQ(std::get<Number>(*read_token(TokenKind::kFloat, "1e-3"s)), Number::rational(1, 1000));
}

TEST(Tokens, WhatIsNoNumberIsAValueErrorThatNamesIt) {
  EXPECT_EQ(read(TokenKind::kInt, "h"s),
            "value error: tokens_int cannot read the string 'h' as an int");
  EXPECT_EQ(read(TokenKind::kFloat, "h"s),
            "value error: tokens_float cannot read the string 'h' as a float");
  for (const char* text :
       {"", " ", "-", "1.5", "1e3", "_1", "1_", "1__0", "1 2", "0x1", "--1", "é"}) {
    const OpResult result = read_token(TokenKind::kInt, std::string(text));
    ASSERT_FALSE(result.has_value()) << text;
    EXPECT_EQ(result.error().kind, ErrorKind::kValue);
  }
  for (const char* text : {"", ".", "-.", "e5", ".e5", "1e", "1e+", "1.2.3", "1._5", "1_.5", "inf",
                           "nan", "Infinity", "1e99999999999", "1e-99999999", "0x1p3"}) {
    const OpResult result = read_token(TokenKind::kFloat, std::string(text));
    ASSERT_FALSE(result.has_value()) << text;
    EXPECT_EQ(result.error().kind, ErrorKind::kValue);
  }
}

TEST(Tokens, HaveTheTypesThatAreAnnounced) {
  Random random(51);
  for (int round = 0; round < 5000; ++round) {
    const Atom token = random_atom(random);
    for (const TokenKind kind : {TokenKind::kAsIs, TokenKind::kString, TokenKind::kInt,
                                 TokenKind::kFloat, TokenKind::kBool}) {
      const OpResult result = read_token(kind, token);
      if (result) {
        ASSERT_TRUE(contains(types_of(kind), type_of(*result)));
      }
      const bool number_wanted = kind == TokenKind::kInt || kind == TokenKind::kFloat;
      ASSERT_TRUE(result || (number_wanted && type_of(token) == Type::kString));
    }
  }
}

TEST(Tokens, WhatIsPrintedReadsBack) {
  Random random(52);
  for (int round = 0; round < 5000; ++round) {
    const Atom token = random_atom(random, Type::kInt);
    const Atom text = *read_token(TokenKind::kString, token);
    ASSERT_TRUE(identical(*read_token(TokenKind::kInt, text), token));
  }
}

}  // namespace
}  // namespace rasp::value
