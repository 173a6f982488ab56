// Builders of what heads find out: widths, existence, sums and means.
#include <algorithm>
#include <array>

#include "compiler/build_internal.h"
#include "compiler/ir.h"
#include "compiler/positional.h"

namespace rasp::compiler {

using value::Atom;
using value::Number;
using value::Op;

IrId make_length(Ir& ir) {
  IrNode node;
  node.kind = IrKind::kTrue;
  return make_width(ir, ir.intern(std::move(node)));
}

namespace {

// `relation` between an s-op and a constant, as an s-op of bools.
IrId make_comparison(Ir& ir, IrId sop, IrId constant, std::uint8_t relation) {
  switch (relation) {
    case kLess:
      return make_map(ir, Op::kLt, {sop, constant});
    case kEqual:
      return make_map(ir, Op::kEq, {sop, constant});
    case kGreater:
      return make_map(ir, Op::kGt, {sop, constant});
    case kLess | kEqual:
      return make_map(ir, Op::kLe, {sop, constant});
    case kGreater | kEqual:
      return make_map(ir, Op::kGe, {sop, constant});
    default:
      return make_map(ir, Op::kNe, {sop, constant});
  }
}

// What a conjunction asks of the key alone need not be scored: a width then is the sum, over what
// is left of the selector, of 1 where the key passes. Sums over one selector share a head.
std::optional<IrId> width_as_sum(Ir& ir, IrId selector) {
  const IrNode node = ir[selector];
  std::vector<IrId> parts{selector};
  if (node.kind == IrKind::kAnd) parts = node.args;
  IrId rest = make_select(ir, selector, selector, kLess | kEqual | kGreater);
  std::optional<IrId> passes;
  for (const IrId part : parts) {
    const IrNode& select = ir[part];
    if (select.kind == IrKind::kSelect && is_const(ir[select.args[1]])) {
      const IrId test = make_comparison(ir, select.args[0], select.args[1], select.relation);
      passes = passes ? make_map(ir, Op::kAnd, {*passes, test}) : test;
    } else {
      rest = make_and(ir, rest, part);
    }
  }
  if (!passes) return std::nullopt;
  return make_sum(ir, rest, make_map(ir, Op::kIndicator, {*passes}));
}

}  // namespace

IrId make_width(Ir& ir, IrId selector) {
  if (const auto known = positional_width(ir, selector)) return *known;
  const IrNode node = ir[selector];
  if (node.kind == IrKind::kFalse) return make_const(ir, value::make_int(0));
  if (node.kind == IrKind::kOr && node.args.size() <= 6) {
    // width(a or b) = width(a) + width(b) - width(a and b)
    IrId rest = node.args[1];
    for (std::size_t i = 2; i < node.args.size(); ++i) rest = make_or(ir, rest, node.args[i]);
    const Number one = Number::integer(1);
    const IrId both = make_width(ir, make_and(ir, node.args[0], rest));
    const IrId first = make_width(ir, node.args[0]);
    const IrId second = make_width(ir, rest);
    return make_affine(ir, {{first, one}, {second, one}, {both, -one}}, Number());
  }
  if (const auto sum = width_as_sum(ir, selector)) return *sum;
  return make_leaf(ir, IrKind::kWidth, {selector});
}

IrId make_exists(Ir& ir, IrId selector) {
  if (const auto known = positional_exists(ir, selector)) return *known;
  const IrKind kind = ir[selector].kind;
  if (kind == IrKind::kTrue) return make_const(ir, true);  // an input is never empty
  if (kind == IrKind::kFalse) return make_const(ir, false);
  return make_leaf(ir, IrKind::kExists, {selector});
}

IrId make_sum(Ir& ir, IrId selector, IrId value) {
  if (const auto number = const_number(ir[value])) {
    return make_affine(ir, {{make_width(ir, selector), *number}}, Number());
  }
  if (ir[selector].kind == IrKind::kFalse) return make_const(ir, value::make_int(0));
  if (ir[value].kind == IrKind::kAffine) {
    const IrNode node = ir[value];
    std::vector<std::pair<IrId, Number>> terms;
    for (std::size_t i = 0; i < node.args.size(); ++i) {
      terms.emplace_back(make_sum(ir, selector, node.args[i]), node.weights[i]);
    }
    terms.emplace_back(make_width(ir, selector), node.offset);
    return make_affine(ir, terms, Number());
  }
  return make_leaf(ir, IrKind::kSum, {selector, as_number(ir, value)});
}

IrId select_first(Ir& ir) {
  return make_select(ir, make_leaf(ir, IrKind::kPosition), make_const(ir, value::make_int(0)),
                     kEqual);
}

// indicator(indices == 0): how the language's library counts.
IrId beacon(Ir& ir) {
  IrNode node;
  node.kind = IrKind::kMap;
  node.op = Op::kIndicator;
  node.args = {make_map(ir, Op::kEq,
                        {make_leaf(ir, IrKind::kPosition), make_const(ir, value::make_int(0))})};
  return make_elementwise(ir, std::move(node));
}

IrId make_mean(Ir& ir, IrId selector, IrId value, const Atom& otherwise) {
  const IrKind kind = ir[selector].kind;
  if (kind == IrKind::kFalse) return make_const(ir, otherwise);
  if (ir[value].uniform) {  // the mean of equal values, where there are any
    return make_choose(ir, make_exists(ir, selector), value, make_const(ir, otherwise));
  }
  // Whether a selector of nothing but position 0 selects it.
  if (value == beacon(ir) && value::equal(otherwise, value::make_int(0)) &&
      make_and(ir, selector, select_first(ir)) == selector) {
    return make_width(ir, selector);
  }
  if (const auto known = positional_mean(ir, selector, value, otherwise)) return *known;
  const IrNode node = ir[value];
  if (node.kind == IrKind::kAffine) {
    // What every position shares comes out of the mean as it is; so does the scale of a single
    // term.
    std::vector<std::pair<IrId, Number>> shared, own;
    for (std::size_t i = 0; i < node.args.size(); ++i) {
      (ir[node.args[i]].uniform ? shared : own).emplace_back(node.args[i], node.weights[i]);
    }
    const bool scaled = own.size() == 1 && !(own[0].second == Number::integer(1));
    if (!shared.empty() || scaled || !node.offset.is_zero()) {
      const Number one = Number::integer(1);
      const Number scale = scaled ? own[0].second : one;
      if (scaled) own[0].second = one;
      const IrId varying = make_affine(ir, own, Number());
      // The default goes where the mean goes when it can be moved back to a whole number: then
      // nobody need know whether there was a key.
      const auto* fixed = std::get_if<Number>(&otherwise);
      Number inner;
      if (fixed != nullptr) inner = Number::divide(*fixed - node.offset, scale);
      const bool moves =
          shared.empty() && fixed != nullptr && inner.is_exact() && inner.is_integral();
      if (!moves) inner = Number();
      shared.emplace_back(make_mean(ir, selector, varying, inner), scale);
      const IrId moved = make_affine(ir, shared, node.offset);
      if (moves) return moved;
      const IrId some = make_exists(ir, selector);
      return make_choose(ir, some, moved, make_const(ir, otherwise));
    }
  }
  return make_leaf(ir, IrKind::kMean, {selector, value}, otherwise);
}

}  // namespace rasp::compiler
