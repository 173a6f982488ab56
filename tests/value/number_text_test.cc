// Numbers to doubles and to text, and back.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <string>

#include "random_values.h"
#include "value/number.h"

namespace rasp::value {
namespace {
namespace mp = boost::multiprecision;

BigRational distance(const BigRational& a, const BigRational& b) { return mp::abs(a - b); }

// No neighbour is nearer, and on a tie the mantissa is even.
void expect_nearest(const BigRational& exact, double found) {
  ASSERT_TRUE(std::isfinite(found));
  const BigRational off = distance(exact, BigRational(found));
  for (const double towards : {-HUGE_VAL, HUGE_VAL}) {
    const double neighbour = std::nextafter(found, towards);
    if (!std::isfinite(neighbour)) continue;
    const BigRational other = distance(exact, BigRational(neighbour));
    ASSERT_LE(off, other) << exact;
    if (off == other) {
      ASSERT_EQ(std::bit_cast<std::uint64_t>(found) & 1, 0u) << exact;
    }
  }
}

TEST(NumberText, ToDoubleIsTheNearest) {
  Random random(21);
  for (int round = 0; round < 30'000; ++round) {
    Known a = random_known(random);
    if (round % 5 == 0) {  // exactly between two doubles, or a hair beside it
      const double low = random_double(random);
      const double high = std::nextafter(low, HUGE_VAL);
      a.exact = (BigRational(low) + BigRational(high)) / 2;
      if (round % 2 == 0) a.exact += BigRational(BigInt(1), BigInt(1) << 300);
      a.number = Number::rational(a.exact);
    } else if (round % 5 == 1) {  // subnormal
      a.exact /= BigRational(BigInt(1) << (1020 + below(random, 120)));
      a.number = Number::rational(a.exact);
    }
    expect_nearest(a.exact, a.number.to_double());
    if (HasFatalFailure()) FAIL();
  }
}

TEST(NumberText, ToDoubleAtTheEndsOfTheRange) {
  const BigRational largest(std::numeric_limits<double>::max());
  const BigRational half_step = BigRational(BigInt(1) << 970);
  EXPECT_EQ(Number::rational(largest).to_double(), std::numeric_limits<double>::max());
  EXPECT_EQ(Number::rational(largest + half_step - 1).to_double(),
            std::numeric_limits<double>::max());
  EXPECT_EQ(Number::rational(largest + half_step).to_double(), HUGE_VAL);
  EXPECT_EQ(Number::rational(-largest - half_step).to_double(), -HUGE_VAL);
  const BigRational least = BigRational(BigInt(1), BigInt(1) << 1074);
  EXPECT_EQ(Number::rational(least).to_double(), 0x1p-1074);
  EXPECT_EQ(Number::rational(least / 2).to_double(), 0.0);  // a tie, to even
  EXPECT_EQ(Number::rational(least / 2 + least / 1000).to_double(), 0x1p-1074);
  EXPECT_EQ(Number::rational(least * 3 / 2).to_double(), 0x1p-1073);
  EXPECT_EQ(Number::rational(least / (BigInt(1) << 5000)).to_double(), 0.0);
}

TEST(NumberText, ReprReadsBackAsTheNearestDouble) {
  Random random(22);
  for (int round = 0; round < 30'000; ++round) {
    const Number number = round % 2 == 0 ? random_known(random).number.as_float()
                                         : Number::inexact(random_double(random));
    const std::string text = number.repr();
    char* end = nullptr;
    const double read = std::strtod(text.c_str(), &end);
    ASSERT_EQ(*end, '\0') << text;
    ASSERT_EQ(read, number.to_double()) << text;
    ASSERT_NE(text.find_first_of(".e"), std::string::npos) << text;  // it looks like a float
  }
}

TEST(NumberText, ReprIsAsPythonPrints) {
  const auto repr = [](std::int64_t num, std::int64_t den) {
    return Number::rational(num, den).repr();
  };
  EXPECT_EQ(Number::integer(-12).repr(), "-12");
  EXPECT_EQ(Number::integer(INT64_MIN).repr(), "-9223372036854775808");
  EXPECT_EQ(Number::integer(BigInt("123456789012345678901234567890")).repr(),
            "123456789012345678901234567890");
  EXPECT_EQ(repr(0, 1), "0.0");
  EXPECT_EQ(repr(2, 1), "2.0");
  EXPECT_EQ(repr(-7, 2), "-3.5");
  EXPECT_EQ(repr(1, 3), "0.3333333333333333");
  EXPECT_EQ(repr(2, 3), "0.6666666666666666");
  EXPECT_EQ(repr(5, 3), "1.6666666666666667");
  EXPECT_EQ(repr(3, 10), "0.3");
  EXPECT_EQ(repr(1, 10'000), "0.0001");
  EXPECT_EQ(repr(1, 100'000), "1e-05");
  EXPECT_EQ(repr(15, 1'000'000), "1.5e-05");
  EXPECT_EQ(repr(1'000'000'000'000'000, 1), "1000000000000000.0");
  EXPECT_EQ(repr(10'000'000'000'000'000, 1), "1e+16");
  EXPECT_EQ(repr(12'345'678'901'234'567, 1), "1.2345678901234568e+16");
  EXPECT_EQ(repr(1'234'567'890'123'456, 10), "123456789012345.6");
}

TEST(NumberText, BeyondADoubleStillPrintsANumber) {
  const BigInt ten_400 = mp::pow(BigInt(10), 400);
  EXPECT_EQ(Number::rational(BigRational(ten_400)).repr(), "1e+400");
  EXPECT_EQ(Number::rational(BigRational(-ten_400)).repr(), "-1e+400");
  EXPECT_EQ(Number::rational(BigRational(ten_400 * 2, 3)).repr(), "6.6666666666666667e+399");
  EXPECT_EQ(Number::rational(BigRational(BigInt(1), ten_400)).repr(), "1e-400");
  EXPECT_EQ(Number::rational(BigRational(BigInt(2), ten_400 * 3)).repr(),
            "6.6666666666666667e-401");
  EXPECT_EQ(Number::rational(BigRational(ten_400 - 1)).repr(), "1e+400");
  Random random(23);
  for (int round = 0; round < 300; ++round) {
    const auto exponent = static_cast<unsigned>(400 + below(random, 5000));
    const BigInt scale = mp::pow(BigInt(10), exponent);
    const BigRational value = BigRational(BigInt(1 + below(random, 1'000'000))) *
                              (round % 2 == 0 ? BigRational(scale) : BigRational(BigInt(1), scale));
    const std::string text = Number::rational(value).repr();
    const std::size_t e = text.find('e');
    ASSERT_NE(e, std::string::npos);
    std::string digits = text.substr(0, e);
    long power = std::stol(text.substr(e + 1));
    if (const std::size_t point = digits.find('.'); point != std::string::npos) {
      power -= static_cast<long>(digits.size() - point - 1);
      digits.erase(point, 1);
    }
    const BigInt shift = mp::pow(BigInt(10), static_cast<unsigned>(std::labs(power)));
    const BigRational read = power < 0 ? BigRational(BigInt(digits), shift)
                                       : BigRational(BigInt(BigInt(digits) * shift));
    ASSERT_EQ(read, value) << text;  // at most six digits: nothing to round
  }
}

TEST(NumberText, BriefShowsThreeDigits) {
  const auto brief = [](std::int64_t num, std::int64_t den) {
    return Number::rational(num, den).brief();
  };
  EXPECT_EQ(Number::integer(100'000).brief(), "100000");
  EXPECT_EQ(brief(1, 1), "1.0");
  EXPECT_EQ(brief(1, 3), "0.333");
  EXPECT_EQ(brief(2, 3), "0.667");
  EXPECT_EQ(brief(1, 5), "0.2");
  EXPECT_EQ(brief(1, 8), "0.125");
  EXPECT_EQ(brief(1, 16), "0.062");  // a tie: 62.5 thousandths, to even
  EXPECT_EQ(brief(3, 16), "0.188");  // 187.5
  EXPECT_EQ(brief(-1, 3), "-0.333");
  EXPECT_EQ(brief(-1, 3000), "0.0");  // no minus zero
  EXPECT_EQ(brief(1, 1000), "0.001");
  EXPECT_EQ(brief(1, 2000), "0.0");
  EXPECT_EQ(brief(3, 2000), "0.002");
  EXPECT_EQ(brief(1'000'000, 3), "333333.333");
  EXPECT_EQ(brief(10'000'000'000'000'000, 1), "1e+16");
  EXPECT_EQ(Number::inexact(std::sqrt(2.0)).brief(), "1.414");
  EXPECT_EQ(Number::inexact(2.0005).brief(), "2.001");  // the double lies above the tie
  EXPECT_EQ(Number::inexact(1.0005).brief(), "1.0");    // below, but 1.0005 * 1000 rounds to a tie
  EXPECT_EQ(Number::inexact(1.0015).brief(), "1.002");  // above
  EXPECT_EQ(Number::rational(BigRational(mp::pow(BigInt(10), 400))).brief(), "1e+400");
}

TEST(NumberText, ParseReadsWhatTheGrammarHas) {
  EXPECT_EQ(Number::parse("12"), Number::integer(12));
  EXPECT_TRUE(Number::parse("12")->is_int());
  EXPECT_EQ(Number::parse("1.50"), Number::rational(3, 2));
  EXPECT_TRUE(Number::parse("1.0")->is_float());
  EXPECT_EQ(Number::parse("-3"), Number::integer(-3));
  EXPECT_EQ(Number::parse("+0.25"), Number::rational(1, 4));
  EXPECT_EQ(Number::parse("007"), Number::integer(7));  // not octal
  EXPECT_EQ(Number::parse("0000000000000000000000000000010"), Number::integer(10));
  EXPECT_EQ(Number::parse("9223372036854775808"), Number::integer(BigInt(1) << 63));
  EXPECT_EQ(Number::parse("0.1")->to_rational(), BigRational(1, 10));
  for (const char* text : {"", "-", "+", ".", "1.", ".5", "1e5", "0x10", "1 ", " 1", "1.2.3", "--1",
                           "١", "1_000", "nan", "inf"}) {
    EXPECT_FALSE(Number::parse(text).has_value()) << text;
  }
}

TEST(NumberText, ParseIsBounded) {
  const std::string fits(39'456, '9');
  ASSERT_TRUE(Number::parse(fits).has_value());
  EXPECT_LE(Number::parse(fits)->bits(), kMaxNumberBits);
  EXPECT_EQ(Number::parse(fits)->repr(), fits);
  EXPECT_FALSE(Number::parse(std::string(39'457, '9')).has_value());
  EXPECT_FALSE(Number::parse(std::string(10'000'000, '9')).has_value());
  EXPECT_FALSE(Number::parse("0." + std::string(10'000'000, '9')).has_value());
  EXPECT_FALSE(Number::parse("0." + std::string(60'000, '0') + "1").has_value());
  EXPECT_EQ(Number::parse(std::string(10'000'000, '0') + "1"), Number::integer(1));
  EXPECT_EQ(Number::parse("1." + std::string(10'000'000, '0')), Number::integer(1));
}

TEST(NumberText, ParseReadsBackWhatReprPrints) {
  Random random(24);
  for (int round = 0; round < 5000; ++round) {
    const Number number = Number::integer(random_big(random));
    ASSERT_EQ(Number::parse(number.repr()), number);
  }
}

}  // namespace
}  // namespace rasp::value
