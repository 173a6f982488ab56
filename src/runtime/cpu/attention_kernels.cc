#include "runtime/cpu/attention_kernels.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

// Machines between scalar code and SSE4 are not worth the compile time.
#define HWY_DISABLED_TARGETS HWY_SSSE3
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/cpu/attention_kernels.cc"
#include <hwy/foreach_target.h>  // compiles this file once a target
// It must come first.
#include <hwy/contrib/math/math-inl.h>
#include <hwy/highway.h>

#include "runtime/cpu/exp_kernels-inl.h"
// The others use it.
#include "runtime/cpu/attention_kernels-inl.h"
#include "runtime/cpu/decode_kernels-inl.h"
#include "runtime/cpu/linear_kernels-inl.h"
#include "runtime/cpu/row_kernels-inl.h"

#if HWY_ONCE
namespace rasp::runtime {
namespace {

HWY_EXPORT(attend_f32);
HWY_EXPORT(attend_f64);
HWY_EXPORT(scores_f32);
HWY_EXPORT(scores_f64);
HWY_EXPORT(scores_bf16);
HWY_EXPORT(mix_bf16);
HWY_EXPORT(mix_f32);
HWY_EXPORT(mix_f64);
HWY_EXPORT(linear_f32);
HWY_EXPORT(linear_f64);
HWY_EXPORT(elu_f32);
HWY_EXPORT(elu_f64);
HWY_EXPORT(magnitude_f32);
HWY_EXPORT(magnitude_f64);
HWY_EXPORT(scale_f32);
HWY_EXPORT(scale_f64);
HWY_EXPORT(exp_f32);
HWY_EXPORT(exp_f64);

}  // namespace

void attend_block(const AttentionBlock<float>& block) { HWY_DYNAMIC_DISPATCH(attend_f32)(block); }
void attend_block(const AttentionBlock<double>& block) { HWY_DYNAMIC_DISPATCH(attend_f64)(block); }

void decode_scores(Score score, const float* q, const float* keys, std::size_t dk,
                   std::size_t count, const float* additive_v, float* scores) {
  HWY_DYNAMIC_DISPATCH(scores_f32)(score, q, keys, dk, count, additive_v, scores);
}
void decode_scores(Score score, const double* q, const double* keys, std::size_t dk,
                   std::size_t count, const double* additive_v, double* scores) {
  HWY_DYNAMIC_DISPATCH(scores_f64)(score, q, keys, dk, count, additive_v, scores);
}
void decode_scores(Score score, const float* q, const BFloat16* keys, std::size_t dk,
                   std::size_t count, const float* additive_v, float* scores) {
  HWY_DYNAMIC_DISPATCH(scores_bf16)(score, q, keys, dk, count, additive_v, scores);
}
bool decode_mix(float* scores, const BFloat16* values, std::size_t count, std::size_t d_v,
                bool hard, float* out) {
  return HWY_DYNAMIC_DISPATCH(mix_bf16)(scores, values, count, d_v, hard, out);
}
bool decode_mix(float* scores, const float* values, std::size_t count, std::size_t d_v, bool hard,
                float* out) {
  return HWY_DYNAMIC_DISPATCH(mix_f32)(scores, values, count, d_v, hard, out);
}
bool decode_mix(double* scores, const double* values, std::size_t count, std::size_t d_v, bool hard,
                double* out) {
  return HWY_DYNAMIC_DISPATCH(mix_f64)(scores, values, count, d_v, hard, out);
}

void linear_step(const LinearStep<float>& step) { HWY_DYNAMIC_DISPATCH(linear_f32)(step); }
void linear_step(const LinearStep<double>& step) { HWY_DYNAMIC_DISPATCH(linear_f64)(step); }
void elu_plus_one(const float* x, float* y, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(elu_f32)(x, y, count);
}
void elu_plus_one(const double* x, double* y, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(elu_f64)(x, y, count);
}

float magnitude(const float* x, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(magnitude_f32)(x, count);
}
double magnitude(const double* x, std::size_t count) {
  return HWY_DYNAMIC_DISPATCH(magnitude_f64)(x, count);
}

void scaled(const float* x, float factor, float* y, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(scale_f32)(x, factor, y, count);
}
void scaled(const double* x, double factor, double* y, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(scale_f64)(x, factor, y, count);
}

void kernel_exp(const float* x, float* y, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(exp_f32)(x, y, count);
}
void kernel_exp(const double* x, double* y, std::size_t count) {
  HWY_DYNAMIC_DISPATCH(exp_f64)(x, y, count);
}

std::vector<const char*> vector_targets() {
  std::vector<const char*> names;
  hwy::SetSupportedTargetsForTest(0);
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets())
    names.push_back(hwy::TargetName(target));
  return names;
}

bool use_vector_target(const char* name) {
  hwy::SetSupportedTargetsForTest(0);
  bool found = name == nullptr;
  for (const std::int64_t target : hwy::SupportedAndGeneratedTargets())
    if (!found && std::strcmp(hwy::TargetName(target), name) == 0) {
      hwy::SetSupportedTargetsForTest(target);
      found = true;
    }
  hwy::GetChosenTarget().Update(hwy::SupportedTargets());
  return found;
}

}  // namespace rasp::runtime
#endif
