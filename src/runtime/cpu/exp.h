// The exponential function of the attention kernels, in a form that compilers vectorise.
//
// Exact where exactness is asked for: exp(0) = 1, and exp(x) = 0 from `kExpZero` down, where the
// true value is below half of the smallest subnormal (design: compiled selectors put 256 between
// selected and other keys). Elsewhere within 2 units in the last place, 1 of the subnormals
// included; +infinity on overflow; NaN for NaN. Method: x = k ln 2 + r with |r| <= ln 2 / 2, Taylor
// series of exp(r), scaling by 2^k in two steps, the second of which rounds to a subnormal.
#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

namespace rasp::runtime {

template <typename Scalar>
struct ExpConstants;

template <>
struct ExpConstants<float> {
  using Bits = std::uint32_t;
  static constexpr float kZero = -104.0f;
  static constexpr float kHuge = 89.0f;
  static constexpr float kRounder = 0x1.8p23f;     // adding it rounds to an integer
  static constexpr float kLn2High = 0x1.62e4p-1f;  // few enough bits that k times it is exact
  static constexpr float kLn2Low = 0x1.7f7d1cp-20f;
  static constexpr Bits kBias = 127;
  static constexpr int kMantissa = 23;
  static constexpr float kInverseFactorial[] = {1.0f / 2,   1.0f / 6,   1.0f / 24,
                                                1.0f / 120, 1.0f / 720, 1.0f / 5040};
};

template <>
struct ExpConstants<double> {
  using Bits = std::uint64_t;
  static constexpr double kZero = -746.0;
  static constexpr double kHuge = 710.0;
  static constexpr double kRounder = 0x1.8p52;
  static constexpr double kLn2High = 0x1.62e42fefap-1;
  static constexpr double kLn2Low = 0x1.cf79abc9e3b3ap-40;
  static constexpr Bits kBias = 1023;
  static constexpr int kMantissa = 52;
  static constexpr double kInverseFactorial[] = {
      1.0 / 2,         1.0 / 6,          1.0 / 24,          1.0 / 120,
      1.0 / 720,       1.0 / 5040,       1.0 / 40320,       1.0 / 362880,
      1.0 / 3628800.0, 1.0 / 39916800.0, 1.0 / 479001600.0, 1.0 / 6227020800.0};
};

template <typename Scalar>
inline constexpr Scalar kExpZero = ExpConstants<Scalar>::kZero;

template <typename Scalar>
[[nodiscard]] inline Scalar exp_of(Scalar x) {
  using C = ExpConstants<Scalar>;
  using Bits = typename C::Bits;
  constexpr Scalar kLog2E = static_cast<Scalar>(0x1.71547652b82fep+0);
  constexpr int kTerms = static_cast<int>(std::extent_v<decltype(C::kInverseFactorial)>);
  // Written so that NaN falls through.
  Scalar in_range = x < C::kZero ? C::kZero : x;
  in_range = in_range > C::kHuge ? C::kHuge : in_range;

  const Scalar k = (in_range * kLog2E + C::kRounder) - C::kRounder;
  const Scalar r = (in_range - k * C::kLn2High) - k * C::kLn2Low;
  Scalar series = C::kInverseFactorial[kTerms - 1];
  for (int i = kTerms - 2; i >= 0; --i) series = series * r + C::kInverseFactorial[i];
  const Scalar power = (series * (r * r) + r) + Scalar{1};

  // The low bits of an integer plus kRounder are the integer.
  const Scalar half = k * Scalar{0.5} + C::kRounder;
  const Scalar rest = (k - (half - C::kRounder)) + C::kRounder;
  const auto scale = [](Scalar exponent) {
    return std::bit_cast<Scalar>((std::bit_cast<Bits>(exponent) + C::kBias) << C::kMantissa);
  };
  const Scalar value = (power * scale(half)) * scale(rest);
  return x <= C::kZero ? Scalar{0} : value;
}

}  // namespace rasp::runtime
