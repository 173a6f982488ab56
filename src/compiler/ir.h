// The compiler's own program: the s-op graph with what the standard library spells out recognised
// (widths, sums, existence tests), comparisons normalised, and numeric expressions kept as linear
// combinations. Hash-consed; arguments have smaller ids. Values here are by value alone: whole
// numbers are ints, whether the language says 2 or 2.0 (types.h recovers the type of an output).
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "value/atom.h"
#include "value/operators.h"

namespace rasp::compiler {

using IrId = std::uint32_t;
inline constexpr IrId kNoIr = 0xFFFFFFFFu;

enum class IrKind : std::uint8_t {
  // leaves of elementwise expressions
  kToken,     // the token itself
  kPosition,  // 0 .. n-1
  kWidth,     // of selector args[0]: how many keys it selects
  kExists,    // of selector args[0]: whether it selects any
  kSum,       // of args[1] over the keys that args[0] selects; 0 when there are none
  kMean,      // of args[1] over the keys that args[0] selects; `atom` when there are none
  // elementwise
  kConst,   // `atom`
  kRead,    // args[0] (the token) read as `token_kind`
  kAffine,  // offset + sum of weights[i] * args[i]; args ascending, numeric, not bool
  kMap,     // `op`
  kChoose,
  kLookup,  // table[args[0]]
  kMember,  // args[0] in table
  kClass,   // the number that `classes` gives to the tuple of args; undefined for other tuples
  // selectors
  kTrue,
  kFalse,
  kSelect,  // args[0] at the key compared with args[1] at the query, `relation`
  kTable,   // args[0] and args[1] are classes; `rows[key class][query class]` says whether they
            // match
  kAnd,     // of args, ascending, none of them a kAnd
  kOr,
};

// A comparison as the set of outcomes that satisfy it.
enum Relation : std::uint8_t { kLess = 1, kEqual = 2, kGreater = 4 };

struct TupleLess {
  bool operator()(const std::vector<value::Atom>& a, const std::vector<value::Atom>& b) const;
};
using Classes = std::map<std::vector<value::Atom>, value::Atom, TupleLess>;

struct IrNode {
  IrKind kind = IrKind::kConst;
  value::Op op = value::Op::kAdd;
  value::TokenKind token_kind = value::TokenKind::kAsIs;
  std::uint8_t relation = 0;
  value::TypeSet types = 0;  // of an s-op's elements
  bool integral = false;     // every element is a whole number
  bool uniform = false;      // every position of a sequence has the same value
  std::vector<IrId> args;
  std::vector<value::Number> weights;
  value::Number offset;
  value::Atom atom;
  value::Table table;
  Classes classes;
  std::vector<std::vector<bool>> rows;
  graph::NodeId origin = graph::kNoNode;  // the source node it came from, for names and errors
};

[[nodiscard]] constexpr bool is_selector(IrKind kind) { return kind >= IrKind::kTrue; }
[[nodiscard]] constexpr bool is_leaf(IrKind kind) { return kind <= IrKind::kMean; }

// Numbers that are whole become ints; the rest stays as it is.
[[nodiscard]] value::Atom canonical(value::Atom atom);

// The value of an elementwise node from its arguments' values (nullopt: undefined).
[[nodiscard]] std::optional<value::Atom> evaluate(
    const IrNode& node, const std::vector<const std::optional<value::Atom>*>& args);
// Whether `relation` holds between two atoms; nullopt when they cannot be compared.
[[nodiscard]] std::optional<bool> related(std::uint8_t relation, const value::Atom& key,
                                          const value::Atom& query);

class Ir {
 public:
  explicit Ir(bool causal, std::uint32_t max_length) : causal_(causal), max_length_(max_length) {}

  [[nodiscard]] bool causal() const { return causal_; }
  [[nodiscard]] std::uint32_t max_length() const { return max_length_; }
  [[nodiscard]] std::size_t size() const { return nodes_.size(); }
  [[nodiscard]] const IrNode& operator[](IrId id) const { return nodes_[id]; }

  // Adds a node as it is, unless an equal one exists.
  IrId intern(IrNode node);
  // Where the nodes made from now on come from.
  void set_origin(graph::NodeId origin) { origin_ = origin; }

  // The node reads nothing but positions (and the length of the sequence).
  [[nodiscard]] bool reads_only_positions(IrId id) const { return position_only_[id]; }

 private:
  bool causal_;
  std::uint32_t max_length_;
  graph::NodeId origin_ = graph::kNoNode;
  std::deque<IrNode> nodes_;  // stable: builders hold references
  std::vector<bool> position_only_;
  std::map<std::string, IrId> index_;
};

// Builders that simplify as they build: what they return means the same as what is asked for.
IrId make_const(Ir& ir, value::Atom atom);
IrId make_leaf(Ir& ir, IrKind kind, std::vector<IrId> args = {}, value::Atom otherwise = {});
IrId make_elementwise(Ir& ir, IrNode node);  // constants folded, nothing else
IrId make_affine(Ir& ir, const std::vector<std::pair<IrId, value::Number>>& terms,
                 const value::Number& offset);
IrId make_select(Ir& ir, IrId key, IrId query, std::uint8_t relation);
IrId make_and(Ir& ir, IrId a, IrId b);
IrId make_or(Ir& ir, IrId a, IrId b);
IrId make_not(Ir& ir, IrId selector);
IrId make_width(Ir& ir, IrId selector);
IrId make_exists(Ir& ir, IrId selector);
IrId make_mean(Ir& ir, IrId selector, IrId value, const value::Atom& otherwise);
IrId make_sum(Ir& ir, IrId selector, IrId value);
IrId make_length(Ir& ir);
IrId make_map(Ir& ir, value::Op op, const std::vector<IrId>& args);
IrId make_choose(Ir& ir, IrId condition, IrId yes, IrId no);

// One line a node that `roots` need.
[[nodiscard]] std::string print(const Ir& ir, const std::vector<IrId>& roots);

}  // namespace rasp::compiler
