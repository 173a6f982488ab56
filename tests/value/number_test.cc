#include "value/number.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>
#include <utility>
#include <vector>

#include "random_values.h"

namespace rasp::value {
namespace {
namespace mp = boost::multiprecision;

constexpr int kRounds = 40'000;

// Right value, right type, and in the one form that a value has: shrunk whenever it fits.
void expect_is(const Number& number, const BigRational& exact, bool is_float) {
  ASSERT_EQ(number.to_rational(), exact);
  ASSERT_EQ(number.is_float(), is_float);
  const bool fits =
      mp::abs(mp::numerator(exact)) <= INT64_MAX && mp::denominator(exact) <= INT64_MAX;
  if (fits) {
    ASSERT_TRUE(number.is_small()) << exact;
  }
  if (number.is_small()) {
    ASSERT_EQ(number.to_fraction()->num, mp::numerator(exact));
    ASSERT_EQ(number.to_fraction()->den, mp::denominator(exact));
  }
}

BigInt floor_div(const BigRational& value) {
  BigInt quotient = mp::numerator(value) / mp::denominator(value);
  if (BigRational(quotient) > value) --quotient;
  return quotient;
}

TEST(Number, ArithmeticAgreesWithUnboundedRationals) {
  Random random(11);
  for (int round = 0; round < kRounds; ++round) {
    const Known a = random_known(random);
    const Known b = random_known(random);
    const bool is_float = a.number.is_float() || b.number.is_float();
    expect_is(a.number, a.exact, a.number.is_float());
    expect_is(a.number + b.number, a.exact + b.exact, is_float);
    expect_is(a.number - b.number, a.exact - b.exact, is_float);
    expect_is(a.number * b.number, a.exact * b.exact, is_float);
    expect_is(-a.number, -a.exact, a.number.is_float());
    if (!b.number.is_zero()) {
      expect_is(Number::divide(a.number, b.number), a.exact / b.exact, true);
      const BigRational rest = a.exact - b.exact * BigRational(floor_div(a.exact / b.exact));
      expect_is(Number::modulo(a.number, b.number), rest, is_float);
    }
    if (HasFatalFailure()) FAIL() << a.exact << " and " << b.exact;
  }
}

TEST(Number, RoundingTruncatingAndReadingAgreeWithUnboundedRationals) {
  Random random(12);
  for (int round = 0; round < kRounds; ++round) {
    Known a = random_known(random);
    if (round % 4 == 0) {  // ties
      a.number = Number::rational(random_int64(random), 2);
      a.exact = a.number.to_rational();
    }
    const BigInt floor = floor_div(a.exact);
    const BigRational above = a.exact - BigRational(floor);
    const bool odd = mp::abs(floor) % 2 == 1;
    const bool up = above > BigRational(1, 2) || (above == BigRational(1, 2) && odd);
    expect_is(Number::round_half_even(a.number),
              BigRational(BigInt(up ? BigInt(floor + 1) : floor)), false);
    const BigInt cut = mp::numerator(a.exact) / mp::denominator(a.exact);
    expect_is(a.number.as_int(), BigRational(cut), false);
    expect_is(a.number.as_float(), a.exact, true);
    ASSERT_EQ(a.number.is_integral(), mp::denominator(a.exact) == 1);
    ASSERT_EQ(a.number.sign(), a.exact.sign());
    const bool fits = a.number.is_integral() && cut >= INT64_MIN && cut <= INT64_MAX;
    ASSERT_EQ(a.number.to_int64().has_value(), fits) << a.exact;
    if (fits) {
      ASSERT_EQ(*a.number.to_int64(), cut);
    }
    if (HasFatalFailure()) FAIL() << a.exact;
  }
}

TEST(Number, OrderAndHashAgreeWithUnboundedRationals) {
  Random random(13);
  std::vector<Known> pool;
  for (int i = 0; i < 300; ++i) {
    pool.push_back(random_known(random));
    pool.push_back({pool.back().number.as_float(), pool.back().exact});
    const double real =
        i % 2 == 0 ? random_double(random) : static_cast<double>(random_int64(random));
    pool.push_back({Number::inexact(real), BigRational(real)});
    pool.push_back({Number::rational(BigRational(real)), BigRational(real)});
  }
  for (const Known& a : pool) {
    for (const Known& b : pool) {
      const int order = a.exact.compare(b.exact);
      ASSERT_EQ(Number::compare(a.number, b.number), (order > 0) - (order < 0))
          << a.exact << " " << b.exact;
      ASSERT_EQ(a.number == b.number, order == 0);
      ASSERT_EQ(a.number < b.number, order < 0);
      if (order == 0) {
        ASSERT_EQ(a.number.hash(), b.number.hash()) << a.exact;
      }
    }
  }
}

TEST(Number, HashesOfSmallNumbersSpread) {
  std::vector<std::size_t> hashes;
  for (std::int64_t num = -200; num <= 200; ++num) {
    for (std::int64_t den = 1; den <= 50; ++den) {
      const Number number = Number::rational(num, den);
      if (number.to_fraction()->den == den) hashes.push_back(number.hash() % (1u << 20));
    }
  }
  std::sort(hashes.begin(), hashes.end());
  const auto distinct = std::unique(hashes.begin(), hashes.end()) - hashes.begin();
  EXPECT_GT(distinct, static_cast<std::ptrdiff_t>(hashes.size() * 98 / 100));
}

TEST(Number, RingLaws) {
  Random random(14);
  for (int round = 0; round < kRounds / 4; ++round) {
    const Number a = random_known(random).number;
    const Number b = random_known(random).number;
    const Number c = random_known(random).number;
    ASSERT_EQ(a + b, b + a);
    ASSERT_EQ(a * b, b * a);
    ASSERT_EQ((a + b) + c, a + (b + c));
    ASSERT_EQ((a * b) * c, a * (b * c));
    ASSERT_EQ(a * (b + c), a * b + a * c);
    ASSERT_EQ(a - b, -(b - a));
    ASSERT_TRUE((a - a).is_zero());
    if (!b.is_zero()) {
      ASSERT_EQ(Number::divide(a, b) * b, a);
    }
    ASSERT_EQ(a < b, a + c < b + c);
  }
}

TEST(Number, PowersAgreeWithRepeatedProducts) {
  Random random(15);
  for (int round = 0; round < 4000; ++round) {
    const Known base = random_known(random);
    const auto times = static_cast<std::int64_t>(below(random, 12));
    BigRational product = 1;
    for (std::int64_t i = 0; i < times; ++i) product *= base.exact;
    const bool float_exponent = below(random, 2) == 0;
    const Number exponent = float_exponent ? Number::rational(times, 1) : Number::integer(times);
    expect_is(*Number::power(base.number, exponent), product,
              base.number.is_float() || float_exponent);
    if (base.exact != 0) {
      expect_is(*Number::power(base.number, -exponent), 1 / product,
                base.number.is_float() || float_exponent || times > 0);
    }
    const std::size_t bound = Number::power_bits(base.number, exponent);
    const std::size_t bits = std::max(Number::power(base.number, exponent)->bits(), std::size_t{1});
    ASSERT_LE(bound, std::max(bits, std::size_t{1}));
    if (HasFatalFailure()) FAIL() << base.exact << "^" << times;
  }
}

TEST(Number, PowersAtTheBorders) {
  const auto power = [](const Number& a, const Number& b) { return Number::power(a, b); };
  const Number huge = Number::integer(BigInt(1) << 100000);
  EXPECT_EQ(power(Number::integer(0), Number::integer(0)), Number::integer(1));
  EXPECT_EQ(power(Number::integer(0), huge), Number::integer(0));
  EXPECT_EQ(power(Number::integer(1), huge), Number::integer(1));
  EXPECT_EQ(power(Number::integer(-1), huge), Number::integer(1));
  EXPECT_EQ(power(Number::integer(-1), huge + Number::integer(1)), Number::integer(-1));
  EXPECT_EQ(power(Number::integer(-1), -huge), Number::integer(1));
  EXPECT_TRUE(power(Number::integer(-1), -huge)->is_float());
  EXPECT_FALSE(power(Number::integer(0), Number::integer(-1)).has_value());
  EXPECT_FALSE(power(Number::integer(-8), Number::rational(1, 3)).has_value());
  EXPECT_FALSE(power(huge, Number::rational(1, 2)).has_value());  // beyond a double
  EXPECT_GT(Number::power_bits(Number::integer(2), huge), kMaxNumberBits);
  EXPECT_GT(Number::power_bits(Number::integer(2), -huge), kMaxNumberBits);
  EXPECT_GT(Number::power_bits(Number::integer(2), Number::integer(INT64_MIN)), kMaxNumberBits);
  EXPECT_GT(Number::power_bits(huge, Number::integer(1000)), kMaxNumberBits);
  const Number root = *power(Number::integer(2), Number::rational(1, 2));
  EXPECT_FALSE(root.is_exact());
  EXPECT_EQ(root.to_double(), std::sqrt(2.0));
  EXPECT_EQ(root.repr(), "1.4142135623730951");
  const Number four = *power(Number::integer(16), Number::rational(1, 2));
  EXPECT_FALSE(four.is_exact());
  EXPECT_EQ(four, Number::integer(4));
}

TEST(Number, InexactTaintsWhatIsComputedFromIt) {
  const Number root = Number::inexact(1.5);
  const Number one = Number::integer(1);
  for (const Number& result : {root + one, one - root, root * one, -root, Number::divide(one, root),
                               Number::modulo(root, one), *Number::power(root, one)}) {
    EXPECT_FALSE(result.is_exact());
    EXPECT_TRUE(result.is_float());
    EXPECT_TRUE(result.is_finite());
  }
  EXPECT_EQ(Number::modulo(Number::inexact(-0.5), one).to_double(), 0.5);
  EXPECT_EQ(Number::modulo(Number::inexact(0.5), -one).to_double(), -0.5);
  EXPECT_TRUE(Number::round_half_even(root).is_exact());
  EXPECT_EQ(Number::round_half_even(root), Number::integer(2));
  EXPECT_EQ(Number::inexact(2.5).as_int(), Number::integer(2));
  EXPECT_EQ(Number::inexact(-0.0).repr(), "0.0");
  EXPECT_FALSE((Number::inexact(1e300) * Number::inexact(1e300)).is_finite());
  EXPECT_EQ(Number::inexact(0x1p63).to_int64(), std::nullopt);
  EXPECT_EQ(Number::inexact(-0x1p63).to_int64(), INT64_MIN);
  EXPECT_EQ(Number::inexact(0.5).to_int64(), std::nullopt);
}

TEST(Number, CopiesMovesAndSharesAcrossThreads) {
  const Number big = Number::integer(BigInt(1) << 200);
  Number copy = big;
  Number& alias = copy;
  copy = alias;
  EXPECT_EQ(copy, big);
  const Number moved = std::move(copy);
  EXPECT_EQ(moved, big);
  copy = Number::integer(3);  // a moved-from number can be given a new value
  EXPECT_EQ(copy, Number::integer(3));
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&big] {
      std::vector<Number> copies;
      for (int i = 0; i < 10'000; ++i) copies.push_back(big);
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(big.bits(), 201u);
}

}  // namespace
}  // namespace rasp::value
