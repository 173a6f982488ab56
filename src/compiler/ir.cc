#include "compiler/ir.h"

#include <algorithm>
#include <cassert>

namespace rasp::compiler {

using value::Atom;
using value::Number;

bool TupleLess::operator()(const std::vector<Atom>& a, const std::vector<Atom>& b) const {
  return std::lexicographical_compare(a.begin(), a.end(), b.begin(), b.end(),
                                      value::canonical_less);
}

Atom canonical(Atom atom) {
  if (auto* number = std::get_if<Number>(&atom)) {
    if (number->is_float() && number->is_exact() && number->is_integral()) return number->as_int();
  }
  return atom;
}

namespace {

// Types as the values here have them: a float may turn out whole, and then is an int.
value::TypeSet widen(value::TypeSet types) {
  if (contains(types, value::Type::kFloat)) {
    types = static_cast<value::TypeSet>(types | static_cast<value::TypeSet>(value::Type::kInt));
  }
  return types;
}

std::optional<Atom> from_result(value::OpResult result) {
  if (!result) return std::nullopt;
  return canonical(std::move(*result));
}

std::optional<Atom> evaluate_affine(const IrNode& node,
                                    const std::vector<const std::optional<Atom>*>& args) {
  Number sum = node.offset;
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (!*args[i]) return std::nullopt;
    const auto number = value::to_number(**args[i]);
    if (!number) return std::nullopt;
    sum = sum + node.weights[i] * *number;
  }
  if (sum.bits() > value::kMaxNumberBits) return std::nullopt;
  return canonical(sum);
}

std::optional<Atom> evaluate_class(const IrNode& node,
                                   const std::vector<const std::optional<Atom>*>& args) {
  std::vector<Atom> tuple;
  tuple.reserve(args.size());
  for (const auto* arg : args) {
    if (!*arg) return std::nullopt;
    tuple.push_back(**arg);
  }
  const auto found = node.classes.find(tuple);
  if (found == node.classes.end()) return std::nullopt;
  return found->second;
}

}  // namespace

std::optional<Atom> evaluate(const IrNode& node,
                             const std::vector<const std::optional<Atom>*>& args) {
  switch (node.kind) {
    case IrKind::kConst:
      return canonical(node.atom);
    case IrKind::kAffine:
      return evaluate_affine(node, args);
    case IrKind::kClass:
      return evaluate_class(node, args);
    case IrKind::kChoose: {
      if (!*args[0]) return std::nullopt;
      const auto& taken = value::truth(**args[0]) ? *args[1] : *args[2];
      return taken;
    }
    default:
      break;
  }
  for (const auto* arg : args) {
    if (!*arg) return std::nullopt;
  }
  switch (node.kind) {
    case IrKind::kRead:
      return from_result(value::read_token(node.token_kind, **args[0]));
    case IrKind::kLookup:
      return from_result(value::lookup(node.table, **args[0]));
    case IrKind::kMember:
      return Atom(value::member(node.table, **args[0]));
    case IrKind::kMap:
      return from_result(args.size() == 1 ? value::apply(node.op, **args[0])
                                          : value::apply(node.op, **args[0], **args[1]));
    default:
      assert(false && "not an elementwise node");
      return std::nullopt;
  }
}

std::optional<bool> related(std::uint8_t relation, const Atom& key, const Atom& query) {
  if (value::equal(key, query)) return (relation & kEqual) != 0;
  const std::uint8_t order = relation & (kLess | kGreater);
  if (order == (kLess | kGreater) || order == 0) return order != 0;
  const auto less = value::apply(value::Op::kLt, key, query);
  if (!less) return std::nullopt;
  return value::truth(*less) == (order == kLess);
}

