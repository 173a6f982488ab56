#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <string>

#include "model_checks.h"
#include "runtime/backend.h"
#include "runtime/cpu/projection.h"

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

std::unique_ptr<Executable> load(const Model& model, std::size_t threads = 1) {
  auto executable = make_cpu_backend(threads)->load(model);
  EXPECT_TRUE(executable.has_value()) << (executable ? "" : executable.error().message);
  return std::move(*executable);
}

TEST(Cpu, DoublesAgreeWithTheDefinition) {
  RandomModel random(11);
  for (int round = 0; round < 400; ++round) {
    Model model = random();
    model.dtype = Dtype::kF64;
    const Tokens tokens = random_tokens(model, random);
    const auto y = load(model)->run(std::span(&tokens, 1));
    ASSERT_TRUE(y.has_value());
    EXPECT_LT(difference(y->at(0), reference_forward(model, tokens).output, 1), 1e-11);
  }
}

// Weights that keep scores near 1, so that the bound on the difference says something.
TEST(Cpu, FloatsAgreeWithTheDefinition) {
  RandomModel random(12);
  for (int round = 0; round < 400; ++round) {
    Model model = random();
    model.attention_scale = 0x1p-5;
    for (model::Layer& layer : model.layers)
      for (model::Head& head : layer.heads) head.wo *= 0x1p-3;
    if (model.dtype == Dtype::kF64) continue;
    const Tokens tokens = random_tokens(model, random);
    const auto y = load(model)->run(std::span(&tokens, 1));
    ASSERT_TRUE(y.has_value());
    EXPECT_LT(difference(y->at(0), reference_forward(model, tokens).output, 1), 2e-5);
  }
}

TEST(Cpu, TheTraceIsWhatTheDefinitionSays) {
  RandomModel random(13);
  for (int round = 0; round < 100; ++round) {
    Model model = random();
    model.dtype = Dtype::kF64;
    const Tokens tokens = random_tokens(model, random);
    expect_trace_as_defined(*load(model), model, tokens);
  }
}

TEST(Cpu, BatchingAndThreadsChangeNoBit) {
  RandomModel random(14);
  RandomModelOptions options;
  options.max_length = 70;
  for (int round = 0; round < 40; ++round) {
    const Model model = random(options);
    std::vector<Tokens> batch(random.size(1, 60));
    for (Tokens& tokens : batch) tokens = random_tokens(model, random);
    const auto one = load(model, 1);
    const auto three = load(model, 3);
    const auto together = one->run(batch).value();
    const auto spread = three->run(batch).value();
    ASSERT_EQ(together.size(), batch.size());
    for (std::size_t s = 0; s < batch.size(); ++s) {
      const Matrix alone = one->run(std::span(&batch[s], 1)).value().at(0);
      EXPECT_TRUE(same_bits(together[s], alone));
      EXPECT_TRUE(same_bits(spread[s], alone));
    }
  }
}

TEST(Cpu, RowsOverThreadsChangeNoBit) {
  RandomModel random(15);
  RandomModelOptions options;
  options.max_length = 400;
  options.max_layers = 2;
  for (int round = 0; round < 6; ++round) {
    const Model model = random(options);
    Tokens tokens(model.max_length);
    for (TokenId& token : tokens)
      token = static_cast<TokenId>(random.size(0, model.vocabulary.size() - 1));
    const auto alone = load(model, 1)->run(std::span(&tokens, 1)).value();
    const auto spread = load(model, 4)->run(std::span(&tokens, 1)).value();
    EXPECT_TRUE(same_bits(alone[0], spread[0]));
  }
}

TEST(Cpu, ACausalPrefixStays) {
  RandomModel random(16);
  for (int round = 0; round < 100; ++round) {
    Model model = random();
    model.causal = true;
    const Tokens tokens = random_tokens(model, random);
    const Tokens prefix(tokens.begin(), tokens.begin() + static_cast<std::ptrdiff_t>(
                                                             random.size(1, tokens.size())));
    const auto executable = load(model);
    const Matrix whole = executable->run(std::span(&tokens, 1)).value().at(0);
    const Matrix part = executable->run(std::span(&prefix, 1)).value().at(0);
    EXPECT_TRUE(same_bits(part, whole.topRows(part.rows())));
  }
}

// Equal rows of x have equal keys: each must get the very same weight wherever it stands.
TEST(Cpu, EqualKeysGetBitIdenticalWeights) {
  RandomModel random(17);
  RandomModelOptions options;
  options.max_width = 40;
  options.max_length = 50;
  options.max_vocabulary = 3;
  for (int round = 0; round < 60; ++round) {
    Model model = random(options);
    model.causal = false;
    model.position_embedding.setZero();
    const Tokens tokens = random_tokens(model, random);
    const auto trace = load(model)->trace(tokens).value();
    for (const auto& layer : trace.attention)
      for (const Matrix& weights : layer)
        for (Eigen::Index i = 0; i < weights.rows(); ++i)
          for (std::size_t a = 0; a < tokens.size(); ++a)
            for (std::size_t b = a; b < tokens.size(); ++b)
              if (tokens[a] == tokens[b]) {
                ASSERT_EQ(weights(i, static_cast<Eigen::Index>(a) + 1),
                          weights(i, static_cast<Eigen::Index>(b) + 1));
              }
  }
}

