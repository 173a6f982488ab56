#include "interpreter/interpreter.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <random>
#include <thread>

#include "../support/random_graph.h"
#include "../support/reference_evaluator.h"

namespace rasp::interpreter {
namespace {

using graph::Graph;
using graph::NodeId;
using test::RandomGraph;
using test::RandomGraphStyle;
using test::ReferenceEvaluator;
using value::Atom;
using value::Number;
using value::Op;
using value::Sequence;

std::string show(std::span<const Atom> sequence) {
  std::string text;
  for (const Atom& atom : sequence) text += value::repr(atom) + " ";
  return text;
}

// Everything that the accessors say of `root` against the reference.
void expect_as_reference(const Graph& graph, const Evaluator& evaluator, NodeId root,
                         ReferenceEvaluator& reference, const std::string& context) {
  SCOPED_TRACE(context + " " + graph::expression(graph, root, 400));
  std::string why;
  if (graph.is_selector(root)) {
    const auto matrix = evaluator.matrix(root);
    const auto& rows = reference.rows(root);
    for (const auto& row : rows) {
      if (why.empty() && !row.value) why = row.why;
    }
    ASSERT_EQ(matrix.has_value(), why.empty());
    if (!matrix) {
      EXPECT_EQ(matrix.error().message, why);
      return;
    }
    for (std::size_t q = 0; q < rows.size(); ++q) {
      for (std::size_t k = 0; k < rows.size(); ++k) {
        ASSERT_EQ(matrix->at(q, k), (*rows[q].value)[k]) << q << " " << k;
      }
    }
    return;
  }
  const auto& expected = reference.sequence(root);
  const auto elements = evaluator.elements(root);
  ASSERT_EQ(elements.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_EQ(elements[i].has_value(), expected[i].value.has_value()) << i << expected[i].why;
    if (elements[i]) {
      ASSERT_TRUE(value::identical(*elements[i], *expected[i].value))
          << i << ": " << value::repr(*elements[i]) << " " << value::repr(*expected[i].value);
    } else if (why.empty()) {
      why = expected[i].why;
    }
  }
  const auto sequence = evaluator.sequence(root);
  ASSERT_EQ(sequence.has_value(), why.empty());
  if (!sequence) {
    EXPECT_EQ(sequence.error().message, why);
    return;
  }
  for (std::size_t i = 0; i < expected.size(); ++i) {
    ASSERT_TRUE(value::identical((*sequence)[i], *expected[i].value));
  }
}

void compare_on_random_inputs(RandomGraph& random, std::vector<NodeId> roots, bool causal,
                              std::size_t inputs, std::size_t longest) {
  Evaluator evaluator(random.graph(), roots, {.causal = causal});
  for (std::size_t i = 0; i < inputs; ++i) {
    const Sequence input = random.input(random.pick(longest) + 1);
    ASSERT_TRUE(evaluator.run(input).has_value());
    ReferenceEvaluator reference(random.graph(), input, causal);
    for (NodeId root : roots) {
      expect_as_reference(random.graph(), evaluator, root, reference,
                          (causal ? "causal " : "") + show(input));
    }
  }
}

TEST(Interpreter, AgreesWithTheReferenceOnRandomPrograms) {
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    RandomGraph random(seed);
    const NodeId root = random.sop(5);
    compare_on_random_inputs(random, {root}, seed % 3 == 0, 6, 9);
    if (HasFatalFailure() || HasNonfatalFailure()) FAIL() << "seed " << seed;
  }
}

TEST(Interpreter, AgreesOnInnerNodesAndSelectors) {
  for (std::uint64_t seed = 1000; seed < 1150; ++seed) {
    RandomGraph random(seed);
    const NodeId root = random.sop(4);
    const NodeId selector = random.selector(4);
    const std::array both = {root, selector};
    const std::vector<NodeId> all = graph::reachable(random.graph(), both);
    compare_on_random_inputs(random, all, seed % 2 == 0, 3, 9);
    if (HasFatalFailure() || HasNonfatalFailure()) FAIL() << "seed " << seed;
  }
}

// Letters instead of digits: tokens_int fails on most of them, and its failures travel.
TEST(Interpreter, AgreesWhereMuchIsUndefined) {
  std::size_t undefined = 0;
  for (std::uint64_t seed = 2000; seed < 2300; ++seed) {
    RandomGraphStyle style;
    style.vocabulary = {"1", "2", "3", "", "a"};
    RandomGraph random(seed, style);
    const NodeId root = random.sop(4);
    compare_on_random_inputs(random, {root}, seed % 2 == 0, 4, 6);
    if (HasFatalFailure() || HasNonfatalFailure()) FAIL() << "seed " << seed;
    undefined += evaluate(random.graph(), root, random.input(3)).has_value() ? 0 : 1;
  }
  EXPECT_GT(undefined, 50u);
  EXPECT_LT(undefined, 250u);
}

// Longer than one word a row, and past the length where selects sort.
TEST(Interpreter, AgreesOnLongInputs) {
  for (std::uint64_t seed = 3000; seed < 3040; ++seed) {
    RandomGraph random(seed);
    const std::vector<NodeId> roots = {random.sop(3), random.selector(3)};
    compare_on_random_inputs(random, roots, seed % 2 == 0, 2, 200);
    if (HasFatalFailure() || HasNonfatalFailure()) FAIL() << "seed " << seed;
  }
}

TEST(Interpreter, TotalProgramsHaveValues) {
  for (std::uint64_t seed = 4000; seed < 4200; ++seed) {
    RandomGraphStyle style;
    style.total = true;
    style.lookups = seed % 2 == 0;
    RandomGraph random(seed, style);
    const NodeId root = random.sop(5);
    for (const bool causal : {false, true}) {
      const auto result =
          evaluate(random.graph(), root, random.input(random.pick(9) + 1), {.causal = causal});
      EXPECT_TRUE(result.has_value()) << seed << " " << result.error().message;
    }
  }
}

// ---- selects of every comparison over every pair of element kinds ----

Sequence random_atoms(std::mt19937& random, int kind, std::size_t n) {
  // Around the length that fits a word, with bytes that are zero or more than 127.
  const std::array<std::string, 9> texts = {
      "", "a", std::string("a\0", 2), "é", "zzzzzz", "zzzzzzz", "zzzzzzzz", "ézzzzz", "ézzzzzé"};
  Sequence atoms;
  for (std::size_t i = 0; i < n; ++i) {
    const auto small = static_cast<std::int64_t>(random() % 7) - 3;
    switch (kind) {
      case 0:
        atoms.push_back(value::make_int(small));
        break;
      case 1:
        atoms.emplace_back(small > 0);
        break;
      case 2:
        atoms.emplace_back(Number::rational(small, 2));
        break;
      case 3:
        atoms.emplace_back(std::string(static_cast<std::size_t>(small + 3), 'b') + "a");
        break;
      case 4:
        atoms.emplace_back(texts[random() % texts.size()]);
        break;
      default:
        atoms.emplace_back(Number::integer(value::BigInt(1) << (70 + small)));
    }
  }
  return atoms;
}

TEST(Interpreter, SelectsCompareAsTheOperatorTableDoes) {
  std::mt19937 random(7);
  for (const std::size_t n : {1u, 3u, 63u, 64u, 65u, 130u}) {
    for (int key_kind = 0; key_kind < 6; ++key_kind) {
      for (int query_kind = 0; query_kind < 6; ++query_kind) {
        const Sequence keys = random_atoms(random, key_kind, n);
        const Sequence queries = random_atoms(random, query_kind, n);
        for (const Op op : {Op::kEq, Op::kNe, Op::kLt, Op::kGt, Op::kLe, Op::kGe}) {
          Graph graph;
          const NodeId indices = graph.indices({}).value();
          const NodeId key =
              graph.lookup({value::Table::Kind::kList, {}, keys}, indices, {}).value();
          const NodeId query =
              graph.lookup({value::Table::Kind::kList, {}, queries}, indices, {}).value();
          const auto select = graph.select(key, query, op, {});
          const bool ordering = op != Op::kEq && op != Op::kNe;
          const auto is_text = [](int kind) { return kind == 3 || kind == 4; };
          ASSERT_EQ(select.has_value(), !(ordering && is_text(key_kind) != is_text(query_kind)));
          if (!select) continue;
          const auto matrix = evaluate_selector(graph, *select, Sequence(n, Atom("x")));
          ASSERT_TRUE(matrix.has_value());
          for (std::size_t q = 0; q < n; ++q) {
            for (std::size_t k = 0; k < n; ++k) {
              ASSERT_EQ(Atom(matrix->at(q, k)), *value::apply(op, keys[k], queries[q]))
                  << n << " " << key_kind << " " << query_kind;
            }
          }
        }
      }
    }
  }
}

// ---- words of 64 bits ----

TEST(Interpreter, LanesOverflowIntoUnboundedInts) {
  const std::array<std::int64_t, 9> edges = {INT64_MIN, INT64_MIN + 1, -3000000000, -1, 0, 1,
                                             2,         3000000000,    INT64_MAX};
  std::mt19937 random(3);
  for (int round = 0; round < 300; ++round) {
    Sequence left;
    Sequence right;
    for (std::size_t i = 0; i < 6; ++i) {
      // Mostly one edge at a time, so that the fast path is taken as well as left.
      left.push_back(value::make_int(edges[random() % 9]));
      right.push_back(value::make_int(round % 2 ? edges[random() % 9]
                                                : static_cast<std::int64_t>(random() % 5)));
    }
    for (std::size_t o = 0; o < value::kOpCount; ++o) {
      const Op op = static_cast<Op>(o);
      if (op == Op::kIndicator || op == Op::kPow) continue;
      Graph graph;
      const NodeId indices = graph.indices({}).value();
      const std::array args = {
          graph.lookup({value::Table::Kind::kList, {}, left}, indices, {}).value(),
          graph.lookup({value::Table::Kind::kList, {}, right}, indices, {}).value()};
      const std::span operands(args.data(), value::info(op).arity);
      const NodeId root = graph.map(op, operands, {}).value();
      const Sequence input(6, Atom("x"));
      Evaluator evaluator(graph, {root});
      ASSERT_TRUE(evaluator.run(input).has_value());
      ReferenceEvaluator reference(graph, input, false);
      expect_as_reference(graph, evaluator, root, reference, std::string(value::info(op).symbol));
    }
  }
}

TEST(Interpreter, MeansAreExactHoweverLargeOrFractional) {
  std::mt19937 random(11);
  for (int round = 0; round < 200; ++round) {
    Sequence values;
    for (std::size_t i = 0; i < 7; ++i) {
      switch (random() % (static_cast<unsigned>(round) % 4 + 1)) {
        case 0:
          values.push_back(value::make_int(static_cast<std::int64_t>(random() % 100) - 50));
          break;
        case 1:
          values.emplace_back(Number::rational(static_cast<std::int64_t>(random() % 100) - 50,
                                               static_cast<std::int64_t>(random() % 90) + 1));
          break;
        case 2:
          values.push_back(value::make_int(INT64_MAX - static_cast<std::int64_t>(random() % 3)));
          break;
        default:
          values.emplace_back(Number::inexact(static_cast<double>(random() % 100) / 7));
      }
    }
    Graph graph;
    const NodeId indices = graph.indices({}).value();
    const NodeId value = graph.lookup({value::Table::Kind::kList, {}, values}, indices, {}).value();
    const Op op = round % 2 ? Op::kLe : Op::kNe;
    const NodeId selector = graph.select(indices, indices, op, {}).value();
    const NodeId root = graph.aggregate(selector, value, Atom(true), {}).value();
    const Sequence input(7, Atom("x"));
    Evaluator evaluator(graph, {root});
    ASSERT_TRUE(evaluator.run(input).has_value());
    ReferenceEvaluator reference(graph, input, false);
    expect_as_reference(graph, evaluator, root, reference, show(values));
  }
}

// ---- undefined elements ----

TEST(Interpreter, TheBranchNotTakenIsNotRead) {
  Graph graph;
  const NodeId tokens = graph.tokens(value::TokenKind::kInt, {}).value();
  const NodeId zero = graph.constant(value::make_int(0), {}).value();
  const NodeId six = graph.constant(value::make_int(6), {}).value();
  const NodeId is_zero = graph.map(Op::kEq, std::array{tokens, zero}, {}).value();
  const Span span{0, 3, 9};
  const NodeId quotient = graph.map(Op::kDiv, std::array{six, tokens}, span).value();
  const NodeId guarded = graph.choose(is_zero, zero, quotient, {}).value();
  const auto input = value::characters("3012");
  const auto result = evaluate(graph, guarded, input);
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(show(*result), "2.0 0 6.0 3.0 ");
  const auto failing = evaluate(graph, quotient, input);
  ASSERT_FALSE(failing.has_value());
  EXPECT_EQ(failing.error().kind, ErrorKind::kArithmetic);
  EXPECT_EQ(failing.error().span, span);
  EXPECT_EQ(failing.error().message,
            "'6 / tokens_int' is undefined at position 1: division of the int 6 by zero");
}

TEST(Interpreter, OnlyStringsDoNotMix) {
  Graph graph;
  const NodeId tokens = graph.tokens(value::TokenKind::kAsIs, {}).value();
  const Sequence mixed = {value::make_int(1), Atom("a")};
  const auto result = evaluate(graph, tokens, mixed);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().kind, ErrorKind::kType);
  EXPECT_EQ(result.error().message,
            "'tokens_asis' is undefined at position 1: strings and numbers do not mix in a "
            "sequence, and here are the int 1 (position 0) and the string 'a'");
  // Each keeps its own type: a bool is not turned into the number that it counts as.
  const Sequence numbers = {value::make_int(1), Atom(Number::rational(1, 2)), Atom(true)};
  const auto kept = evaluate(graph, tokens, numbers);
  ASSERT_TRUE(kept.has_value());
  EXPECT_TRUE(std::ranges::equal(*kept, numbers, value::identical));
}

