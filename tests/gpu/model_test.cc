// Models on every backend: against the definition, against the CPU, and with themselves.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "backends_here.h"
#include "model_checks.h"

namespace rasp::runtime {
namespace {

using model::Dtype;
using model::Matrix;
using model::Model;
using testing::difference;
using testing::expect_trace_as_defined;
using testing::random_tokens;
using testing::RandomModel;
using testing::RandomModelOptions;
using testing::reference_forward;
using testing::same_bits;
using testing::Tokens;

class BackendModels : public testing::OnBackend {
 protected:
  std::unique_ptr<Executable> load(const Model& model) {
    auto executable = backend().load(model);
    EXPECT_TRUE(executable.has_value()) << (executable ? "" : executable.error().message);
    return executable ? std::move(*executable) : nullptr;
  }
  [[nodiscard]] bool runs(const Model& model) const {
    return model.dtype == Dtype::kF32 || has_doubles();
  }
};
RASP_ON_EVERY_BACKEND(BackendModels);

TEST_P(BackendModels, AgreeWithTheDefinition) {
  RandomModel random(11);
  for (int round = 0; round < 60; ++round) {
    Model model = random();
    if (!runs(model)) continue;
    // Scores near 1, so that the bound on the difference says something.
    model.attention_scale = 0x1p-5;
    for (model::Layer& layer : model.layers)
      for (model::Head& head : layer.heads) head.wo *= 0x1p-3;
    std::vector<Tokens> batch(random.size(1, 4));
    for (Tokens& tokens : batch) tokens = random_tokens(model, random);
    const auto y = load(model)->run(batch);
    ASSERT_TRUE(y.has_value()) << y.error().message;
    ASSERT_EQ(y->size(), batch.size());
    for (std::size_t s = 0; s < batch.size(); ++s)
      ASSERT_LT(difference((*y)[s], reference_forward(model, batch[s]).output, 1),
                model.dtype == Dtype::kF64 ? 1e-11 : 2e-5);
  }
}

TEST_P(BackendModels, TheTraceIsWhatTheDefinitionSays) {
  RandomModel random(13);
  for (int round = 0; round < 30; ++round) {
    const Model model = random();
    if (model.dtype != Dtype::kF64 || !runs(model)) continue;
    const Tokens tokens = random_tokens(model, random);
    expect_trace_as_defined(*load(model), model, tokens);
  }
}

TEST_P(BackendModels, BatchingChangesNoBit) {
  RandomModel random(14);
  RandomModelOptions options;
  options.max_length = 70;
  for (int round = 0; round < 15; ++round) {
    const Model model = random(options);
    if (!runs(model)) continue;
    std::vector<Tokens> batch(random.size(1, 40));
    for (Tokens& tokens : batch) tokens = random_tokens(model, random);
    const auto executable = load(model);
    const auto together = executable->run(batch).value();
    for (std::size_t s = 0; s < batch.size(); ++s) {
      const auto alone = executable->run(std::span(&batch[s], 1)).value();
      ASSERT_TRUE(same_bits(alone[0], together[s]));
    }
  }
}

// Heads as the compiler makes them: scores are far apart, so weights are 0 or 1, and values are
// whole numbers; then no sum rounds, and every backend has the same bits. Long sequences of few
// tokens go the way of equal keys where there is no causal mask.
TEST_P(BackendModels, WholeNumbersGiveTheBitsOfTheCpu) {
  RandomModel random(15);
  RandomModelOptions options;
  options.max_length = 500;
  options.max_vocabulary = 5;
  options.density = 0.7;
  const auto cpu = make_cpu_backend(1);
  std::size_t compared = 0;
  for (int round = 0; round < 40; ++round) {
    Model model = random(options);
    if (!runs(model) || model.layers.empty()) continue;
    model.attention_scale = 4096;
    const auto whole = [](auto& matrix) {
      for (Eigen::Index i = 0; i < matrix.size(); ++i)
        matrix.data()[i] = std::nearbyint(matrix.data()[i]);
    };
    model.layers.resize(1);
    whole(model.token_embedding);
    whole(model.position_embedding);
    // Some models know positions, and then no keys are equal.
    if (random.flip()) model.position_embedding.setZero();
    for (model::Head& head : model.layers[0].heads) {
      whole(head.wq);
      whole(head.wk);
      whole(head.wv);
    }
    std::vector<Tokens> batch(3);
    for (Tokens& tokens : batch) tokens = random_tokens(model, random, 200);
    const auto expected = cpu->load(model).value()->run(batch).value();
    const auto got = load(model)->run(batch);
    ASSERT_TRUE(got.has_value()) << got.error().message;
    for (std::size_t s = 0; s < batch.size(); ++s) {
      ASSERT_TRUE(same_bits((*got)[s], expected[s])) << round;
      ++compared;
    }
  }
  EXPECT_GT(compared, 20u);
}

// Row by row comes what a whole pass gives, to the bit.
TEST_P(BackendModels, GenerationGivesTheRowsOfAPass) {
  RandomModel random(18);
  RandomModelOptions options;
  options.max_length = 150;
  std::size_t compared = 0;
  for (int round = 0; round < 16; ++round) {
    const Model model = random(options);
    if (!runs(model)) continue;
    const auto executable = load(model);
    auto generation = executable->start();
    ASSERT_EQ(generation.has_value(), model.causal);
    if (!generation) continue;
    const Tokens tokens = random_tokens(model, random, 100);
    const Matrix whole = executable->run(std::span(&tokens, 1)).value().at(0);
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const auto y = (*generation)->step(tokens[i]);
      ASSERT_TRUE(y.has_value()) << y.error().message;
      ASSERT_TRUE(same_bits(*y, whole.row(static_cast<Eigen::Index>(i)))) << i;
      ++compared;
    }
    EXPECT_EQ((*generation)->length(), tokens.size());
    EXPECT_FALSE((*generation)->step(99).has_value());
    EXPECT_EQ((*generation)->length(), tokens.size());
  }
  EXPECT_GT(compared, 100u);
}

TEST_P(BackendModels, WhatIsWrongWithABatchIsSaid) {
  RandomModel random(16);
  Model model = random();
  while (model.dtype != Dtype::kF32) model = random();
  const auto executable = load(model);
  const auto message = [&](const Tokens& tokens) {
    const std::vector<Tokens> batch{{0}, tokens};
    const auto y = executable->run(batch);
    return y ? "" : y.error().message;
  };
  EXPECT_EQ(message({}), "sequence 1 is empty");
  EXPECT_NE(message(Tokens(model.max_length + 1)).find("takes at most"), std::string::npos);
  EXPECT_NE(message({99}).find("the token id 99"), std::string::npos);
  EXPECT_EQ(message({0}), "");
  EXPECT_TRUE(executable->run({}).value().empty());
  EXPECT_FALSE(executable->trace({}).has_value());
}

TEST_P(BackendModels, ModelsThatDoNotHoldTogetherAreRefused) {
  RandomModel random(17);
  Model model = random();
  model.unembedding.conservativeResize(model.d_model + 1, Eigen::NoChange);
  EXPECT_FALSE(backend().load(model).has_value());
}

}  // namespace
}  // namespace rasp::runtime
