// Random well-typed graphs for tests: the mix of constructs that people write, depth-bounded, a
// function of the seed alone. Elements may be undefined on some inputs unless `total` asks for
// programs that have a value everywhere.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace rasp::test {

struct RandomGraphStyle {
  std::vector<std::string> vocabulary = {"0", "1", "2", "3", "4"};  // digits: tokens_int reads them
  bool total = false;
  bool floats = true;     // decimal constants and `/`
  bool lookups = true;    // tables indexed by s-ops, list membership
  double sharing = 0.15;  // how often an earlier node is used again
};

class RandomGraph {
 public:
  using NodeId = graph::NodeId;

  explicit RandomGraph(std::uint64_t seed, RandomGraphStyle style = {})
      : style_(std::move(style)), random_(seed) {}

  [[nodiscard]] const graph::Graph& graph() const { return graph_; }
  [[nodiscard]] graph::Graph& graph() { return graph_; }

  // An s-op of any class.
  NodeId sop(int depth) {
    switch (pick(4)) {
      case 0:
        return text(depth);
      case 1:
        return boolean(depth);
      default:
        return number(depth);
    }
  }

  NodeId number(int depth) {
    if (depth <= 0) return number_leaf();
    if (const NodeId again = earlier(numbers_); again != graph::kNoNode) return again;
    return remember(numbers_, number_node(depth));
  }

  NodeId boolean(int depth) {
    if (depth <= 0) return compare(value::Op::kGt, number_leaf(), number_leaf());
    if (const NodeId again = earlier(booleans_); again != graph::kNoNode) return again;
    return remember(booleans_, boolean_node(depth));
  }

  NodeId text(int depth) {
    if (depth <= 0) return text_leaf();
    if (const NodeId again = earlier(texts_); again != graph::kNoNode) return again;
    return remember(texts_, text_node(depth));
  }

  NodeId selector(int depth) {
    if (const NodeId again = earlier(selectors_); again != graph::kNoNode) return again;
    return remember(selectors_, selector_node(depth));
  }

  // Tokens over the vocabulary.
  value::Sequence input(std::size_t n) {
    value::Sequence tokens;
    for (std::size_t i = 0; i < n; ++i) {
      tokens.emplace_back(style_.vocabulary[pick(style_.vocabulary.size())]);
    }
    return tokens;
  }

  std::size_t pick(std::size_t count) {
    return std::uniform_int_distribution<std::size_t>(0, count - 1)(random_);
  }
  bool chance(double probability) { return std::bernoulli_distribution(probability)(random_); }

 private:
  static constexpr value::Op kComparisons[] = {value::Op::kEq, value::Op::kNe, value::Op::kLt,
                                               value::Op::kGt, value::Op::kLe, value::Op::kGe};

  NodeId earlier(const std::vector<NodeId>& pool) {
    return !pool.empty() && chance(style_.sharing) ? pool[pick(pool.size())] : graph::kNoNode;
  }
  static NodeId remember(std::vector<NodeId>& pool, NodeId id) {
    pool.push_back(id);
    return id;
  }

  NodeId constant(value::Atom atom) { return graph_.constant(std::move(atom), {}).value(); }
  NodeId integer(std::int64_t value) { return constant(value::make_int(value)); }
  NodeId indices() { return graph_.indices({}).value(); }
  NodeId tokens(value::TokenKind kind) { return graph_.tokens(kind, {}).value(); }

  // Constants may fold to an error (0 divided by 0): a leaf stands in.
  NodeId or_leaf(const Result<NodeId>& made) { return made ? *made : indices(); }
  NodeId compare(value::Op op, NodeId a, NodeId b) { return map(op, {a, b}); }
  NodeId map(value::Op op, std::initializer_list<NodeId> args) {
    return or_leaf(graph_.map(op, std::span(args.begin(), args.size()), {}));
  }

  NodeId number_leaf() {
    switch (pick(4)) {
      case 0:
        return indices();
      case 1:
        return style_.floats && chance(0.2)
                   ? constant(value::Number::rational(static_cast<std::int64_t>(pick(9)) - 4, 4))
                   : integer(static_cast<std::int64_t>(pick(7)) - 2);
      default:
        return tokens(value::TokenKind::kInt);
    }
  }

  NodeId text_leaf() {
    if (chance(0.3))
      return constant(value::Atom(style_.vocabulary[pick(style_.vocabulary.size())]));
    return tokens(value::TokenKind::kString);
  }

  NodeId number_node(int depth) {
    switch (pick(10)) {
      case 0:
        return map(value::Op::kAdd, {number(depth - 1), number(depth - 1)});
      case 1:
        return map(value::Op::kSub, {number(depth - 1), number(depth - 1)});
      case 2:
        return map(value::Op::kMul, {number(depth - 1), number(depth - 1)});
      case 3:
        return quotient(depth);
      case 4:
        return or_leaf(graph_.choose(boolean(depth - 1), number(depth - 1), number(depth - 1), {}));
      case 5:
        return map(chance(0.7) ? value::Op::kRound : value::Op::kNeg, {number(depth - 1)});
      case 6:
        return indicator(boolean(depth - 1));
      case 7:
        return width(selector(depth - 1));
      case 8:
        if (style_.lookups) return number_lookup(depth);
        [[fallthrough]];
      default:
        return graph_
            .aggregate(selector(depth - 1), number(depth - 1),
                       value::make_int(static_cast<std::int64_t>(pick(4)) - 1), {})
            .value();
    }
  }

  NodeId quotient(int depth) {
    const NodeId divisor =
        style_.total ? integer(static_cast<std::int64_t>(pick(4)) + 1) : number(depth - 1);
    const bool divide = style_.floats && chance(0.5);
    return map(divide ? value::Op::kDiv : value::Op::kMod, {number(depth - 1), divisor});
  }

