#include "graph/text.h"

#include <string_view>

namespace rasp::graph {
namespace {

using value::Atom;
using value::Number;
using value::Op;

constexpr std::size_t kMaxLiteralBits = 512;

// 1 for the level's `and`, 2 for its `or`, 0 for anything else.
int logic_of(const Node& node) {
  const bool map = node.kind == Kind::kMap;
  if (node.kind == Kind::kSelectorAnd || (map && node.op == Op::kAnd)) return 1;
  if (node.kind == Kind::kSelectorOr || (map && node.op == Op::kOr)) return 2;
  return 0;
}

bool is_negation(const Node& node) {
  return node.kind == Kind::kSelectorNot || (node.kind == Kind::kMap && node.op == Op::kNot);
}

bool is_call(Op op) { return op == Op::kRound || op == Op::kIndicator; }

Level level_of(Op op) {
  switch (op) {
    case Op::kAdd:
    case Op::kSub:
      return Level::kSum;
    case Op::kMul:
    case Op::kDiv:
      return Level::kProduct;
    case Op::kMod:
      return Level::kModulo;
    case Op::kPow:
      return Level::kPower;
    case Op::kAnd:
    case Op::kOr:
      return Level::kLogic;
    case Op::kNot:
    case Op::kNeg:
    case Op::kPos:
      return Level::kUnary;
    case Op::kRound:
    case Op::kIndicator:
      return Level::kPrimary;
    default:
      return Level::kComparison;
  }
}

Level level_of(const Atom& atom) {
  const auto* number = std::get_if<Number>(&atom);
  if (number == nullptr) return Level::kPrimary;
  if (literal(atom, 0).find('/') != std::string::npos) return Level::kProduct;
  return number->sign() < 0 ? Level::kUnary : Level::kPrimary;
}

Level level_of(const Graph& graph, const Node& node) {
  switch (node.kind) {
    case Kind::kConstant:
      return level_of(graph.atom(node));
    case Kind::kMap:
      return level_of(node.op);
    case Kind::kChoose:
      return Level::kConditional;
    case Kind::kMember:
      return Level::kMembership;
    case Kind::kSelectorAnd:
    case Kind::kSelectorOr:
      return Level::kLogic;
    case Kind::kSelectorNot:
      return Level::kUnary;
    default:
      return Level::kPrimary;
  }
}

Allowed up_to(Level level) {
  const bool negation = level == Level::kLogic || level == Level::kConditional;
  return {level, negation, 0};
}

// The operands of a binary operator. Tighter than the grammar asks where Python would read the text
// otherwise.
Allowed left_operand(const Node& node) {
  switch (level_of(node.op)) {
    case Level::kPower:
      return up_to(Level::kPrimary);
    case Level::kProduct:
    case Level::kModulo:
      return up_to(Level::kProduct);
    case Level::kSum:
    case Level::kComparison:
      return up_to(Level::kSum);
    default:
      return {Level::kComparison, true, logic_of(node)};
  }
}

Allowed right_operand(const Node& node) {
  switch (level_of(node.op)) {
    case Level::kPower:
      return up_to(Level::kPrimary);
    case Level::kProduct:
    case Level::kModulo:
      return up_to(Level::kPower);
    case Level::kSum:
      return up_to(Level::kModulo);
    case Level::kComparison:
      return up_to(Level::kSum);
    default:
      return {Level::kComparison, true, 0};
  }
}

// At most `limit` bytes of `text`, cut between code points.
std::string cut(std::string_view text, std::size_t limit) {
  if (text.size() <= limit) return std::string(text);
  while (limit > 0 && (static_cast<unsigned char>(text[limit]) & 0xC0u) == 0x80u) --limit;
  return std::string(text.substr(0, limit)) + "…";
}

std::string number_literal(const Number& number) {
  if (number.bits() > kMaxLiteralBits) {
    return std::string(number.is_int() ? "int" : "float") + "(" + std::to_string(number.bits()) +
           " bits)";
  }
  std::string text = number.repr();
  if (number.is_int()) return text;
  if (!number.is_exact()) return text;
  const auto digits = std::string_view(text).substr(text.starts_with('-') ? 1 : 0);
  if (digits.find_first_not_of("0123456789.") == std::string_view::npos) {
    const auto read = Number::parse(text);
    if (read && *read == number) return text;
  }
  const value::BigRational exact = number.to_rational();
  return numerator(exact).str() + "/" + denominator(exact).str();
}

std::string table_literal(const value::Table& table, std::size_t limit) {
  const bool dict = table.kind == value::Table::Kind::kDict;
  std::string text(1, dict ? '{' : '[');
  for (std::size_t i = 0; i < table.values.size(); ++i) {
    if (i > 0) text += ", ";
    if (text.size() > limit) {
      text += "…";
      break;
    }
    if (dict) text += literal(table.keys[i], limit) + ": ";
    text += literal(table.values[i], limit);
  }
  return text + (dict ? '}' : ']');
}

Part text(std::string content) { return {std::move(content), kNoNode, {}}; }
Part arg(NodeId id, Allowed allowed = {}) { return {{}, id, allowed}; }

std::vector<Part> parts_of_map(const Node& node) {
  const std::string symbol(value::info(node.op).symbol);
  if (is_call(node.op)) return {text(symbol + "("), arg(node.args[0]), text(")")};
  if (node.arg_count == 1) {
    return {text(node.op == Op::kNot ? symbol + " " : symbol),
            arg(node.args[0], up_to(Level::kPrimary))};
  }
  std::string spaced(1, ' ');
  spaced += symbol;
  spaced += ' ';
  return {arg(node.args[0], left_operand(node)), text(node.op == Op::kPow ? symbol : spaced),
          arg(node.args[1], right_operand(node))};
}

std::vector<Part> parts_of_logic(const Node& node, std::string_view symbol) {
  return {arg(node.args[0], {Level::kComparison, true, logic_of(node)}), text(std::string(symbol)),
          arg(node.args[1], {Level::kComparison, true, 0})};
}

bool is_default_zero(const Atom& atom) {
  const auto* number = std::get_if<Number>(&atom);
  return number != nullptr && number->is_int() && number->is_zero();
}

}  // namespace

std::string literal(const Atom& atom, std::size_t limit) {
  if (const auto* truth = std::get_if<bool>(&atom)) return *truth ? "True" : "False";
  if (const auto* number = std::get_if<Number>(&atom)) return number_literal(*number);
  return '"' + cut(std::get<std::string>(atom), limit) + '"';
}

bool needs_parentheses(const Graph& graph, const Node& node, const Allowed& allowed) {
  if (is_negation(node)) return !allowed.negation;
  const int logic = logic_of(node);
  if (logic != 0 && logic == allowed.logic) return false;
  return level_of(graph, node) > allowed.loosest;
}

std::vector<Part> parts_of(const Graph& graph, const Node& node, std::size_t limit) {
  switch (node.kind) {
    case Kind::kTokens:
      return {text(std::string(value::name_of(node.token_kind)))};
    case Kind::kIndices:
      return {text("indices")};
    case Kind::kConstant:
      return {text(literal(graph.atom(node), limit))};
    case Kind::kMap:
      return parts_of_map(node);
    case Kind::kChoose:
      return {arg(node.args[1], up_to(Level::kLogic)), text(" if "),
              arg(node.args[0], up_to(Level::kLogic)), text(" else "),
              arg(node.args[2], up_to(Level::kLogic))};
    case Kind::kLookup:
      return {text(table_literal(graph.table(node), limit) + "["), arg(node.args[0]), text("]")};
    case Kind::kMember:
      return {arg(node.args[0], up_to(Level::kSum)),
              text(" in " + table_literal(graph.table(node), limit))};
    case Kind::kAggregate: {
      const Atom& otherwise = graph.atom(node);
      return {text("aggregate("), arg(node.args[0]), text(", "), arg(node.args[1]),
              text(is_default_zero(otherwise) ? ")" : ", " + literal(otherwise, limit) + ")")};
    }
    case Kind::kSelect:
      return {text("select("), arg(node.args[0]), text(", "), arg(node.args[1]),
              text(", " + std::string(value::info(node.op).symbol) + ")")};
    case Kind::kSelectorAnd:
      return parts_of_logic(node, " and ");
    case Kind::kSelectorOr:
      return parts_of_logic(node, " or ");
    case Kind::kSelectorNot:
      return {text("not "), arg(node.args[0], up_to(Level::kPrimary))};
  }
  return {};
}

}  // namespace rasp::graph
