// Lists of values, and the whole numbers behind them: what domains are made of.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <vector>

#include "compiler/domains.h"

namespace rasp::compiler {

struct CanonicalLess {
  bool operator()(const value::Atom& a, const value::Atom& b) const {
    return value::canonical_less(a, b);
  }
};
using AtomSet = std::set<value::Atom, CanonicalLess>;

// Denominators beyond this have nothing to hold on to: their gaps are below what a double resolves.
inline constexpr std::int64_t kMaxDenominator = std::int64_t{1} << 40;
[[nodiscard]] std::optional<std::int64_t> denominator_of(const value::Number& number);

[[nodiscard]] Domain list_of(const AtomSet& set);
// Bounds and common denominator from the listed values.
void set_bounds(Domain& domain);
// Listed values as whole multiples of 1/denominator; empty when they are not or do not fit.
[[nodiscard]] std::vector<std::int64_t> scaled(const Domain& domain);
[[nodiscard]] value::Atom ratio(std::int64_t numerator, std::int64_t denominator);

}  // namespace rasp::compiler
