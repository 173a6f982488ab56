// Linear attention: a running state instead of scores.
#pragma once

#include "runtime/attention.h"
#include "runtime/cpu/aligned_buffer.h"
#include "runtime/cpu/row_transform.h"

namespace rasp::runtime {

// The state of one kv head: sum of phi(k) v^T [d, d_v] and of phi(k) [d]. Adding keys one by one
// and reading in between is causal attention; reading after all of them is full attention.
template <typename T>
class LinearState {
 public:
  void reset(std::size_t d, std::size_t d_v);
  // k [d] and v [d_v]; `usable` false when one of them is not finite: every later read is NaN.
  void add(const T* k, const T* v, bool usable, double (*feature)(double));
  // q [d] to out [d_v]; zeros before the first key.
  void read(const T* q, bool usable, double (*feature)(double), T* out);
  // `add`, then `read`, in one pass over the state; the same bits.
  void add_and_read(const T* k, const T* v, bool usable_key, const T* q, bool usable_query,
                    double (*feature)(double), T* out);

 private:
  void set_features(const T* x, double (*feature)(double), T* features);
  void set_value(const T* v);
  void run(const T* k, const T* q, T* out);

  std::size_t d_ = 0, d_v_ = 0;
  std::size_t padded_d_ = 0, padded_v_ = 0;  // to whole vectors, the rest zeros
  bool empty_ = true;
  bool poisoned_ = false;
  AlignedBuffer<T> sums_, totals_, key_, query_, value_, out_;
};

// A call of linear attention; `rope` is prepared.
template <typename T>
struct LinearCall {
  const View<const T>& q;
  const View<const T>& k;
  const View<const T>& v;
  const AttentionSpec& spec;
  const View<T>& out;
  const AttentionShape& shape;
  const RopeTable& rope;
  const RowTransform<T>& transform;
};
// Kv head `head` (batch included) with its query heads. `row` [3 d] and `state` are scratch.
template <typename T>
void attend_linear(const LinearCall<T>& call, std::size_t head, T* row, LinearState<T>& state);

}  // namespace rasp::runtime
