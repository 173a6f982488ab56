// Pass 2. For every s-op of the compiler's program, what values it can take, and as a function of
// what.
//
// An elementwise node is a table over its leaves: the token, the position, and what heads find out.
// Leaves are shared, not independent (x - x is 0). Where the product of the leaves is too large, a
// sub-expression becomes a leaf itself (it is "cut": it will be a variable of its own).
// Combinations that cannot occur (a position beyond the length) and those on which the language has
// no value are undefined: no reader needs them.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "base/halt.h"
#include "compiler/ir.h"

namespace rasp::compiler {

inline constexpr std::size_t kMaxValues = 4096;                 // that a node lists
inline constexpr std::size_t kMaxCells = std::size_t{1} << 19;  // of a table over leaves
inline constexpr std::uint32_t kUndefined = 0xFFFFFFFFu;

struct Domain {
  // The values, ascending in canonical order; numbers whole or not by value. Empty when not
  // `listed`.
  bool listed = false;
  std::vector<value::Atom> values;
  // Bounds of numbers, listed or not. When not listed, values are multiples of 1/denominator
  // (fractions == false) or have any denominator up to `denominator`.
  bool numeric = false;
  value::Number minimum, maximum;
  std::int64_t denominator = 0;  // 0: unknown
  bool fractions = false;
  // A leaf that picks one of several keys' values is undefined where it selects several of them,
  // and then holds a mixture in the stream. Its tables have one more row, the last, for that:
  // nothing may depend on it.
  bool may_mix = false;

  // The table: `cells[i]` is the index into `values`, or kUndefined, for assignment i of the leaves
  // (the first varies slowest, each in the order of its own domain, plus the mixed row). Empty when
  // there is no table.
  std::vector<IrId> leaves;
  std::vector<std::uint32_t> cells;
  [[nodiscard]] bool has_table() const { return !cells.empty(); }
};

class Domains {
 public:
  // Works out the domains of every s-op of `ir` (selectors have none). `ir` may grow: call `extend`
  // then.
  Domains(const Ir& ir, std::vector<value::Atom> vocabulary, const Halt& halt = {});
  void extend();

  [[nodiscard]] const Domain& operator[](IrId id) const { return domains_[id]; }
  [[nodiscard]] std::size_t rows(IrId leaf) const {  // of the leaf's dimension in a table
    return domains_[leaf].values.size() + (domains_[leaf].may_mix ? 1 : 0);
  }
  // The aggregate gives the value of a single key, or the default: there is nothing to average.
  [[nodiscard]] bool is_pick(IrId mean) const;
  // It rounds what is whole already, in an argument too large to list.
  [[nodiscard]] bool is_whole_round(IrId id) const;
  // `node` as a function of the values of another s-op alone; nullopt when it reads anything else.
  [[nodiscard]] std::optional<std::vector<std::optional<value::Atom>>> as_function_of(
      IrId node, IrId of, const std::vector<value::Atom>& values) const;

 private:
  Domain leaf_domain(IrId id) const;
  Domain width_domain(const IrNode& node) const;
  Domain sum_domain(const IrNode& node) const;
  Domain mean_domain(IrId id) const;
  Domain elementwise_domain(IrId id) const;
  struct Frame;
  class Tabulator;
  static Domain finish_table(std::vector<IrId> leaves, std::vector<value::Atom> found,
                             std::vector<std::uint32_t> cells);
  [[nodiscard]] bool sums_heads(IrId id) const;
  Domain affine_bounds(const IrNode& node) const;
  // leaves[less] < leaves[more] + slack in every sequence.
  struct Bound {
    std::size_t less, more;
    std::int64_t slack;
  };
  [[nodiscard]] std::vector<Bound> bounds_among(const std::vector<IrId>& leaves) const;
  [[nodiscard]] bool counts_keys(IrId leaf) const;

  const Ir& ir_;
  std::vector<value::Atom> vocabulary_;
  Halt halt_;
  std::deque<Domain> domains_;  // stable: `extend` runs while readers hold references
};

[[nodiscard]] std::string print(const Ir& ir, const Domains& domains,
                                const std::vector<IrId>& roots);

}  // namespace rasp::compiler
