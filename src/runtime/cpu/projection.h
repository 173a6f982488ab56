// y = x W for one row at a time.
//
// The order of summation is the order of W's rows, whatever row of x it is and however rows are
// batched: equal rows give bit-identical results, which blocked matrix products do not promise.
// Weights and activations of compiled models are mostly zero (one-hots), so zero entries of x are
// skipped and rows of W that are mostly zero are kept as lists; since sums start from +0, neither
// changes a bit of the result, as long as x is finite.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "model/model.h"

namespace rasp::runtime {

template <typename Scalar>
class Projection {
 public:
  Projection() = default;
  explicit Projection(const model::Matrix& weights)
      : inputs_(static_cast<std::size_t>(weights.rows())),
        outputs_(static_cast<std::size_t>(weights.cols())) {
    for (std::size_t i = 0; i < inputs_; ++i)
      add_row(static_cast<std::uint32_t>(i), weights.data() + i * outputs_);
  }

  [[nodiscard]] std::size_t inputs() const { return inputs_; }
  [[nodiscard]] std::size_t outputs() const { return outputs_; }
  // The outputs that can differ from zero are within [first, last).
  [[nodiscard]] std::size_t first_output() const { return std::min(first_, last_); }
  [[nodiscard]] std::size_t last_output() const { return last_; }

  // x [inputs], y [outputs]
  void apply(const Scalar* x, Scalar* y) const {
    std::fill(y, y + outputs_, Scalar{0});
    for (const Row& row : rows_) {
      const Scalar factor = x[row.input];
      if (factor == Scalar{0}) continue;
      const Scalar* values = values_.data() + row.values;
      if (row.is_list) {
        const std::uint32_t* columns = columns_.data() + row.start;
        for (std::uint32_t k = 0; k < row.count; ++k) y[columns[k]] += factor * values[k];
      } else {
        Scalar* __restrict out = y + row.start;
        for (std::uint32_t k = 0; k < row.count; ++k) out[k] += factor * values[k];
      }
    }
  }

 private:
  // A row of W that is not all zero: `count` values for the outputs from `start` on, or, as a list,
  // for those that `columns_` names from `start` on.
  struct Row {
    std::uint32_t input = 0;
    std::uint32_t count = 0;
    std::size_t start = 0;
    std::size_t values = 0;
    bool is_list = false;
  };

  void add_row(std::uint32_t input, const double* weights) {
    constexpr std::size_t kListBelow = 4;  // a list entry costs as much as so many dense ones
    std::vector<std::uint32_t> columns;
    for (std::size_t j = 0; j < outputs_; ++j)
      if (weights[j] != 0.0) columns.push_back(static_cast<std::uint32_t>(j));
    if (columns.empty()) return;
    const std::size_t begin = columns.front();
    const std::size_t end = std::size_t{columns.back()} + 1;
    first_ = std::min(first_, begin);
    last_ = std::max(last_, end);
    Row row{input, 0, begin, values_.size(), columns.size() * kListBelow < end - begin};
    if (row.is_list) {
      row.start = columns_.size();
      for (const std::uint32_t j : columns) values_.push_back(static_cast<Scalar>(weights[j]));
      columns_.insert(columns_.end(), columns.begin(), columns.end());
    } else {
      for (std::size_t j = begin; j < end; ++j) values_.push_back(static_cast<Scalar>(weights[j]));
    }
    row.count = static_cast<std::uint32_t>(values_.size() - row.values);
    rows_.push_back(row);
  }

  std::size_t inputs_ = 0;
  std::size_t outputs_ = 0;
  std::size_t first_ = ~std::size_t{0};
  std::size_t last_ = 0;
  std::vector<Row> rows_;
  std::vector<Scalar> values_;
  std::vector<std::uint32_t> columns_;
};

}  // namespace rasp::runtime
