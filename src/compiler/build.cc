// The simplifying builders of ir.h. Each rule is an identity of the language on every input where
// the left side has a value; where it has none, nothing is read and any value will do.
#include <algorithm>
#include <array>

#include "compiler/build_internal.h"
#include "compiler/ir.h"
#include "compiler/positional.h"

namespace rasp::compiler {

using value::Atom;
using value::Number;
using value::Op;

std::optional<Number> const_number(const IrNode& node) {
  if (!is_const(node)) return std::nullopt;
  return value::to_number(node.atom);
}

namespace {

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
      return kNumberTypes;
    case IrKind::kChoose:
      return static_cast<value::TypeSet>(ir[node.args[1]].types | ir[node.args[2]].types);
    case IrKind::kLookup:
      for (const Atom& atom : node.table.values) types |= type_bit(atom);
      return types;
    case IrKind::kMember:
      return kBoolType;
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

}  // namespace

// A number to add up: what is bool counts as 0 or 1.
IrId as_number(Ir& ir, IrId id) {
  if ((ir[id].types & kBoolType) == 0) return id;
  IrNode node;
  node.kind = IrKind::kMap;
  node.op = Op::kPos;
  node.args = {id};
  return make_elementwise(ir, std::move(node));
}

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
      node.types = kBoolType;
      break;
    case IrKind::kSum:
      node.types = kNumberTypes;
      break;
    default:
      node.atom = canonical(std::move(otherwise));
      node.types = static_cast<value::TypeSet>(ir[node.args[1]].types |
                                               static_cast<value::TypeSet>(type_of(node.atom)));
      if ((ir[node.args[1]].types & kNumberTypes) != 0) node.types |= kNumberTypes;
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
  node.types = kNumberTypes;
  const IrId made = ir.intern(std::move(node));
  // Tables of the position may add up to a line.
  return positional_affine(ir, made).value_or(made);
}
IrId make_choose(Ir& ir, IrId condition, IrId yes, IrId no) {
  if (is_const(ir[condition])) return value::truth(ir[condition].atom) ? yes : no;
  if (yes == no) return yes;
  const bool selects_itself = is_const(ir[yes]) && is_const(ir[no]) &&
                              value::identical(ir[yes].atom, true) &&
                              value::identical(ir[no].atom, false);
  if (selects_itself && ir[condition].types == kBoolType) return condition;
  IrNode node;
  node.kind = IrKind::kChoose;
  node.args = {condition, yes, no};
  return make_elementwise(ir, std::move(node));
}

}  // namespace rasp::compiler
