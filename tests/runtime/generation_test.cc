// Decoding position by position gives what a whole pass gives, to the bit.
#include <gtest/gtest.h>

#include <cstring>

#include "../model/random_model.h"
#include "runtime/backend.h"

namespace rasp::runtime {
namespace {

using model::Model;
using testing::RandomModel;

std::unique_ptr<Executable> load(const Model& model, std::size_t threads = 1) {
  auto executable = make_cpu_backend(threads)->load(model);
  EXPECT_TRUE(executable.has_value()) << (executable ? "" : executable.error().message);
  return std::move(*executable);
}

std::vector<TokenId> random_tokens(const Model& model, RandomModel& random, std::size_t length) {
  std::vector<TokenId> tokens(length);
  for (TokenId& token : tokens)
    token = static_cast<TokenId>(random.size(0, model.vocabulary.size() - 1));
  return tokens;
}

// The rows of a pass, one by one; where they differ, the position.
std::string difference(const Executable& executable, const std::vector<TokenId>& tokens) {
  const auto whole = executable.run(std::span(&tokens, 1));
  auto state = executable.start();
  if (!whole || !state) return "no pass or no start";
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    const auto y = (*state)->step(tokens[i]);
    if (!y) return y.error().message;
    const auto row = whole->front().row(static_cast<Eigen::Index>(i));
    const std::size_t bytes = static_cast<std::size_t>(row.size()) * sizeof(double);
    if (y->rows() != 1 || y->cols() != row.size() || std::memcmp(y->data(), row.data(), bytes) != 0)
      return "position " + std::to_string(i) + " of " + std::to_string(tokens.size());
  }
  return (*state)->length() == tokens.size() ? "" : "the length is wrong";
}

TEST(Generation, GivesTheRowsOfAWholePass) {
  RandomModel random(31);
  int causal = 0;
  for (int round = 0; round < 800; ++round) {
    const Model model = random();
    if (!model.causal) continue;
    ++causal;
    EXPECT_EQ(difference(*load(model), random_tokens(model, random, model.max_length)), "");
  }
  EXPECT_GT(causal, 300);
}

// Longer than the first room for keys, with groups of equal keys in the whole pass, on two threads.
TEST(Generation, GivesTheRowsOfALongPass) {
  RandomModel random(32);
  for (int round = 0; round < 40; ++round) {
    Model model = random({.max_vocabulary = 3, .max_length = 400, .max_width = 6, .density = 0.3});
    model.causal = true;
    Model alike = model;  // no positions, small integers: whole groups are added as one
    alike.position_embedding.setZero();
    alike.token_embedding = alike.token_embedding.array().round();
    for (model::Layer& layer : alike.layers)
      for (model::Head& head : layer.heads) {
        head.wq = 256 * head.wq.array().round();
        head.wk = head.wk.array().round();
        head.wv = head.wv.array().round();
      }
    for (const Model* tested : {&model, &alike})
      EXPECT_EQ(difference(*load(*tested, 2), random_tokens(model, random, model.max_length)), "");
  }
}

TEST(Generation, TwoOfOneModelDoNotMeet) {
  RandomModel random(33);
  for (int round = 0; round < 20; ++round) {
    Model model = random();
    model.causal = true;
    const auto executable = load(model);
    const auto a = random_tokens(model, random, model.max_length);
    const auto b = random_tokens(model, random, model.max_length);
    const auto whole = executable->run(std::vector{a, b});
    ASSERT_TRUE(whole.has_value());
    auto first = executable->start();
    auto second = executable->start();
    ASSERT_TRUE(first.has_value() && second.has_value());
    for (std::size_t i = 0; i < a.size(); ++i) {
      const auto at = static_cast<Eigen::Index>(i);
      EXPECT_EQ(*(*first)->step(a[i]), whole->at(0).row(at));
      EXPECT_EQ(*(*second)->step(b[i]), whole->at(1).row(at));
    }
  }
}

TEST(Generation, RefusesWhatCannotBe) {
  RandomModel random(34);
  Model model = random();
  model.causal = false;
  const auto whole_only = load(model)->start();
  ASSERT_FALSE(whole_only.has_value());
  EXPECT_NE(whole_only.error().message.find("not causal"), std::string::npos);
  model.causal = true;
  const auto executable = load(model);
  auto state = executable->start();
  ASSERT_TRUE(state.has_value());
  EXPECT_FALSE((*state)->step(static_cast<TokenId>(model.vocabulary.size())).has_value());
  EXPECT_EQ((*state)->length(), 0U);
  for (std::size_t i = 0; i < model.max_length; ++i) EXPECT_TRUE((*state)->step(0).has_value());
  const auto late = (*state)->step(0);
  ASSERT_FALSE(late.has_value());
  EXPECT_NE(late.error().message.find("at most " + std::to_string(model.max_length)),
            std::string::npos);
  EXPECT_EQ((*state)->length(), model.max_length);
}

// Keys and values of every head for BOS and each token.
TEST(Generation, CountsItsBytes) {
  RandomModel random(35);
  for (int round = 0; round < 50; ++round) {
    Model model = random();
    model.causal = true;
    std::size_t numbers = 0;
    for (const model::Layer& layer : model.layers)
      for (const model::Head& head : layer.heads)
        numbers += static_cast<std::size_t>(head.wk.cols() + head.wv.cols());
    auto executable = load(model);
    auto state = executable->start();
    ASSERT_TRUE(state.has_value());
    const std::size_t item = model.dtype == model::Dtype::kF32 ? 4 : 8;
    EXPECT_EQ((*state)->bytes(), numbers * item);
    ASSERT_TRUE((*state)->step(0).has_value());
    EXPECT_EQ((*state)->bytes(), 2 * numbers * item);
  }
}

}  // namespace
}  // namespace rasp::runtime
