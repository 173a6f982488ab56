// Reads expressions back into a graph by the levels of language.md section 3 and nothing else: what
// `graph::expression` writes must come back as the very same node.
#pragma once

#include <array>
#include <cctype>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace rasp::test {

class MiniParser {
 public:
  using NodeId = graph::NodeId;

  MiniParser(graph::Graph& graph, std::string_view text) : graph_(graph), text_(text) {}

  // kNoNode when the text is no expression, or not to its end.
  NodeId parse() {
    const NodeId node = membership();
    skip();
    return failed_ || at_ != text_.size() ? graph::kNoNode : node;
  }

 private:
  using Op = value::Op;

  void skip() {
    while (at_ < text_.size() && text_[at_] == ' ') ++at_;
  }
  static bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
  bool take(std::string_view token) {
    skip();
    if (!text_.substr(at_).starts_with(token)) return false;
    const std::size_t end = at_ + token.size();
    if (is_word(token.back()) && end < text_.size() && is_word(text_[end])) return false;
    at_ = end;
    return true;
  }
  void expect(std::string_view token) { failed_ = !take(token) || failed_; }
  NodeId fail() {
    failed_ = true;
    return 0;
  }
  NodeId checked(Result<NodeId> made) { return made ? *made : fail(); }
  NodeId map(Op op, NodeId a, NodeId b) {
    return failed_ || graph_.is_selector(a) || graph_.is_selector(b)
               ? fail()
               : checked(graph_.map(op, std::array{a, b}, {}));
  }

  NodeId membership() {
    const NodeId element = conditional();
    if (failed_ || !take("in")) return element;
    return checked(graph_.member(element, table(), {}));
  }
  NodeId conditional() {
    const NodeId yes = logic();
    if (failed_ || !take("if")) return yes;
    const NodeId condition = logic();
    expect("else");
    const NodeId no = conditional();
    return failed_ ? 0 : checked(graph_.choose(condition, yes, no, {}));
  }
  NodeId logic() {
    NodeId left = comparison();
    while (!failed_) {
      const bool is_and = take("and");
      if (!is_and && !take("or")) break;
      const NodeId right = comparison();
      if (failed_) break;
      if (!graph_.is_selector(left)) {
        left = map(is_and ? Op::kAnd : Op::kOr, left, right);
      } else {
        left = checked(is_and ? graph_.selector_and(left, right, {})
                              : graph_.selector_or(left, right, {}));
      }
    }
    return left;
  }
  std::optional<Op> comparison_operator() {
    constexpr std::array<std::pair<std::string_view, Op>, 6> kSigns = {{{"==", Op::kEq},
                                                                        {"!=", Op::kNe},
                                                                        {"<=", Op::kLe},
                                                                        {">=", Op::kGe},
                                                                        {"<", Op::kLt},
                                                                        {">", Op::kGt}}};
    for (const auto& [sign, op] : kSigns) {
      if (take(sign)) return op;
    }
    return std::nullopt;
  }
  NodeId comparison() {
    NodeId left = sum();
    while (!failed_) {
      const std::optional<Op> op = comparison_operator();
      if (!op) break;
      left = map(*op, left, sum());
    }
    return left;
  }
  NodeId sum() {
    NodeId left = modulo();
    while (!failed_) {
      if (take("+")) {
        left = map(Op::kAdd, left, modulo());
      } else if (take("-")) {
        left = map(Op::kSub, left, modulo());
      } else {
        break;
      }
    }
    return left;
  }
  NodeId modulo() {
    NodeId left = product();
    while (!failed_ && take("%")) left = map(Op::kMod, left, product());
    return left;
  }
  NodeId product() {
    NodeId left = power();
    while (!failed_) {
      if (take("*")) {
        left = map(Op::kMul, left, power());
      } else if (take("/")) {
        left = map(Op::kDiv, left, power());
      } else {
        break;
      }
    }
    return left;
  }
  NodeId power() {
    NodeId left = unary();
    while (!failed_ && take("^")) left = map(Op::kPow, left, unary());
    return left;
  }
  NodeId unary() {
    if (take("not")) {
      const NodeId operand = unary();
      if (failed_) return 0;
      return checked(graph_.is_selector(operand) ? graph_.selector_not(operand, {})
                                                 : graph_.map(Op::kNot, std::array{operand}, {}));
    }
    for (const auto& [sign, op] : {std::pair{"-", Op::kNeg}, std::pair{"+", Op::kPos}}) {
      if (!take(sign)) continue;
      const NodeId operand = unary();
      return failed_ ? 0 : checked(graph_.map(op, std::array{operand}, {}));
    }
    return primary();
  }

