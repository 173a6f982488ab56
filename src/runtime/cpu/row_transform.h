// What happens to a row of q or k before scores are formed: rotation, the projections of the
// additive score, the scale. Shared by whole passes and by decoding.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "runtime/attention.h"

namespace rasp::runtime {

enum class Side { kQuery, kKey };

// Cosines and sines of a range of positions, computed once.
class RopeTable {
 public:
  // Positions [first, last); keeps what it has when it covers them.
  void prepare(const Rope& rope, std::size_t d, std::ptrdiff_t first, std::ptrdiff_t last);
  // [d / 2] pairs of cosine and sine.
  [[nodiscard]] const double* at(std::ptrdiff_t position) const {
    return pairs_.data() + static_cast<std::size_t>(position - first_) * d_;
  }

 private:
  double base_ = 0;
  std::size_t d_ = 0;
  std::ptrdiff_t first_ = 0, last_ = 0;
  std::vector<double> pairs_;
};

template <typename T>
class RowTransform {
 public:
  RowTransform() = default;
  RowTransform(const AttentionSpec& spec, std::size_t d) : spec_(&spec), d_(d) {
    if (spec.score != Score::kDot || spec.normaliser == Normaliser::kLinear) return;
    scale_ = static_cast<T>(spec.scale.value_or(1 / std::sqrt(static_cast<double>(d))));
  }

  // Of the result: d, or the hidden size of the additive score.
  [[nodiscard]] std::size_t width() const {
    return spec_->score == Score::kAdditive ? spec_->additive.hidden : d_;
  }

  // x [d] to y [width], in precision T; false, and y all zeros, when x or y is not finite.
  // `rope` holds the row's position when the spec has one; `scratch` [d].
  bool apply(Side side, const T* x, std::ptrdiff_t position, const RopeTable& rope, T* scratch,
             T* y) const;

 private:
  void rotate(const T* x, const double* pairs, T* y) const;

  const AttentionSpec* spec_ = nullptr;
  std::size_t d_ = 0;
  T scale_ = 1;  // of queries
};

}  // namespace rasp::runtime
