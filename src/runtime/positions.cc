#include "runtime/positions.h"

#include <cmath>
#include <string>

namespace rasp::runtime {
namespace {

tl::unexpected<Diagnostic> refuse(const std::string& what, std::string hint = {}) {
  return fail(ErrorKind::kInput, {}, "positions: " + what, std::move(hint));
}

std::string sizes(std::size_t length, std::size_t dim) {
  return "[" + std::to_string(length) + ", " + std::to_string(dim) + "]";
}

}  // namespace

Result<PositionTable> one_hot_positions(std::size_t length, std::size_t dim) {
  if (dim < length)
    return refuse("one-hot rows for " + std::to_string(length) + " positions do not fit into " +
                      std::to_string(dim) + " columns",
                  "sinusoidal ones have any width");
  PositionTable table{length, dim, std::vector<double>(length * dim, 0.0)};
  for (std::size_t p = 0; p < length; ++p) table.values[p * dim + p] = 1;
  return table;
}

Result<PositionTable> given_positions(std::size_t length, std::size_t dim,
                                      std::vector<double> values) {
  const bool fits =
      dim == 0 ? values.empty() : values.size() / dim == length && values.size() % dim == 0;
  if (!fits)
    return refuse("a table of " + sizes(length, dim) + " has " + std::to_string(values.size()) +
                  " values");
  return PositionTable{length, dim, std::move(values)};
}

PositionTable sinusoidal_positions(std::size_t length, std::size_t dim, double base) {
  PositionTable table{length, dim, std::vector<double>(length * dim)};
  for (std::size_t c = 0; c < dim; ++c) {
    const auto pair = static_cast<double>(c / 2 * 2);
    const double rate = std::pow(base, -pair / static_cast<double>(dim));
    for (std::size_t p = 0; p < length; ++p) {
      const double angle = static_cast<double>(p) * rate;
      table.values[p * dim + c] = c % 2 == 0 ? std::sin(angle) : std::cos(angle);
    }
  }
  return table;
}

template <typename T>
Result<void> add_positions(const PositionTable& table, std::size_t first, const View<T>& x) {
  if (x.dim != table.dim || first > table.length || x.length > table.length - first)
    return refuse("a table of " + sizes(table.length, table.dim) + " for " +
                  std::to_string(x.length) + " rows of " + std::to_string(x.dim) +
                  " from position " + std::to_string(first) + " on");
  for (std::size_t b = 0; b < x.batch; ++b)
    for (std::size_t h = 0; h < x.heads; ++h)
      for (std::size_t i = 0; i < x.length; ++i) {
        T* row = x.row(b, h, i);
        const double* position = table.values.data() + (first + i) * table.dim;
        for (std::size_t c = 0; c < x.dim; ++c)
          row[c] = static_cast<T>(static_cast<double>(row[c]) + position[c]);
      }
  return {};
}

template Result<void> add_positions(const PositionTable&, std::size_t, const View<float>&);
template Result<void> add_positions(const PositionTable&, std::size_t, const View<double>&);

}  // namespace rasp::runtime