// A model of one head over one-hot tokens whose query selects nothing but BOS, as the compiler
// writes it: selected keys at C, BOS at C / 2, others at 0.
Model selector_model(double strength, Dtype dtype) {
  Model model;
  model.dtype = dtype;
  for (int t = 0; t < 3; ++t) model.vocabulary.push_back(value::make_int(t));
  model.max_length = 300;
  model.d_model = 5;  // token one-hot, BOS flag, result
  model.token_embedding = Matrix::Zero(4, 5);
  for (Eigen::Index t = 0; t < 4; ++t) model.token_embedding(t, t) = 1;
  model.position_embedding = Matrix::Zero(301, 5);
  model::Head head;
  head.wq = Matrix::Zero(5, 1);
  head.wk = Matrix::Zero(5, 1);
  head.wv = Matrix::Zero(5, 1);
  head.wo = Matrix::Zero(1, 5);
  head.wq.col(0).setOnes();  // everybody asks for token 2
  head.wk(2, 0) = strength;
  head.wk(3, 0) = strength / 2;
  head.wv(0, 0) = 5;
  head.wv(1, 0) = 7;
  head.wv(2, 0) = 3;
  head.wv(3, 0) = -1;  // the default
  head.wo(0, 4) = 1;
  model.layers.emplace_back().heads.push_back(head);
  model.layers[0].mlp = {Matrix::Zero(5, 0), model::Vector::Zero(0), Matrix::Zero(0, 5)};
  model.unembedding = Matrix::Zero(5, 1);
  model.unembedding(4, 0) = 1;
  model.decoder.values = {value::make_int(0)};
  return model;
}

TEST(Cpu, ARowThatSelectsNothingReadsBosExactly) {
  for (const Dtype dtype : {Dtype::kF32, Dtype::kF64}) {
    const Model model = selector_model(dtype == Dtype::kF32 ? 256 : 2048, dtype);
    const auto executable = load(model);
    Tokens tokens(300, 0);
    for (std::size_t i = 0; i < tokens.size(); i += 2) tokens[i] = 1;
    const Matrix none = executable->run(std::span(&tokens, 1)).value().at(0);
    EXPECT_TRUE((none.array() == -1.0).all());
    tokens[7] = tokens[199] = tokens[250] = 2;
    const Matrix some = executable->run(std::span(&tokens, 1)).value().at(0);
    EXPECT_TRUE((some.array() == 3.0).all());
  }
}

TEST(Cpu, MeansOfIntegersAreCorrectlyRounded) {
  Model model = selector_model(0, Dtype::kF32);  // everybody attends to everything alike
  const auto executable = load(model);
  RandomModel random(18);
  for (int round = 0; round < 200; ++round) {
    Tokens tokens = random_tokens(model, random);
    int sum = -1;
    for (const TokenId token : tokens) sum += token == 0 ? 5 : token == 1 ? 7 : 3;
    const float mean = static_cast<float>(sum) / static_cast<float>(tokens.size() + 1);
    const Matrix y = executable->run(std::span(&tokens, 1)).value().at(0);
    EXPECT_TRUE((y.array() == static_cast<double>(mean)).all());
  }
}

TEST(Cpu, WrongTokensAreErrors) {
  const Model model = selector_model(256, Dtype::kF32);
  const auto executable = load(model);
  const auto failure = [&](const Tokens& tokens) {
    const std::vector<Tokens> batch = {{0, 1}, tokens};
    const auto result = executable->run(batch);
    EXPECT_FALSE(executable->trace(tokens).has_value());
    return result ? std::string("ran") : result.error().message;
  };
  EXPECT_EQ(failure({}), "sequence 1 is empty");
  EXPECT_NE(failure(Tokens(301, 0)).find("at most 300"), std::string::npos);
  EXPECT_NE(failure({0, 3}).find("token id 3 at position 1"), std::string::npos);
  EXPECT_TRUE(executable->run({}).value().empty());
}

TEST(Cpu, AModelThatFailsItsCheckIsNotLoaded) {
  Model model = selector_model(256, Dtype::kF32);
  model.d_model = 6;
  EXPECT_FALSE(make_cpu_backend(1)->load(model).has_value());
}

TEST(Projection, ListsAndDenseRowsAgreeWithTheDefinition) {
  RandomModel random(19);
  for (int round = 0; round < 300; ++round) {
    RandomModelOptions options;
    options.density = round % 3 == 0 ? 0.05 : 0.6;
    random(options);  // sets the density
    const Matrix w = random.matrix(random.size(0, 40), random.size(0, 40));
    const Projection<double> projection(w);
    std::vector<double> x(static_cast<std::size_t>(w.rows()));
    for (double& entry : x) entry = random.weight();
    std::vector<double> y(static_cast<std::size_t>(w.cols()), 99.0);
    projection.apply(x.data(), y.data());
    for (Eigen::Index j = 0; j < w.cols(); ++j) {
      double expected = 0;
      for (Eigen::Index i = 0; i < w.rows(); ++i)
        expected += x[static_cast<std::size_t>(i)] * w(i, j);
      EXPECT_EQ(y[static_cast<std::size_t>(j)], expected);
      const auto at = static_cast<std::size_t>(j);
      if (at < projection.first_output() || at >= projection.last_output()) {
        EXPECT_EQ(expected, 0.0);
      }
    }
  }
}

}  // namespace
}  // namespace rasp::runtime
