// The inner loops of a compiled model's attention, compiled for several vector widths. Products and
// sums are rounded apart and in an order that no width changes, so every machine computes the same
// bits.
#pragma once

#include <cstddef>
#include <cstdint>

namespace rasp::runtime {

// Buffers over keys are readable and writable up to a multiple of this.
inline constexpr std::size_t kKeyPad = 16;

// weights[j] = exp(score j - the largest score) of the first `count` >= 1 keys, where score j is
// scale * sum over d, ascending, of q[d] * keys[d * stride + j]. keys [d_qk, stride].
void key_weights(const float* q, std::size_t d_qk, const float* keys, std::size_t stride,
                 std::size_t count, float scale, float* weights);
void key_weights(const double* q, std::size_t d_qk, const double* keys, std::size_t stride,
                 std::size_t count, double scale, double* weights);

}  // namespace rasp::runtime
