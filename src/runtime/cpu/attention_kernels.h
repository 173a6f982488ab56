// The inner loops of attention, compiled for several vector widths and chosen at run time
// (Highway). Blocks of queries against blocks of keys with a running maximum and sum (Milakov,
// Gimelshein 2018; Dao et al. 2022): the matrix of scores is never formed.
#pragma once

#include <cstddef>
#include <cstdint>

#include "runtime/attention.h"

namespace rasp::runtime {

// Keys come in panels of 256 bytes a dimension, [panels][dk][kPanel<T>], the last one filled up
// with zeros: a vector of keys is then one load. Rows of values are padded to 64 bytes.
template <typename T>
inline constexpr std::size_t kPanel = 256 / sizeof(T);
template <typename T>
inline constexpr std::size_t kValuePad = 64 / sizeof(T);
template <typename T>
inline constexpr std::size_t kKeyBlock = 2 * kPanel<T>;
inline constexpr std::size_t kRowGroup = 6;  // queries that share the loads of keys and values
inline constexpr std::size_t kQueryBlock = 8 * kRowGroup;

// What changes scores, or hides keys, entry by entry.
struct ScoreEdits {
  bool any = false;  // whether the kernel has to look at every score
  const std::uint8_t* mask = nullptr;
  std::ptrdiff_t mask_stride = 0;
  const double* bias = nullptr;
  std::ptrdiff_t bias_stride = 0;
  double slope = 0;           // ALiBi
  double first_position = 0;  // of the block's first query
};

// One block of queries of one head. All of q and keys is finite.
template <typename T>
struct AttentionBlock {
  Score score = Score::kDot;
  bool hard = false;
  T factor = 1;  // multiplies the kernel's sum (kGaussian: -1 / (2 sigma^2))
  std::size_t rows = 0;
  std::size_t dk = 0;         // d, or the hidden size of the additive score
  std::size_t d_v = 0;        // padded
  const T* q = nullptr;       // [rows, dk]
  const T* keys = nullptr;    // panels
  const T* values = nullptr;  // [kv_len, d_v], rows `value_stride` apart
  std::ptrdiff_t value_stride = 0;
  std::size_t count_column = 0;      // of values: the keys that a row stands for; 0: one each
  const T* additive_v = nullptr;     // [dk]
  const KeyRange* ranges = nullptr;  // [rows]
  ScoreEdits edits;

  T* scores = nullptr;  // scratch [kRowGroup, kKeyBlock]
  T* sums = nullptr;    // out [rows, d_v]: the mean of the values; 0 where no key is seen
  T* tops = nullptr;    // out [rows]: the largest score; -infinity where no key is seen
  T* totals = nullptr;  // out [rows, kValuePad]: the sum of the weights, in the first entry
  std::uint8_t* poisoned = nullptr;  // in and out [rows]: a score that was read is not a number
};

void attend_block(const AttentionBlock<float>& block);
void attend_block(const AttentionBlock<double>& block);

// Decoding: keys [count, dk] and values [count, d_v] row by row. `decode_scores` is the score
// before any factor; `decode_mix` turns scores into weights and out [d_v] into their mean of the
// values, and is false when a score is not a number. count >= 1.
void decode_scores(Score score, const float* q, const float* keys, std::size_t dk,
                   std::size_t count, const float* additive_v, float* scores);
void decode_scores(Score score, const double* q, const double* keys, std::size_t dk,
                   std::size_t count, const double* additive_v, double* scores);
void decode_scores(Score score, const float* q, const BFloat16* keys, std::size_t dk,
                   std::size_t count, const float* additive_v, float* scores);
bool decode_mix(float* scores, const BFloat16* values, std::size_t count, std::size_t d_v,
                bool hard, float* out);
bool decode_mix(float* scores, const float* values, std::size_t count, std::size_t d_v, bool hard,
                float* out);
bool decode_mix(double* scores, const double* values, std::size_t count, std::size_t d_v, bool hard,
                double* out);

// One step of linear attention on the features of a key and a query, padded with zeros like every
// buffer here: `sums` [d, d_v] += k v^T and `totals` [d] += k, then out [d_v] = q sums / q totals,
// 0 where that is 0 / 0. Without k or without q its half is left out.
template <typename T>
struct LinearStep {
  std::size_t d = 0;    // of sums: as it is
  std::size_t d_v = 0;  // padded
  const T* k = nullptr;
  const T* v = nullptr;
  const T* q = nullptr;
  T* sums = nullptr;
  T* totals = nullptr;
  T* out = nullptr;
};
void linear_step(const LinearStep<float>& step);
void linear_step(const LinearStep<double>& step);
// y = elu(x) + 1 of whole vectors; y may be x.
void elu_plus_one(const float* x, float* y, std::size_t count);
void elu_plus_one(const double* x, double* y, std::size_t count);

// The largest magnitude of x; infinity when an entry is infinite or NaN.
[[nodiscard]] float magnitude(const float* x, std::size_t count);
[[nodiscard]] double magnitude(const double* x, std::size_t count);

// y = x * factor
void scaled(const float* x, float factor, float* y, std::size_t count);
void scaled(const double* x, double factor, double* y, std::size_t count);

// The vector widths that this machine has, by name, the best first; and the one in use. Tests and
// benchmarks choose among them; nullptr goes back to the best. Not for use while kernels run.
[[nodiscard]] std::vector<const char*> vector_targets();
[[nodiscard]] bool use_vector_target(const char* name);

// exp(x) of x <= 0 as the kernels compute it, for tests: y[i] = exp(x[i]).
void kernel_exp(const float* x, float* y, std::size_t count);
void kernel_exp(const double* x, double* y, std::size_t count);

}  // namespace rasp::runtime
