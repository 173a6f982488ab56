// The domains of elementwise nodes: tables over leaves, or bounds where a table would be too large.
#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>

#include "compiler/domain_values.h"
#include "compiler/domains.h"
#include "compiler/unique.h"

namespace rasp::compiler {

using value::Atom;
using value::Number;

// The leaves of a table, and how an argument's own table is found from an assignment of them.
struct Domains::Frame {
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

// Fills a table: every assignment of the leaves, the arguments' cells under it, and the node's
// value.
class Domains::Tabulator {
 public:
  Tabulator(const Domains& domains, const IrNode& node, const std::vector<bool>& cut,
            const Frame& frame)
      : domains_(domains), node_(node), frame_(frame), row_(frame.leaves.size(), 0) {
    for (std::size_t i = 0; i < node.args.size(); ++i) {
      Argument argument{&domains.domains_[node.args[i]], cut[i], {}, 0};
      const auto own = cut[i] ? std::vector<IrId>{node.args[i]} : argument.domain->leaves;
      std::vector<std::size_t> own_sizes;
      for (const IrId leaf : own) own_sizes.push_back(domains.rows(leaf));
      argument.strides = frame.strides_of(own, own_sizes);
      arguments_.push_back(std::move(argument));
    }
    values_.resize(arguments_.size());
    for (const auto& value : values_) pointers_.push_back(&value);
    prepare_bounds();
    prepare_keys();
  }

  Domain run() {
    std::vector<std::uint32_t> cells(frame_.cells, kUndefined);
    for (std::uint32_t& cell : cells) {
      if (possible()) cell = value_here();
      advance();
    }
    return finish_table(frame_.leaves, std::move(found_), std::move(cells));
  }

 private:
  struct Argument {
    const Domain* domain;
    bool cut;
    std::vector<std::size_t> strides;  // one a leaf of the frame
    std::size_t index;                 // of the argument's own cell

    [[nodiscard]] std::uint32_t cell() const {
      if (!cut) return domain->cells[index];
      return index < domain->values.size() ? static_cast<std::uint32_t>(index) : kUndefined;
    }
  };

  void prepare_bounds() {
    bounds_ = domains_.bounds_among(frame_.leaves);
    whole_.resize(frame_.leaves.size());
    for (const Bound& bound : bounds_) {
      for (const std::size_t leaf : {bound.less, bound.more}) {
        if (!whole_[leaf].empty()) continue;
        for (const Atom& value : domains_[frame_.leaves[leaf]].values) {
          whole_[leaf].push_back(std::get<Number>(value).to_int64().value_or(0));
        }
      }
    }
  }

  // Values are remembered by the arguments' cells, where those fit one key.
  void prepare_keys() {
    std::uint64_t keys = 1;
    for (const Argument& argument : arguments_) {
      const std::uint64_t radix = argument.domain->values.size() + 1;
      remember_ = remember_ && !__builtin_mul_overflow(keys, radix, &keys);
    }
  }

  [[nodiscard]] bool possible() const {
    return std::all_of(bounds_.begin(), bounds_.end(), [&](const Bound& bound) {
      return whole_[bound.less][row_[bound.less]] <
             whole_[bound.more][row_[bound.more]] + bound.slack;
    });
  }

  std::uint32_t value_here() {
    if (!remember_) return compute();
    std::uint64_t key = 0;
    for (const Argument& argument : arguments_) {
      const std::uint64_t size = argument.domain->values.size();
      key = key * (size + 1) + std::min<std::uint64_t>(argument.cell(), size);
    }
    const auto [slot, fresh] = seen_.try_emplace(key, kUndefined);
    if (fresh) slot->second = compute();
    return slot->second;
  }

  std::uint32_t compute() {
    for (std::size_t i = 0; i < arguments_.size(); ++i) {
      const std::uint32_t cell = arguments_[i].cell();
      values_[i] =
          cell == kUndefined ? std::nullopt : std::optional(arguments_[i].domain->values[cell]);
    }
    auto value = evaluate(node_, pointers_);
    if (!value) return kUndefined;
    const auto [number, novel] =
        numbers_.try_emplace(*value, static_cast<std::uint32_t>(found_.size()));
    if (novel) found_.push_back(std::move(*value));
    return number->second;
  }

  void advance() {
    for (std::size_t d = row_.size(); d-- > 0;) {
      for (Argument& argument : arguments_) argument.index += argument.strides[d];
      if (++row_[d] < frame_.sizes[d]) return;
      for (Argument& argument : arguments_) {
        argument.index -= argument.strides[d] * frame_.sizes[d];
      }
      row_[d] = 0;
    }
  }

  const Domains& domains_;
  const IrNode& node_;
  const Frame& frame_;
  std::vector<std::size_t> row_;  // the assignment: a row of each leaf
  std::vector<Argument> arguments_;
  std::vector<std::optional<Atom>> values_;
  std::vector<const std::optional<Atom>*> pointers_;
  std::vector<Bound> bounds_;
  std::vector<std::vector<std::int64_t>> whole_;  // values of the leaves that bounds name
  bool remember_ = true;
  std::unordered_map<std::uint64_t, std::uint32_t> seen_;
  std::unordered_map<Atom, std::uint32_t, value::AtomIdentityHash, value::AtomIdentical> numbers_;
  std::vector<Atom> found_;
};

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
  domain = Tabulator(*this, node, cut, frame).run();
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

}  // namespace rasp::compiler