// ---- limits ----

TEST(Interpreter, InputsHaveALength) {
  Graph graph;
  const NodeId indices = graph.indices({}).value();
  const auto empty = evaluate(graph, indices, {});
  ASSERT_FALSE(empty.has_value());
  EXPECT_EQ(empty.error().kind, ErrorKind::kValue);
  const auto longest = evaluate(graph, indices, Sequence(kMaxInput, Atom(true)));
  ASSERT_TRUE(longest.has_value());
  EXPECT_TRUE(value::identical(longest->back(), value::make_int(kMaxInput - 1)));
  const auto longer = evaluate(graph, indices, Sequence(kMaxInput + 1, Atom(true)));
  ASSERT_FALSE(longer.has_value());
  EXPECT_EQ(longer.error().kind, ErrorKind::kLimit);
}

TEST(Interpreter, MemoryIsBoundedAndTheEvaluatorSurvives) {
  Graph graph;
  const NodeId tokens = graph.tokens(value::TokenKind::kString, {}).value();
  NodeId text = tokens;
  for (int i = 0; i < 16; ++i) text = graph.map(Op::kAdd, std::array{text, text}, {}).value();
  const NodeId same = graph.select(tokens, tokens, Op::kEq, {}).value();
  Evaluator texts(graph, {text}, {.memory_limit = std::size_t{1} << 20});
  Evaluator selectors(graph, {same}, {.memory_limit = std::size_t{1} << 20});
  for (int round = 0; round < 3; ++round) {
    for (Evaluator* evaluator : {&texts, &selectors}) {
      const auto large = evaluator->run(Sequence(4000, Atom("ab")));
      ASSERT_FALSE(large.has_value());
      EXPECT_EQ(large.error().kind, ErrorKind::kLimit);
      ASSERT_TRUE(evaluator->run(value::characters("abc")).has_value());
    }
    const auto result = texts.sequence(text);
    ASSERT_TRUE(result.has_value());
    EXPECT_EQ(std::get<std::string>(result->back()), std::string(65536, 'c'));
    EXPECT_TRUE(selectors.matrix(same)->at(2, 2));
  }
  const NodeId constant = graph.constant(std::string(100000, 'x'), {}).value();
  Evaluator constants(graph, {constant}, {.memory_limit = std::size_t{1} << 20});
  EXPECT_TRUE(constants.run(Sequence(5, Atom("ab"))).has_value());
  EXPECT_EQ(constants.sequence(constant)->size(), 5u);
  EXPECT_FALSE(constants.run(Sequence(50, Atom("ab"))).has_value());
}

