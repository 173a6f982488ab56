#include "runtime/cpu/equal_keys.h"

#include <cmath>
#include <limits>

#include "runtime/cpu/attention_kernels.h"
#include "runtime/cpu/exact_sums.h"

namespace rasp::runtime {
namespace {

// Fewer keys are read as they are; so are keys that are not at least so many a group.
constexpr std::size_t kKeysWorthGrouping = 256;
constexpr std::size_t kKeysAGroup = 4;
// So many keys, evenly spaced, are looked at first, by so many columns: when all differ, the rest
// is not.
constexpr std::size_t kSample = 64;
constexpr std::size_t kSampleColumns = 8;

}  // namespace

template <typename T>
std::size_t EqualKeys<T>::width(std::size_t d_v) {
  return (d_v + kValuePad<T>) / kValuePad<T> * kValuePad<T>;
}

template <typename T>
void EqualKeys<T>::find(const View<const T>& k, const View<const T>& v, std::size_t b,
                        std::size_t h, std::size_t length) {
  used_ = false;
  if (length < kKeysWorthGrouping || k.row_stride <= 0) return;
  const T* keys = k.row(b, h, 0);
  const auto stride = static_cast<std::size_t>(k.row_stride);
  const std::size_t every = length / kSample;
  if (!sample_.group(keys, kSample, std::min(k.dim, kSampleColumns), every * stride, kSample - 1))
    return;
  if (!groups_.group(keys, length, k.dim, stride, length / kKeysAGroup)) return;
  for (std::size_t g = 0; g < groups_.size(); ++g)
    if (!(magnitude(k.row(b, h, groups_.first(g)), k.dim) <= std::numeric_limits<T>::max())) return;
  used_ = add_values(v, b, h, length);
}

// NaN and infinity among the values make no exact sum.
template <typename T>
bool EqualKeys<T>::add_values(const View<const T>& v, std::size_t b, std::size_t h,
                              std::size_t length) {
  const std::size_t columns = width(v.dim);
  T* sums = values_.reserve(groups_.size() * columns);
  std::fill_n(sums, groups_.size() * columns, T{0});
  double magnitude = static_cast<double>(length);
  for (std::size_t j = 0; j < length; ++j) {
    const T* value = v.row(b, h, j);
    T* sum = sums + groups_.of(j) * columns;
    double row = 0;
    for (std::size_t c = 0; c < v.dim; ++c) {
      sum[c] += value[c];
      row += static_cast<double>(std::abs(value[c]));
    }
    sum[v.dim] += 1;
    magnitude += row;
  }
  for (std::size_t j = 0; j < length; ++j)
    if (!sums_are_exact(v.row(b, h, j), v.dim, magnitude)) return false;
  return true;
}

template class EqualKeys<float>;
template class EqualKeys<double>;

}  // namespace rasp::runtime
