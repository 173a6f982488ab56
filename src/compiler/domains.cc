#include "compiler/domains.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <unordered_map>

#include "compiler/unique.h"

namespace rasp::compiler {

using value::Atom;
using value::Number;

namespace {

struct CanonicalLess {
  bool operator()(const Atom& a, const Atom& b) const { return value::canonical_less(a, b); }
};
using AtomSet = std::set<Atom, CanonicalLess>;

// Denominators beyond this have nothing to hold on to: their gaps are below what a double resolves.
constexpr std::int64_t kMaxDenominator = std::int64_t{1} << 40;

std::optional<std::int64_t> denominator_of(const Number& number) {
  if (!number.is_exact()) return std::nullopt;
  const value::BigInt den = boost::multiprecision::denominator(number.to_rational());
  if (den > kMaxDenominator) return std::nullopt;
  return den.convert_to<std::int64_t>();
}

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

void make_own_leaf(Domain& domain, IrId id) {
  if (!domain.listed) return;
  domain.leaves = {id};
  domain.cells.resize(domain.values.size());
  std::iota(domain.cells.begin(), domain.cells.end(), 0u);
  if (domain.may_mix) domain.cells.push_back(kUndefined);
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

}  // namespace

Domains::Domains(const Ir& ir, std::vector<Atom> vocabulary)
    : ir_(ir), vocabulary_(std::move(vocabulary)) {
  extend();
}

void Domains::extend() {
  for (auto id = static_cast<IrId>(domains_.size()); id < ir_.size(); ++id) {
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

namespace {

// The leaves of a table, and how an argument's own table is found from an assignment of them.
struct Frame {
  std::vector<IrId> leaves;
  std::vector<std::size_t> sizes;
  std::size_t cells = 1;

  [[nodiscard]] std::vector<std::size_t> strides_of(
      const std::vector<IrId>& own, const std::vector<std::size_t>& own_sizes) const {
    std::vector<std::size_t> strides(leaves.size(), 0);
    std::size_t stride = 1;
    for (std::size_t i = own.size(); i-- > 0;) {
      const auto at = std::lower_bound(leaves.begin(), leaves.end(), own[i]) - leaves.begin();
      strides[static_cast<std::size_t>(at)] = stride;
      stride *= own_sizes[i];
    }
    return strides;
  }
};

}  // namespace

// A sum with what heads add up in it: the sum is one number that steps tell apart as cheaply as its
// terms, and in the same layer, so what reads it nonlinearly need not know the terms.
bool Domains::sums_heads(IrId id) const {
  const IrNode& node = ir_[id];
  return node.kind == IrKind::kAffine && domains_[id].listed && domains_[id].leaves.size() > 1 &&
         std::any_of(domains_[id].leaves.begin(), domains_[id].leaves.end(), [&](IrId leaf) {
           const IrKind kind = ir_[leaf].kind;
           return kind == IrKind::kWidth || kind == IrKind::kSum ||
                  (kind == IrKind::kMean && !is_pick(leaf));
         });
}

Domain Domains::elementwise_domain(IrId id) const {
  const IrNode& node = ir_[id];
  // An argument enters with its own leaves, or, when those are too many together, as a leaf.
  std::vector<bool> cut(node.args.size(), false);
  Frame frame;
  const auto leaves_of = [&](std::size_t i) {
    return cut[i] ? std::vector<IrId>{node.args[i]} : domains_[node.args[i]].leaves;
  };
  for (std::size_t i = 0; i < node.args.size(); ++i) {
    const Domain& arg = domains_[node.args[i]];
    if (!arg.has_table() && !arg.listed) frame.cells = kMaxCells + 1;
    cut[i] = !arg.has_table() || (node.kind != IrKind::kAffine && sums_heads(node.args[i]));
  }
  const bool tabular = frame.cells == 1;
  const auto measure = [&] {
    std::set<IrId> leaves;
    for (std::size_t i = 0; i < node.args.size(); ++i) {
      for (const IrId leaf : leaves_of(i)) leaves.insert(leaf);
    }
    frame = Frame{};
    frame.leaves.assign(leaves.begin(), leaves.end());
    for (const IrId leaf : frame.leaves) {
      frame.sizes.push_back(rows(leaf));
      frame.cells = std::min(frame.cells * rows(leaf), kMaxCells + 1);
    }
  };
  if (tabular) measure();
  while (tabular && frame.cells > kMaxCells) {
    std::size_t widest = node.args.size(), most = 1;
    for (std::size_t i = 0; i < node.args.size(); ++i) {
      if (!cut[i] && leaves_of(i).size() > most) {
        most = leaves_of(i).size();
        widest = i;
      }
    }
    if (widest == node.args.size()) break;
    cut[widest] = true;
    measure();
  }
  Domain domain;
  if (!tabular || frame.cells > kMaxCells) {
    if (node.kind == IrKind::kAffine) return affine_bounds(node);
    if (is_whole_round(id)) return domains_[node.args[0]];
    return domain;
  }
  domain = tabulate(node, cut, frame.leaves, frame.sizes, frame.cells);
  if (domain.listed && node.kind == IrKind::kAffine && is_rank(ir_, id)) {
    // n positions have the ranks 0 .. n-1, whatever the two widths could add up to.
    const Number end = Number::integer(ir_.max_length());
    const auto beyond = static_cast<std::uint32_t>(
        std::find_if(domain.values.begin(), domain.values.end(),
                     [&](const Atom& v) { return std::get<Number>(v) >= end; }) -
        domain.values.begin());
    domain.values.resize(beyond);
    for (std::uint32_t& cell : domain.cells) {
      if (cell != kUndefined && cell >= beyond) cell = kUndefined;
    }
    set_bounds(domain);
  }
  return domain;
}

Domain Domains::tabulate(const IrNode& node, const std::vector<bool>& cut,
                         const std::vector<IrId>& leaves, const std::vector<std::size_t>& sizes,
                         std::size_t cells) const {
  const Frame frame{leaves, sizes, cells};
  const std::size_t arity = node.args.size();
  std::vector<std::vector<std::size_t>> strides(arity);
  for (std::size_t i = 0; i < arity; ++i) {
    const auto own = cut[i] ? std::vector<IrId>{node.args[i]} : domains_[node.args[i]].leaves;
    std::vector<std::size_t> own_sizes;
    for (const IrId leaf : own) own_sizes.push_back(rows(leaf));
    strides[i] = frame.strides_of(own, own_sizes);
  }
  const auto cell_of = [&](std::size_t i, std::size_t index) {
    const Domain& arg = domains_[node.args[i]];
    if (!cut[i]) return arg.cells[index];
    return index < arg.values.size() ? static_cast<std::uint32_t>(index) : kUndefined;
  };
  std::unordered_map<Atom, std::uint32_t, value::AtomIdentityHash, value::AtomIdentical> numbers;
  std::vector<Atom> found;
  std::unordered_map<std::uint64_t, std::uint32_t> seen;  // argument cells -> result
  std::vector<std::uint32_t> result(cells, kUndefined);
  std::vector<std::size_t> row(leaves.size(), 0);
  std::vector<std::optional<Atom>> values(arity);
  std::vector<const std::optional<Atom>*> args(arity);
  for (std::size_t i = 0; i < arity; ++i) args[i] = &values[i];
  std::vector<std::size_t> index(arity, 0);
  const std::vector<Bound> bounds = bounds_among(leaves);
  std::vector<std::vector<std::int64_t>> whole(leaves.size());
  for (const Bound& bound : bounds) {
    for (const std::size_t leaf : {bound.less, bound.more}) {
      if (!whole[leaf].empty()) continue;
      for (const Atom& value : domains_[leaves[leaf]].values) {
        whole[leaf].push_back(std::get<Number>(value).to_int64().value_or(0));
      }
    }
  }
  const auto possible = [&](const Bound& bound) {
    return whole[bound.less][row[bound.less]] < whole[bound.more][row[bound.more]] + bound.slack;
  };
  for (std::size_t cell = 0; cell < cells; ++cell) {
    if (std::all_of(bounds.begin(), bounds.end(), possible)) {
      std::uint64_t key = 0;
      for (std::size_t i = 0; i < arity; ++i) {
        const std::uint32_t value = cell_of(i, index[i]);
        key = key * (domains_[node.args[i]].values.size() + 1) +
              std::min<std::uint64_t>(value, domains_[node.args[i]].values.size());
      }
      const auto [slot, fresh] = seen.try_emplace(key, kUndefined);
      if (fresh) {
        for (std::size_t i = 0; i < arity; ++i) {
          const std::uint32_t value = cell_of(i, index[i]);
          values[i] = value == kUndefined ? std::nullopt
                                          : std::optional(domains_[node.args[i]].values[value]);
        }
        if (auto value = evaluate(node, args)) {
          const auto [number, novel] =
              numbers.try_emplace(*value, static_cast<std::uint32_t>(found.size()));
          if (novel) found.push_back(std::move(*value));
          slot->second = number->second;
        }
      }
      result[cell] = slot->second;
    }
    for (std::size_t d = leaves.size(); d-- > 0;) {  // the next assignment
      ++row[d];
      for (std::size_t i = 0; i < arity; ++i) index[i] += strides[i][d];
      if (row[d] < sizes[d]) break;
      for (std::size_t i = 0; i < arity; ++i) index[i] -= strides[i][d] * sizes[d];
      row[d] = 0;
    }
  }
  return finish_table(leaves, std::move(found), std::move(result));
}

Domain Domains::finish_table(std::vector<IrId> leaves, std::vector<Atom> found,
                             std::vector<std::uint32_t> cells) {
  std::vector<std::uint32_t> order(found.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return value::canonical_less(found[a], found[b]);
  });
  std::vector<std::uint32_t> rank(found.size());
  Domain domain;
  for (std::uint32_t i = 0; i < order.size(); ++i) {
    rank[order[i]] = i;
    domain.values.push_back(found[order[i]]);
  }
  for (std::uint32_t& cell : cells) {
    if (cell != kUndefined) cell = rank[cell];
  }
  domain.listed = domain.values.size() <= kMaxValues;
  set_bounds(domain);
  if (!domain.listed) {
    domain.values.clear();
    return domain;
  }
  domain.leaves = std::move(leaves);
  domain.cells = std::move(cells);
  return domain;
}

// Terms taken as independent: their true values are among the sums.
Domain Domains::affine_bounds(const IrNode& node) const {
  Domain domain;
  domain.numeric = true;
  domain.minimum = domain.maximum = node.offset;
  domain.denominator = denominator_of(node.offset).value_or(0);
  AtomSet sums{canonical(node.offset)};
  bool listed = true;
  for (std::size_t i = 0; i < node.args.size(); ++i) {
    const Domain& arg = domains_[node.args[i]];
    const Number& weight = node.weights[i];
    domain.numeric = domain.numeric && arg.numeric;
    const Number a = weight * arg.minimum, b = weight * arg.maximum;
    domain.minimum = domain.minimum + std::min(a, b);
    domain.maximum = domain.maximum + std::max(a, b);
    domain.fractions = domain.fractions || arg.fractions;
    const auto den = denominator_of(weight);
    if (domain.denominator > 0 && den && arg.denominator > 0 &&
        *den <= kMaxDenominator / arg.denominator) {
      const std::int64_t other = *den * arg.denominator;
      // Two means have no common denominator, only a product of theirs.
      domain.denominator =
          arg.fractions && node.args.size() > 1 && i > 0 ? 0 : std::lcm(domain.denominator, other);
    } else {
      domain.denominator = 0;
    }
    listed = listed && arg.listed && sums.size() * arg.values.size() <= kMaxCells;
    if (!listed) continue;
    AtomSet next;
    for (const Atom& sum : sums) {
      for (const Atom& value : arg.values) {
        if (const auto number = value::to_number(value)) {
          next.insert(canonical(std::get<Number>(sum) + weight * *number));
        }
      }
    }
    listed = next.size() <= kMaxValues;
    sums = std::move(next);
  }
  if (!domain.numeric || !listed) return domain;
  return list_of(sums);
}

std::optional<std::vector<std::optional<Atom>>> Domains::as_function_of(
    IrId node, IrId of, const std::vector<Atom>& values) const {
  std::vector<bool> needed(node + 1, false);
  needed[node] = true;
  for (IrId id = node + 1; id-- > 0;) {
    if (!needed[id] || id == of) continue;
    if (is_leaf(ir_[id].kind)) return std::nullopt;
    for (const IrId arg : ir_[id].args) needed[arg] = true;
  }
  std::map<IrId, std::vector<std::optional<Atom>>> results;
  for (IrId id = 0; id <= node; ++id) {
    if (!needed[id]) continue;
    auto& result = results[id];
    if (id == of) {
      result.assign(values.begin(), values.end());
      continue;
    }
    std::vector<const std::optional<Atom>*> args(ir_[id].args.size());
    for (std::size_t v = 0; v < values.size(); ++v) {
      for (std::size_t i = 0; i < args.size(); ++i) args[i] = &results[ir_[id].args[i]][v];
      result.push_back(evaluate(ir_[id], args));
    }
  }
  return std::move(results[node]);
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