// 3,000 times 20,000 means of up to 20,000 values: hours, were it not for the flag.
TEST(Interpreter, AnInterruptedRunEndsAndTheEvaluatorSurvives) {
  Graph graph;
  const NodeId indices = graph.indices({}).value();
  const NodeId before = graph.select(indices, indices, Op::kLe, {}).value();
  const Atom zero = value::make_int(0);
  NodeId sum = indices;
  for (int i = 0; i < 3000; ++i) {
    sum = graph.aggregate(before, sum, zero, {}).value();
  }
  std::atomic<bool> interrupted = false;
  Evaluator evaluator(graph, {sum}, {.interrupted = &interrupted});
  std::thread control_c([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(200));
    interrupted = true;
  });
  const auto start = std::chrono::steady_clock::now();
  const auto ended = evaluator.run(Sequence(20'000, Atom("a")));
  control_c.join();
  ASSERT_FALSE(ended.has_value());
  EXPECT_EQ(ended.error().kind, ErrorKind::kLimit);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
  EXPECT_FALSE(evaluator.run(Sequence(2, Atom("a"))).has_value()) << "the flag still stands";
  interrupted = false;
  ASSERT_TRUE(evaluator.run(Sequence(1, Atom("a"))).has_value());
  EXPECT_TRUE(value::identical(evaluator.sequence(sum)->front(), zero));
}

// Lengths that come and go must not bring results of another length along.
TEST(Interpreter, KeptResultsBelongToTheirLength) {
  RandomGraphStyle style;
  for (std::uint64_t seed = 5000; seed < 5030; ++seed) {
    RandomGraph random(seed, style);
    const std::vector<NodeId> roots = {random.sop(3), random.selector(2)};
    Evaluator evaluator(random.graph(), roots);
    for (const std::size_t n : {4u, 4u, 600u, 4u, 600u, 7u, 7u, 1u}) {
      const Sequence input = random.input(n);
      ASSERT_TRUE(evaluator.run(input).has_value());
      if (n > 100) continue;
      ReferenceEvaluator reference(random.graph(), input, false);
      for (NodeId root : roots) {
        expect_as_reference(random.graph(), evaluator, root, reference, show(input));
      }
    }
    if (HasFatalFailure() || HasNonfatalFailure()) FAIL() << "seed " << seed;
  }
}

// ---- depth and size ----

TEST(Interpreter, TenThousandDoublings) {
  Graph graph;
  const NodeId indices = graph.indices({}).value();
  NodeId x = indices;
  for (int i = 0; i < 10000; ++i) x = graph.map(Op::kAdd, std::array{x, x}, {}).value();
  const auto result = evaluate(graph, x, value::characters("hello"));
  ASSERT_TRUE(result.has_value());
  const value::BigInt factor = value::BigInt(1) << 10000;
  for (int i = 0; i < 5; ++i) {
    EXPECT_TRUE(value::identical((*result)[static_cast<std::size_t>(i)],
                                 Atom(Number::integer(value::BigInt(factor * i)))));
  }
}

TEST(Interpreter, DeepChainsTakeNoStack) {
  Graph graph;
  const NodeId tokens = graph.tokens(value::TokenKind::kInt, {}).value();
  const NodeId one = graph.constant(value::make_int(1), {}).value();
  NodeId x = tokens;
  NodeId selector = graph.select(tokens, tokens, Op::kEq, {}).value();
  for (int i = 0; i < 100000; ++i) {
    x = graph.map(Op::kAdd, std::array{x, one}, {}).value();
    selector = graph.selector_not(selector, {}).value();
  }
  const NodeId root = graph.aggregate(selector, x, value::make_int(0), {}).value();
  const auto result = evaluate(graph, root, value::characters("12"));
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(show(*result), "100001 100002 ");
}

TEST(Interpreter, LongSelectsAreFast) {
  Graph graph;
  const NodeId tokens = graph.tokens(value::TokenKind::kString, {}).value();
  const NodeId indices = graph.indices({}).value();
  const NodeId less = graph.select(tokens, tokens, Op::kLt, {}).value();
  const NodeId mean = graph.aggregate(less, indices, value::make_int(0), {}).value();
  Sequence input;
  std::mt19937 random(5);
  for (int i = 0; i < 4096; ++i) input.emplace_back("token" + std::to_string(random() % 3000));
  const auto start = std::chrono::steady_clock::now();
  ASSERT_TRUE(evaluate(graph, mean, input).has_value());
  // It takes 20 ms; n^2 comparisons of strings would take most of a second. Wide for sanitizers.
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

}  // namespace
}  // namespace rasp::interpreter
