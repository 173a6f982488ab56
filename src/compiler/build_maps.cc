// Builders of elementwise operators, with the arithmetic that turns the library's spellings back
// into what they mean.
#include <algorithm>
#include <array>

#include "compiler/build_internal.h"
#include "compiler/ir.h"
#include "compiler/positional.h"

namespace rasp::compiler {

using value::Atom;
using value::Number;
using value::Op;

namespace {

// 1 / mean(S, indicator(indices == 0)) is the width of S where S always selects position 0.
std::optional<IrId> inverse_of_mean(Ir& ir, IrId divisor) {
  const IrNode node = ir[divisor];
  if (node.kind != IrKind::kMean || node.args[1] != beacon(ir)) return std::nullopt;
  const IrId at_zero = select_first(ir);
  if (make_or(ir, node.args[0], at_zero) != node.args[0] &&
      ir[node.args[0]].kind != IrKind::kTrue) {
    return std::nullopt;
  }
  return make_width(ir, node.args[0]);
}

// width(S) * mean(S, v) is the sum of v over S; either may carry a factor.
std::optional<IrId> product_of_width_and_mean(Ir& ir, IrId width, IrId mean) {
  const IrNode node = ir[mean];
  if (node.kind != IrKind::kMean || !is_numeric(ir[node.args[1]])) return std::nullopt;
  const IrId known = make_width(ir, node.args[0]);
  if (known == width) return make_sum(ir, node.args[0], node.args[1]);
  const IrNode a = ir[known];
  const IrNode b = ir[width];
  if (a.kind == IrKind::kAffine && b.kind == IrKind::kAffine && a.args == b.args) {
    const Number ratio = Number::divide(b.weights[0], a.weights[0]);
    const IrId scaled = make_affine(ir, {{known, ratio}}, Number());
    if (scaled != width) return std::nullopt;
    return make_affine(ir, {{make_sum(ir, node.args[0], node.args[1]), ratio}}, Number());
  }
  return std::nullopt;
}

// A product as sums of simpler things, or nothing.
std::optional<IrId> simpler_product(Ir& ir, IrId a, IrId b, int depth = 0) {
  for (const auto& [x, y] : {std::pair{a, b}, std::pair{b, a}}) {
    if (const auto number = const_number(ir[x])) {
      return make_affine(ir, {{y, *number}}, Number());
    }
    if (const auto sum = product_of_width_and_mean(ir, x, y)) return sum;
    const IrNode node = ir[y];
    if (depth < 2 && node.kind == IrKind::kAffine) {
      std::vector<std::pair<IrId, Number>> terms{{x, node.offset}};
      bool simple = true;
      for (std::size_t i = 0; i < node.args.size() && simple; ++i) {
        const auto product = simpler_product(ir, x, node.args[i], depth + 1);
        simple = product.has_value();
        if (simple) terms.emplace_back(*product, node.weights[i]);
      }
      if (simple) return make_affine(ir, terms, Number());
    }
    // (m if some key is selected else d) * width: where no key is selected the width is 0.
    if (node.kind == IrKind::kChoose && ir[node.args[0]].kind == IrKind::kExists &&
        is_numeric(node)) {
      const IrId selector = ir[node.args[0]].args[0];
      if (make_width(ir, selector) == x) {
        if (const auto product = simpler_product(ir, x, node.args[1], depth + 1)) return product;
      }
    }
  }
  return std::nullopt;
}

// The selector whose keys a node counts.
std::optional<IrId> counted(Ir& ir, IrId id) {
  const IrNode& node = ir[id];
  if (node.kind == IrKind::kWidth) return node.args[0];
  if (node.kind != IrKind::kSum) return std::nullopt;
  const IrNode& value = ir[node.args[1]];
  if (value.kind != IrKind::kMap || value.op != Op::kIndicator) return std::nullopt;
  const IrId passes = make_select(ir, value.args[0], make_const(ir, true), kEqual);
  return make_and(ir, node.args[0], passes);
}

// width > 0 and its other spellings ask whether there is a key.
std::optional<IrId> width_test(Ir& ir, Op op, IrId a, IrId b) {
  if (is_const(ir[a])) {
    constexpr std::array<std::pair<Op, Op>, 6> kMirror{{{Op::kEq, Op::kEq},
                                                        {Op::kNe, Op::kNe},
                                                        {Op::kLt, Op::kGt},
                                                        {Op::kGt, Op::kLt},
                                                        {Op::kLe, Op::kGe},
                                                        {Op::kGe, Op::kLe}}};
    for (const auto& [from, to] : kMirror) {
      if (op == from) {
        op = to;
        break;
      }
    }
    std::swap(a, b);
  }
  const auto bound = const_number(ir[b]);
  const auto selector = bound ? counted(ir, a) : std::nullopt;
  if (!selector) return std::nullopt;
  const Number zero = Number::integer(0);
  const Number one = Number::integer(1);
  const auto below_one = [&] { return zero < *bound && *bound < one; };
  const bool some = (op == Op::kGt && (*bound == zero || below_one())) ||
                    (op == Op::kGe && (*bound == one || below_one())) ||
                    (op == Op::kNe && *bound == zero);
  const bool none = (op == Op::kLt && (*bound == one || below_one())) ||
                    (op == Op::kLe && (*bound == zero || below_one())) ||
                    (op == Op::kEq && *bound == zero);
  if (!some && !none) return std::nullopt;
  const IrId exists = make_exists(ir, *selector);
  return some ? exists : make_map(ir, Op::kNot, {exists});
}

std::optional<IrId> simplify_unary(Ir& ir, Op op, IrId arg) {
  const IrNode node = ir[arg];
  const Number one = Number::integer(1);
  switch (op) {
    case Op::kNeg:
      if (is_numeric(node)) return make_affine(ir, {{arg, -one}}, Number());
      return std::nullopt;
    case Op::kPos:
      if (is_numeric(node)) return as_number(ir, arg);
      return std::nullopt;
    case Op::kRound:
      if (node.integral) return as_number(ir, arg);
      return std::nullopt;
    case Op::kNot:
      if (node.kind == IrKind::kMap && node.op == Op::kNot && ir[node.args[0]].types == kBoolType) {
        return node.args[0];
      }
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

std::optional<IrId> simplify_binary(Ir& ir, Op op, IrId a, IrId b) {
  const Number one = Number::integer(1);
  if (value::is_comparison(op)) {
    if (const auto test = width_test(ir, op, a, b)) return test;
    // Two numbers are compared by their difference: one variable instead of two.
    if (!is_numeric(ir[a]) || !is_numeric(ir[b]) || is_const(ir[a]) || is_const(ir[b])) {
      return std::nullopt;
    }
    const IrId difference = make_affine(ir, {{a, one}, {b, -one}}, Number());
    return make_map(ir, op, {difference, make_const(ir, value::make_int(0))});
  }
  if (!is_numeric(ir[a]) || !is_numeric(ir[b])) return std::nullopt;
  switch (op) {
    case Op::kAdd:
      return make_affine(ir, {{a, one}, {b, one}}, Number());
    case Op::kSub:
      return make_affine(ir, {{a, one}, {b, -one}}, Number());
    case Op::kMul:
      return simpler_product(ir, a, b);
    case Op::kDiv:
      if (const auto number = const_number(ir[b]); number && !number->is_zero()) {
        return make_affine(ir, {{a, Number::divide(one, *number)}}, Number());
      }
      if (const auto number = const_number(ir[a])) {
        if (const auto width = inverse_of_mean(ir, b)) {
          return make_affine(ir, {{*width, *number}}, Number());
        }
      }
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

}  // namespace

IrId make_map(Ir& ir, Op op, const std::vector<IrId>& args) {
  const auto simpler = args.size() == 1 ? simplify_unary(ir, op, args[0])
                                        : simplify_binary(ir, op, args[0], args[1]);
  if (simpler) return *simpler;
  IrNode node;
  node.kind = IrKind::kMap;
  node.op = op;
  node.args = args;
  const IrId plain = make_elementwise(ir, std::move(node));
  if (is_numeric(ir[plain])) return positional_affine(ir, plain).value_or(plain);
  return plain;
}

}  // namespace rasp::compiler
