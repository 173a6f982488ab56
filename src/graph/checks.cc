#include "graph/checks.h"

#include <string>
#include <string_view>

namespace rasp::graph {
namespace {

using value::Op;
using value::Type;

constexpr value::TypeSet kText = static_cast<value::TypeSet>(Type::kString);

std::string quoted(Op op) {
  std::string text = "'";
  text += value::info(op).symbol;
  return text += '\'';
}

std::string_view expectation(Op op) {
  switch (op) {
    case Op::kAdd:
      return "two numbers or two strings";
    case Op::kMul:
      return "two numbers, or a string and an int";
    case Op::kSub:
    case Op::kDiv:
    case Op::kMod:
    case Op::kPow:
      return "two numbers";
    case Op::kLt:
    case Op::kGt:
    case Op::kLe:
    case Op::kGe:
      return "two numbers or two strings";
    case Op::kIndicator:
      return "a bool";
    default:
      return "a number";
  }
}

// Tokens read as text are the usual reason for a string where a number belongs.
bool reads_tokens_as_text(const Graph& graph, std::span<const NodeId> args) {
  for (NodeId id : args) {
    const Node& node = graph[id];
    if (node.kind == Kind::kTokens && node.types == kText) return true;
  }
  return false;
}

std::string hint_for(const Graph& graph, Op op, std::span<const NodeId> args) {
  if (op == Op::kIndicator) return "give it a condition, such as indicator(indices == 0)";
  if (!reads_tokens_as_text(graph, args)) return {};
  if (args.size() == 1) return "use tokens_int (or tokens_float) to read the tokens as numbers";
  const bool other_is_text = graph[args[0]].types == kText && graph[args[1]].types == kText;
  if (op == Op::kAdd && !other_is_text) {
    return "use tokens_int to read the tokens as numbers, or put the number in quotes to join "
           "texts";
  }
  return "use tokens_int (or tokens_float) to read the tokens as numbers";
}

}  // namespace

Diagnostic operand_error(const Graph& graph, Op op, std::span<const NodeId> args,
                         const Span& span) {
  std::string message = quoted(op) + " expects " + std::string(expectation(op)) + ", found ";
  for (std::size_t i = 0; i < args.size(); ++i) {
    if (i > 0) message += " and ";
    message += value::describe(graph[args[i]].types);
  }
  return error(ErrorKind::kType, span, std::move(message), hint_for(graph, op, args));
}

Diagnostic zero_divisor_error(Op op, const Span& span) {
  return error(ErrorKind::kArithmetic, span,
               quoted(op) + " expects a divisor other than zero, found the constant 0");
}

Diagnostic select_error(const Graph& graph, NodeId key, NodeId query, Op comparison,
                        const Span& span) {
  const NodeId args[] = {key, query};
  return error(ErrorKind::kType, span,
               "select with " + quoted(comparison) + " expects " +
                   std::string(expectation(comparison)) + ", found " +
                   value::describe(graph[key].types) + " (key) and " +
                   value::describe(graph[query].types) + " (query)",
               hint_for(graph, comparison, args));
}

Diagnostic lookup_error(const Graph& graph, const value::Table& table, NodeId index,
                        const Span& span) {
  const std::string found = value::describe(graph[index].types);
  if (table.values.empty()) {
    return error(ErrorKind::kValue, span,
                 "indexing expects a table with entries, found an empty one");
  }
  if (table.kind == value::Table::Kind::kList) {
    const NodeId args[] = {index};
    return error(
        ErrorKind::kType, span, "a list or string is indexed by an int, found " + found,
        reads_tokens_as_text(graph, args) ? "use tokens_int to read the tokens as numbers" : "");
  }
  value::TypeSet keys = 0;
  for (const value::Atom& key : table.keys) {
    keys = static_cast<value::TypeSet>(keys | static_cast<value::TypeSet>(value::type_of(key)));
  }
  return error(ErrorKind::kType, span,
               "the keys of this dict are " + value::describe(keys) + ", its index is " + found);
}

}  // namespace rasp::graph