namespace {

// A text that tells structurally different nodes apart.
std::string key_of(const IrNode& node) {
  const auto typed = [](const Atom& atom) {
    return std::to_string(static_cast<int>(value::type_of(atom))) + value::repr(atom);
  };
  std::string key = std::to_string(static_cast<int>(node.kind)) + ',' +
                    std::to_string(static_cast<int>(node.op)) + ',' +
                    std::to_string(static_cast<int>(node.token_kind)) + ',' +
                    std::to_string(node.relation) + ';';
  for (const IrId arg : node.args) key += std::to_string(arg) + ',';
  const auto exact = [](const Number& number) {
    return number.is_exact() ? number.to_rational().str() : number.repr() + "~";
  };
  for (const Number& weight : node.weights) key += exact(weight) + ' ';
  key += ';' + exact(node.offset) + ';';
  if (const auto* number = std::get_if<Number>(&node.atom)) {
    key += exact(*number);
  } else {
    key += typed(node.atom);
  }
  for (const Atom& atom : node.table.keys) key += '|' + typed(atom);
  for (const Atom& atom : node.table.values) key += '>' + typed(atom);
  for (const auto& [tuple, result] : node.classes) {
    key += '[';
    for (const Atom& atom : tuple) key += typed(atom) + ',';
    key += typed(result);
  }
  for (const auto& row : node.rows) {
    key += '/';
    for (const bool bit : row) key += bit ? '1' : '0';
  }
  return key;
}

bool all_args(const IrNode& node, const std::vector<bool>& flags) {
  return std::all_of(node.args.begin(), node.args.end(), [&](IrId arg) { return flags[arg]; });
}

bool is_integral(const Ir& ir, const IrNode& node) {
  const auto args_integral = [&](std::size_t from = 0) {
    return std::all_of(node.args.begin() + static_cast<std::ptrdiff_t>(from), node.args.end(),
                       [&](IrId arg) { return ir[arg].integral; });
  };
  const auto whole = [](const Atom& atom) {
    const auto* number = std::get_if<Number>(&atom);
    return number != nullptr && number->is_exact() && number->is_integral();
  };
  switch (node.kind) {
    case IrKind::kPosition:
    case IrKind::kWidth:
      return true;
    case IrKind::kSum:
      return ir[node.args[1]].integral;
    case IrKind::kConst:
      return whole(node.atom);
    case IrKind::kRead:
      return node.token_kind == value::TokenKind::kInt;
    case IrKind::kAffine:
      return args_integral() && node.offset.is_exact() && node.offset.is_integral() &&
             std::all_of(node.weights.begin(), node.weights.end(),
                         [](const Number& w) { return w.is_exact() && w.is_integral(); });
    case IrKind::kMap:
      switch (node.op) {
        case value::Op::kRound:
        case value::Op::kIndicator:
          return true;
        case value::Op::kMul:
        case value::Op::kMod:
          return args_integral();
        case value::Op::kPos:
          return ir[node.args[0]].types == static_cast<value::TypeSet>(value::Type::kBool);
        default:
          return false;
      }
    case IrKind::kChoose:
      return args_integral(1);
    case IrKind::kLookup:
      return std::all_of(node.table.values.begin(), node.table.values.end(), whole);
    case IrKind::kClass:
      return std::all_of(node.classes.begin(), node.classes.end(),
                         [&](const auto& entry) { return whole(entry.second); });
    default:
      return false;
  }
}

bool is_uniform(const Ir& ir, const IrNode& node) {
  const auto args_uniform = [&] {
    return std::all_of(node.args.begin(), node.args.end(),
                       [&](IrId arg) { return ir[arg].uniform; });
  };
  switch (node.kind) {
    case IrKind::kToken:
    case IrKind::kPosition:
      return false;
    case IrKind::kWidth:
    case IrKind::kExists:
    case IrKind::kSum:
    case IrKind::kMean:
      return !ir.causal() && ir[node.args[0]].uniform;  // of a selector: it does not read the query
    case IrKind::kSelect:
    case IrKind::kTable:
      return ir[node.args[1]].uniform;
    default:
      return args_uniform();
  }
}

}  // namespace

