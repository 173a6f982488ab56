// Random attention calls for property tests: tensors, every choice of the spec, and the comparison
// with the reference.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "runtime/attention.h"
#include "runtime/reference/attention.h"

namespace rasp::testing {

using runtime::AttentionShape;
using runtime::AttentionSpec;
using runtime::Normaliser;
using runtime::Score;
using runtime::View;

template <typename T>
struct Tensor {
  std::size_t batch = 0, heads = 0, length = 0, dim = 0;
  std::vector<T> data;

  Tensor() = default;
  Tensor(std::size_t batch, std::size_t heads, std::size_t length, std::size_t dim)
      : batch(batch), heads(heads), length(length), dim(dim), data(batch * heads * length * dim) {}
  [[nodiscard]] View<T> view() { return runtime::packed(data.data(), batch, heads, length, dim); }
  [[nodiscard]] View<const T> view() const {
    return runtime::packed(data.data(), batch, heads, length, dim);
  }
  T& at(std::size_t b, std::size_t h, std::size_t i, std::size_t c) {
    return data[((b * heads + h) * length + i) * dim + c];
  }
  [[nodiscard]] Tensor<double> as_double() const {
    Tensor<double> wide(batch, heads, length, dim);
    for (std::size_t i = 0; i < data.size(); ++i) wide.data[i] = static_cast<double>(data[i]);
    return wide;
  }
};

// A call with everything it refers to.
template <typename T>
struct AttentionCase {
  AttentionShape shape;
  AttentionSpec spec;
  Tensor<T> q, k, v;
  Tensor<std::uint8_t> mask;
  Tensor<double> bias;

  // Views into the case: set after it stands where it stays.
  void bind() {
    if (!mask.data.empty()) spec.mask = std::as_const(mask).view();
    if (!bias.data.empty()) spec.bias = std::as_const(bias).view();
  }
  [[nodiscard]] Tensor<T> run(runtime::Attention& attention) const {
    Tensor<T> out(shape.batch, shape.q_heads, shape.q_len, shape.d_v);
    std::fill(out.data.begin(), out.data.end(), T{77});
    const auto status = attention(q.view(), k.view(), v.view(), spec, out.view());
    EXPECT_TRUE(status.has_value()) << (status ? "" : status.error().message);
    return out;
  }
  [[nodiscard]] Tensor<double> reference() const {
    Tensor<double> out(shape.batch, shape.q_heads, shape.q_len, shape.d_v);
    const Tensor<double> wide_q = q.as_double(), wide_k = k.as_double(), wide_v = v.as_double();
    const auto status = runtime::reference::attention(wide_q.view(), wide_k.view(), wide_v.view(),
                                                      spec, out.view());
    EXPECT_TRUE(status.has_value()) << (status ? "" : status.error().message);
    return out;
  }
  [[nodiscard]] std::string describe() const {
    std::ostringstream text;
    text << "batch " << shape.batch << " heads " << shape.q_heads << "/" << shape.kv_heads
         << " len " << shape.q_len << "/" << shape.kv_len << " d " << shape.d << "/" << shape.d_v
         << " score " << static_cast<int>(spec.score) << " norm "
         << static_cast<int>(spec.normaliser) << (spec.causal ? " causal" : "")
         << (spec.left ? " left" : "") << (spec.right ? " right" : "") << (spec.mask ? " mask" : "")
         << (spec.bias ? " bias" : "") << (spec.lengths.empty() ? "" : " lengths")
         << (spec.rope ? " rope" : "") << (spec.alibi ? " alibi" : "");
    return text.str();
  }
};

class RandomAttention {
 public:
  explicit RandomAttention(std::uint64_t seed) : engine_(seed) {}

  std::size_t size(std::size_t low, std::size_t high) {
    return std::uniform_int_distribution<std::size_t>(low, high)(engine_);
  }
  bool chance(double probability) { return std::bernoulli_distribution(probability)(engine_); }
  double normal() { return std::normal_distribution<double>(0, 1)(engine_); }

  template <typename T>
  Tensor<T> tensor(std::size_t batch, std::size_t heads, std::size_t length, std::size_t dim) {
    Tensor<T> made(batch, heads, length, dim);
    for (T& entry : made.data) entry = static_cast<T>(normal());
    return made;
  }

  AttentionShape shape(std::size_t longest = 200, std::size_t widest = 80) {
    AttentionShape made;
    made.batch = size(1, 2);
    made.kv_heads = size(1, 3);
    made.q_heads = made.kv_heads * size(1, 3);
    made.q_len = size(1, longest);
    made.kv_len = chance(0.4) ? made.q_len : size(0, longest);
    made.d = size(1, widest);
    made.d_v = chance(0.3) ? 64 : size(1, widest);
    return made;
  }

