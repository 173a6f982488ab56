// Means over the rows of a selector, exact.
#include <algorithm>
#include <bit>
#include <cstring>
#include <numeric>
#include <optional>
#include <utility>

#include "interpreter/run.h"

namespace rasp::interpreter {
namespace {

using value::Atom;
using value::Number;
using Form = Column::Form;
using Wide = __int128;

constexpr std::int64_t kMaxScaled = std::int64_t{1} << 46;  // kMaxInput of them fit 63 bits

std::size_t width_of(std::span<const std::uint64_t> row) {
  std::size_t width = 0;
  for (std::uint64_t word : row) width += static_cast<std::size_t>(std::popcount(word));
  return width;
}

template <typename F>
void for_each_key(std::span<const std::uint64_t> row, F f) {
  for (std::size_t w = 0; w < row.size(); ++w) {
    for (std::uint64_t word = row[w]; word != 0; word &= word - 1) {
      f(w * 64 + static_cast<std::size_t>(std::countr_zero(word)));
    }
  }
}

std::size_t first_key(std::span<const std::uint64_t> row) {
  std::size_t w = 0;
  while (row[w] == 0) ++w;
  return w * 64 + static_cast<std::size_t>(std::countr_zero(row[w]));
}

// Numbers as whole multiples of 1/denominator, small enough that any sum of them fits 63 bits.
struct Scaled {
  std::span<const std::int64_t> numerators;
  std::size_t step = 1;
  std::int64_t denominator = 1;
};

bool small_enough(std::span<const std::int64_t> values) {
  return std::ranges::all_of(values,
                             [](std::int64_t x) { return x > -kMaxScaled && x < kMaxScaled; });
}

// nullopt for what is not exact, not a number, or too large: the general path sums those.
std::optional<Scaled> scale_atoms(const Column& values, std::size_t n,
                                  std::vector<std::int64_t>& storage) {
  const std::size_t count = values.step == 0 ? 1 : n;
  std::int64_t denominator = 1;
  const auto fraction_at = [&](std::size_t i) -> std::optional<Number::Fraction> {
    const auto* number = std::get_if<Number>(&values.atoms[i]);
    if (number == nullptr || !number->is_small()) return std::nullopt;
    return number->to_fraction();
  };
  for (std::size_t i = 0; i < count; ++i) {
    if (!values.failures.defined(i)) continue;
    const auto fraction = fraction_at(i);
    if (!fraction || fraction->den >= kMaxScaled) return std::nullopt;
    const std::int64_t common = std::gcd(denominator, fraction->den);
    const Wide multiple = Wide{denominator} / common * fraction->den;
    if (multiple >= kMaxScaled) return std::nullopt;
    denominator = static_cast<std::int64_t>(multiple);
  }
  storage.assign(count, 0);
  for (std::size_t i = 0; i < count; ++i) {
    if (!values.failures.defined(i)) continue;
    const auto fraction = fraction_at(i);
    const Wide scaled = Wide{fraction->num} * (denominator / fraction->den);
    if (scaled <= -kMaxScaled || scaled >= kMaxScaled) return std::nullopt;
    storage[i] = static_cast<std::int64_t>(scaled);
  }
  return Scaled{storage, values.step, denominator};
}

std::optional<Scaled> scale(const Column& values, std::size_t n,
                            std::vector<std::int64_t>& storage) {
  if (values.form == Form::kBools) return std::nullopt;
  if (values.form == Form::kAtoms) return scale_atoms(values, n, storage);
  const std::span<const std::int64_t> lanes(values.lanes.data(), values.step == 0 ? 1 : n);
  if (!small_enough(lanes)) return std::nullopt;
  return Scaled{lanes, values.step, 1};
}

std::int64_t sum_of_row(const Scaled& scaled, std::span<const std::uint64_t> row,
                        std::size_t width) {
  if (scaled.step == 0) return scaled.numerators[0] * static_cast<std::int64_t>(width);
  std::int64_t sum = 0;
  for (std::size_t w = 0; w < row.size(); ++w) {
    const std::int64_t* values = scaled.numerators.data() + w * 64;
    if (row[w] == ~std::uint64_t{0}) {
      for (std::size_t k = 0; k < 64; ++k) sum += values[k];
      continue;
    }
    for (std::uint64_t word = row[w]; word != 0; word &= word - 1) {
      sum += values[std::countr_zero(word)];
    }
  }
  return sum;
}

// width * denominator < 2^63: the one is at most kMaxInput, the other below kMaxScaled.
Number mean_of_row(const Scaled& scaled, std::span<const std::uint64_t> row, std::size_t width) {
  return Number::rational(sum_of_row(scaled, row, width),
                          static_cast<std::int64_t>(width) * scaled.denominator);
}

// What value::aggregate says of the selected atoms, in order.
value::OpResult general_mean(const Column& values, std::span<const std::uint64_t> row,
                             const Atom& otherwise, std::vector<Atom>& atoms,
                             std::vector<const Atom*>& selected) {
  atoms.clear();
  selected.clear();
  Atom scratch;
  if (values.form == Form::kAtoms) {
    for_each_key(row, [&](std::size_t k) { selected.push_back(&values.at(k, scratch)); });
  } else {
    for_each_key(row, [&](std::size_t k) { atoms.push_back(values.at(k, scratch)); });
    for (const Atom& atom : atoms) selected.push_back(&atom);
  }
  return value::aggregate(selected, otherwise);
}

FailureId first_failure(const Column& values, std::span<const std::uint64_t> row) {
  FailureId failure = kDefined;
  for_each_key(row, [&](std::size_t k) {
    if (failure == kDefined) failure = values.failures.at(k);
  });
  return failure;
}

// One selected position at most in every row: values and the default pass through as they are.
bool moves_lanes(const Rows& rows, const Column& values, const Atom& otherwise, std::size_t n,
                 std::int64_t& default_lane) {
  if (!values.has_lanes() || values.lane_type() != value::type_of(otherwise)) return false;
  if (const auto* flag = std::get_if<bool>(&otherwise)) {
    default_lane = *flag;
  } else {
    const auto& number = std::get<Number>(otherwise);
    if (!number.is_small()) return false;
    default_lane = number.to_int64().value_or(0);
  }
  for (std::size_t q = 0; q < n; ++q) {
    if (width_of(rows.row(q)) > 1) return false;
  }
  return true;
}

void move_lanes(const Rows& rows, const Column& values, std::int64_t default_lane, Column& out,
                std::size_t n) {
  out.begin_lanes(values.form, n);
  out.failures = rows.failures;
  for (std::size_t q = 0; q < n; ++q) {
    out.lanes[q] = default_lane;
    if (!rows.failures.defined(q) || width_of(rows.row(q)) == 0) continue;
    const std::size_t key = first_key(rows.row(q));
    out.lanes[q] = values.lanes[key * values.step];
    if (!values.failures.defined(key)) out.failures.set(q, values.failures.at(key), n);
  }
}

struct Aggregation {
  const Rows& rows;
  const Column& values;
  const Atom& otherwise;
  graph::NodeId node;
  std::optional<Scaled> scaled;
  std::vector<Atom> atoms;
  std::vector<const Atom*> selected;

