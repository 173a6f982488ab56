// The s-op graph: a program as data. Nodes are immutable and hash-consed: equal expressions are one
// node, so sharing costs nothing. Arguments have smaller ids than the nodes that use them:
// ascending ids are an evaluation order, and no walk needs recursion. It knows neither the syntax
// in front nor the interpreter and compiler behind.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "value/atom.h"
#include "value/operators.h"

namespace rasp::graph {

using NodeId = std::uint32_t;
inline constexpr NodeId kNoNode = 0xFFFFFFFFu;
inline constexpr std::size_t kMaxNodes = 2'000'000;
inline constexpr std::size_t kMaxConstantBytes = std::size_t{1} << 29;  // all atoms and tables

enum class Kind : std::uint8_t {
  // s-ops: an input of n tokens gives n atoms
  kTokens,     // the input, read as `token_kind` says
  kIndices,    // 0 .. n-1
  kConstant,   // `atom` at every position
  kMap,        // `op` of args[0] (, args[1]), position by position
  kChoose,     // args[1] if args[0] else args[2]; reads one branch at each position
  kLookup,     // table[args[0]]
  kMember,     // args[0] in table (a list)
  kAggregate,  // args[0] a selector, args[1] an s-op; `atom` where nothing is selected
  // selectors: an input of n tokens gives n x n bools, row = query, column = key
  kSelect,       // args[0][column] op args[1][row], op a comparison
  kSelectorAnd,  // args[0] and args[1]
  kSelectorOr,
  kSelectorNot,
};

struct Node {
  Kind kind = Kind::kConstant;
  value::Op op = value::Op::kAdd;                         // kMap, kSelect
  value::TokenKind token_kind = value::TokenKind::kAsIs;  // kTokens
  value::TypeSet types = 0;                               // s-ops: what an element may be
  std::uint8_t arg_count = 0;
  NodeId args[3] = {kNoNode, kNoNode, kNoNode};
  std::uint32_t payload =
      0xFFFFFFFFu;  // kConstant, kAggregate: index of an atom; kLookup, kMember: of a table
  Span span;        // where it was first written

  [[nodiscard]] std::span<const NodeId> arguments() const { return {args, arg_count}; }
};

[[nodiscard]] constexpr bool is_selector(Kind kind) { return kind >= Kind::kSelect; }

class Graph {
 public:
  // Builders. They check what no input could make right (types, a constant divisor of zero) and
  // return an error then; operators on constants are folded. Arguments must be nodes of this graph
  // and of the right sort (s-op or selector): callers check that, since they know how the user
  // named it.
  [[nodiscard]] Result<NodeId> tokens(value::TokenKind kind, const Span& span);
  [[nodiscard]] Result<NodeId> indices(const Span& span);
  [[nodiscard]] Result<NodeId> constant(value::Atom atom, const Span& span);
  [[nodiscard]] Result<NodeId> map(value::Op op, std::span<const NodeId> args, const Span& span);
  [[nodiscard]] Result<NodeId> choose(NodeId condition, NodeId yes, NodeId no, const Span& span);
  [[nodiscard]] Result<NodeId> lookup(value::Table table, NodeId index, const Span& span);
  [[nodiscard]] Result<NodeId> member(NodeId element, value::Table list, const Span& span);
  [[nodiscard]] Result<NodeId> aggregate(NodeId selector, NodeId value, value::Atom otherwise,
                                         const Span& span);
  [[nodiscard]] Result<NodeId> select(NodeId key, NodeId query, value::Op comparison,
                                      const Span& span);
  [[nodiscard]] Result<NodeId> selector_and(NodeId a, NodeId b, const Span& span);
  [[nodiscard]] Result<NodeId> selector_or(NodeId a, NodeId b, const Span& span);
  [[nodiscard]] Result<NodeId> selector_not(NodeId a, const Span& span);

  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] const Node& operator[](NodeId id) const { return nodes_[id]; }
  [[nodiscard]] const value::Atom& atom(const Node& node) const { return atoms_[node.payload]; }
  [[nodiscard]] const value::Table& table(const Node& node) const { return tables_[node.payload]; }
  [[nodiscard]] const value::Atom& atom_at(std::size_t index) const { return atoms_[index]; }
  [[nodiscard]] std::size_t atom_count() const { return atoms_.size(); }
  [[nodiscard]] std::size_t table_count() const { return tables_.size(); }
  [[nodiscard]] bool is_selector(NodeId id) const { return graph::is_selector(nodes_[id].kind); }

 private:
  friend struct GraphAccess;  // tests break graphs through it

  [[nodiscard]] Result<NodeId> intern(const Node& node);
  [[nodiscard]] Result<NodeId> combine(Kind kind, std::initializer_list<NodeId> selectors,
                                       const Span& span);
  [[nodiscard]] Result<NodeId> fold(const value::OpResult& result, const Span& span);
  [[nodiscard]] bool is_constant(NodeId id) const { return nodes_[id].kind == Kind::kConstant; }
  [[nodiscard]] Result<std::uint32_t> intern_atom(value::Atom atom, const Span& span);
  [[nodiscard]] Result<std::uint32_t> intern_table(value::Table table, const Span& span);
  void grow_slots();

  std::vector<Node> nodes_;
  std::vector<value::Atom> atoms_;
  std::vector<value::Table> tables_;
  std::size_t constant_bytes_ = 0;
  std::vector<NodeId> slots_;  // open addressing over structural hashes; a power of two of them
  std::unordered_multimap<std::size_t, std::uint32_t> atom_index_;
  std::unordered_multimap<std::size_t, std::uint32_t> table_index_;
};

// What an element of `node` may be, from the types of its arguments. Empty: no input could make it
// right. The builders' rule, and what `verify` holds nodes to.
[[nodiscard]] value::TypeSet infer_types(const Graph& graph, const Node& node);

// The nodes that `roots` need, ascending: an evaluation order.
[[nodiscard]] std::vector<NodeId> reachable(const Graph& graph, std::span<const NodeId> roots);

// One line a node, "%3 = select(%1, %0, ==)"; ids renumbered from 0 so that the text depends on
// structure alone.
[[nodiscard]] std::string print(const Graph& graph, std::span<const NodeId> roots);
// The expression in RASP syntax, sub-expressions cut to "…" once the text is longer than `limit`
// characters.
[[nodiscard]] std::string expression(const Graph& graph, NodeId node, std::size_t limit = 60);
// Checks every invariant stated above; the first one broken, or "".
[[nodiscard]] std::string verify(const Graph& graph);

// Longest chain of aggregates, and how many distinct selectors each link of it has: layers and
// heads as RASP counts.
struct Depth {
  std::size_t layers = 0;
  std::vector<std::size_t> heads;  // one entry a layer
};
[[nodiscard]] Depth depth(const Graph& graph, NodeId node);

}  // namespace rasp::graph
