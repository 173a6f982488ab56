#include "graph/graph.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "graph/checks.h"
#include "graph/structure.h"

namespace rasp::graph {
namespace {

using value::Atom;
using value::Op;
using value::Type;
using value::TypeSet;

constexpr TypeSet kNumbers =
    static_cast<TypeSet>(static_cast<TypeSet>(Type::kInt) | static_cast<TypeSet>(Type::kFloat));

TypeSet types_of_atoms(std::span<const Atom> atoms) {
  TypeSet types = 0;
  for (const Atom& atom : atoms) {
    types = static_cast<TypeSet>(types | static_cast<TypeSet>(value::type_of(atom)));
  }
  return types;
}

std::size_t bytes_of(const Atom& atom) {
  if (const auto* text = std::get_if<std::string>(&atom)) return sizeof(Atom) + text->size();
  if (const auto* number = std::get_if<value::Number>(&atom)) {
    return sizeof(Atom) + number->bits() / 4;  // numerator and denominator
  }
  return sizeof(Atom);
}

std::size_t bytes_of(const value::Table& table) {
  std::size_t bytes = sizeof(value::Table);
  for (const Atom& atom : table.keys) bytes += bytes_of(atom);
  for (const Atom& atom : table.values) bytes += bytes_of(atom);
  return bytes;
}

// Whether an index of these types can ever hit an entry.
bool can_index(const value::Table& table, TypeSet index) {
  if (table.values.empty()) return false;
  const TypeSet text = static_cast<TypeSet>(Type::kString);
  if (table.kind == value::Table::Kind::kList) return (index & (Type::kBool | Type::kInt)) != 0;
  const TypeSet keys = types_of_atoms(table.keys);
  return (index & keys & text) != 0 || ((index & ~text) != 0 && (keys & ~text) != 0);
}

tl::unexpected<Diagnostic> constants_too_large(const Span& span) {
  return fail(ErrorKind::kLimit, span,
              "the constants of this program take more than " +
                  std::to_string(kMaxConstantBytes >> 20) + " MiB");
}

Node make(Kind kind, std::initializer_list<NodeId> args, const Span& span) {
  Node node;
  node.kind = kind;
  node.arg_count = static_cast<std::uint8_t>(args.size());
  std::ranges::copy(args, node.args);
  node.span = span;
  return node;
}

}  // namespace

TypeSet infer_types(const Graph& graph, const Node& node) {
  switch (node.kind) {
    case Kind::kTokens:
      return value::types_of(node.token_kind);
    case Kind::kIndices:
      return static_cast<TypeSet>(Type::kInt);
    case Kind::kConstant:
      return static_cast<TypeSet>(value::type_of(graph.atom(node)));
    case Kind::kMap: {
      TypeSet operands[2] = {};
      for (std::size_t i = 0; i < node.arg_count; ++i) operands[i] = graph[node.args[i]].types;
      return value::info(node.op).result_types(std::span(operands, node.arg_count));
    }
    case Kind::kChoose:
      return static_cast<TypeSet>(graph[node.args[1]].types | graph[node.args[2]].types);
    case Kind::kLookup: {
      const value::Table& table = graph.table(node);
      return can_index(table, graph[node.args[0]].types) ? types_of_atoms(table.values)
                                                         : TypeSet{0};
    }
    case Kind::kMember:
      return static_cast<TypeSet>(Type::kBool);
    case Kind::kAggregate: {
      TypeSet types = graph[node.args[1]].types;
      if (types & kNumbers)
        types = static_cast<TypeSet>(types | static_cast<TypeSet>(Type::kFloat));
      return static_cast<TypeSet>(types | static_cast<TypeSet>(value::type_of(graph.atom(node))));
    }
    default:
      return 0;
  }
}

void Graph::grow_slots() {
  std::vector<NodeId> grown(std::max<std::size_t>(64, slots_.size() * 2), kNoNode);
  const std::size_t mask = grown.size() - 1;
  for (NodeId id = 0; id < nodes_.size(); ++id) {
    std::size_t at = structural_hash(nodes_[id]) & mask;
    while (grown[at] != kNoNode) at = (at + 1) & mask;
    grown[at] = id;
  }
  slots_ = std::move(grown);
}

Result<NodeId> Graph::intern(const Node& node) {
  if ((nodes_.size() + 1) * 2 > slots_.size()) grow_slots();
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = structural_hash(node) & mask;
  for (; slots_[at] != kNoNode; at = (at + 1) & mask) {
    if (same_structure(nodes_[slots_[at]], node)) return slots_[at];
  }
  if (nodes_.size() >= kMaxNodes) {
    return fail(
        ErrorKind::kLimit, node.span,
        "the program has more than " + std::to_string(kMaxNodes) + " distinct s-ops and selectors");
  }
  const auto id = static_cast<NodeId>(nodes_.size());
  slots_[at] = id;
  nodes_.push_back(node);
  nodes_.back().types = infer_types(*this, node);
  return id;
}

Result<std::uint32_t> Graph::intern_atom(Atom atom, const Span& span) {
  const std::size_t hash = value::AtomIdentityHash{}(atom);
  const auto [first, last] = atom_index_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (same_constant(atoms_[it->second], atom)) return it->second;
  }
  constant_bytes_ += bytes_of(atom);
  if (constant_bytes_ > kMaxConstantBytes) {
    constant_bytes_ -= bytes_of(atom);
    return constants_too_large(span);
  }
  const auto index = static_cast<std::uint32_t>(atoms_.size());
  atoms_.push_back(std::move(atom));
  atom_index_.emplace(hash, index);
  return index;
}

