#include "runtime/cpu/forward_kernels.h"

#include <algorithm>

#include "runtime/cpu/exp.h"

#define HWY_DISABLED_TARGETS HWY_SSSE3
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/forward_kernels.cc"
#include <hwy/foreach_target.h>  // compiles this file once a target
// It must come first.
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace rasp::runtime {
namespace HWY_NAMESPACE {

template <typename Scalar>
HWY_INLINE Scalar maximum(const Scalar* scores, std::size_t count) {
  // Side by side first: the maximum does not depend on the order.
  Scalar lanes[kKeyPad];
  std::fill(lanes, lanes + kKeyPad, scores[0]);
  std::size_t j = 0;
  for (; j + kKeyPad <= count; j += kKeyPad)
    for (std::size_t lane = 0; lane < kKeyPad; ++lane)
      lanes[lane] = scores[j + lane] > lanes[lane] ? scores[j + lane] : lanes[lane];
  Scalar best = lanes[0];
  for (std::size_t lane = 1; lane < kKeyPad; ++lane) best = std::max(best, lanes[lane]);
  for (; j < count; ++j) best = std::max(best, scores[j]);
  return best;
}

template <typename Scalar>
HWY_INLINE void weigh_keys(const Scalar* q, std::size_t d_qk, const Scalar* keys,
                           std::size_t stride, std::size_t count, Scalar scale,
                           Scalar* __restrict weights) {
  // Whole groups of lanes: what the padding holds is computed with and then left alone.
  const std::size_t padded = (count + kKeyPad - 1) / kKeyPad * kKeyPad;
  std::fill(weights, weights + padded, Scalar{0});
  for (std::size_t d = 0; d < d_qk; ++d) {
    const Scalar factor = q[d];
    if (factor == Scalar{0}) continue;
    const Scalar* column = keys + d * stride;
    for (std::size_t j = 0; j < padded; ++j) weights[j] += factor * column[j];
  }
  for (std::size_t j = 0; j < padded; ++j) weights[j] *= scale;
  const Scalar top = maximum(weights, count);
  for (std::size_t j = 0; j < padded; ++j) weights[j] = exp_of<Scalar>(weights[j] - top);
}

void weigh_f32(const float* q, std::size_t d_qk, const float* keys, std::size_t stride,
               std::size_t count, float scale, float* weights) {
  weigh_keys(q, d_qk, keys, stride, count, scale, weights);
}
void weigh_f64(const double* q, std::size_t d_qk, const double* keys, std::size_t stride,
               std::size_t count, double scale, double* weights) {
  weigh_keys(q, d_qk, keys, stride, count, scale, weights);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rasp::runtime
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace rasp::runtime {
namespace {

HWY_EXPORT(weigh_f32);
HWY_EXPORT(weigh_f64);

}  // namespace

void key_weights(const float* q, std::size_t d_qk, const float* keys, std::size_t stride,
                 std::size_t count, float scale, float* weights) {
  HWY_DYNAMIC_DISPATCH(weigh_f32)(q, d_qk, keys, stride, count, scale, weights);
}
void key_weights(const double* q, std::size_t d_qk, const double* keys, std::size_t stride,
                 std::size_t count, double scale, double* weights) {
  HWY_DYNAMIC_DISPATCH(weigh_f64)(q, d_qk, keys, stride, count, scale, weights);
}

}  // namespace rasp::runtime
#endif
