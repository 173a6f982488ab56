#include "value/integers.h"

#include <gtest/gtest.h>

#include <numeric>

#include "random_values.h"
#include "value/ratio.h"

namespace rasp::value {
namespace {
namespace mp = boost::multiprecision;

BigInt random_bits(Random& random, std::size_t bits) {
  BigInt value = 0;
  for (std::size_t i = 0; i < bits; i += 64) value = (value << 64) | random();
  value >>= static_cast<unsigned>((64 - bits % 64) % 64);
  // Long runs of ones and zeros reach carries that random bits do not.
  if (below(random, 4) == 0) value |= (BigInt(1) << static_cast<unsigned>(bits / 2)) - 1;
  if (below(random, 4) == 0)
    value = (value >> static_cast<unsigned>(bits / 2)) << static_cast<unsigned>(bits / 2);
  return value;
}

TEST(Gcd, OfWordsIsTheGcd) {
  Random random(61);
  for (int round = 0; round < 100'000; ++round) {
    const std::uint64_t a = magnitude(random_int64(random));
    const std::uint64_t b = magnitude(random_int64(random));
    ASSERT_EQ(gcd(a, b), std::gcd(a, b));
  }
  EXPECT_EQ(gcd(std::uint64_t{0}, std::uint64_t{0}), 0u);
}

TEST(Gcd, OfUnboundedIntegersIsTheGcd) {
  Random random(62);
  for (int round = 0; round < 6000; ++round) {
    const std::size_t most = round % 100 == 0 ? 4000 : 400;
    BigInt a = random_bits(random, below(random, most));
    BigInt b = random_bits(random, below(random, most));
    const BigInt common = random_bits(random, below(random, 300));
    if (round % 3 == 0) a *= common, b *= common;
    if (round % 7 == 0) a = b + random_int64(random);
    if (round % 5 == 0) a = -a;
    ASSERT_EQ(gcd(a, b), mp::gcd(a, b)) << a << " " << b;
    ASSERT_EQ(gcd(b, a), mp::gcd(a, b));
  }
  EXPECT_EQ(gcd(BigInt(0), BigInt(0)), 0);
  EXPECT_EQ(gcd(BigInt(0), BigInt(-5)), 5);
}

// Neighbours of Fibonacci's sequence: every quotient is 1, the longest run of steps there is.
TEST(Gcd, OfFibonacciNeighboursIsOne) {
  BigInt a = 1;
  BigInt b = 1;
  for (int i = 0; i < 3000; ++i) {
    a += b;
    a.swap(b);
    if (i % 50 == 0) {
      ASSERT_EQ(gcd(a, b), 1);
      ASSERT_EQ(gcd(a * 12345, b * 12345), 12345);
    }
  }
}

TEST(Ratio, MakingReducesAndKeepsTheDenominatorPositive) {
  const Ratio ratio = make_ratio(BigInt(6) << 100, -(BigInt(4) << 100));
  EXPECT_EQ(ratio.num, -3);
  EXPECT_EQ(ratio.den, 2);
  EXPECT_EQ(make_ratio(0, -7).den, 1);
  EXPECT_EQ(floor_of(Ratio{-7, 2}), -4);
  EXPECT_EQ(floor_of(Ratio{7, 2}), 3);
}

TEST(Ratio, RoundingOfWordsAndOfUnboundedIntegersAgree) {
  Random random(63);
  for (int round = 0; round < 50'000; ++round) {
    const std::int64_t num = random_int64(random);
    const std::int64_t den = static_cast<std::int64_t>(below(random, 9)) + 1;
    const Ratio ratio = make_ratio(num, den);
    ASSERT_EQ(rounded_half_even(ratio), static_cast<std::int64_t>(rounded_half_even(num, den)));
  }
}

}  // namespace
}  // namespace rasp::value