Result<std::uint32_t> Graph::intern_table(value::Table table, const Span& span) {
  const std::size_t hash = value::hash_value(table);
  const auto [first, last] = table_index_.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    if (same_constant(tables_[it->second], table)) return it->second;
  }
  const std::size_t bytes = bytes_of(table);
  if (constant_bytes_ + bytes > kMaxConstantBytes) return constants_too_large(span);
  constant_bytes_ += bytes;
  const auto index = static_cast<std::uint32_t>(tables_.size());
  value::index_table(table);
  tables_.push_back(std::move(table));
  table_index_.emplace(hash, index);
  return index;
}

Result<NodeId> Graph::tokens(value::TokenKind kind, const Span& span) {
  Node node = make(Kind::kTokens, {}, span);
  node.token_kind = kind;
  return intern(node);
}

Result<NodeId> Graph::indices(const Span& span) { return intern(make(Kind::kIndices, {}, span)); }

Result<NodeId> Graph::constant(Atom atom, const Span& span) {
  Node node = make(Kind::kConstant, {}, span);
  RASP_TRY(node.payload, intern_atom(std::move(atom), span));
  return intern(node);
}

Result<NodeId> Graph::fold(const value::OpResult& result, const Span& span) {
  if (!result) return fail(result.error().kind, span, result.error().message);
  return constant(*result, span);
}

Result<NodeId> Graph::map(Op op, std::span<const NodeId> args, const Span& span) {
  assert(args.size() == value::info(op).arity);
  Node node = make(Kind::kMap, {}, span);
  node.op = op;
  node.arg_count = static_cast<std::uint8_t>(args.size());
  std::ranges::copy(args, node.args);
  if (infer_types(*this, node) == 0) return fail(operand_error(*this, op, args, span));
  if (std::ranges::all_of(args, [this](NodeId id) { return is_constant(id); })) {
    if (args.size() == 1) return fold(value::apply(op, atom(nodes_[args[0]])), span);
    return fold(value::apply(op, atom(nodes_[args[0]]), atom(nodes_[args[1]])), span);
  }
  if ((op == Op::kDiv || op == Op::kMod) && is_constant(args[1])) {
    const auto divisor = value::to_number(atom(nodes_[args[1]]));
    if (divisor && divisor->is_zero()) return fail(zero_divisor_error(op, span));
  }
  return intern(node);
}

Result<NodeId> Graph::choose(NodeId condition, NodeId yes, NodeId no, const Span& span) {
  if (is_constant(condition)) return value::truth(atom(nodes_[condition])) ? yes : no;
  return intern(make(Kind::kChoose, {condition, yes, no}, span));
}

Result<NodeId> Graph::lookup(value::Table table, NodeId index, const Span& span) {
  if (!can_index(table, nodes_[index].types)) return fail(lookup_error(*this, table, index, span));
  if (is_constant(index)) return fold(value::lookup(table, atom(nodes_[index])), span);
  Node node = make(Kind::kLookup, {index}, span);
  RASP_TRY(node.payload, intern_table(std::move(table), span));
  return intern(node);
}

Result<NodeId> Graph::member(NodeId element, value::Table list, const Span& span) {
  assert(list.kind == value::Table::Kind::kList);
  if (is_constant(element)) {
    return constant(value::member(list, atom(nodes_[element])), span);
  }
  Node node = make(Kind::kMember, {element}, span);
  RASP_TRY(node.payload, intern_table(std::move(list), span));
  return intern(node);
}

Result<NodeId> Graph::aggregate(NodeId selector, NodeId value, Atom otherwise, const Span& span) {
  Node node = make(Kind::kAggregate, {selector, value}, span);
  RASP_TRY(node.payload, intern_atom(std::move(otherwise), span));
  return intern(node);
}

Result<NodeId> Graph::select(NodeId key, NodeId query, Op comparison, const Span& span) {
  assert(value::is_comparison(comparison));
  const TypeSet operands[] = {nodes_[key].types, nodes_[query].types};
  if (value::info(comparison).result_types(std::span(operands)) == 0) {
    return fail(select_error(*this, key, query, comparison, span));
  }
  Node node = make(Kind::kSelect, {key, query}, span);
  node.op = comparison;
  return intern(node);
}

Result<NodeId> Graph::combine(Kind kind, std::initializer_list<NodeId> selectors,
                              const Span& span) {
  assert(std::ranges::all_of(selectors, [this](NodeId id) { return is_selector(id); }));
  return intern(make(kind, selectors, span));
}

Result<NodeId> Graph::selector_and(NodeId a, NodeId b, const Span& span) {
  return combine(Kind::kSelectorAnd, {a, b}, span);
}

Result<NodeId> Graph::selector_or(NodeId a, NodeId b, const Span& span) {
  return combine(Kind::kSelectorOr, {a, b}, span);
}

Result<NodeId> Graph::selector_not(NodeId a, const Span& span) {
  return combine(Kind::kSelectorNot, {a}, span);
}

}  // namespace rasp::graph