IrId Ir::intern(IrNode node) {
  node.types = widen(node.types);
  const std::string key = key_of(node);
  if (const auto found = index_.find(key); found != index_.end()) return found->second;
  const auto id = static_cast<IrId>(nodes_.size());
  node.integral = is_integral(*this, node);
  node.uniform = is_uniform(*this, node);
  if (node.origin == graph::kNoNode) node.origin = origin_;
  position_only_.push_back(node.kind == IrKind::kPosition ||
                           (node.kind != IrKind::kToken && all_args(node, position_only_)));
  nodes_.push_back(std::move(node));
  index_.emplace(key, id);
  return id;
}

namespace {

std::string_view kind_name(IrKind kind) {
  switch (kind) {
    case IrKind::kToken:
      return "token";
    case IrKind::kPosition:
      return "position";
    case IrKind::kWidth:
      return "width";
    case IrKind::kExists:
      return "exists";
    case IrKind::kSum:
      return "sum";
    case IrKind::kMean:
      return "mean";
    case IrKind::kConst:
      return "const";
    case IrKind::kRead:
      return "read";
    case IrKind::kAffine:
      return "affine";
    case IrKind::kMap:
      return "map";
    case IrKind::kChoose:
      return "choose";
    case IrKind::kLookup:
      return "lookup";
    case IrKind::kMember:
      return "member";
    case IrKind::kClass:
      return "class";
    case IrKind::kTrue:
      return "true";
    case IrKind::kFalse:
      return "false";
    case IrKind::kSelect:
      return "select";
    case IrKind::kTable:
      return "table";
    case IrKind::kAnd:
      return "and";
    case IrKind::kOr:
      return "or";
  }
  return "?";
}

std::string_view relation_name(std::uint8_t relation) {
  constexpr std::string_view kNames[] = {"never", "<", "==", "<=", ">", "!=", ">=", "always"};
  return kNames[relation];
}

std::string print_node(const IrNode& node, const std::map<IrId, std::size_t>& number) {
  std::string text(kind_name(node.kind));
  switch (node.kind) {
    case IrKind::kConst:
      return text + ' ' + value::repr(node.atom);
    case IrKind::kRead:
      text = value::name_of(node.token_kind);
      break;
    case IrKind::kMap:
      text = "map " + std::string(value::info(node.op).symbol);
      break;
    case IrKind::kSelect:
      text += ' ' + std::string(relation_name(node.relation));
      break;
    default:
      break;
  }
  text += '(';
  for (std::size_t i = 0; i < node.args.size(); ++i) {
    if (i > 0) text += node.kind == IrKind::kAffine ? " + " : ", ";
    if (node.kind == IrKind::kAffine && !(node.weights[i] == Number::integer(1))) {
      text += node.weights[i].repr() + '*';
    }
    text += '%' + std::to_string(number.at(node.args[i]));
  }
  if (node.kind == IrKind::kAffine && !node.offset.is_zero()) text += " + " + node.offset.repr();
  if (node.kind == IrKind::kMean) text += "; " + value::repr(node.atom);
  return text + ')';
}

}  // namespace

std::string print(const Ir& ir, const std::vector<IrId>& roots) {
  std::vector<bool> needed(ir.size(), false);
  for (const IrId root : roots) needed[root] = true;
  for (IrId id = static_cast<IrId>(ir.size()); id-- > 0;) {
    if (!needed[id]) continue;
    for (const IrId arg : ir[id].args) needed[arg] = true;
  }
  std::map<IrId, std::size_t> number;
  std::string text;
  for (IrId id = 0; id < ir.size(); ++id) {
    if (!needed[id]) continue;
    const std::size_t index = number.size();
    number.emplace(id, index);
    text += '%' + std::to_string(index) + " = " + print_node(ir[id], number) + '\n';
  }
  return text;
}

}  // namespace rasp::compiler
