#include "runtime/cpu/row_transform.h"

#include <algorithm>
#include <limits>

#include "runtime/cpu/attention_kernels.h"

namespace rasp::runtime {

void RopeTable::prepare(const Rope& rope, std::size_t d, std::ptrdiff_t first,
                        std::ptrdiff_t last) {
  if (base_ == rope.base && d_ == d && first_ <= first && last <= last_) return;
  base_ = rope.base;
  d_ = d;
  first_ = first;
  last_ = last;
  pairs_.resize(static_cast<std::size_t>(last - first) * d);
  double* pair = pairs_.data();
  for (std::ptrdiff_t position = first; position < last; ++position)
    for (std::size_t i = 0; i < d / 2; ++i) {
      const double angle = static_cast<double>(position) *
                           std::pow(base_, -2.0 * static_cast<double>(i) / static_cast<double>(d));
      *pair++ = std::cos(angle);
      *pair++ = std::sin(angle);
    }
}

template <typename T>
void RowTransform<T>::rotate(const T* x, const double* pairs, T* y) const {
  const bool interleaved = spec_->rope->interleaved;
  for (std::size_t i = 0; i < d_ / 2; ++i) {
    const std::size_t a = interleaved ? 2 * i : i;
    const std::size_t b = interleaved ? 2 * i + 1 : i + d_ / 2;
    const auto first = static_cast<double>(x[a]);
    const auto second = static_cast<double>(x[b]);
    y[a] = static_cast<T>(first * pairs[2 * i] - second * pairs[2 * i + 1]);
    y[b] = static_cast<T>(first * pairs[2 * i + 1] + second * pairs[2 * i]);
  }
}

template <typename T>
bool RowTransform<T>::apply(Side side, const T* x, std::ptrdiff_t position, const RopeTable& rope,
                            T* scratch, T* y) const {
  if (spec_->rope) {
    rotate(x, rope.at(position), scratch);
    x = scratch;
  }
  if (spec_->score == Score::kAdditive) {
    const std::vector<double>& weights =
        side == Side::kQuery ? spec_->additive.wq : spec_->additive.wk;
    for (std::size_t h = 0; h < width(); ++h) {
      double sum = 0;
      for (std::size_t i = 0; i < d_; ++i) sum += weights[h * d_ + i] * static_cast<double>(x[i]);
      y[h] = static_cast<T>(sum);
    }
  } else {
    scaled(x, side == Side::kQuery ? scale_ : T{1}, y, d_);
  }
  if (magnitude(y, width()) <= std::numeric_limits<T>::max()) return true;
  std::fill(y, y + width(), T{0});
  return false;
}

template class RowTransform<float>;
template class RowTransform<double>;

}  // namespace rasp::runtime
