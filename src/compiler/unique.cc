#include "compiler/unique.h"

#include <algorithm>
#include <set>

#include "compiler/positional.h"

namespace rasp::compiler {

using value::Number;

namespace {

// Every position has another value.
bool distinct_everywhere(const Ir& ir, IrId key) {
  const auto values = positional_values(ir, key);
  if (!values) return false;
  const auto less = [](const value::Atom* a, const value::Atom* b) {
    return value::canonical_less(*a, *b);
  };
  std::set<const value::Atom*, decltype(less)> seen(less);
  return std::all_of(values->begin(), values->end(),
                     [&](const auto& v) { return v && seen.insert(&*v).second; });
}

// select(x, x, <) or select(x, x, >).
bool is_strict_order(const Ir& ir, IrId selector) {
  const IrNode& node = ir[selector];
  return node.kind == IrKind::kSelect && node.args[0] == node.args[1] &&
         (node.relation == kLess || node.relation == kGreater);
}

// Equal x, and a strict order of something that differs everywhere.
bool breaks_ties(const Ir& ir, IrId selector, IrId x) {
  const IrNode& node = ir[selector];
  if (node.kind != IrKind::kAnd || node.args.size() != 2) return false;
  bool same = false, order = false;
  for (const IrId part : node.args) {
    const IrNode& select = ir[part];
    same = same || (select.kind == IrKind::kSelect && select.args[0] == x && select.args[1] == x &&
                    select.relation == kEqual);
    order = order || (is_strict_order(ir, part) && distinct_everywhere(ir, select.args[0]));
  }
  return same && order;
}

}  // namespace

bool is_rank(const Ir& ir, IrId sop) {
  const IrNode& node = ir[sop];
  const Number one = Number::integer(1);
  if (ir.causal() || node.kind != IrKind::kAffine || node.args.size() != 2 ||
      node.weights[0] != one || node.weights[1] != one || !node.offset.is_zero()) {
    return false;
  }
  for (const auto& [smaller, ties] :
       {std::pair{node.args[0], node.args[1]}, std::pair{node.args[1], node.args[0]}}) {
    if (ir[smaller].kind != IrKind::kWidth || ir[ties].kind != IrKind::kWidth) continue;
    const IrId order = ir[smaller].args[0];
    if (is_strict_order(ir, order) && breaks_ties(ir, ir[ties].args[0], ir[order].args[0])) {
      return true;
    }
  }
  return false;
}

bool selects_at_most_one(const Ir& ir, IrId selector) {
  const IrNode& node = ir[selector];
  if (node.kind == IrKind::kFalse) return true;
  if (node.kind == IrKind::kAnd) {
    return std::any_of(node.args.begin(), node.args.end(),
                       [&](IrId arg) { return selects_at_most_one(ir, arg); });
  }
  if (node.kind != IrKind::kSelect || node.relation != kEqual) return false;
  return distinct_everywhere(ir, node.args[0]) || is_rank(ir, node.args[0]);
}

}  // namespace rasp::compiler
