// Unbounded rationals in lowest terms. Boost 1.74 reduces its own with a binary gcd that takes
// 0.1 s at kMaxNumberBits; these reduce with Lehmer's, and by words wherever one side is short.
#pragma once

#include "value/integers.h"

namespace rasp::value {

struct Ratio {  // den > 0, no common factor
  BigInt num = 0;
  BigInt den = 1;
};

[[nodiscard]] Ratio make_ratio(BigInt num, BigInt den);  // den != 0
[[nodiscard]] Ratio ratio_of(double value);              // exact; finite
[[nodiscard]] Ratio operator+(const Ratio& a, const Ratio& b);
[[nodiscard]] Ratio operator-(const Ratio& a);
[[nodiscard]] Ratio operator*(const Ratio& a, const Ratio& b);
[[nodiscard]] Ratio inverse(const Ratio& a);                // a != 0
[[nodiscard]] int compare(const Ratio& a, const Ratio& b);  // -1, 0, 1
[[nodiscard]] BigInt floor_of(const Ratio& a);
[[nodiscard]] BigInt rounded_half_even(const Ratio& a);
[[nodiscard]] Ratio modulo(const Ratio& a, const Ratio& b);  // sign of b, which is not 0

}  // namespace rasp::value
