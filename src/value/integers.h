// Integer helpers of numbers: words where they fit, unbounded where they do not.
#pragma once

#include <bit>
#include <cstdint>
#include <optional>
#include <string_view>

#include "value/number.h"

namespace rasp::value {

// Decimal digits that surely fit kMaxNumberBits come near this; more are refused unread.
inline constexpr std::int64_t kMaxDigits =
    static_cast<std::int64_t>(kMaxNumberBits) * 30103 / 100000 + 1;

[[nodiscard]] constexpr std::uint64_t magnitude(std::int64_t value) {
  return value < 0 ? ~static_cast<std::uint64_t>(value) + 1 : static_cast<std::uint64_t>(value);
}

// Greatest common divisor by shifts (Stein); gcd(0, b) = b.
[[nodiscard]] constexpr std::uint64_t gcd(std::uint64_t a, std::uint64_t b) {
  if (a == 0) return b;
  if (b == 0) return a;
  const int shift = std::countr_zero(a | b);
  a >>= std::countr_zero(a);
  while (b != 0) {
    b >>= std::countr_zero(b);
    if (a > b) {
      const std::uint64_t swapped = a;
      a = b;
      b = swapped;
    }
    b -= a;
  }
  return a << shift;
}

[[nodiscard]] constexpr bool fits_int64(__int128 value) {
  return value >= INT64_MIN && value <= INT64_MAX;
}
// num / den to the nearest whole number, ties to even; den > 0.
[[nodiscard]] constexpr __int128 rounded_half_even(__int128 num, std::int64_t den) {
  __int128 floor = num / den;
  if (num < 0 && floor * den != num) --floor;
  const __int128 twice = 2 * (num - floor * den);
  return floor + (twice > den || (twice == den && (floor & 1) != 0) ? 1 : 0);
}
[[nodiscard]] inline bool fits_int64(const BigInt& value) {
  return value >= INT64_MIN && value <= INT64_MAX;
}
[[nodiscard]] inline std::size_t bit_length(const BigInt& value) {
  return value.is_zero() ? 0 : boost::multiprecision::msb(boost::multiprecision::abs(value)) + 1;
}
[[nodiscard]] BigInt gcd(const BigInt& first, const BigInt& second);  // not negative

[[nodiscard]] inline bool all_digits(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}
// digits * 10^exponent, a float; nullopt beyond kMaxNumberBits. `digits` are all digits.
[[nodiscard]] std::optional<Number> decimal(std::string_view digits, std::int64_t exponent);

// Correctly rounded num / den (ties to even), infinity on overflow; den > 0.
[[nodiscard]] double nearest_double(std::int64_t num, std::int64_t den);
[[nodiscard]] double nearest_double(const BigInt& num, const BigInt& den);

}  // namespace rasp::value
