// bfloat16: the upper half of a float32, for storage; all arithmetic is done in float32.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace rasp::runtime {

struct BFloat16 {
  std::uint16_t bits = 0;

  BFloat16() = default;
  // To the nearest, ties to even; NaN stays NaN.
  explicit BFloat16(float value) {
    const auto wide = std::bit_cast<std::uint32_t>(value);
    const std::uint32_t rounded = wide + 0x7FFF + (wide >> 16 & 1);
    bits = static_cast<std::uint16_t>((std::isnan(value) ? wide | 0x400000u : rounded) >> 16);
  }
  explicit operator float() const { return std::bit_cast<float>(std::uint32_t{bits} << 16); }
};

}  // namespace rasp::runtime
