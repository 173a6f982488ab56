// How a flat list of operands and operators groups: language.md section 3, and Python for
// comparison.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rasp::syntax {

// One member of an expression as the grammar reads it. `yes if c else no` is an infix operator
// between `yes` and `no`; the condition is an expression of its own.
struct Item {
  enum class Role : std::uint8_t { kOperand, kPrefix, kInfix } role = Role::kOperand;
  int kind = 0;  // of the operator's token; Kind::IF for the choice
};

// Half-open range of items. `none()` in Python's grouping: `a < b` in `a < b < c`, which Python
// does not compute as such.
struct Extent {
  std::uint32_t first = 0;
  std::uint32_t last = 0;

  [[nodiscard]] bool none() const { return first == last; }
  friend bool operator==(const Extent&, const Extent&) = default;
};

struct Grouping {
  std::vector<std::uint32_t> order;  // the items in postfix order: operands before their operator
  std::vector<Extent> extents;       // of each item's subtree; operands have themselves
};

enum class Dialect { kRasp, kPython };

// Items alternate as the grammar has it: prefixes, an operand, an infix operator, prefixes, an
// operand, ... Linear time, no recursion. Reuses the vectors of `grouping`.
void group(std::span<const Item> items, Dialect dialect, Grouping& grouping);

}  // namespace rasp::syntax