  template <typename T>
  void fill(AttentionCase<T>& made) {
    const AttentionShape& s = made.shape;
    made.q = tensor<T>(s.batch, s.q_heads, s.q_len, s.d);
    made.k = tensor<T>(s.batch, s.kv_heads, s.kv_len, s.d);
    made.v = tensor<T>(s.batch, s.kv_heads, s.kv_len, s.d_v);
  }

  template <typename T>
  AttentionCase<T> attention_case() {
    AttentionCase<T> made;
    made.shape = shape();
    AttentionSpec& spec = made.spec;
    spec.normaliser = static_cast<Normaliser>(size(0, 2));
    spec.causal = chance(0.5);
    if (chance(0.3)) spec.rope = runtime::Rope{chance(0.5) ? 10'000.0 : 100.0, chance(0.5)};
    if (spec.rope) made.shape.d = (made.shape.d + 1) / 2 * 2;
    fill(made);
    if (chance(0.3))
      for (std::size_t b = 0; b < made.shape.batch; ++b)
        spec.lengths.push_back(size(0, made.shape.kv_len));
    if (spec.normaliser == Normaliser::kLinear) return made;
    choose_masks(made);
    choose_score(made);
    if (spec.normaliser == Normaliser::kHard) make_exact(made);
    return made;
  }

 private:
  template <typename T>
  void choose_masks(AttentionCase<T>& made) {
    const AttentionShape& s = made.shape;
    if (chance(0.25)) made.spec.left = size(0, s.kv_len + 3);
    if (chance(0.25)) made.spec.right = size(0, s.kv_len + 3);
    if (chance(0.25)) {
      made.mask = Tensor<std::uint8_t>(chance(0.5) ? 1 : s.batch, chance(0.5) ? 1 : s.q_heads,
                                       s.q_len, s.kv_len);
      const double share = chance(0.5) ? 0.5 : 0.02;
      for (std::uint8_t& entry : made.mask.data) entry = chance(share) ? 1 : 0;
    }
    if (chance(0.25)) {
      made.bias =
          Tensor<double>(chance(0.5) ? 1 : s.batch, chance(0.5) ? 1 : s.q_heads, s.q_len, s.kv_len);
      for (double& entry : made.bias.data) entry = chance(0.2) ? -INFINITY : normal();
    }
    if (chance(0.25)) {
      made.spec.alibi = runtime::Alibi{};
      if (chance(0.5))
        for (std::size_t h = 0; h < s.q_heads; ++h) made.spec.alibi->slopes.push_back(0.25);
    }
  }

  template <typename T>
  void choose_score(AttentionCase<T>& made) {
    made.spec.score = static_cast<Score>(size(0, 2));
    if (made.spec.score == Score::kDot && chance(0.3)) made.spec.scale = 0.5 * normal();
    // Distances grow with d, and the rounding of scores with the scores: sigma keeps them ordinary.
    if (made.spec.score == Score::kGaussian)
      made.spec.sigma = (2 + std::abs(normal())) *
                        std::max(1.0, std::sqrt(static_cast<double>(made.shape.d) / 16));
    if (made.spec.score != Score::kAdditive) return;
    runtime::AdditiveWeights& weights = made.spec.additive;
    weights.hidden = size(1, 20);
    for (std::size_t i = 0; i < weights.hidden * made.shape.d; ++i) {
      weights.wq.push_back(0.3 * normal());
      weights.wk.push_back(0.3 * normal());
    }
    for (std::size_t i = 0; i < weights.hidden; ++i) weights.v.push_back(normal());
  }

  // Small whole numbers, so that equal scores are equal in every precision.
  template <typename T>
  void make_exact(AttentionCase<T>& made) {
    made.spec.score = Score::kDot;
    made.spec.scale = 0.5;
    made.spec.rope.reset();
    if (made.spec.alibi) made.spec.alibi->slopes.assign(made.shape.q_heads, 0.25);
    for (T& entry : made.q.data) entry = std::nearbyint(entry);
    for (T& entry : made.k.data) entry = std::nearbyint(entry);
    for (double& entry : made.bias.data)
      if (std::isfinite(entry)) entry = std::nearbyint(entry);
  }

  std::mt19937_64 engine_;
};

// The largest difference in units of epsilon * sqrt(keys) * largest value; infinite where one is
// NaN and the other is not.
template <typename T>
double error_in_units(const Tensor<T>& out, const Tensor<double>& expected, double largest,
                      std::size_t keys) {
  const double unit = static_cast<double>(std::numeric_limits<T>::epsilon()) *
                      std::sqrt(static_cast<double>(keys + 1)) * largest;
  double worst = 0;
  for (std::size_t i = 0; i < out.data.size(); ++i) {
    const auto got = static_cast<double>(out.data[i]);
    if (std::isnan(got) && std::isnan(expected.data[i])) continue;
    const double error = std::abs(got - expected.data[i]);
    if (!(error <= worst * unit)) worst = std::isnan(error) ? INFINITY : error / unit;
  }
  return worst;
}

}  // namespace rasp::testing
