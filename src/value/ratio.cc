#include "value/ratio.h"

#include <cassert>
#include <cmath>
#include <utility>

namespace rasp::value {
namespace mp = boost::multiprecision;

Ratio make_ratio(BigInt num, BigInt den) {
  assert(!den.is_zero());
  const BigInt g = gcd(num, den);
  if (g != 1) {
    num /= g;
    den /= g;
  }
  if (den.sign() < 0) {
    num = -num;
    den = -den;
  }
  return {std::move(num), std::move(den)};
}

Ratio ratio_of(double value) {
  assert(std::isfinite(value));
  int exponent = 0;
  const auto mantissa = static_cast<std::int64_t>(std::frexp(value, &exponent) * 0x1p53);
  exponent -= 53;
  const BigInt scale = BigInt(1) << static_cast<unsigned>(std::abs(exponent));
  return exponent < 0 ? make_ratio(mantissa, scale) : Ratio{mantissa * scale, 1};
}

// Knuth, The Art of Computer Programming 4.5.1: the sum over the least common denominator shares
// factors only with the gcd of the denominators.
Ratio operator+(const Ratio& a, const Ratio& b) {
  const BigInt g = gcd(a.den, b.den);
  if (g == 1) return {a.num * b.den + b.num * a.den, a.den * b.den};
  const BigInt a_den = a.den / g;
  BigInt num = a.num * (b.den / g) + b.num * a_den;
  const BigInt g2 = gcd(num, g);
  if (g2 == 1) return {std::move(num), a_den * b.den};
  return {num / g2, a_den * (b.den / g2)};
}

Ratio operator-(const Ratio& a) { return {-a.num, a.den}; }

Ratio operator*(const Ratio& a, const Ratio& b) {
  const BigInt g1 = gcd(a.num, b.den);
  const BigInt g2 = gcd(b.num, a.den);
  if (g1 == 1 && g2 == 1) return {a.num * b.num, a.den * b.den};
  return {(a.num / g1) * (b.num / g2), (a.den / g2) * (b.den / g1)};
}

Ratio inverse(const Ratio& a) {
  assert(!a.num.is_zero());
  return a.num.sign() < 0 ? Ratio{-a.den, -a.num} : Ratio{a.den, a.num};
}

int compare(const Ratio& a, const Ratio& b) {
  const int order = a.num.sign() != b.num.sign() ? a.num.sign() - b.num.sign()
                                                 : BigInt(a.num * b.den).compare(b.num * a.den);
  return (order > 0) - (order < 0);
}

BigInt floor_of(const Ratio& a) {
  BigInt quotient;
  BigInt rest;
  mp::divide_qr(a.num, a.den, quotient, rest);
  if (rest.sign() < 0) --quotient;
  return quotient;
}

BigInt rounded_half_even(const Ratio& a) {
  const BigInt floor = floor_of(a);
  const BigInt twice = 2 * (a.num - floor * a.den);
  const int side = twice.compare(a.den);
  const bool odd = !floor.is_zero() && mp::bit_test(mp::abs(floor), 0);
  return side > 0 || (side == 0 && odd) ? BigInt(floor + 1) : floor;
}

Ratio modulo(const Ratio& a, const Ratio& b) {
  // Over the common denominator the remainder is one of whole numbers.
  const BigInt divisor = b.num * a.den;
  BigInt rest = a.num * b.den % divisor;
  if (!rest.is_zero() && rest.sign() != divisor.sign()) rest += divisor;
  return make_ratio(std::move(rest), a.den * b.den);
}

}  // namespace rasp::value
