#include "runtime/cpu/exp.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

namespace rasp::runtime {
namespace {

// The distance between neighbours at `value`, a float's unit in the last place.
template <typename Scalar>
long double ulp(long double value) {
  const auto rounded = static_cast<Scalar>(value);
  const Scalar next = std::nextafter(rounded, std::numeric_limits<Scalar>::infinity());
  return static_cast<long double>(next) - static_cast<long double>(rounded);
}

template <typename Scalar>
long double error_in_ulps(Scalar x) {
  const long double exact = std::exp(static_cast<long double>(x));
  return std::abs(static_cast<long double>(exp_of(x)) - exact) / ulp<Scalar>(exact);
}

// Lets NaN through, which std::max would not.
void raise(long double& worst, long double error) {
  if (!(error <= worst)) worst = error;
}

// Every float from 0 to -104 is too many for a short test; every 61st is not.
TEST(Exp, FloatsAreWithinTwoUlps) {
  long double worst = 0;
  for (std::uint32_t bits = 0x80000000u; bits < 0xC2D00000u; bits += 61)
    raise(worst, error_in_ulps(std::bit_cast<float>(bits)));
  for (std::uint32_t bits = 0; bits < 0x42B17217u; bits += 641)  // to ln(FLT_MAX)
    raise(worst, error_in_ulps(std::bit_cast<float>(bits)));
  EXPECT_LE(worst, 2.0L);
  RecordProperty("worst_ulp", std::to_string(worst));
}

TEST(Exp, DoublesAreWithinTwoUlps) {
  std::mt19937_64 engine(1);
  std::uniform_real_distribution<double> wide(-745.2, 709.7);
  std::uniform_real_distribution<double> narrow(-2, 2);
  long double worst = 0;
  for (int i = 0; i < 400'000; ++i) {
    raise(worst, error_in_ulps(wide(engine)));
    raise(worst, error_in_ulps(narrow(engine)));
  }
  EXPECT_LE(worst, 2.0L);
  RecordProperty("worst_ulp", std::to_string(worst));
}

template <typename Scalar>
void check_edges() {
  constexpr Scalar kInfinity = std::numeric_limits<Scalar>::infinity();
  EXPECT_EQ(exp_of(Scalar{0}), Scalar{1});
  EXPECT_EQ(exp_of(-Scalar{0}), Scalar{1});
  EXPECT_EQ(exp_of(-kInfinity), Scalar{0});
  EXPECT_EQ(exp_of(kInfinity), kInfinity);
  EXPECT_TRUE(std::isnan(exp_of(std::numeric_limits<Scalar>::quiet_NaN())));
  EXPECT_EQ(exp_of(std::numeric_limits<Scalar>::lowest()), Scalar{0});
  for (Scalar x = kExpZero<Scalar>; x > Scalar{-5000}; x -= Scalar{0.375}) {
    EXPECT_EQ(exp_of(x), Scalar{0});
    EXPECT_FALSE(std::signbit(exp_of(x)));
  }
  EXPECT_GT(exp_of(kExpZero<Scalar> + Scalar{2}), Scalar{0});  // subnormals are kept
}

TEST(Exp, ExactEdges) {
  check_edges<float>();
  check_edges<double>();
}

}  // namespace
}  // namespace rasp::runtime
