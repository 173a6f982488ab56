// The syntax tree, ours: an arena of expressions that statements point into by index, so that deep
// or long trees are built, walked and freed without recursion over pointers. Nothing of ANTLR is
// visible here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/source.h"
#include "value/atom.h"
#include "value/operators.h"

namespace rasp::syntax {

using ExprId = std::uint32_t;
inline constexpr ExprId kNoExpr = 0xFFFFFFFFu;

enum class ExprKind : std::uint8_t {
  kAtom,    // atom: a literal (True and False are names)
  kName,    // text
  kUnary,   // op, children[0]
  kBinary,  // op, children[0..1]
  kChoose,  // children: condition, yes, no       ("yes if condition else no")
  kIn,      // children: element, container
  kIndex,   // children: base, index
  kCall,    // children: callee, arguments...     (also `s(input)`, `round(x)`, `len(l)`: told apart
            // by value)
  kSelect,  // op, children: key, query
  kAggregate,  // children: selector, value[, default]
  kList,       // children: elements
  kDict,       // children: key, value, key, value, ...
  kListComp,   // children: element, iterable; names: loop variables
  kDictComp,   // children: key, value, iterable; names: loop variables
};

struct Expr {
  ExprKind kind = ExprKind::kAtom;
  value::Op op = value::Op::kAdd;
  bool parenthesised = false;
  Span span;     // the whole expression
  Span op_span;  // the operator, where there is one
  value::Atom atom;
  std::string text;  // kName: the name; a number: as it was written
  std::vector<ExprId> children;
  std::vector<std::string> names;
};

struct Name {
  std::string text;
  Span span;
};

enum class StatementKind : std::uint8_t {
  kExpr,     // exprs[0]
  kAssign,   // names = exprs   (one expression for several names unpacks it)
  kLoad,     // text: the path
  kDraw,     // exprs: s-op[, input]
  kDef,      // names[0] is the function, names[1..] its parameters; body
  kReturn,   // exprs (only inside a def)
  kFor,      // names in exprs[0]; body
  kExpect,   // exprs[0] == exprs[1]
  kPuzzle,   // puzzle
  kCommand,  // a line of the REPL: text holds it as written, without a trailing ';'
};

// A `puzzle` block (language.md section 7).
struct Puzzle {
  Name name;
  std::vector<Name> parameters;
  std::string description;
  Span description_span;
  ExprId vocabulary = kNoExpr;  // a string or a list
  std::int64_t min_length = 1;
  std::int64_t max_length = 0;  // 0: not given
  struct Check {
    ExprId left = kNoExpr;
    ExprId right = kNoExpr;
    Span span;
  };
  std::vector<Check> expects;    // `expect left == right;`
  std::vector<Check> specs;      // `spec left == right;`
  std::int64_t max_layers = -1;  // -1: no limit
  std::int64_t max_heads = -1;
  std::string hint;
};

struct Statement {
  StatementKind kind = StatementKind::kExpr;
  Span span;
  std::vector<Name> names;
  std::vector<ExprId> exprs;
  std::vector<Statement> body;
  std::string text;
  std::vector<Puzzle> puzzle;  // kPuzzle: exactly one
};

struct Program {
  std::vector<Expr> exprs;  // the arena
  std::vector<Statement> statements;

  [[nodiscard]] const Expr& operator[](ExprId id) const { return exprs[id]; }
};

}  // namespace rasp::syntax
