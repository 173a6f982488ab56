#include <gtest/gtest.h>

#include <array>

#include "../support/mini_parser.h"
#include "../support/random_graph.h"
#include "graph/graph.h"

namespace rasp::graph {
namespace {

using test::MiniParser;
using test::RandomGraph;
using value::Atom;
using value::Number;

std::string round_trip(const std::string& text) {
  Graph graph;
  const NodeId node = MiniParser(graph, text).parse();
  return node == kNoNode ? "no expression" : expression(graph, node, 1000);
}

// As short as the levels allow, but where Python would read the text otherwise.
TEST(Expression, ParenthesesFollowTheLevels) {
  for (const std::string text : {
           "indices + 1 - tokens_int",
           "indices + (1 - tokens_int)",
           "indices * 2 + tokens_int * 3",
           "(indices + 2) * (tokens_int - 3)",
           "indices - -tokens_int",
           "-indices + 1",
           "(-indices)^2",
           "-(indices^2)",
           "(indices^2)^3",
           "indices^(2^tokens_int)",
           "(indices % 3) * 2",
           "indices * 2 % 3",
           "indices % (3 * tokens_int)",
           "1 + indices % 3",
           "(1 + indices) % 3",
           "(indices % 5) % 3",
           "indices / 2 / tokens_int",
           "indices / (2 / tokens_int)",
           "(not indices) == 1",
           "not (indices == 1)",
           "not tokens_bool and indices > 1",
           "tokens_bool and indices > 1 and tokens_int < 2",
           "(tokens_bool and indices > 1) or tokens_int < 2",
           "tokens_bool and (indices > 1 or tokens_int < 2)",
           "tokens_bool and (indices > 1 and tokens_int < 2)",
           "(indices == 1) == tokens_bool",
           "1 if indices > 2 and tokens_bool else 2",
           "1 if tokens_bool else (2 if indices == 1 else 3)",
           "(1 if tokens_bool else 2) if indices == 1 else 3",
           "(1 if tokens_bool else 2) + 3 * indices",
           "indices + 1 in [1, 2]",
           "(tokens_bool and indices > 1) in [True]",
           "(indices in [1]) and tokens_bool",
           "not (indices in [1])",
           "round(1 if tokens_bool else indices / 2)",
           "[1, \"a\", -2][indices % 3]",
           "{\"a\": 1, 2: 0.5}[tokens_str]",
           "aggregate(select(indices, 0, ==), tokens_str, \"-\")",
           "aggregate(not select(tokens_str, \"a\", !=) and select(indices, 1, <), indices)",
           "not (select(indices, 1, <) or select(indices, 1, >))",
           "1/3 * indices",
           "indices * (1/3)",
           "indices - -1/3",
           "(-2)^indices",
           "indices^(-2)",
           "indices * -2",
           "0.25 + tokens_float",
           "tokens_asis == tokens_asis + \"é\"",
       }) {
    EXPECT_EQ(round_trip(text), text);
  }
}

TEST(Expression, ReadsBackAsTheSameNode) {
  std::size_t selectors = 0;
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    RandomGraph random(seed);
    const NodeId root = seed % 5 == 0 ? random.selector(4) : random.sop(4);
    selectors += random.graph().is_selector(root) ? 1 : 0;
    const std::string text = expression(random.graph(), root, 1'000'000);
    ASSERT_EQ(MiniParser(random.graph(), text).parse(), root) << seed << ": " << text;
  }
  EXPECT_EQ(selectors, 300u);
}

std::size_t characters(const std::string& text) { return value::code_points(text).size(); }

TEST(Expression, IsNoLongerThanItsLimit) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    RandomGraph random(seed);
    const NodeId root = random.sop(5);
    const std::string whole = expression(random.graph(), root, 1'000'000);
    for (const std::size_t limit : {0u, 1u, 2u, 5u, 20u, 60u, 200u}) {
      const std::string text = expression(random.graph(), root, limit);
      ASSERT_FALSE(text.empty());
      ASSERT_LE(characters(text), std::max<std::size_t>(limit, 1)) << text;
      ASSERT_TRUE(value::valid_utf8(text));
      if (limit >= whole.size() * 2) {
        ASSERT_EQ(text, whole);
      }
    }
  }
}

TEST(Expression, HugeConstantsAreCut) {
  Graph graph;
  const NodeId text = graph.constant(Atom(std::string(1'000'000, 'x')), {}).value();
  EXPECT_EQ(expression(graph, text, 20), "\"xxxxxxxxxx…\"");
  std::string wide;
  for (int i = 0; i < 1000; ++i) wide += "é";
  EXPECT_TRUE(value::valid_utf8(expression(graph, graph.constant(Atom(wide), {}).value(), 21)));
  const NodeId number =
      graph.constant(Atom(Number::integer(value::BigInt(1) << 100'000)), {}).value();
  EXPECT_EQ(expression(graph, number), "int(100001 bits)");
  value::Table table;
  for (int i = 0; i < 100'000; ++i) table.values.push_back(value::make_int(i));
  const NodeId entry = graph.lookup(std::move(table), graph.indices({}).value(), {}).value();
  EXPECT_EQ(expression(graph, entry, 40), "[0, 1, 2, 3, 4, 5, 6, …][indices]");
}

}  // namespace
}  // namespace rasp::graph
