#include "runtime/codec.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace rasp::runtime {
namespace {

using model::Decoder;
using model::Matrix;
using model::Model;
using value::Atom;
using value::Number;

Atom text(const char* characters) { return std::string(characters); }

Model model_with(std::vector<Atom> vocabulary, Eigen::Index outputs = 1) {
  Model model;
  model.vocabulary = std::move(vocabulary);
  model.max_length = 4;
  model.unembedding = Matrix::Zero(1, outputs);
  return model;
}

TEST(Encode, TypesTellTokensApart) {
  const Model model =
      model_with({value::make_int(1), text("1"), Atom(true), Number::rational(1, 1)});
  const std::vector<Atom> input = {Atom(true), text("1"), Number::rational(1, 1),
                                   value::make_int(1)};
  EXPECT_EQ(encode(model, input).value(), (std::vector<TokenId>{2, 1, 3, 0}));
}

TEST(Encode, ErrorsNameTokenPositionAndLimit) {
  const Model model = model_with({text("a"), text("b")});
  const auto message = [&](const std::vector<Atom>& input) {
    const auto ids = encode(model, input);
    EXPECT_FALSE(ids.has_value());
    EXPECT_EQ(ids.error().kind, ErrorKind::kInput);
    return ids.error().message + " | " + ids.error().hint;
  };
  EXPECT_NE(message({}).find("empty"), std::string::npos);
  const std::string unknown = message({text("a"), text("x")});
  EXPECT_NE(unknown.find("'x' at position 1"), std::string::npos) << unknown;
  EXPECT_NE(unknown.find("'a', 'b'"), std::string::npos) << unknown;
  const std::string long_input = message(std::vector<Atom>(5, text("a")));
  EXPECT_NE(long_input.find("5 tokens"), std::string::npos);
  EXPECT_NE(long_input.find("at most 4"), std::string::npos);
  EXPECT_NE(message({value::make_int(1)}).find("1 at position 0"), std::string::npos);
}

TEST(Decode, ArgmaxTakesTheFirstOfEqualOutputs) {
  Model model = model_with({text("a")}, 3);
  model.decoder.values = {text("x"), text("y"), text("z")};
  Matrix y(3, 3);
  y << 0, 2, 1, 5, 5, 5, -3, -2, -1;
  const auto sequence = decode(model, y).value();
  EXPECT_EQ(sequence, (value::Sequence{text("y"), text("x"), text("z")}));
}

TEST(Decode, TheNearestCodeWins) {
  Model model = model_with({text("a")}, 2);
  model.decoder.kind = Decoder::Kind::kScalar;
  model.decoder.values = {text("low"), Atom(true), value::make_int(3)};
  model.decoder.codes = {Number::integer(-1), Number::rational(1, 3), Number::integer(3)};
  model.decoder.type_output = 1;
  Matrix y(6, 2);
  y << -50, 0, -0.4, 0, -0.3, 1, 1.6, 1, 1.7, 0, 99, 1;
  const auto sequence = decode(model, y).value();
  const value::Sequence expected = {text("low"), text("low"),        Atom(true),
                                    Atom(true),  value::make_int(3), Number::rational(3, 1)};
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_TRUE(value::identical(sequence[i], expected[i])) << i;
}

TEST(Decode, AFractionWithinItsRange) {
  Model model = model_with({text("a")});
  model.decoder.kind = Decoder::Kind::kScalar;
  model.decoder.minimum = Number::rational(-1, 2);
  model.decoder.maximum = Number::integer(2);
  model.decoder.max_denominator = 8;
  Matrix y(5, 1);
  y << 0.3333333, 1.0000001, -7, 9, -1e-30;
  const auto sequence = decode(model, y).value();
  const value::Sequence expected = {Number::rational(1, 3), value::make_int(1),
                                    Number::rational(-1, 2), value::make_int(2),
                                    value::make_int(0)};
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_TRUE(value::identical(sequence[i], expected[i])) << value::repr(sequence[i]);
  model.decoder.number_type = Decoder::NumberType::kFloat;
  EXPECT_TRUE(value::identical(decode(model, y).value()[1], Number::rational(1, 1)));
}

TEST(Decode, AMultipleOfAUnit) {
  Model model = model_with({text("a")});
  model.decoder.kind = Decoder::Kind::kScalar;
  model.decoder.minimum = Number::integer(-1);
  model.decoder.maximum = Number::integer(2);
  model.decoder.max_denominator = 6;
  model.decoder.multiples = true;
  Matrix y(4, 1);
  y << 0.2, 0.49, -3, 0.1666666;  // 1/5 and such are none
  const auto sequence = decode(model, y).value();
  const value::Sequence expected = {Number::rational(1, 6), Number::rational(1, 2),
                                    value::make_int(-1), Number::rational(1, 6)};
  for (std::size_t i = 0; i < expected.size(); ++i)
    EXPECT_TRUE(value::identical(sequence[i], expected[i])) << value::repr(sequence[i]);
}

TEST(Decode, APatternHasNoOutputs) {
  Model model = model_with({text("a")}, 0);
  model.decoder.kind = Decoder::Kind::kPattern;
  EXPECT_EQ(decode(model, Matrix::Zero(2, 0)).error().kind, ErrorKind::kModel);
}

TEST(Decode, WhatIsNotFiniteIsAnError) {
  Model model = model_with({text("a")}, 2);
  model.decoder.values = {text("x"), text("y")};
  Matrix y = Matrix::Zero(2, 2);
  y(1, 1) = std::nan("");
  EXPECT_EQ(decode(model, y).error().kind, ErrorKind::kModel);
  EXPECT_FALSE(decode(model, Matrix::Zero(1, 3)).has_value());
}

// Against trying every denominator.
TEST(NearestFraction, IsTheNearest) {
  std::mt19937_64 engine(7);
  std::uniform_real_distribution<double> number(-3, 3);
  for (int round = 0; round < 3000; ++round) {
    const std::int64_t limit = 1 + static_cast<std::int64_t>(engine() % 60);
    const double y = number(engine);
    double best = INFINITY;
    for (std::int64_t q = 1; q <= limit; ++q) {
      const double scaled = y * static_cast<double>(q);
      best = std::min(best, std::abs(std::nearbyint(scaled) / static_cast<double>(q) - y));
    }
    EXPECT_NEAR(std::abs(nearest_fraction(y, limit).to_double() - y), best, 1e-15)
        << y << " " << limit;
  }
}

TEST(NearestFraction, FindsEveryFractionFromItsFloat) {
  for (std::int64_t q = 1; q <= 300; ++q)
    for (std::int64_t p = -q; p <= 2 * q; p += 1 + q / 7) {
      const auto rounded = static_cast<float>(p) / static_cast<float>(q);
      EXPECT_EQ(nearest_fraction(static_cast<double>(rounded), 300), Number::rational(p, q));
    }
  EXPECT_TRUE(nearest_fraction(3.0, 1).is_int());
  EXPECT_EQ(nearest_fraction(0x1p60, 5), Number::integer(std::int64_t{1} << 60));
  EXPECT_EQ(nearest_fraction(-0x1p-1000, 4294967296), Number::integer(0));
  EXPECT_EQ(nearest_fraction(0.3, 4294967296).to_double(), 0.3);
}

}  // namespace
}  // namespace rasp::runtime
