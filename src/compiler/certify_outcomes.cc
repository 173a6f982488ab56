#include "compiler/certify_outcomes.h"

#include <algorithm>
#include <cmath>

namespace rasp::compiler::checker {
namespace {

constexpr double kMaxOutcomes = 0x1p21;  // before equal ones collapse

void collapse(std::vector<Real>& values) {
  std::ranges::sort(values);
  const auto repeated = std::ranges::unique(values);
  values.erase(repeated.begin(), repeated.end());
}

Outcomes listed(std::vector<Real> values) {
  collapse(values);
  Outcomes result;
  result.low = values.front();
  result.high = values.back();
  result.values = std::move(values);
  return result;
}

// Values as low, low + step, .. low + steps * step. The step is their greatest common divisor: not
// all of them need be taken.
struct Lattice {
  Real low = 0;
  Real step = 0;
  double steps = 0;
};

Lattice lattice_of(const RowSet& rows) {
  Lattice lattice;
  std::vector<double> values;
  for (Index i = 0; i < rows.size(); ++i) values.push_back(rows.row(i)[0]);
  std::ranges::sort(values);
  lattice.low = values.front();
  // Differences of doubles are multiples of a power of two: Euclid ends, exactly, in fmod.
  double divisor = 0;
  for (std::size_t i = 1; i < values.size(); ++i) {
    double other = values[i] - values[0];
    while (other != 0) {
      const double rest = std::fmod(divisor, other);
      divisor = other;
      other = rest;
    }
  }
  lattice.step = divisor;
  if (divisor != 0) lattice.steps = (values.back() - values.front()) / divisor;
  return lattice;
}

// (extra + the sum of k rows) / (k + more) for every k, times scale; `more` is 1 where BOS shares.
std::optional<std::vector<Real>> averages(const Lattice& lattice, std::uint32_t max_length,
                                          Real extra, bool shared) {
  const double n = max_length;
  if ((lattice.steps * (n + 1) / 2 + 1) * n > kMaxOutcomes) return std::nullopt;
  std::vector<Real> values;
  for (std::uint32_t k = shared ? 0 : 1; k <= max_length; ++k) {
    const Real divisor = static_cast<Real>(k) + (shared ? 1 : 0);
    const Real first = extra + lattice.low * static_cast<Real>(k);
    const auto most = static_cast<std::uint64_t>(lattice.steps) * k;
    for (std::uint64_t j = 0; j <= most; ++j)
      values.push_back((first + lattice.step * static_cast<Real>(j)) / divisor);
  }
  return values;
}

// Sums of 0 to n rows.
std::optional<std::vector<Real>> totals(const Lattice& lattice, std::uint32_t max_length) {
  const double n = max_length;
  std::vector<Real> values;
  const Real ratio = lattice.step == 0 ? 0 : lattice.low / lattice.step;
  if (lattice.step != 0 && ratio == std::floor(ratio)) {
    // All are multiples of the step.
    const Real first = std::min<Real>(0, ratio * n);
    const Real last = std::max<Real>(0, (ratio + lattice.steps) * n);
    if (last - first > kMaxOutcomes) return std::nullopt;
    for (Real j = first; j <= last; ++j) values.push_back(j * lattice.step);
    return values;
  }
  if ((lattice.steps * (n + 1) / 2 + 1) * n > kMaxOutcomes) return std::nullopt;
  values.push_back(0);
  for (std::uint32_t k = 1; k <= max_length; ++k) {
    const auto most = static_cast<std::uint64_t>(lattice.steps) * k;
    for (std::uint64_t j = 0; j <= most; ++j)
      values.push_back(lattice.low * static_cast<Real>(k) + lattice.step * static_cast<Real>(j));
  }
  return values;
}

Outcomes with_bounds(std::optional<std::vector<Real>> values, Real low, Real high) {
  if (values && !values->empty()) return listed(std::move(*values));
  return {{}, low, high};
}

Outcomes sink(const Selection& selection, const RowSet& rows, bool list, Real low, Real high,
              std::uint32_t max_length) {
  const Real scale = std::exp(-static_cast<Real>(selection.depth));
  const Real n = static_cast<Real>(max_length);
  std::optional<std::vector<Real>> values;
  if (list) values = totals(lattice_of(rows), max_length);
  if (values) std::ranges::for_each(*values, [&](Real& value) { value *= scale; });
  return with_bounds(std::move(values), std::min<Real>(0, low * n * scale),
                     std::max<Real>(0, high * n * scale));
}

}  // namespace

Outcomes single_outcome(Real value) { return {{value}, value, value}; }

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
  const bool empty = shared || !selection.all_keys;  // BOS alone may be attended to
  std::optional<std::vector<Real>> values;
  if (is_listed && selection.one_key && !shared) {
    values.emplace();
    for (Index i = 0; i < rows.size(); ++i) values->push_back(rows.row(i)[0]);
  } else if (is_listed) {
    values = averages(lattice_of(rows), max_length, shared ? bos : 0, shared);
  }
  if (values && empty) values->push_back(bos);
  if (empty) {
    low = std::min<Real>(low, bos);
    high = std::max<Real>(high, bos);
  }
  return with_bounds(std::move(values), low, high);
}

Outcomes add(const Outcomes& a, const Outcomes& b) {
  const double pairs = static_cast<double>(a.values.size()) * static_cast<double>(b.values.size());
  if (pairs == 0 || pairs > kMaxOutcomes) return {{}, a.low + b.low, a.high + b.high};
  std::vector<Real> values;
  for (Real x : a.values)
    for (Real y : b.values) values.push_back(x + y);
  return listed(std::move(values));
}

}  // namespace rasp::compiler::checker
