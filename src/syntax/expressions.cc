#include "syntax/expressions.h"

#include <algorithm>
#include <cstddef>
#include <optional>
#include <string>
#include <utility>

#include "syntax/parser.h"
#include "syntax/reading.h"

namespace rasp::syntax {
namespace {

// Numbers with more digits could not be held exactly within value::kMaxNumberBits.
constexpr std::size_t kMaxDigits = value::kMaxNumberBits * 3 / 10;

value::Op infix_op(int kind) {
  switch (kind) {
    case Kind::POWER:
      return value::Op::kPow;
    case Kind::TIMES:
      return value::Op::kMul;
    case Kind::DIVIDE:
      return value::Op::kDiv;
    case Kind::MODULO:
      return value::Op::kMod;
    case Kind::PLUS:
      return value::Op::kAdd;
    case Kind::MINUS:
      return value::Op::kSub;
    case Kind::EQUAL:
      return value::Op::kEq;
    case Kind::NOT_EQUAL:
      return value::Op::kNe;
    case Kind::LESS:
      return value::Op::kLt;
    case Kind::GREATER:
      return value::Op::kGt;
    case Kind::LESS_EQUAL:
      return value::Op::kLe;
    case Kind::GREATER_EQUAL:
      return value::Op::kGe;
    case Kind::AND:
      return value::Op::kAnd;
    default:
      return value::Op::kOr;
  }
}

value::Op prefix_op(int kind) {
  if (kind == Kind::NOT) return value::Op::kNot;
  return kind == Kind::MINUS ? value::Op::kNeg : value::Op::kPos;
}

std::vector<std::string> texts(const BuildContext& context,
                               const std::vector<antlr4::Token*>& tokens) {
  std::vector<std::string> names;
  names.reserve(tokens.size());
  for (const antlr4::Token* token : tokens) names.emplace_back(context.text(token));
  return names;
}

}  // namespace

ExprId ExpressionBuilder::add(Expr expr) {
  context_.program.exprs.push_back(std::move(expr));
  return static_cast<ExprId>(context_.program.exprs.size() - 1);
}

ExprId ExpressionBuilder::build(const Grammar::ExpressionContext* tree) {
  return build(tree, 0, tree->operands.size());
}

ExprId ExpressionBuilder::build(const Grammar::ExpressionContext* tree, std::size_t first,
                                std::size_t last) {
  if (last - first == 1 && tree->operands[first]->prefixes.empty()) {
    return operand(tree->operands[first]);
  }
  if (last - first > kMaxChain) {
    context_.report(ErrorKind::kLimit, context_.span(tree->operators[first + kMaxChain - 1]),
                    "an expression has at most " + std::to_string(kMaxChain) +
                        " operators in a row, this one has " + std::to_string(last - first - 1),
                    "name a part of it first");
    return add({});
  }
  const Flat flat = flatten(tree, first, last);
  Grouping grouping;
  group(flat.items, Dialect::kRasp, grouping);
  if (context_.warn) warn_about_precedence(flat, grouping);
  return assemble(flat, grouping);
}

std::vector<ExprId> ExpressionBuilder::build_all(
    const std::vector<Grammar::ExpressionContext*>& trees) {
  std::vector<ExprId> ids;
  ids.reserve(trees.size());
  for (const auto* tree : trees) ids.push_back(build(tree));
  return ids;
}

ExpressionBuilder::Flat ExpressionBuilder::flatten(const Grammar::ExpressionContext* tree,
                                                   std::size_t first, std::size_t last) {
  Flat flat;
  const auto push = [&](Item::Role role, int kind, const antlr4::Token* begin,
                        const antlr4::Token* end, ExprId expr) {
    flat.items.push_back({role, kind});
    flat.first.push_back(begin);
    flat.last.push_back(end);
    flat.exprs.push_back(expr);
  };
  const auto is_choice = [](const antlr4::Token* op) { return token_of(op).kind == Kind::IF; };
  auto choice = static_cast<std::size_t>(  // conditions are listed on their own
      std::count_if(tree->operators.begin(),
                    tree->operators.begin() + static_cast<std::ptrdiff_t>(first), is_choice));
  for (std::size_t at = first; at < last; ++at) {
    if (at > first) {
      const antlr4::Token* op = tree->operators[at - 1];
      const ExprId condition = is_choice(op) ? build(tree->conditions[choice++]) : kNoExpr;
      push(Item::Role::kInfix, token_of(op).kind, op, op, condition);
    }
    const Grammar::OperandContext* part = tree->operands[at];
    for (const antlr4::Token* prefix : part->prefixes) {
      push(Item::Role::kPrefix, token_of(prefix).kind, prefix, prefix, kNoExpr);
    }
    const antlr4::Token* begin = part->simple != nullptr ? part->simple : part->form->start;
    push(Item::Role::kOperand, 0, begin, part->stop, operand(part));
  }
  return flat;
}

ExprId ExpressionBuilder::assemble(const Flat& flat, const Grouping& grouping) {
  std::vector<ExprId> stack;
  for (const std::uint32_t at : grouping.order) {
    const Item& item = flat.items[at];
    if (item.role == Item::Role::kOperand) {
      stack.push_back(flat.exprs[at]);
      continue;
    }
    Expr expr;
    const Extent extent = grouping.extents[at];
    expr.span = context_.span(flat.first[extent.first], flat.last[extent.last - 1]);
    expr.op_span = context_.span(flat.first[at]);
    const ExprId right = stack.back();
    stack.pop_back();
    if (item.role == Item::Role::kPrefix) {
      expr.kind = ExprKind::kUnary;
      expr.op = prefix_op(item.kind);
      expr.children = {right};
      stack.push_back(add(std::move(expr)));
      continue;
    }
    const ExprId left = stack.back();
    stack.pop_back();
    if (item.kind == Kind::IF) {
      expr.kind = ExprKind::kChoose;
      expr.children = {flat.exprs[at], left, right};
    } else if (item.kind == Kind::IN) {
      expr.kind = ExprKind::kIn;
      expr.children = {left, right};
    } else {
      expr.kind = ExprKind::kBinary;
      expr.op = infix_op(item.kind);
      expr.children = {left, right};
    }
    stack.push_back(add(std::move(expr)));
  }
  return stack.back();
}

void ExpressionBuilder::warn_about_precedence(const Flat& flat, const Grouping& grouping) {
  std::vector<ItemTokens> places;
  if (flat.items.size() < 4) return;  // one operator has one reading
  places.reserve(flat.items.size());
  for (std::size_t at = 0; at < flat.items.size(); ++at) {
    places.push_back({static_cast<const TreeToken*>(flat.first[at])->getTokenIndex(),
                      static_cast<const TreeToken*>(flat.last[at])->getTokenIndex() + 1});
  }
  const auto surprise =
      surprising_reading(flat.items, grouping, places, context_.tokens, context_.source);
  if (!surprise) return;
  const Span at{context_.file, surprise->begin, surprise->end};
  context_.diagnostics.push_back(
      warning(ErrorKind::kSyntax, at, surprise->message, surprise->hint));
}

ExprId ExpressionBuilder::operand(const Grammar::OperandContext* tree) {
  const antlr4::Token* first = tree->simple != nullptr ? tree->simple : tree->form->start;
  ExprId id = tree->simple != nullptr ? simple(tree->simple) : primary(tree->form);
  if (tree->suffixes.size() > kMaxChain) {
    context_.report(
        ErrorKind::kLimit, context_.span(tree->suffixes[kMaxChain]),
        "calls and indices can follow each other at most " + std::to_string(kMaxChain) + " times");
    return id;
  }
  for (const Grammar::SuffixContext* part : tree->suffixes) id = suffix(id, first, part);
  return id;
}

ExprId ExpressionBuilder::simple(const antlr4::Token* token) {
  const int kind = token_of(token).kind;
  if (kind == Kind::INTEGER || kind == Kind::DECIMAL) return number(token);
  Expr expr;
  expr.span = context_.span(token);
  const std::string_view text = context_.text(token);
  if (kind == Kind::NAME) {
    expr.kind = ExprKind::kName;
    expr.text = text;
  } else {
    expr.atom = std::string(text.substr(1, text.size() - 2));
  }
  return add(std::move(expr));
}

ExprId ExpressionBuilder::number(const antlr4::Token* token) {
  Expr expr;
  expr.span = context_.span(token);
  const std::string_view text = context_.text(token);
  if (text.size() > kMaxDigits) {
    context_.report(ErrorKind::kLimit, expr.span,
                    "a number has at most " + std::to_string(kMaxDigits) +
                        " digits, this one has " + std::to_string(text.size()));
  } else if (auto number = value::Number::parse(text)) {
    expr.atom = std::move(*number);
    expr.text = text;
  }
  return add(std::move(expr));
}

ExprId ExpressionBuilder::primary(const Grammar::PrimaryContext* tree) {
  Expr expr;
  expr.span = context_.span(tree);
  switch (token_of(tree->open).kind) {
    case Kind::OPEN_PAREN: {
      const ExprId inner = build(tree->inner);
      context_.program.exprs[inner].parenthesised = true;
      context_.program.exprs[inner].span = expr.span;
      return inner;
    }
    case Kind::SELECT:
      expr.kind = ExprKind::kSelect;
      expr.op = infix_op(token_of(tree->compare).kind);
      expr.op_span = context_.span(tree->compare);
      expr.children = {build(tree->key), build(tree->query)};
      return add(std::move(expr));
    case Kind::AGGREGATE:
      expr.kind = ExprKind::kAggregate;
      expr.children = {build(tree->selector), build(tree->value)};
      if (tree->otherwise != nullptr) expr.children.push_back(build(tree->otherwise));
      return add(std::move(expr));
    case Kind::OPEN_BRACKET:
      return list(tree);
    default:
      return dict(tree);
  }
}

ExprId ExpressionBuilder::list(const Grammar::PrimaryContext* tree) {
  Expr expr;
  expr.span = context_.span(tree);
  expr.kind = ExprKind::kList;
  expr.children = build_all(tree->list);
  if (tree->iterable != nullptr) {
    expr.kind = ExprKind::kListComp;
    expr.children.push_back(build(tree->iterable));
    expr.names = texts(context_, tree->targets->list);
  }
  return add(std::move(expr));
}

ExprId ExpressionBuilder::dict(const Grammar::PrimaryContext* tree) {
  Expr expr;
  expr.span = context_.span(tree);
  expr.kind = ExprKind::kDict;
  for (const Grammar::EntryContext* entry : tree->entries) {
    expr.children.push_back(build(entry->key));
    expr.children.push_back(build(entry->value));
  }
  if (tree->iterable != nullptr) {
    expr.kind = ExprKind::kDictComp;
    expr.children.push_back(build(tree->iterable));
    expr.names = texts(context_, tree->targets->list);
  }
  return add(std::move(expr));
}

ExprId ExpressionBuilder::suffix(ExprId base, const antlr4::Token* first,
                                 const Grammar::SuffixContext* tree) {
  Expr expr;
  expr.span = context_.span(first, tree->close);
  expr.children = {base};
  if (tree->index != nullptr) {
    expr.kind = ExprKind::kIndex;
    expr.children.push_back(build(tree->index));
  } else {
    expr.kind = ExprKind::kCall;
    for (const auto* argument : tree->arguments) expr.children.push_back(build(argument));
  }
  return add(std::move(expr));
}

}  // namespace rasp::syntax
