#include "syntax/statements.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "syntax/slips.h"

namespace rasp::syntax {

std::optional<Statement> StatementBuilder::build(const Grammar::StatementContext* tree, bool top) {
  const std::size_t before = context_.errors;
  Statement out = statement(tree);
  if (top && out.kind == StatementKind::kReturn) {
    context_.report(ErrorKind::kSyntax, out.span, "expected 'return' in a def, found it outside");
  }
  if (context_.errors > before) return std::nullopt;
  return out;
}

void StatementBuilder::check(const Grammar::ItemContext* tree) {
  Puzzle scratch;
  item(tree, scratch);
}

Statement StatementBuilder::statement(const Grammar::StatementContext* tree) {
  Statement out;
  out.span = context_.span(tree);
  if (tree->function != nullptr) {
    definition(tree->function, out);
  } else if (tree->repeat != nullptr) {
    loop(tree->repeat, out);
  } else if (tree->task != nullptr) {
    out.kind = StatementKind::kPuzzle;
    puzzle(tree->task, out.puzzle.emplace_back());
  } else if (tree->path != nullptr) {
    out.kind = StatementKind::kLoad;
    out.text = string(tree->path);
  } else if (tree->claim != nullptr) {
    out.kind = StatementKind::kExpect;
    const Puzzle::Check check = claim(tree->claim, out.span);
    out.exprs = {check.left, check.right};
  } else if (tree->equals != nullptr) {
    assignment(tree, out);
  } else if (tree->targets != nullptr) {
    expression(tree, out);
  } else {
    out.kind = StatementKind::kReturn;
    out.exprs = expressions_.build_all(tree->values->list);
  }
  return out;
}

void StatementBuilder::assignment(const Grammar::StatementContext* tree, Statement& out) {
  out.kind = StatementKind::kAssign;
  for (const auto* part : tree->targets->list) {
    if (auto name = target(part)) out.names.push_back(std::move(*name));
  }
  const std::size_t wanted = tree->targets->list.size();
  const std::size_t given = tree->values->list.size();
  if (given > 1 && given != wanted) {
    context_.report(ErrorKind::kSyntax, out.span,
                    "expected as many values as names, found " + std::to_string(wanted) +
                        (wanted == 1 ? " name and " : " names and ") + std::to_string(given) +
                        " values",
                    wanted == 1 ? "a list of values is written [a, b]" : "");
  }
  out.exprs = expressions_.build_all(tree->values->list);
}

std::optional<Name> StatementBuilder::target(const Grammar::ExpressionContext* tree) {
  const Grammar::OperandContext* first = tree->operands.front();
  const bool single = tree->operands.size() == 1 && first->prefixes.empty();
  const bool name = first->simple != nullptr && token_of(first->simple).kind == Kind::NAME;
  if (single && name && first->suffixes.empty()) return context_.name(first->simple);

  const Span span = context_.span(tree);
  std::string hint;
  if (!single) {
    hint = "'==' compares";
  } else if (!first->suffixes.empty() && first->suffixes.back()->index != nullptr) {
    hint = "lists and dicts do not change; make a new one";
  } else if (!first->suffixes.empty()) {
    hint = "a function is defined with def name(x) { return ...; }";
  }
  const std::string_view text = context_.source.substr(span.begin, span.end - span.begin);
  const bool brief = text.size() <= 40 && text.find('\n') == std::string_view::npos;
  context_.report(ErrorKind::kSyntax, span,
                  "only a name can be assigned to, found " +
                      (brief ? in_quotes(text) : std::string("an expression")),
                  std::move(hint));
  return std::nullopt;
}

void StatementBuilder::expression(const Grammar::StatementContext* tree, Statement& out) {
  const auto& list = tree->targets->list;
  if (list.size() > 1) {
    context_.report(ErrorKind::kSyntax, out.span,
                    "expected one expression in a statement, found " + std::to_string(list.size()),
                    "several values get names with a, b = ...; a list is written [a, b]");
    return;
  }
  if (draw(list.front(), out)) return;
  out.kind = StatementKind::kExpr;
  out.exprs = {expressions_.build(list.front())};
}

// `draw(...)` is a call as the grammar reads it: `draw` is no reserved word.
bool StatementBuilder::draw(const Grammar::ExpressionContext* tree, Statement& out) {
  const Grammar::OperandContext* call = tree->operands.front();
  if (tree->operands.size() != 1 || !call->prefixes.empty() || call->simple == nullptr ||
      context_.text(call->simple) != "draw" || token_of(call->simple).kind != Kind::NAME ||
      call->suffixes.size() != 1 || call->suffixes.front()->index != nullptr) {
    return false;
  }
  const auto& arguments = call->suffixes.front()->arguments;
  out.kind = StatementKind::kDraw;
  if (arguments.empty() || arguments.size() > 2) {
    context_.report(ErrorKind::kSyntax, context_.span(tree),
                    "draw takes an s-op and maybe an input, found " +
                        std::to_string(arguments.size()) + " arguments",
                    "write draw(sop); or draw(sop, \"input\");");
    return true;
  }
  out.exprs = expressions_.build_all(arguments);
  return true;
}

void StatementBuilder::definition(const Grammar::DefinitionContext* tree, Statement& out) {
  out.kind = StatementKind::kDef;
  out.names.push_back(context_.name(tree->name));
  if (tree->parameters != nullptr) names(tree->parameters, true, out.names);
  body(tree->body, out);
  check_returns(out);
}

// A body computes and then returns: there is no way past a `return`, and none around it.
void StatementBuilder::check_returns(const Statement& definition) {
  const auto& body = definition.body;
  for (const Statement& statement : body) {
    if (statement.kind == StatementKind::kReturn && &statement != &body.back()) {
      context_.report(ErrorKind::kSyntax, statement.span,
                      "expected 'return' as the last statement of the def, found more after it");
      return;
    }
  }
  if (body.empty() || body.back().kind != StatementKind::kReturn) {
    context_.report(ErrorKind::kSyntax, definition.names.front().span,
                    "expected 'return' at the end of the def of '" + definition.names.front().text +
                        "', found none",
                    "end the body with return ...;");
  }
}

void StatementBuilder::loop(const Grammar::LoopContext* tree, Statement& out) {
  out.kind = StatementKind::kFor;
  names(tree->targets, false, out.names);
  out.exprs = {expressions_.build(tree->iterable)};
  body(tree->body, out);
  for (const Statement& statement : out.body) {
    if (statement.kind == StatementKind::kReturn) {
      context_.report(ErrorKind::kSyntax, statement.span,
                      "expected 'return' at the end of a def, found it in a loop");
    }
  }
}

void StatementBuilder::body(const std::vector<Grammar::StatementContext*>& trees, Statement& out) {
  out.body.reserve(trees.size());
  for (const auto* tree : trees) out.body.push_back(statement(tree));
}

void StatementBuilder::names(const Grammar::NamesContext* tree, bool distinct,
                             std::vector<Name>& out) {
  const auto first = static_cast<std::ptrdiff_t>(out.size());
  for (const antlr4::Token* token : tree->list) {
    Name name = context_.name(token);
    const auto same = [&](const Name& other) { return other.text == name.text; };
    if (distinct && std::any_of(out.begin() + first, out.end(), same)) {
      context_.report(ErrorKind::kSyntax, name.span,
                      "expected different parameters, found " + in_quotes(name.text) + " twice");
    }
    out.push_back(std::move(name));
  }
}

// The last `==` that no bracket holds splits; the left side may compare as well.
Puzzle::Check StatementBuilder::claim(const Grammar::ExpressionContext* tree, const Span& whole) {
  std::size_t split = tree->operators.size();
  while (split > 0 && token_of(tree->operators[split - 1]).kind != Kind::EQUAL) --split;
  Puzzle::Check check;
  check.span = whole;
  if (split == 0) {
    context_.report(ErrorKind::kSyntax, context_.span(tree),
                    "expected 'left == right', found an expression without '=='",
                    "for a truth value, write == True");
    return check;
  }
  check.left = expressions_.build(tree, 0, split);
  check.right = expressions_.build(tree, split, tree->operands.size());
  return check;
}

void StatementBuilder::puzzle(const Grammar::PuzzleContext* tree, Puzzle& out) {
  out.name = context_.name(tree->name);
  if (tree->parameters != nullptr) names(tree->parameters, true, out.parameters);
  for (const auto* part : tree->items) item(part, out);
}

void StatementBuilder::item(const Grammar::ItemContext* tree, Puzzle& out) {
  const Span span = context_.span(tree);
  const auto once = [&](bool given, std::string_view what) {
    if (given) {
      context_.report(ErrorKind::kSyntax, span,
                      "expected one " + std::string(what) + " in a puzzle, found another");
    }
  };
  switch (token_of(tree->start).kind) {
    case Kind::STRING:
      once(out.description_span.valid(), "description");
      out.description = string(tree->description);
      out.description_span = context_.span(tree->description);
      break;
    case Kind::VOCAB:
      once(out.vocabulary != kNoExpr, "vocab");
      out.vocabulary = expressions_.build(tree->value);
      break;
    case Kind::LENGTH:
      once(out.max_length > 0, "length");
      lengths(tree, out);
      break;
    case Kind::EXPECT:
      out.expects.push_back(claim(tree->value, span));
      break;
    case Kind::SPEC:
      out.specs.push_back(claim(tree->value, span));
      break;
    case Kind::LIMIT:
      limit(tree, out);
      break;
    default:
      once(!out.hint.empty(), "hint");
      out.hint = string(tree->description);
      break;
  }
}

void StatementBuilder::lengths(const Grammar::ItemContext* tree, Puzzle& out) {
  out.min_length = count(tree->low);
  out.max_length = count(tree->high);
  if (out.min_length < 1 || out.max_length < out.min_length) {
    context_.report(ErrorKind::kSyntax, context_.span(tree->low, tree->high),
                    "expected lengths from 1 up, the smaller first, found '" +
                        std::string(context_.text(tree->low)) + " to " +
                        std::string(context_.text(tree->high)) + "'");
  }
}

void StatementBuilder::limit(const Grammar::ItemContext* tree, Puzzle& out) {
  const std::string_view what = context_.text(tree->what);
  if (what == "layers") {
    out.max_layers = count(tree->count);
  } else if (what == "heads") {
    out.max_heads = count(tree->count);
  } else {
    context_.report(
        ErrorKind::kSyntax, context_.span(tree->what),
        "expected 'layers' or 'heads' after 'limit', found '" + std::string(what) + "'");
  }
}

// A number of layers or positions. What does not fit is a limit error.
std::int64_t StatementBuilder::count(const antlr4::Token* token) {
  constexpr std::int64_t kMost = 1'000'000;
  const std::string_view text = context_.text(token);
  const auto number = text.size() > 7 ? std::nullopt : value::Number::parse(text);
  const auto count = number ? number->to_int64() : std::nullopt;
  if (count && *count <= kMost) return *count;
  context_.report(ErrorKind::kLimit, context_.span(token),
                  "a count in a puzzle is at most " + std::to_string(kMost));
  return 1;
}

std::string StatementBuilder::string(const antlr4::Token* token) const {
  const std::string_view text = context_.text(token);
  return std::string(text.substr(1, text.size() - 2));
}

}  // namespace rasp::syntax