  NodeId indicator(NodeId condition) {
    // A stand-in may be no bool; then there is nothing to indicate.
    const auto made = graph_.map(value::Op::kIndicator, std::span(&condition, 1), {});
    return made ? *made : condition;
  }

  NodeId number_lookup(int depth) {
    value::Table table;
    if (style_.total || chance(0.5)) {
      const std::int64_t size = static_cast<std::int64_t>(pick(3)) + 2;
      for (std::int64_t i = 0; i < size; ++i) {
        table.values.push_back(value::make_int(static_cast<std::int64_t>(pick(9)) - 3));
      }
      const NodeId index = map(value::Op::kMod, {indices(), integer(size)});
      return or_leaf(graph_.lookup(std::move(table), index, {}));
    }
    table.kind = value::Table::Kind::kDict;
    for (const std::string& token : style_.vocabulary) {
      if (chance(0.2)) continue;
      table.keys.emplace_back(token);
      table.values.push_back(value::make_int(static_cast<std::int64_t>(pick(5))));
    }
    return or_leaf(graph_.lookup(std::move(table), text(depth - 1), {}));
  }

  // How many keys each query selects, as the standard library spells it.
  NodeId width(NodeId selector) {
    const NodeId first = graph_.select(indices(), integer(0), value::Op::kEq, {}).value();
    const NodeId light = indicator(map(value::Op::kEq, {indices(), integer(0)}));
    const NodeId either = graph_.selector_or(selector, first, {}).value();
    const NodeId both = graph_.selector_and(selector, first, {}).value();
    const NodeId share = graph_.aggregate(either, light, value::make_int(0), {}).value();
    const NodeId with_first = map(value::Op::kDiv, {integer(1), share});
    const NodeId is_first = graph_.aggregate(both, light, value::make_int(0), {}).value();
    const NodeId others = map(value::Op::kSub, {with_first, integer(1)});
    return map(value::Op::kRound, {map(value::Op::kAdd, {others, is_first})});
  }

  NodeId has_focus(NodeId selector) {
    const NodeId one = graph_.aggregate(selector, integer(1), value::make_int(0), {}).value();
    return map(value::Op::kEq, {one, integer(1)});
  }

  NodeId boolean_node(int depth) {
    switch (pick(8)) {
      case 0:
        return compare(kComparisons[pick(6)], number(depth - 1), number(depth - 1));
      case 1:
        return compare(kComparisons[pick(6)], text(depth - 1), text(depth - 1));
      case 2:
        return map(value::Op::kAnd, {boolean(depth - 1), boolean(depth - 1)});
      case 3:
        return map(value::Op::kOr, {boolean(depth - 1), boolean(depth - 1)});
      case 4:
        return map(value::Op::kNot, {boolean(depth - 1)});
      case 5:
        return has_focus(selector(depth - 1));
      case 6:
        if (style_.lookups) return membership(depth);
        [[fallthrough]];
      default:
        return graph_.aggregate(pick_one(depth), boolean(depth - 1), value::Atom(chance(0.5)), {})
            .value();
    }
  }

  NodeId membership(int depth) {
    value::Table list;
    const bool of_text = chance(0.5);
    for (std::size_t i = 0, size = pick(3) + 1; i < size; ++i) {
      if (of_text) {
        list.values.emplace_back(style_.vocabulary[pick(style_.vocabulary.size())]);
      } else {
        list.values.push_back(value::make_int(static_cast<std::int64_t>(pick(5))));
      }
    }
    return graph_.member(of_text ? text(depth - 1) : number(depth - 1), std::move(list), {})
        .value();
  }

  NodeId text_node(int depth) {
    switch (pick(5)) {
      case 0:
        return map(value::Op::kAdd, {text(depth - 1), text(depth - 1)});
      case 1:
        return or_leaf(graph_.choose(boolean(depth - 1), text(depth - 1), text(depth - 1), {}));
      case 2:
        if (!style_.total && chance(0.3)) {
          return graph_.aggregate(selector(depth - 1), text(depth - 1), value::Atom("x"), {})
              .value();
        }
        [[fallthrough]];
      default:
        return graph_.aggregate(pick_one(depth), text(depth - 1), value::Atom("x"), {}).value();
    }
  }

  // A selector with at most one key a query.
  NodeId pick_one(int depth) {
    const NodeId query =
        chance(0.5) ? number(depth - 1) : map(value::Op::kSub, {indices(), integer(1)});
    return graph_.select(indices(), query, value::Op::kEq, {})
        .value_or(graph_.select(indices(), indices(), value::Op::kEq, {}).value());
  }

  NodeId selector_node(int depth) {
    if (depth > 0) {
      switch (pick(8)) {
        case 0:
          return graph_.selector_and(selector(depth - 1), selector(depth - 1), {}).value();
        case 1:
          return graph_.selector_or(selector(depth - 1), selector(depth - 1), {}).value();
        case 2:
          return graph_.selector_not(selector(depth - 1), {}).value();
        default:
          break;
      }
    }
    const value::Op op = kComparisons[pick(6)];
    const bool of_text = chance(0.35);
    const NodeId key = of_text ? text(depth - 1) : number(depth - 1);
    const NodeId query = of_text ? text(depth - 1) : number(depth - 1);
    const auto made = graph_.select(key, query, op, {});
    return made ? *made : graph_.select(indices(), indices(), op, {}).value();
  }

  RandomGraphStyle style_;
  std::mt19937_64 random_;
  graph::Graph graph_;
  std::vector<NodeId> numbers_;
  std::vector<NodeId> booleans_;
  std::vector<NodeId> texts_;
  std::vector<NodeId> selectors_;
};

}  // namespace rasp::test
