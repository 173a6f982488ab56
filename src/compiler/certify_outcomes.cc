#include "compiler/certify_outcomes.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

namespace rasp::compiler::checker {
namespace {

constexpr double kMaxOutcomes = 0x1p21;         // before equal ones collapse
constexpr std::int64_t kMaxDenominator = 8192;  // of the fractions that rows are taken to stand for
constexpr Real kSnap = 0x1p-20L;    // how far from such a fraction, relative to the largest
constexpr Real kLargest = 0x1p50L;  // numerators

// Rows as fractions (low + step j) / denominator, j from 0 to steps: not every j need occur.
struct Lattice {
  std::vector<Real> numerators;
  Real low = 0;
  Real step = 0;
  double steps = 0;
  Real denominator = 1;
  Real deviation = 0;  // the largest distance of a row from its fraction
};

// The nearest fractions of one denominator, if all are close.
std::optional<Lattice> fractions(const std::vector<Real>& rows, std::int64_t denominator,
                                 Real tolerance) {
  const auto q = static_cast<Real>(denominator);
  Real deviation = 0;
  for (Real row : rows) {
    if (std::abs(row) * q > kLargest) return std::nullopt;
    deviation = std::max(deviation, std::abs(row - std::round(row * q) / q));
    if (deviation > tolerance) return std::nullopt;
  }
  const auto first = static_cast<std::int64_t>(std::round(rows.front() * q));
  std::int64_t step = 0;
  for (Real row : rows)
    step = std::gcd(step, static_cast<std::int64_t>(std::round(row * q)) - first);
  Lattice lattice{{}, static_cast<Real>(first), static_cast<Real>(step), 0, q, deviation};
  for (Real row : rows) lattice.numerators.push_back(std::round(row * q));
  if (step != 0) {
    const Real last = std::round(rows.back() * q);
    lattice.steps = static_cast<double>((last - lattice.low) / lattice.step);
  }
  return lattice;
}

// Rows are floats: those of 1/3, or of a sink's scale, stand for a fraction nearby, which makes the
// values that sums and means can have few. What that moves is an error like any other.
std::optional<Lattice> lattice_of(const RowSet& rows, Real scale) {
  std::vector<Real> values;
  Real most = 0;
  for (Index i = 0; i < rows.size(); ++i) {
    values.push_back(static_cast<Real>(rows.row(i)[0]) * scale);
    most = std::max(most, std::abs(values.back()));
  }
  sort_distinct(values);
  for (std::int64_t q = 1; q <= kMaxDenominator; ++q)
    if (auto lattice = fractions(values, q, most * kSnap / static_cast<Real>(q))) return lattice;
  return std::nullopt;
}

// (extra + the sum of k rows) / k for every k, where BOS is one of the k if it shares.
std::optional<std::vector<Real>> averages(const Lattice& lattice, std::uint32_t max_length,
                                          Real extra, bool shared) {
  const double n = max_length;
  if ((lattice.steps * (n + 1) / 2 + 1) * n > kMaxOutcomes) return std::nullopt;
  std::vector<Real> values;
  for (std::uint32_t k = shared ? 0 : 1; k <= max_length; ++k) {
    const Real divisor = (static_cast<Real>(k) + (shared ? 1 : 0)) * lattice.denominator;
    const Real first = extra * lattice.denominator + lattice.low * static_cast<Real>(k);
    const auto most = static_cast<std::uint64_t>(lattice.steps) * k;
    for (std::uint64_t j = 0; j <= most; ++j)
      values.push_back((first + lattice.step * static_cast<Real>(j)) / divisor);
  }
  return values;
}

// Every multiple of the step from the least sum to the largest, when all rows are such multiples.
std::optional<std::vector<Real>> whole_totals(const Lattice& lattice, std::uint32_t least,
                                              std::uint32_t max_length) {
  const Real n = static_cast<Real>(max_length);
  const Real low = lattice.low / lattice.step;
  const Real high = low + static_cast<Real>(lattice.steps);
  const Real first = std::min<Real>(low * least, low * n);
  const Real last = std::max<Real>(high * least, high * n);
  if (low != std::floor(low) || last - first > kMaxOutcomes) return std::nullopt;
  std::vector<Real> values;
  for (Real j = first; j <= last; ++j) values.push_back(j * lattice.step / lattice.denominator);
  return values;
}

// Sums of `least` to n of the rows, in steps of the lattice from 0. Where the rows are all of the
// lattice, so are the sums; else they are found one row at a time.
std::optional<std::vector<Real>> totals(const Lattice& lattice, std::uint32_t least,
                                        std::uint32_t max_length) {
  std::vector<Real> values;
  const Real unit = lattice.denominator;
  if (static_cast<double>(lattice.numerators.size()) == lattice.steps + 1) {
    const double n = max_length;
    if ((lattice.steps * (n + 1) / 2 + 1) * (n + 1) > kMaxOutcomes) {
      // Fewer, when those of one count reach to those of the next.
      return lattice.step > 0 ? whole_totals(lattice, least, max_length) : std::nullopt;
    }
    for (std::uint32_t k = least; k <= max_length; ++k) {
      const auto most = static_cast<std::uint64_t>(lattice.steps) * k;
      for (std::uint64_t j = 0; j <= most; ++j)
        values.push_back(
            (lattice.low * static_cast<Real>(k) + lattice.step * static_cast<Real>(j)) / unit);
    }
    return values;
  }
  std::set<Real> sums, edge(lattice.numerators.begin(), lattice.numerators.end());
  if (least == 0) sums.insert(0);
  double work = 0;
  for (std::uint32_t k = 1; k <= max_length && !edge.empty(); ++k) {
    std::set<Real> next;
    for (Real sum : edge)
      if (sums.insert(sum).second) next.insert(sum);
    work += static_cast<double>(next.size() * lattice.numerators.size());
    if (work > kMaxOutcomes) return whole_totals(lattice, least, max_length);
    edge.clear();
    for (Real sum : next)
      for (Real row : lattice.numerators) edge.insert(sum + row);
  }
  for (Real sum : sums) values.push_back(sum / unit);
  return values;
}

Outcomes with_bounds(std::optional<std::vector<Real>> values, Real low, Real high, Real deviation) {
  if (!values || values->empty()) return {{}, low, high, 0};
  sort_distinct(*values);
  low = std::max(low, values->front() - deviation);
  high = std::min(high, values->back() + deviation);
  return {std::move(*values), low, high, deviation};
}

Outcomes sink(const Selection& selection, const RowSet& rows, bool list, Real low, Real high,
              std::uint32_t max_length) {
  const Real scale = std::exp(-static_cast<Real>(selection.depth));
  if (selection.one_key) max_length = 1;
  const Real n = static_cast<Real>(max_length);
  const std::uint32_t least = selection.never_empty ? 1 : 0;
  std::optional<Lattice> lattice;
  if (list) lattice = lattice_of(rows, scale);
  std::optional<std::vector<Real>> values;
  if (lattice) values = totals(*lattice, least, max_length);
  return with_bounds(std::move(values), std::min<Real>(low * least, low * n) * scale,
                     std::max<Real>(high * least, high * n) * scale,
                     lattice ? n * lattice->deviation : 0);
}

}  // namespace

Outcomes single_outcome(Real value) { return {{value}, value, value, 0}; }

Outcomes head_outcomes(const Selection& selection, const RowSet& rows, bool is_listed, double bos,
                       std::uint32_t max_length) {
  using Kind = Selection::Kind;
  if (selection.kind == Kind::kNothing) return single_outcome(bos);
  Real low = rows.row(0)[0];
  Real high = low;
  for (Index i = 0; i < rows.size(); ++i) {
    low = std::min<Real>(low, rows.row(i)[0]);
    high = std::max<Real>(high, rows.row(i)[0]);
  }
  if (selection.kind == Kind::kSink) return sink(selection, rows, is_listed, low, high, max_length);
  const bool shared = selection.kind == Kind::kShared;
  const bool bos_alone = shared || !selection.never_empty;
  std::optional<Lattice> lattice;
  if (is_listed) lattice = lattice_of(rows, 1);
  std::optional<std::vector<Real>> values;
  if (lattice && selection.one_key && !shared) {
    values = averages(*lattice, 1, 0, false);
  } else if (lattice) {
    values = averages(*lattice, max_length, shared ? bos : 0, shared);
  }
  if (values && bos_alone) values->push_back(bos);
  if (bos_alone) {
    low = std::min<Real>(low, bos);
    high = std::max<Real>(high, bos);
  }
  return with_bounds(std::move(values), low, high, lattice ? lattice->deviation : 0);
}

Outcomes add(const Outcomes& a, const Outcomes& b) {
  const double pairs = static_cast<double>(a.values.size()) * static_cast<double>(b.values.size());
  if (pairs == 0 || pairs > kMaxOutcomes) return {{}, a.low + b.low, a.high + b.high, 0};
  std::vector<Real> values;
  for (Real x : a.values)
    for (Real y : b.values) values.push_back(x + y);
  return with_bounds(std::move(values), a.low + b.low, a.high + b.high, a.deviation + b.deviation);
}

}  // namespace rasp::compiler::checker
