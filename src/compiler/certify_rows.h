// Sets of rows of numbers, for the checker: the values that some columns can hold together.
#pragma once

#include <Eigen/Core>
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

// The positions at which a row can stand.
struct Positions {
  std::uint32_t low = 0;
  std::uint32_t high = std::numeric_limits<std::uint32_t>::max();
};

// Distinct rows of one width, in the order in which they were added; equal rows are one, at all the
// positions of both. -0.0 counts as 0.0.
class RowSet {
 public:
  explicit RowSet(Index width) : width_(width) {}

  [[nodiscard]] Index width() const { return width_; }
  [[nodiscard]] Index size() const { return static_cast<Index>(positions_.size()); }
  [[nodiscard]] std::span<const double> row(Index i) const {
    return {data_.data() + i * width_, static_cast<std::size_t>(width_)};
  }
  [[nodiscard]] const Positions& positions(Index i) const {
    return positions_[static_cast<std::size_t>(i)];
  }
  [[nodiscard]] Eigen::Map<const Matrix> matrix() const { return {data_.data(), size(), width_}; }

  Index add(std::span<const double> row, const Positions& positions = {});
  // The row's place, or -1.
  [[nodiscard]] Index find(std::span<const double> row) const;

 private:
  // The slot that holds the row, or the empty one where it would go.
  [[nodiscard]] std::size_t slot_of(std::span<const double> row) const;
  void grow();

  Index width_;
  std::vector<double> data_;
  std::vector<Positions> positions_;
  std::vector<std::uint32_t> slots_;  // 1 + the row's place, or 0; a power of two of them
};

// Every sum of a row of `a` and one of `b`, where the two are chosen freely; nullopt when there are
// more than `limit` pairs. Exact when the sums of doubles are.
[[nodiscard]] std::optional<RowSet> sums(const RowSet& a, const RowSet& b, Index limit);

}  // namespace rasp::compiler::checker
