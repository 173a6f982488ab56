#include "compiler/domain_values.h"

#include <numeric>

namespace rasp::compiler {

using value::Atom;
using value::Number;

std::optional<std::int64_t> denominator_of(const Number& number) {
  if (!number.is_exact()) return std::nullopt;
  const value::BigInt den = boost::multiprecision::denominator(number.to_rational());
  if (den > kMaxDenominator) return std::nullopt;
  return den.convert_to<std::int64_t>();
}

namespace {

// Common denominator of numbers; 0 when there is none to speak of.
std::int64_t common_denominator(const std::vector<Atom>& values) {
  std::int64_t common = 1;
  for (const Atom& atom : values) {
    const auto number = value::to_number(atom);
    const auto den = number ? denominator_of(*number) : std::nullopt;
    if (!den) return 0;
    common = std::lcm(common, *den);
    if (common > kMaxDenominator) return 0;
  }
  return common;
}

}  // namespace

void set_bounds(Domain& domain) {
  domain.numeric = !domain.values.empty();
  bool first = true;
  for (const Atom& atom : domain.values) {
    const auto number = value::to_number(atom);
    if (!number) {
      domain.numeric = false;
      return;
    }
    if (first || *number < domain.minimum) domain.minimum = *number;
    if (first || *number > domain.maximum) domain.maximum = *number;
    first = false;
  }
  domain.denominator = common_denominator(domain.values);
}

Domain list_of(const AtomSet& set) {
  Domain domain;
  domain.listed = true;
  domain.values.assign(set.begin(), set.end());
  set_bounds(domain);
  return domain;
}

// Values as whole multiples of 1/denominator; empty when they are not or do not fit.
std::vector<std::int64_t> scaled(const Domain& domain) {
  std::vector<std::int64_t> result;
  if (!domain.listed || domain.denominator == 0) return {};
  for (const Atom& atom : domain.values) {
    const auto number = value::to_number(atom);
    const Number multiple = *number * Number::integer(domain.denominator);
    const auto whole = multiple.to_int64();
    if (!whole || *whole > kMaxDenominator || *whole < -kMaxDenominator) return {};
    result.push_back(*whole);
  }
  return result;
}

Atom ratio(std::int64_t numerator, std::int64_t denominator) {
  return canonical(Number::rational(numerator, denominator));
}

}  // namespace rasp::compiler
