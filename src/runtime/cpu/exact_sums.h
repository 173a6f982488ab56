// When floating point sums do not round.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

namespace rasp::runtime {

// Whether every sum of some of the terms is free of rounding, whatever its order: all are multiples
// of one power of two, and `magnitude`, which is at least the sum of their magnitudes up to
// rounding, is less than 2^digits of it.
template <typename T>
[[nodiscard]] bool sums_are_exact(const T* terms, std::size_t count, double magnitude) {
  constexpr int kDigits = std::numeric_limits<T>::digits;
  if (!(magnitude <= static_cast<double>(std::numeric_limits<T>::max()))) return false;
  int exponent = 0;
  std::frexp(magnitude * (1 + 0x1p-20), &exponent);  // more than the rounding of `magnitude`
  const double units = std::ldexp(1.0, kDigits - exponent);
  return std::all_of(terms, terms + count, [units](T term) {
    const double scaled = static_cast<double>(term) * units;
    return static_cast<double>(static_cast<std::int64_t>(scaled)) == scaled;
  });
}

}  // namespace rasp::runtime
