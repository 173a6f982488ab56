// The simplifying builders of ir.h. Each rule is an identity of the language on every input where
// the left side has a value; where it has none, nothing is read and any value will do.
#include <algorithm>
#include <array>
#include <cassert>

#include "compiler/ir.h"
#include "compiler/positional.h"

namespace rasp::compiler {

using value::Atom;
using value::Number;
using value::Op;

namespace {

constexpr auto kBool = static_cast<value::TypeSet>(value::Type::kBool);
constexpr auto kString = static_cast<value::TypeSet>(value::Type::kString);
constexpr auto kNumber = static_cast<value::TypeSet>(value::kNumericTypes & ~kBool);

bool is_numeric(const IrNode& node) { return node.types != 0 && (node.types & kString) == 0; }
bool is_const(const IrNode& node) { return node.kind == IrKind::kConst; }

std::optional<Number> const_number(const IrNode& node) {
  if (!is_const(node)) return std::nullopt;
  return value::to_number(node.atom);
}

value::TypeSet elementwise_types(const Ir& ir, const IrNode& node) {
  const auto type_bit = [](const Atom& atom) {
    return static_cast<value::TypeSet>(value::type_of(atom));
  };
  value::TypeSet types = 0;
  switch (node.kind) {
    case IrKind::kConst:
      return type_bit(node.atom);
    case IrKind::kRead:
      return value::types_of(node.token_kind);
    case IrKind::kAffine:
      return kNumber;
    case IrKind::kChoose:
      return static_cast<value::TypeSet>(ir[node.args[1]].types | ir[node.args[2]].types);
    case IrKind::kLookup:
      for (const Atom& atom : node.table.values) types |= type_bit(atom);
      return types;
    case IrKind::kMember:
      return kBool;
    case IrKind::kClass:
      for (const auto& [tuple, atom] : node.classes) types |= type_bit(atom);
      return types;
    default: {
      std::vector<value::TypeSet> args;
      for (const IrId arg : node.args) args.push_back(ir[arg].types);
      return value::info(node.op).result_types(args);
    }
  }
}

// A number to add up: what is bool counts as 0 or 1.
IrId as_number(Ir& ir, IrId id) {
  if ((ir[id].types & kBool) == 0) return id;
  IrNode node;
  node.kind = IrKind::kMap;
  node.op = Op::kPos;
  node.args = {id};
  return make_elementwise(ir, std::move(node));
}

}  // namespace

IrId make_const(Ir& ir, Atom atom) {
  IrNode node;
  node.kind = IrKind::kConst;
  node.atom = canonical(std::move(atom));
  node.types = elementwise_types(ir, node);
  return ir.intern(std::move(node));
}

IrId make_leaf(Ir& ir, IrKind kind, std::vector<IrId> args, Atom otherwise) {
  IrNode node;
  node.kind = kind;
  node.args = std::move(args);
  switch (kind) {
    case IrKind::kToken:
      node.types = value::kAnyType;
      break;
    case IrKind::kPosition:
    case IrKind::kWidth:
      node.types = static_cast<value::TypeSet>(value::Type::kInt);
      break;
    case IrKind::kExists:
      node.types = kBool;
      break;
    case IrKind::kSum:
      node.types = kNumber;
      break;
    default:
      node.atom = canonical(std::move(otherwise));
      node.types = static_cast<value::TypeSet>(ir[node.args[1]].types |
                                               static_cast<value::TypeSet>(type_of(node.atom)));
      if ((ir[node.args[1]].types & kNumber) != 0) node.types |= kNumber;
      break;
  }
  return ir.intern(std::move(node));
}

IrId make_elementwise(Ir& ir, IrNode node) {
  const bool constant =
      std::all_of(node.args.begin(), node.args.end(), [&](IrId arg) { return is_const(ir[arg]); });
  if (constant) {
    std::vector<std::optional<Atom>> values;
    for (const IrId arg : node.args) values.emplace_back(ir[arg].atom);
    std::vector<const std::optional<Atom>*> args;
    for (const auto& value : values) args.push_back(&value);
    if (auto folded = evaluate(node, args)) return make_const(ir, std::move(*folded));
  }
  node.types = elementwise_types(ir, node);
  return ir.intern(std::move(node));
}

IrId make_affine(Ir& ir, const std::vector<std::pair<IrId, Number>>& terms, const Number& offset) {
  std::map<IrId, Number> sum;
  Number constant = offset;
  for (const auto& [id, weight] : terms) {
    const IrNode& node = ir[id];
    if (const auto number = const_number(node)) {
      constant = constant + weight * *number;
    } else if (node.kind == IrKind::kAffine) {
      for (std::size_t i = 0; i < node.args.size(); ++i) {
        Number& slot = sum[node.args[i]];
        slot = slot + weight * node.weights[i];
      }
      constant = constant + weight * node.offset;
    } else {
      const IrId number_id = as_number(ir, id);
      Number& slot = sum[number_id];
      slot = slot + weight;
    }
  }
  std::erase_if(sum, [](const auto& term) { return term.second.is_zero(); });
  if (sum.empty()) return make_const(ir, constant);
  if (sum.size() == 1 && constant.is_zero() && sum.begin()->second == Number::integer(1)) {
    return sum.begin()->first;
  }
  IrNode node;
  node.kind = IrKind::kAffine;
  for (const auto& [id, weight] : sum) {
    node.args.push_back(id);
    node.weights.push_back(std::get<Number>(canonical(weight)));
  }
  node.offset = std::get<Number>(canonical(constant));
  node.types = kNumber;
  return ir.intern(std::move(node));
}

IrId make_select(Ir& ir, IrId key, IrId query, std::uint8_t relation) {
  const auto whole = [&](IrKind kind) {
    IrNode node;
    node.kind = kind;
    return ir.intern(std::move(node));
  };
  if (relation == 0) return whole(IrKind::kFalse);
  if (relation == (kLess | kEqual | kGreater)) return whole(IrKind::kTrue);
  if (is_const(ir[key]) && is_const(ir[query])) {
    const auto outcome = related(relation, ir[key].atom, ir[query].atom);
    return whole(outcome.value_or(false) ? IrKind::kTrue : IrKind::kFalse);
  }
  if (ir[key].uniform && key == query) {
    return whole((relation & kEqual) != 0 ? IrKind::kTrue : IrKind::kFalse);
  }
  IrNode node;
  node.kind = IrKind::kSelect;
  node.args = {key, query};
  node.relation = relation;
  return ir.intern(std::move(node));
}

namespace {

// a or (a and b) is a; a and (a or b) is a.
void absorb(const Ir& ir, IrKind kind, std::vector<IrId>& parts) {
  const IrKind dual = kind == IrKind::kAnd ? IrKind::kOr : IrKind::kAnd;
  const auto args_of = [&](IrId id) {
    return ir[id].kind == dual ? ir[id].args : std::vector<IrId>{id};
  };
  std::vector<IrId> kept;
  for (const IrId part : parts) {
    const std::vector<IrId> own = args_of(part);
    const bool implied = std::any_of(parts.begin(), parts.end(), [&](IrId other) {
      const std::vector<IrId> fewer = args_of(other);
      return other != part && fewer.size() < own.size() &&
             std::includes(own.begin(), own.end(), fewer.begin(), fewer.end());
    });
    if (!implied) kept.push_back(part);
  }
  parts = std::move(kept);
}

// Flattens, sorts, merges comparisons of the same two things, and drops what decides nothing.
IrId make_junction(Ir& ir, IrKind kind, IrId a, IrId b) {
  const IrKind unit = kind == IrKind::kAnd ? IrKind::kTrue : IrKind::kFalse;
  const IrKind zero = kind == IrKind::kAnd ? IrKind::kFalse : IrKind::kTrue;
  std::vector<IrId> parts;
  for (const IrId side : {a, b}) {
    if (ir[side].kind == kind) {
      parts.insert(parts.end(), ir[side].args.begin(), ir[side].args.end());
    } else {
      parts.push_back(side);
    }
  }
  std::map<std::pair<IrId, IrId>, std::uint8_t> comparisons;
  std::vector<IrId> rest;
  for (const IrId part : parts) {
    const IrNode& node = ir[part];
    if (node.kind == IrKind::kSelect) {
      const auto [slot, fresh] =
          comparisons.try_emplace({node.args[0], node.args[1]}, node.relation);
      if (!fresh) {
        slot->second = kind == IrKind::kAnd
                           ? static_cast<std::uint8_t>(slot->second & node.relation)
                           : static_cast<std::uint8_t>(slot->second | node.relation);
      }
    } else {
      rest.push_back(part);
    }
  }
  for (const auto& [sides, relation] : comparisons) {
    rest.push_back(make_select(ir, sides.first, sides.second, relation));
  }
  std::sort(rest.begin(), rest.end());
  rest.erase(std::unique(rest.begin(), rest.end()), rest.end());
  absorb(ir, kind, rest);
  IrNode node;
  node.kind = kind;
  for (const IrId part : rest) {
    if (ir[part].kind == zero) return part;
    if (ir[part].kind != unit) node.args.push_back(part);
  }
  if (node.args.size() == 1) return node.args[0];
  if (node.args.empty()) {
    node.kind = unit;
  }
  return ir.intern(std::move(node));
}

}  // namespace

IrId make_and(Ir& ir, IrId a, IrId b) {
  // Distributing keeps selectors disjunctions of conjunctions while they are small: the algebra of
  // widths needs that.
  for (const auto& [x, y] : {std::pair{a, b}, std::pair{b, a}}) {
    if (ir[x].kind != IrKind::kOr) continue;
    const std::vector<IrId> parts = ir[x].args;
    const std::size_t other = ir[y].kind == IrKind::kOr ? ir[y].args.size() : 1;
    if (parts.size() * other > 8) break;
    IrId sum = make_select(ir, a, b, 0);
    for (const IrId part : parts) sum = make_or(ir, sum, make_and(ir, part, y));
    return sum;
  }
  return make_junction(ir, IrKind::kAnd, a, b);
}

IrId make_or(Ir& ir, IrId a, IrId b) { return make_junction(ir, IrKind::kOr, a, b); }

IrId make_not(Ir& ir, IrId selector) {
  const IrNode node = ir[selector];
  switch (node.kind) {
    case IrKind::kTrue:
    case IrKind::kFalse: {
      IrNode whole;
      whole.kind = node.kind == IrKind::kTrue ? IrKind::kFalse : IrKind::kTrue;
      return ir.intern(std::move(whole));
    }
    case IrKind::kSelect:
      return make_select(ir, node.args[0], node.args[1],
                         static_cast<std::uint8_t>(~node.relation & 7));
    case IrKind::kAnd:
    case IrKind::kOr: {
      IrId result = make_not(ir, node.args[0]);
      for (std::size_t i = 1; i < node.args.size(); ++i) {
        const IrId part = make_not(ir, node.args[i]);
        result = node.kind == IrKind::kAnd ? make_or(ir, result, part) : make_and(ir, result, part);
      }
      return result;
    }
    default: {  // kTable
      IrNode flipped = node;
      for (auto& row : flipped.rows) row.flip();
      return ir.intern(std::move(flipped));
    }
  }
}

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

namespace {

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

}  // namespace

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
      const IrId mean = make_mean(ir, selector, varying, value::make_int(0));
      shared.emplace_back(mean, scale);
      const IrId moved = make_affine(ir, shared, node.offset);
      const IrId some = make_exists(ir, selector);
      return make_choose(ir, some, moved, make_const(ir, otherwise));
    }
  }
  return make_leaf(ir, IrKind::kMean, {selector, value}, otherwise);
}

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
      if (node.kind == IrKind::kMap && node.op == Op::kNot && ir[node.args[0]].types == kBool) {
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

IrId make_choose(Ir& ir, IrId condition, IrId yes, IrId no) {
  if (is_const(ir[condition])) return value::truth(ir[condition].atom) ? yes : no;
  if (yes == no) return yes;
  const bool selects_itself = is_const(ir[yes]) && is_const(ir[no]) &&
                              value::identical(ir[yes].atom, true) &&
                              value::identical(ir[no].atom, false);
  if (selects_itself && ir[condition].types == kBool) return condition;
  IrNode node;
  node.kind = IrKind::kChoose;
  node.args = {condition, yes, no};
  return make_elementwise(ir, std::move(node));
}

}  // namespace rasp::compiler
