#include "syntax/print.h"

#include <cstddef>
#include <variant>
#include <vector>

namespace rasp::syntax {
namespace {

// What is still to be written: a text, or an expression.
using Piece = std::variant<std::string, ExprId>;

class Pieces {
 public:
  Pieces& operator<<(std::string text) {
    list.emplace_back(std::move(text));
    return *this;
  }
  Pieces& operator<<(ExprId id) {
    list.emplace_back(id);
    return *this;
  }
  // children[first..] with separators, which repeat.
  void all(const std::vector<ExprId>& children, std::size_t first, std::size_t last,
           const std::vector<std::string>& separators) {
    for (std::size_t at = first; at < last; ++at) {
      if (at > first) *this << separators[(at - first - 1) % separators.size()];
      *this << children[at];
    }
  }

  std::vector<Piece> list;
};

std::string comma_separated(const std::vector<std::string>& names) {
  std::string out;
  for (const std::string& name : names) out += (out.empty() ? "" : ", ") + name;
  return out;
}

std::string atom_text(const Expr& expr) {
  const auto* text = std::get_if<std::string>(&expr.atom);
  return text == nullptr ? expr.text : '"' + *text + '"';
}

void write_operator(const Expr& expr, Pieces& out) {
  const std::string symbol(value::info(expr.op).symbol);
  const auto& c = expr.children;
  switch (expr.kind) {
    case ExprKind::kUnary:
      out << "(" + symbol + " " << c[0] << ")";
      return;
    case ExprKind::kBinary:
      out << "(" << c[0] << " " + symbol + " " << c[1] << ")";
      return;
    case ExprKind::kChoose:
      out << "(" << c[1] << " if " << c[0] << " else " << c[2] << ")";
      return;
    default:
      out << "(" << c[0] << " in " << c[1] << ")";
      return;
  }
}

void write_form(const Expr& expr, Pieces& out) {
  const auto& c = expr.children;
  switch (expr.kind) {
    case ExprKind::kIndex:
      out << c[0] << "[" << c[1] << "]";
      return;
    case ExprKind::kCall:
      out << c[0] << "(";
      out.all(c, 1, c.size(), {", "});
      out << ")";
      return;
    case ExprKind::kSelect:
      out << "select(" << c[0] << ", " << c[1]
          << ", " + std::string(value::info(expr.op).symbol) + ")";
      return;
    case ExprKind::kAggregate:
      out << "aggregate(";
      out.all(c, 0, c.size(), {", "});
      out << ")";
      return;
    case ExprKind::kList:
      out << "[";
      out.all(c, 0, c.size(), {", "});
      out << "]";
      return;
    case ExprKind::kDict:
      out << "{";
      out.all(c, 0, c.size(), {": ", ", "});
      out << "}";
      return;
    case ExprKind::kListComp:
      out << "[" << c[0] << " for " + comma_separated(expr.names) + " in " << c[1] << "]";
      return;
    default:
      out << "{" << c[0] << ": " << c[1] << " for " + comma_separated(expr.names) + " in " << c[2]
          << "}";
      return;
  }
}

Pieces pieces_of(const Expr& expr) {
  Pieces out;
  switch (expr.kind) {
    case ExprKind::kAtom:
      out << atom_text(expr);
      break;
    case ExprKind::kName:
      out << expr.text;
      break;
    case ExprKind::kUnary:
    case ExprKind::kBinary:
    case ExprKind::kChoose:
    case ExprKind::kIn:
      write_operator(expr, out);
      break;
    default:
      write_form(expr, out);
      break;
  }
  return out;
}

std::string list_text(const Program& program, const std::vector<ExprId>& ids) {
  std::string out;
  for (const ExprId id : ids) out += (out.empty() ? "" : ", ") + to_text(program, id);
  return out;
}

std::string names_text(const std::vector<Name>& names, std::size_t first) {
  std::string out;
  for (std::size_t at = first; at < names.size(); ++at) {
    out += (at > first ? ", " : "") + names[at].text;
  }
  return out;
}

// In parentheses where its first word would begin another statement.
std::string expression_statement_text(const Program& program, ExprId id) {
  std::string text = to_text(program, id);
  const bool other =
      text.starts_with("expect(") || text.starts_with("expect[") || text.starts_with("draw(");
  return other ? '(' + text + ");" : text + ';';
}

std::string body_text(const Program& program, const std::vector<Statement>& body) {
  std::string out = "{ ";
  for (const Statement& statement : body) out += to_text(program, statement) + ' ';
  return out + "}";
}

std::string check_text(const Program& program, const char* word, const Puzzle::Check& check) {
  return word + to_text(program, check.left) + " == " + to_text(program, check.right) + "; ";
}

std::string puzzle_text(const Program& program, const Puzzle& puzzle) {
  std::string out = "puzzle " + puzzle.name.text + '(' + names_text(puzzle.parameters, 0) + ") { ";
  if (puzzle.description_span.valid()) out += '"' + puzzle.description + "\" ";
  if (puzzle.vocabulary != kNoExpr) out += "vocab " + to_text(program, puzzle.vocabulary) + "; ";
  if (puzzle.max_length > 0) {
    out += "length " + std::to_string(puzzle.min_length) + " to " +
           std::to_string(puzzle.max_length) + "; ";
  }
  for (const auto& check : puzzle.expects) out += check_text(program, "expect ", check);
  for (const auto& check : puzzle.specs) out += check_text(program, "spec ", check);
  if (puzzle.max_layers >= 0) out += "limit layers " + std::to_string(puzzle.max_layers) + "; ";
  if (puzzle.max_heads >= 0) out += "limit heads " + std::to_string(puzzle.max_heads) + "; ";
  if (!puzzle.hint.empty()) out += "hint \"" + puzzle.hint + "\"; ";
  return out + "}";
}

}  // namespace

std::string to_text(const Program& program, ExprId id) {
  std::string out;
  std::vector<Piece> rest{id};
  while (!rest.empty()) {
    const Piece piece = std::move(rest.back());
    rest.pop_back();
    if (const auto* text = std::get_if<std::string>(&piece)) {
      out += *text;
      continue;
    }
    Pieces next = pieces_of(program[std::get<ExprId>(piece)]);
    for (auto at = next.list.rbegin(); at != next.list.rend(); ++at) rest.push_back(std::move(*at));
  }
  return out;
}

std::string to_text(const Program& program, const Statement& statement) {
  switch (statement.kind) {
    case StatementKind::kExpr:
      return expression_statement_text(program, statement.exprs[0]);
    case StatementKind::kAssign:
      return names_text(statement.names, 0) + " = " + list_text(program, statement.exprs) + ';';
    case StatementKind::kLoad:
      return "load \"" + statement.text + "\";";
    case StatementKind::kDraw:
      return "draw(" + list_text(program, statement.exprs) + ");";
    case StatementKind::kDef:
      return "def " + statement.names[0].text + '(' + names_text(statement.names, 1) + ") " +
             body_text(program, statement.body);
    case StatementKind::kReturn:
      return "return " + list_text(program, statement.exprs) + ';';
    case StatementKind::kFor:
      return "for " + names_text(statement.names, 0) + " in " +
             to_text(program, statement.exprs[0]) + ' ' + body_text(program, statement.body);
    case StatementKind::kExpect:
      return "expect " + to_text(program, statement.exprs[0]) +
             " == " + to_text(program, statement.exprs[1]) + ';';
    case StatementKind::kPuzzle:
      return puzzle_text(program, statement.puzzle[0]);
    case StatementKind::kCommand:
      return statement.text;
  }
  return {};
}

}  // namespace rasp::syntax
