// Linear attention: a running state instead of scores.
#pragma once

#include <cmath>
#include <vector>

#include "runtime/attention.h"

namespace rasp::runtime {

// The state of one kv head: sum of phi(k) v^T [d, d_v] and of phi(k) [d]. Adding keys one by one
// and reading in between is causal attention; reading after all of them is full attention.
template <typename T>
class LinearState {
 public:
  void reset(std::size_t d, std::size_t d_v) {
    d_ = d;
    d_v_ = d_v;
    empty_ = true;
    poisoned_ = false;
    sums_.assign(d * d_v, T{0});
    totals_.assign(d, T{0});
    features_.resize(d);
  }
  // k [d] and v [d_v]; `usable` false when one of them is not finite: every later read is NaN.
  void add(const T* k, const T* v, bool usable, double (*feature)(double));
  // q [d] to out [d_v]; zeros before the first key.
  void read(const T* q, bool usable, double (*feature)(double), T* out);

 private:
  void set_features(const T* x, double (*feature)(double));

  std::size_t d_ = 0, d_v_ = 0;
  bool empty_ = true;
  bool poisoned_ = false;
  std::vector<T> sums_, totals_, features_;
};

}  // namespace rasp::runtime