  void one_row(std::size_t q, Column& out, Run& run) {
    const std::span<const std::uint64_t> row = rows.row(q);
    if (values.failures.any()) {
      const FailureId failure = first_failure(values, row);
      if (failure != kDefined) return out.failures.set(q, failure, run.n);
    }
    const std::size_t width = width_of(row);
    if (width == 0) return run.put(out, q, otherwise);
    Atom scratch;
    if (width == 1) return run.put(out, q, values.at(first_key(row), scratch));
    if (scaled) return run.put(out, q, Atom(mean_of_row(*scaled, row, width)));
    value::OpResult mean = general_mean(values, row, otherwise, atoms, selected);
    if (mean) return run.put(out, q, std::move(*mean));
    out.failures.set(q, run.fail(node, q, std::move(mean.error())), run.n);
  }

  // Row q is row q - 1: so is its mean, and why it has none.
  void repeat_row(std::size_t q, Column& out, Run& run) const {
    FailureId failure = out.failures.at(q - 1);
    if (failure == kDefined) return run.put(out, q, Atom(out.atoms[q - 1]));
    if (run.failures[failure].node == node) {
      failure = run.fail(node, q, value::OpError(run.failures[failure].error));
    }
    out.failures.set(q, failure, run.n);
  }
};

bool same_row(const Rows& rows, std::size_t a, std::size_t b) {
  return std::memcmp(rows.row(a).data(), rows.row(b).data(), rows.words * sizeof(std::uint64_t)) ==
         0;
}

}  // namespace

void aggregate(const Rows& rows, const Column& values, const Atom& otherwise, graph::NodeId node,
               Column& out, Run& run) {
  std::int64_t default_lane = 0;
  if (moves_lanes(rows, values, otherwise, run.n, default_lane)) {
    move_lanes(rows, values, default_lane, out, run.n);
    return;
  }
  out.begin_atoms(run.n);
  out.failures = rows.failures;
  Aggregation step{rows, values, otherwise, node, {}, {}, {}};
  step.scaled = scale(values, run.n, run.scaled);
  for (std::size_t q = 0; q < run.n && !run.must_end(); ++q) {
    if (!rows.failures.defined(q)) continue;
    if (q > 0 && rows.failures.defined(q - 1) && same_row(rows, q, q - 1)) {
      step.repeat_row(q, out, run);
    } else {
      step.one_row(q, out, run);
    }
  }
}

}  // namespace rasp::interpreter
