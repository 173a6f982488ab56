// Remembered values are what the interpreter computes.
#include "cli/example_values.h"

#include <gtest/gtest.h>

#include <chrono>
#include <random>

namespace rasp::cli {
namespace {

using graph::NodeId;

// A graph that grows by random nodes, some of which are undefined on some inputs.
class RandomGraph {
 public:
  explicit RandomGraph(unsigned seed) : random_(seed) {
    sops_.push_back(*graph.tokens(value::TokenKind::kInt, {}));
    sops_.push_back(*graph.indices({}));
    sops_.push_back(*graph.constant(value::make_int(2), {}));
    selectors_.push_back(*graph.select(sops_[1], sops_[1], value::Op::kLe, {}));
  }

  void grow() {
    const value::Op ops[] = {value::Op::kAdd, value::Op::kSub, value::Op::kDiv, value::Op::kMod,
                             value::Op::kLt};
    const value::Op comparisons[] = {value::Op::kEq, value::Op::kLt, value::Op::kNe};
    switch (random_() % 7) {
      case 0:
        keep(selectors_, graph.select(sop(), sop(), comparisons[random_() % 3], {}));
        break;
      case 1:
        keep(selectors_, random_() % 2 == 0 ? graph.selector_and(selector(), selector(), {})
                                            : graph.selector_or(selector(), selector(), {}));
        break;
      case 2:
        keep(selectors_, graph.selector_not(selector(), {}));
        break;
      case 3:
        keep(sops_, graph.aggregate(selector(), sop(), value::make_int(-1), {}));
        break;
      case 4:
        keep(sops_, graph.choose(sop(), sop(), sop(), {}));
        break;
      case 5:
        keep(sops_,
             graph.lookup({value::Table::Kind::kList, {}, {value::make_int(3), value::make_int(1)}},
                          sop(), {}));
        break;
      default: {
        const NodeId args[] = {sop(), sop()};
        keep(sops_, graph.map(ops[random_() % 5], args, {}));
      }
    }
  }
  NodeId sop() { return sops_[random_() % sops_.size()]; }
  NodeId selector() { return selectors_[random_() % selectors_.size()]; }

  graph::Graph graph;

 private:
  static void keep(std::vector<NodeId>& nodes, const Result<NodeId>& node) {
    if (node) nodes.push_back(*node);
  }
  std::mt19937 random_;
  std::vector<NodeId> sops_;
  std::vector<NodeId> selectors_;
};

TEST(ExampleValues, EqualTheInterpreter) {
  std::size_t defined = 0;
  for (unsigned seed = 0; seed < 200; ++seed) {
    RandomGraph program(seed);
    const interpreter::Options options{.causal = seed % 3 == 0};
    ExampleValues values(program.graph, options);
    std::mt19937 random(seed);
    value::Sequence input;
    for (int step = 0; step < 60; ++step) {
      if (step % 20 == 0) {
        input.clear();
        for (std::size_t i = 0; i < 1 + random() % 5; ++i) {
          input.emplace_back(std::string(1, static_cast<char>('0' + random() % 4)));
        }
      }
      program.grow();
      const NodeId sop = program.sop();
      const auto got = values.sequence(sop, input);
      const auto want = interpreter::evaluate(program.graph, sop, input, options);
      ASSERT_EQ(got.has_value(), want.has_value()) << graph::expression(program.graph, sop);
      if (got) {
        ++defined;
        ASSERT_TRUE(
            std::equal(got->begin(), got->end(), want->begin(), want->end(), value::identical))
            << graph::expression(program.graph, sop);
      } else {
        EXPECT_EQ(got.error().message, want.error().message);
      }
      const NodeId selector = program.selector();
      const auto rows = values.matrix(selector, input);
      const auto right = interpreter::evaluate_selector(program.graph, selector, input, options);
      ASSERT_EQ(rows.has_value(), right.has_value());
      for (std::size_t i = 0; rows && i < input.size(); ++i) {
        for (std::size_t j = 0; j < input.size(); ++j) EXPECT_EQ(rows->at(i, j), right->at(i, j));
      }
    }
  }
  EXPECT_GT(defined, 3000u);
}

TEST(ExampleValues, LongChainsCostTheirNewPart) {
  graph::Graph graph;
  ExampleValues values(graph, {});
  const value::Sequence input = value::characters("ab");
  const NodeId one = *graph.constant(value::make_int(1), {});
  NodeId node = *graph.indices({});
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < 20'000; ++i) {
    const NodeId args[] = {node, one};
    node = *graph.map(value::Op::kAdd, args, {});
    const auto got = values.sequence(node, input);
    ASSERT_TRUE(got);
    ASSERT_TRUE(value::identical((*got)[1], value::make_int(i + 2)));
  }
  // Quadratic work would be 400 million operations.
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  EXPECT_LT(took.count(), 20.0);
}

}  // namespace
}  // namespace rasp::cli
