#include "compiler/domains.h"

#include <algorithm>
#include <numeric>

#include "compiler/domain_values.h"
#include "compiler/halted.h"
#include "compiler/unique.h"

namespace rasp::compiler {

using value::Atom;
using value::Number;

namespace {

void make_own_leaf(Domain& domain, IrId id) {
  if (!domain.listed) return;
  domain.leaves = {id};
  domain.cells.resize(domain.values.size());
  std::iota(domain.cells.begin(), domain.cells.end(), 0u);
  if (domain.may_mix) domain.cells.push_back(kUndefined);
}

}  // namespace

Domains::Domains(const Ir& ir, std::vector<Atom> vocabulary, const Halt& halt)
    : ir_(ir), vocabulary_(std::move(vocabulary)), halt_(halt) {
  extend();
}

void Domains::extend() {
  for (auto id = static_cast<IrId>(domains_.size()); id < ir_.size(); ++id) {
    heed(halt_);
    const IrNode& node = ir_[id];
    if (is_selector(node.kind)) {
      domains_.emplace_back();
    } else if (is_leaf(node.kind)) {
      Domain domain = leaf_domain(id);
      make_own_leaf(domain, id);
      domains_.push_back(std::move(domain));
    } else {
      domains_.push_back(elementwise_domain(id));
    }
  }
}

Domain Domains::leaf_domain(IrId id) const {
  const IrNode& node = ir_[id];
  switch (node.kind) {
    case IrKind::kToken: {  // in the vocabulary's order: the row of a token is its id
      Domain domain;
      domain.listed = true;
      domain.values = vocabulary_;
      return domain;
    }
    case IrKind::kPosition: {
      Domain domain;
      domain.listed = true;
      for (std::uint32_t p = 0; p < ir_.max_length(); ++p) {
        domain.values.push_back(value::make_int(p));
      }
      set_bounds(domain);
      return domain;
    }
    case IrKind::kExists:
      return list_of({Atom(false), Atom(true)});
    case IrKind::kWidth:
      return width_domain(node);
    case IrKind::kSum:
      return sum_domain(node);
    default:
      return mean_domain(id);
  }
}

Domain Domains::width_domain(const IrNode& node) const {
  const IrNode& selector = ir_[node.args[0]];
  const auto reflexive = [&](IrId id) {  // selects at least the query's own position
    const IrNode& part = ir_[id];
    return part.kind == IrKind::kTrue ||
           (part.kind == IrKind::kSelect && part.args[0] == part.args[1] &&
            (part.relation & kEqual) != 0);
  };
  const bool own = selector.kind == IrKind::kAnd
                       ? std::all_of(selector.args.begin(), selector.args.end(), reflexive)
                       : reflexive(node.args[0]);
  AtomSet set;
  const std::uint32_t most = selects_at_most_one(ir_, node.args[0]) ? 1 : ir_.max_length();
  for (std::uint32_t w = own ? 1 : 0; w <= most; ++w) set.insert(value::make_int(w));
  return list_of(set);
}

Domain Domains::sum_domain(const IrNode& node) const {
  const Domain& of = domains_[node.args[1]];
  const auto n = static_cast<std::int64_t>(ir_.max_length());
  Domain domain;
  domain.numeric = of.numeric;
  const Number zero;
  const Number count = Number::integer(n);
  domain.minimum = count * std::min(of.minimum, zero);
  domain.maximum = count * std::max(of.maximum, zero);
  domain.denominator = of.fractions ? 0 : of.denominator;
  const std::vector<std::int64_t> values = scaled(of);
  if (values.empty()) return domain;
  std::set<std::int64_t> sums{0};
  std::set<std::int64_t> edge = sums;
  for (std::int64_t k = 0; k < n && !edge.empty(); ++k) {
    std::set<std::int64_t> next;
    for (const std::int64_t sum : edge) {
      for (const std::int64_t value : values) {
        if (sums.insert(sum + value).second) next.insert(sum + value);
      }
      if (sums.size() > kMaxValues) return domain;
    }
    edge = std::move(next);
  }
  AtomSet set;
  for (const std::int64_t sum : sums) set.insert(ratio(sum, of.denominator));
  return list_of(set);
}

Domain Domains::mean_domain(IrId id) const {
  const IrNode& node = ir_[id];
  const Domain& of = domains_[node.args[1]];
  if (is_pick(id) && of.listed) {
    AtomSet set(of.values.begin(), of.values.end());
    set.insert(node.atom);
    Domain domain = list_of(set);
    domain.may_mix = !selects_at_most_one(ir_, node.args[0]);
    return domain;
  }
  Domain domain;
  const auto otherwise = value::to_number(node.atom);
  domain.numeric = of.numeric && otherwise.has_value();
  if (!domain.numeric) return domain;
  domain.minimum = std::min(of.minimum, *otherwise);
  domain.maximum = std::max(of.maximum, *otherwise);
  domain.fractions = true;
  const auto n = static_cast<std::int64_t>(ir_.max_length());
  const auto default_den = denominator_of(*otherwise);
  if (of.denominator > 0 && default_den && of.denominator <= kMaxDenominator / n) {
    domain.denominator = std::max(of.denominator * (of.fractions ? 1 : n), *default_den);
    if (of.fractions) domain.denominator = 0;  // a mean of means: no common ground
  }
  const std::vector<std::int64_t> values = scaled(of);
  if (values.empty()) return domain;
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  std::int64_t step = 0;
  for (const std::int64_t value : values) step = std::gcd(step, value - *low);
  const std::int64_t range = step == 0 ? 0 : (*high - *low) / step;
  if (range * n > static_cast<std::int64_t>(kMaxValues) * 4) return domain;
  AtomSet set{canonical(node.atom)};
  set.insert(of.values.begin(), of.values.end());
  for (std::int64_t k = 2; k <= n; ++k) {
    for (std::int64_t j = 0; j <= range * k; ++j) {
      set.insert(ratio(*low * k + step * j, of.denominator * k));
    }
    if (set.size() > kMaxValues) return domain;
  }
  return list_of(set);
}

bool Domains::is_pick(IrId mean) const {
  const IrNode& node = ir_[mean];
  constexpr auto kNumbers = static_cast<value::TypeSet>(value::Type::kInt) |
                            static_cast<value::TypeSet>(value::Type::kFloat);
  return (ir_[node.args[1]].types & kNumbers) == 0 || selects_at_most_one(ir_, node.args[0]);
}

bool Domains::is_whole_round(IrId id) const {
  const IrNode& node = ir_[id];
  if (node.kind != IrKind::kMap || node.op != value::Op::kRound) return false;
  const Domain& of = domains_[node.args[0]];
  return of.numeric && !of.fractions && of.denominator == 1;
}

bool Domains::counts_keys(IrId leaf) const {
  const IrNode& node = ir_[leaf];
  if (node.kind == IrKind::kWidth) return true;
  const Number zero, one = Number::integer(1);
  return node.kind == IrKind::kSum && domains_[node.args[1]].numeric &&
         domains_[node.args[1]].minimum >= zero && domains_[node.args[1]].maximum <= one &&
         ir_[node.args[1]].integral;
}

std::vector<Domains::Bound> Domains::bounds_among(const std::vector<IrId>& leaves) const {
  std::vector<Bound> bounds;
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const IrNode& node = ir_[leaves[i]];
    const bool length = node.kind == IrKind::kWidth && ir_[node.args[0]].kind == IrKind::kTrue;
    const bool position = node.kind == IrKind::kPosition;
    for (std::size_t j = 0; j < leaves.size(); ++j) {
      if (j == i) continue;
      if (length && ir_[leaves[j]].kind == IrKind::kPosition) bounds.push_back({j, i, 0});
      if (length && counts_keys(leaves[j])) bounds.push_back({j, i, 1});
      if (position && ir_.causal() && counts_keys(leaves[j])) bounds.push_back({j, i, 2});
    }
  }
  return bounds;
}
std::string print(const Ir& ir, const Domains& domains, const std::vector<IrId>& roots) {
  std::string text = print(ir, roots);
  std::string result;
  std::vector<bool> needed(ir.size(), false);
  for (const IrId root : roots) needed[root] = true;
  for (auto id = static_cast<IrId>(ir.size()); id-- > 0;) {
    if (!needed[id]) continue;
    for (const IrId arg : ir[id].args) needed[arg] = true;
  }
  std::size_t start = 0;
  for (IrId id = 0; id < ir.size(); ++id) {
    if (!needed[id]) continue;
    const std::size_t end = text.find('\n', start);
    result += text.substr(start, end - start);
    start = end + 1;
    const Domain& domain = domains[id];
    if (!is_selector(ir[id].kind)) {
      result += "  :";
      if (domain.listed) {
        result += " {";
        for (std::size_t i = 0; i < domain.values.size() && i < 8; ++i) {
          result += (i > 0 ? ", " : "") + value::repr(domain.values[i]);
        }
        if (domain.values.size() > 8) {
          result += ", ... " + std::to_string(domain.values.size()) + " values";
        }
        result += '}';
      } else if (domain.numeric) {
        result += " [" + domain.minimum.repr() + ", " + domain.maximum.repr() + "], denominators " +
                  (domain.fractions ? "to " : "of ") + std::to_string(domain.denominator);
      } else {
        result += " too many to list";
      }
      if (domain.may_mix) result += ", or a mixture";
    }
    result += '\n';
  }
  return result;
}

}  // namespace rasp::compiler
