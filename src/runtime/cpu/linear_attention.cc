#include "runtime/cpu/linear_attention.h"

#include <algorithm>
#include <limits>

#include "runtime/cpu/exp.h"

namespace rasp::runtime {

template <typename T>
void LinearState<T>::set_features(const T* x, double (*feature)(double)) {
  for (std::size_t c = 0; c < d_; ++c) {
    if (feature != nullptr) {
      features_[c] = static_cast<T>(feature(static_cast<double>(x[c])));
    } else {
      features_[c] = x[c] > T{0} ? x[c] + T{1} : exp_of(x[c]);  // elu(x) + 1
    }
  }
}

template <typename T>
void LinearState<T>::add(const T* k, const T* v, bool usable, double (*feature)(double)) {
  empty_ = false;
  if (!usable) {
    poisoned_ = true;
    return;
  }
  set_features(k, feature);
  for (std::size_t c = 0; c < d_; ++c) {
    const T weight = features_[c];
    totals_[c] += weight;
    T* __restrict sums = sums_.data() + c * d_v_;
    for (std::size_t e = 0; e < d_v_; ++e) sums[e] += weight * v[e];
  }
}

template <typename T>
void LinearState<T>::read(const T* q, bool usable, double (*feature)(double), T* out) {
  const bool number = empty_ || (usable && !poisoned_);
  std::fill(out, out + d_v_, number ? T{0} : std::numeric_limits<T>::quiet_NaN());
  if (empty_ || !number) return;
  set_features(q, feature);
  T total = 0;
  for (std::size_t c = 0; c < d_; ++c) {
    const T weight = features_[c];
    total += weight * totals_[c];
    const T* sums = sums_.data() + c * d_v_;
    for (std::size_t e = 0; e < d_v_; ++e) out[e] += weight * sums[e];
  }
  for (std::size_t e = 0; e < d_v_; ++e) out[e] = total == T{0} ? T{0} : out[e] / total;
}

template class LinearState<float>;
template class LinearState<double>;

}  // namespace rasp::runtime
