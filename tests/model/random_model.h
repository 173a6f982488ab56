// Random models for the tests of the model and runtime rooms: every shape that the format allows,
// empty ones included.
#pragma once

#include <random>
#include <string>

#include "model/model.h"

namespace rasp::testing {

struct RandomModelOptions {
  std::size_t max_vocabulary = 6;
  std::uint32_t max_length = 12;
  std::uint32_t max_width = 12;
  std::size_t max_layers = 3;
  std::size_t max_heads = 3;
  double density = 0.5;  // of the weights that are not zero
};

class RandomModel {
 public:
  explicit RandomModel(std::uint64_t seed) : engine_(seed) {}

  model::Model operator()(const RandomModelOptions& options = {}) {
    options_ = options;
    model::Model model;
    model.name = "sop";
    model.program = "%0 = tokens";
    model.dtype = flip() ? model::Dtype::kF32 : model::Dtype::kF64;
    dtype_ = model.dtype;
    model.causal = flip();
    model.attention_scale = std::ldexp(1.0, -static_cast<int>(size(0, 3)));
    const std::size_t tokens = size(1, options.max_vocabulary);
    for (std::size_t t = 0; t < tokens; ++t)
      model.vocabulary.push_back(value::make_int(static_cast<std::int64_t>(t)));
    model.max_length = static_cast<std::uint32_t>(size(1, options.max_length));
    model.d_model = static_cast<std::uint32_t>(size(1, options.max_width));
    model.token_embedding = matrix(tokens + 1, model.d_model);
    model.position_embedding = matrix(model.max_length + 1, model.d_model);
    const std::size_t layers = size(0, options.max_layers);
    for (std::size_t l = 0; l < layers; ++l) model.layers.push_back(layer(model.d_model));
    const std::size_t outputs = size(1, options.max_width);
    model.unembedding = matrix(model.d_model, outputs);
    for (std::size_t v = 0; v < outputs; ++v)
      model.decoder.values.push_back(value::make_int(static_cast<std::int64_t>(v)));
    return model;
  }

  std::size_t size(std::size_t low, std::size_t high) {
    return std::uniform_int_distribution<std::size_t>(low, high)(engine_);
  }
  bool flip() { return size(0, 1) == 1; }
  double weight() {
    if (std::uniform_real_distribution<double>(0, 1)(engine_) >= options_.density) return 0.0;
    const double value = std::normal_distribution<double>(0, 1)(engine_);
    return dtype_ == model::Dtype::kF32 ? static_cast<double>(static_cast<float>(value)) : value;
  }
  model::Matrix matrix(std::size_t rows, std::size_t cols) {
    model::Matrix made(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(cols));
    for (Eigen::Index i = 0; i < made.size(); ++i) made.data()[i] = weight();
    return made;
  }

 private:
  model::Layer layer(std::size_t d_model) {
    model::Layer made;
    const std::size_t heads = size(0, options_.max_heads);
    for (std::size_t h = 0; h < heads; ++h) {
      model::Head& head = made.heads.emplace_back();
      head.name = "head " + std::to_string(h);
      head.origin = "file:1:1";
      const std::size_t d_qk = size(0, options_.max_width);
      const std::size_t d_v = size(0, options_.max_width);
      head.wq = matrix(d_model, d_qk);
      head.wk = matrix(d_model, d_qk);
      head.wv = matrix(d_model, d_v);
      head.wo = matrix(d_v, d_model);
    }
    const std::size_t d_mlp = flip() ? size(0, options_.max_width) : 0;
    made.mlp.w_in = matrix(d_model, d_mlp);
    made.mlp.b_in = matrix(1, d_mlp);
    made.mlp.w_out = matrix(d_mlp, d_model);
    return made;
  }

  std::mt19937_64 engine_;
  RandomModelOptions options_;
  model::Dtype dtype_ = model::Dtype::kF32;
};

}  // namespace rasp::testing
