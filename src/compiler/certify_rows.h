// Sets of rows of numbers, for the checker: the values that some columns can hold together.
#pragma once

#include <Eigen/Core>
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <vector>

#include "model/model.h"

namespace rasp::compiler::checker {

using Index = Eigen::Index;
using model::Matrix;
using model::Vector;

// Some columns of a matrix hold nothing but zeros, or there are no rows.
[[nodiscard]] inline bool zero_columns(const Matrix& matrix, Index begin, Index count) {
  return matrix.rows() == 0 || matrix.middleCols(begin, count).isZero(0);
}

template <typename T>
void sort_distinct(std::vector<T>& values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
}

// From low to high; none when low > high.
struct Range {
  std::uint32_t low = 0;
  std::uint32_t high = std::numeric_limits<std::uint32_t>::max();
  [[nodiscard]] bool empty() const { return low > high; }
};
[[nodiscard]] Range meet(const Range& a, const Range& b);  // what is in both
[[nodiscard]] Range hull(const Range& a, const Range& b);  // from the lower low to the higher high

// Where a row can stand: at which position (BOS is 0), in sequences of how many tokens.
struct Place {
  Range position;
  Range length;
  [[nodiscard]] bool possible() const {
    return !position.empty() && !length.empty() && position.low <= length.high;
  }
};
inline constexpr Place kNowhere{{1, 0}, {1, 0}};
[[nodiscard]] Place meet(const Place& a, const Place& b);
[[nodiscard]] Place hull(const Place& a, const Place& b);  // of an impossible place: the other

// Distinct rows of one width, in the order in which they were added; equal rows are one, at the
// places of both. -0.0 counts as 0.0.
class RowSet {
 public:
  explicit RowSet(Index width) : width_(width) {}

  [[nodiscard]] Index width() const { return width_; }
  [[nodiscard]] Index size() const { return static_cast<Index>(places_.size()); }
  [[nodiscard]] std::span<const double> row(Index i) const {
    return {data_.data() + i * width_, static_cast<std::size_t>(width_)};
  }
  [[nodiscard]] const Place& place(Index i) const { return places_[static_cast<std::size_t>(i)]; }
  [[nodiscard]] Eigen::Map<const Matrix> matrix() const { return {data_.data(), size(), width_}; }

  Index add(std::span<const double> row, const Place& place = {});
  // The row's place, or -1.
  [[nodiscard]] Index find(std::span<const double> row) const;

 private:
  // The slot that holds the row, or the empty one where it would go.
  [[nodiscard]] std::size_t slot_of(std::span<const double> row) const;
  void grow();

  Index width_;
  std::vector<double> data_;
  std::vector<Place> places_;
  std::vector<std::uint32_t> slots_;  // 1 + the row's place, or 0; a power of two of them
};

// How many rows of a width may be kept at once.
[[nodiscard]] constexpr Index most_rows(Index width) {
  return std::min(Index{1} << 22, (Index{1} << 25) / std::max<Index>(1, width));
}

// Every sum of a row of `a` and one of `b` that can stand at one place; nullopt when there are more
// than `limit` pairs. Exact when the sums of doubles are.
[[nodiscard]] std::optional<RowSet> sums(const RowSet& a, const RowSet& b, Index limit);

}  // namespace rasp::compiler::checker