  NodeId primary() {
    if (take("(")) {
      const NodeId inner = membership();
      expect(")");
      return inner;
    }
    if (take("select")) return select();
    if (take("aggregate")) return aggregate();
    if (take("round")) return call(Op::kRound);
    if (take("indicator")) return call(Op::kIndicator);
    if (take("indices")) return checked(graph_.indices({}));
    for (const auto kind :
         {value::TokenKind::kAsIs, value::TokenKind::kString, value::TokenKind::kInt,
          value::TokenKind::kFloat, value::TokenKind::kBool}) {
      if (take(value::name_of(kind))) return checked(graph_.tokens(kind, {}));
    }
    skip();
    if (at_ < text_.size() && (text_[at_] == '[' || text_[at_] == '{')) return lookup();
    return checked(graph_.constant(atom(), {}));
  }
  NodeId call(Op op) {
    expect("(");
    const NodeId operand = membership();
    expect(")");
    return failed_ ? 0 : checked(graph_.map(op, std::array{operand}, {}));
  }
  NodeId select() {
    expect("(");
    const NodeId key = membership();
    expect(",");
    const NodeId query = membership();
    expect(",");
    const std::optional<Op> op = comparison_operator();
    expect(")");
    return failed_ || !op ? fail() : checked(graph_.select(key, query, *op, {}));
  }
  NodeId aggregate() {
    expect("(");
    const NodeId selector = membership();
    expect(",");
    const NodeId value = membership();
    value::Atom otherwise = value::make_int(0);
    if (take(",")) otherwise = atom();
    expect(")");
    return failed_ ? 0 : checked(graph_.aggregate(selector, value, otherwise, {}));
  }
  NodeId lookup() {
    value::Table entries = table();
    expect("[");
    const NodeId index = membership();
    expect("]");
    return failed_ ? 0 : checked(graph_.lookup(std::move(entries), index, {}));
  }
  value::Table table() {
    value::Table table;
    const bool dict = take("{");
    if (!dict) expect("[");
    if (dict) table.kind = value::Table::Kind::kDict;
    const std::string_view close = dict ? "}" : "]";
    while (!failed_ && !take(close)) {
      if (!table.values.empty()) expect(",");
      if (dict) {
        table.keys.push_back(atom());
        expect(":");
      }
      table.values.push_back(atom());
    }
    return table;
  }
  // A literal; fractions and signs as the value they fold to.
  value::Atom atom() {
    skip();
    if (take("True")) return true;
    if (take("False")) return false;
    if (take("\"")) {
      const std::size_t end = text_.find('"', at_);
      if (end == std::string_view::npos) return fail(), false;
      const std::string_view content = text_.substr(at_, end - at_);
      at_ = end + 1;
      return std::string(content);
    }
    const bool negative = take("-");
    const std::size_t begin = at_;
    while (at_ < text_.size() &&
           (std::isdigit(static_cast<unsigned char>(text_[at_])) || text_[at_] == '.')) {
      ++at_;
    }
    const auto number = value::Number::parse(text_.substr(begin, at_ - begin));
    if (!number) return fail(), false;
    return negative ? -*number : *number;
  }

  graph::Graph& graph_;
  std::string_view text_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace rasp::test
