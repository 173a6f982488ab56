#include "runtime/positions.h"

#include <gtest/gtest.h>

#include <cmath>

#include "runtime/multi_head.h"

namespace rasp::runtime {
namespace {

TEST(Positions, SinusoidalIsThatOfThePaper) {
  for (const std::size_t dim : {1U, 2U, 5U, 8U, 64U}) {
    const PositionTable table = sinusoidal_positions(50, dim);
    ASSERT_EQ(table.values.size(), 50 * dim);
    for (std::size_t p = 0; p < 50; ++p)
      for (std::size_t i = 0; 2 * i < dim; ++i) {
        const double angle =
            static_cast<double>(p) /
            std::pow(10'000.0, static_cast<double>(2 * i) / static_cast<double>(dim));
        EXPECT_NEAR(table.values[p * dim + 2 * i], std::sin(angle), 1e-12);
        if (2 * i + 1 < dim) {
          EXPECT_NEAR(table.values[p * dim + 2 * i + 1], std::cos(angle), 1e-12);
        }
      }
  }
}

// "PE(pos + k) can be represented as a linear function of PE(pos)": a rotation of every pair, so
// the product of two rows depends on their distance only.
TEST(Positions, SinusoidalProductsDependOnTheDistance) {
  constexpr std::size_t kDim = 16;
  const PositionTable table = sinusoidal_positions(60, kDim);
  const auto product = [&](std::size_t a, std::size_t b) {
    double sum = 0;
    for (std::size_t c = 0; c < kDim; ++c)
      sum += table.values[a * kDim + c] * table.values[b * kDim + c];
    return sum;
  };
  for (std::size_t distance = 0; distance < 30; ++distance)
    for (std::size_t p = 0; p + distance < 60; ++p)
      EXPECT_NEAR(product(p, p + distance), product(0, distance), 1e-11);
}

TEST(Positions, OneHotIsTheUnitMatrix) {
  const auto table = one_hot_positions(3, 5);
  ASSERT_TRUE(table.has_value());
  for (std::size_t p = 0; p < 3; ++p)
    for (std::size_t c = 0; c < 5; ++c) EXPECT_EQ(table->values[p * 5 + c], p == c ? 1.0 : 0.0);
  const auto narrow = one_hot_positions(6, 5);
  ASSERT_FALSE(narrow.has_value());
  EXPECT_NE(narrow.error().message.find("6 positions"), std::string::npos);
}

TEST(Positions, GivenTablesAreMeasured) {
  EXPECT_TRUE(given_positions(2, 3, {1, 2, 3, 4, 5, 6}).has_value());
  EXPECT_FALSE(given_positions(2, 3, {1, 2, 3, 4, 5}).has_value());
  EXPECT_FALSE(given_positions(std::size_t{1} << 63, 2, {}).has_value());
  EXPECT_TRUE(given_positions(7, 0, {}).has_value());
}

TEST(Positions, AreAddedFromThePositionOn) {
  const auto table = given_positions(3, 2, {1, 2, 10, 20, 100, 200});
  ASSERT_TRUE(table.has_value());
  std::vector<float> x(2 * 2 * 2 * 2, 0.5F);
  ASSERT_TRUE(add_positions(*table, 1, packed(x.data(), 2, 2, 2, 2)).has_value());
  for (std::size_t head = 0; head < 4; ++head)
    EXPECT_EQ(std::vector<float>(x.begin() + static_cast<std::ptrdiff_t>(head * 4),
                                 x.begin() + static_cast<std::ptrdiff_t>(head * 4 + 4)),
              (std::vector<float>{10.5, 20.5, 100.5, 200.5}));
  EXPECT_FALSE(add_positions(*table, 2, packed(x.data(), 2, 2, 2, 2)).has_value());
  EXPECT_FALSE(add_positions(*table, 4, packed(x.data(), 1, 1, 0, 2)).has_value());
  EXPECT_FALSE(add_positions(*table, 0, packed(x.data(), 2, 2, 1, 4)).has_value());
}

// Rows alike but for their positions: one-hot keys make every query attend to the token before, so
// the tables do in multi_head what RASP's select(indices, indices - 1, ==) says.
TEST(Positions, OneHotRowsMakeAPreviousTokenHead) {
  constexpr Eigen::Index kLength = 6;
  RowMatrix<double> x = RowMatrix<double>::Zero(kLength, kLength);
  const auto table = one_hot_positions(kLength, kLength);
  ASSERT_TRUE(table.has_value());
  ASSERT_TRUE(add_positions(*table, 0, packed(x.data(), 1, 1, kLength, kLength)).has_value());
  MultiHeadWeights<double> weights;
  weights.wq = RowMatrix<double>::Zero(kLength, kLength);
  for (Eigen::Index p = 1; p < kLength; ++p) weights.wq(p, p - 1) = 10'000;
  weights.wk = weights.wv = weights.wo = RowMatrix<double>::Identity(kLength, kLength);
  Attention attention(1);
  const auto y = multi_head(attention, x, x, weights, {});
  ASSERT_TRUE(y.has_value());
  for (Eigen::Index p = 1; p < kLength; ++p)
    for (Eigen::Index c = 0; c < kLength; ++c) EXPECT_EQ((*y)(p, c), c == p - 1 ? 1.0 : 0.0);
}

}  // namespace
}  // namespace rasp::runtime
