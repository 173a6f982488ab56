// Heads that programs spell out score as circuit analysis scores them.
#include "runtime/head_scores.h"

#include <gtest/gtest.h>

#include "../support/compiled.h"

namespace rasp::runtime {
namespace {

model::Model compiled(const std::string& text, const std::string& name, std::uint32_t max_length,
                      bool causal = true) {
  const test::Source source(text, name);
  EXPECT_EQ(source.why(), "");
  compiler::Options options;
  options.vocabulary = value::characters("abcdefgh");
  options.max_length = max_length;
  options.causal = causal;
  const auto result = source.compile(options);
  EXPECT_TRUE(result.has_value()) << (result ? "" : result.error().message);
  return result->model;
}

ScoredHeads scores_of(const model::Model& model, const HeadScoring& scoring = {}) {
  const auto executable = make_cpu_backend(1)->load(model);
  EXPECT_TRUE(executable.has_value());
  const auto scored = score_heads(model, **executable, scoring);
  EXPECT_TRUE(scored.has_value()) << (scored ? "" : scored.error().message);
  return *scored;
}

constexpr const char* kInduction = R"(
previous = aggregate(select(indices, indices - 1, ==), tokens, "");
next = aggregate(select(previous, tokens, ==), tokens, "a");
)";

TEST(HeadScores, OfAnInductionCircuit) {
  const model::Model model = compiled(kInduction, "next", 16);
  for (const model::Layer& layer : model.layers) EXPECT_EQ(layer.mlp.b_in.size(), 0);
  for (const std::uint64_t seed : {0U, 1U, 2U}) {
    const ScoredHeads scored = scores_of(model, {.seed = seed});
    EXPECT_EQ(scored.block, 8U);
    ASSERT_EQ(scored.layers.size(), 2U);
    const HeadScores& previous = scored.layers[0][0];
    EXPECT_DOUBLE_EQ(previous.previous_token, 1);
    EXPECT_DOUBLE_EQ(previous.bos, 1.0 / 16);  // the first token has none before it
    EXPECT_DOUBLE_EQ(previous.induction, 0);
    EXPECT_DOUBLE_EQ(previous.duplicate, 0);
    EXPECT_DOUBLE_EQ(previous.current, 0);
    EXPECT_EQ(role_of(previous), "previous-token");
    const HeadScores& induction = scored.layers[1][0];
    EXPECT_DOUBLE_EQ(induction.induction, 1);
    EXPECT_DOUBLE_EQ(induction.previous_token, 0);
    EXPECT_DOUBLE_EQ(induction.duplicate, 0);
    EXPECT_DOUBLE_EQ(induction.current, 0);
    EXPECT_DOUBLE_EQ(induction.bos, 0.5);  // the first half finds nothing
    EXPECT_EQ(role_of(induction), "induction");
  }
}

TEST(HeadScores, OfADuplicateTokenHead) {
  const ScoredHeads scored = scores_of(compiled(
      "s = aggregate(select(tokens, tokens, ==) and select(indices, indices, <), indices, -1);",
      "s", 16));
  const HeadScores& head = scored.layers[0][0];
  EXPECT_DOUBLE_EQ(head.duplicate, 1);
  EXPECT_DOUBLE_EQ(head.current, 0);
  EXPECT_DOUBLE_EQ(head.bos, 0.5);
  EXPECT_EQ(role_of(head), "duplicate-token");
}

TEST(HeadScores, OfACurrentTokenHead) {
  const ScoredHeads scored = scores_of(
      compiled("s = aggregate(select(tokens, tokens, ==) and select(indices, indices, >=), "
               "indices);",
               "s", 16));
  const HeadScores& head = scored.layers.at(0).at(0);
  EXPECT_DOUBLE_EQ(head.current, 1);
  EXPECT_EQ(role_of(head), "current-token");
}

// A head that attends to everything equally: every score is a mean of 1/keys.
TEST(HeadScores, OfAHeadThatAttendsToAll) {
  const ScoredHeads scored = scores_of(
      compiled("s = aggregate(select(1, 1, ==), indicator(tokens == \"a\"));", "s", 8, false));
  const HeadScores& head = scored.layers.at(0).at(0);
  const double share = (1 - head.bos) / 8;
  for (const double score : {head.previous_token, head.induction, head.duplicate, head.current})
    EXPECT_NEAR(score, share, 1e-6);
  EXPECT_EQ(role_of(head), "");
}

TEST(HeadScores, TheSeedDecides) {
  const model::Model model = compiled(kInduction, "next", 16);
  const auto numbers = [&](const HeadScoring& scoring) {
    std::vector<double> all;
    for (const auto& layer : scores_of(model, scoring).layers)
      for (const HeadScores& head : layer) all.push_back(head.current + head.bos);
    return all;
  };
  EXPECT_EQ(numbers({.seed = 5}), numbers({.seed = 5}));
}

TEST(HeadScores, NeedRoomForARepetition) {
  for (const std::uint32_t length : {1U, 5U}) {
    const model::Model model =
        compiled("s = aggregate(select(indices, 0, ==), tokens);", "s", length);
    const auto executable = make_cpu_backend(1)->load(model);
    const auto scored = score_heads(model, **executable, {});
    ASSERT_FALSE(scored.has_value());
    EXPECT_NE(scored.error().message.find("max length of " + std::to_string(length)),
              std::string::npos);
  }
  const model::Model model = compiled("s = aggregate(select(indices, 0, ==), tokens);", "s", 10);
  const auto executable = make_cpu_backend(1)->load(model);
  EXPECT_TRUE(score_heads(model, **executable, {.block = 5}).has_value());
  EXPECT_FALSE(score_heads(model, **executable, {.block = 6}).has_value());
  EXPECT_FALSE(score_heads(model, **executable, {.block = 2}).has_value());
}

}  // namespace
}  // namespace rasp::runtime
