// Absolute positions: a table that is added to rows, one row of it a position. Positions inside the
// scores, RoPE and ALiBi, are part of AttentionSpec.
#pragma once

#include <cstddef>
#include <vector>

#include "base/result.h"
#include "runtime/attention.h"

namespace rasp::runtime {

// Row p [dim] is added to what stands at position p.
struct PositionTable {
  std::size_t length = 0;
  std::size_t dim = 0;
  std::vector<double> values;  // [length, dim], row-major
};

// Row p is 1 in column p and 0 elsewhere: length positions need as many columns. An error when
// `dim` is smaller.
[[nodiscard]] Result<PositionTable> one_hot_positions(std::size_t length, std::size_t dim);
// Values of one's own, [length, dim]; an error when there are more or fewer.
[[nodiscard]] Result<PositionTable> given_positions(std::size_t length, std::size_t dim,
                                                    std::vector<double> values);
// Column 2i is sin(p / base^(2i/dim)), column 2i + 1 the cosine of the same (Vaswani et al. 2017,
// section 3.5); with an odd dim the last column is a sine.
[[nodiscard]] PositionTable sinusoidal_positions(std::size_t length, std::size_t dim,
                                                 double base = 10'000);

// Adds row first + i to x[b, h, i], for every batch and head. For rows of [n, width], such as
// `multi_head` takes, x is packed(data, 1, 1, n, width). An error, with the sizes, when the table
// has another width or too few rows. T: float, double.
template <typename T>
[[nodiscard]] Result<void> add_positions(const PositionTable& table, std::size_t first,
                                         const View<T>& x);

}  // namespace rasp::runtime
