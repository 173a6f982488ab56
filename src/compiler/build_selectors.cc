// Builders of selectors.
#include <algorithm>
#include <array>

#include "compiler/build_internal.h"
#include "compiler/ir.h"
#include "compiler/positional.h"

namespace rasp::compiler {

using value::Atom;
using value::Number;
using value::Op;

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

}  // namespace rasp::compiler
