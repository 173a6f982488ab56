#include <gtest/gtest.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "../model/random_model.h"
#include "random_attention.h"
#include "runtime/backend.h"
#include "runtime/cpu/attention_kernels.h"
#include "runtime/kv_cache.h"
#include "runtime/multi_head.h"

// Counts allocations of the whole program, for the tests of the steady state.
namespace {
std::atomic<std::size_t> allocations = 0, allocated_bytes = 0;

void* counted(std::size_t size, std::size_t alignment) {
  ++allocations;
  allocated_bytes += size;
  void* data = alignment <= alignof(std::max_align_t)
                   ? std::malloc(size)
                   : std::aligned_alloc(alignment, (size + alignment - 1) / alignment * alignment);
  if (data == nullptr) throw std::bad_alloc();
  return data;
}
}  // namespace

void* operator new(std::size_t size) { return counted(size, 1); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  return counted(size, static_cast<std::size_t>(alignment));
}
void operator delete(void* data) noexcept { std::free(data); }
void operator delete(void* data, std::size_t) noexcept { std::free(data); }
void operator delete(void* data, std::align_val_t) noexcept { std::free(data); }
void operator delete(void* data, std::size_t, std::align_val_t) noexcept { std::free(data); }

namespace rasp::runtime {
namespace {

using testing::AttentionCase;
using testing::error_in_units;
using testing::RandomAttention;
using testing::Tensor;

template <typename T>
double largest_of(const Tensor<T>& tensor) {
  double largest = 1;
  for (const T entry : tensor.data)
    if (std::isfinite(entry)) largest = std::max(largest, std::abs(static_cast<double>(entry)));
  return largest;
}

// One position of a tensor, as a view.
template <typename T>
View<const T> position(const Tensor<T>& tensor, std::size_t at) {
  View<const T> view = tensor.view();
  view.data += static_cast<std::ptrdiff_t>(at) * view.row_stride;
  view.length = 1;
  return view;
}

template <typename T>
Tensor<T> decoded(const AttentionCase<T>& made) {
  Tensor<T> out(made.shape.batch, made.shape.q_heads, made.shape.q_len, made.shape.d_v);
  auto cache = KvCache<T>::create(made.shape, made.spec);
  EXPECT_TRUE(cache.has_value()) << (cache ? "" : cache.error().message);
  for (std::size_t i = 0; i < made.shape.q_len; ++i) {
    View<T> row = out.view();
    row.data += static_cast<std::ptrdiff_t>(i) * row.row_stride;
    row.length = 1;
    EXPECT_EQ(cache->position(), i);
    const auto status =
        cache->step(position(made.q, i), position(made.k, i), position(made.v, i), row);
    EXPECT_TRUE(status.has_value()) << (status ? "" : status.error().message);
  }
  return out;
}

// A random case that decoding takes.
template <typename T>
AttentionCase<T> causal_case(RandomAttention& random) {
  AttentionCase<T> made = random.attention_case<T>();
  made.spec.mask.reset();
  made.spec.bias.reset();
  made.spec.right.reset();
  made.spec.lengths.clear();
  made.mask = {};
  made.bias = {};
  made.spec.causal = true;
  made.shape.kv_len = made.shape.q_len;
  const bool whole_numbers = made.spec.normaliser == Normaliser::kHard;
  random.fill(made);
  if (whole_numbers)
    for (Tensor<T>* tensor : {&made.q, &made.k})
      for (T& entry : tensor->data) entry = std::nearbyint(entry);
  return made;
}

TEST(KvCache, StepByStepIsTheCausalPass) {
  RandomAttention random(21);
  for (int round = 0; round < 80; ++round) {
    const auto floats = causal_case<float>(random);
    EXPECT_LE(error_in_units(decoded(floats), floats.reference(), largest_of(floats.v),
                             floats.shape.kv_len),
              8.0)
        << floats.describe();
    const auto doubles = causal_case<double>(random);
    EXPECT_LE(error_in_units(decoded(doubles), doubles.reference(), largest_of(doubles.v),
                             doubles.shape.kv_len),
              8.0)
        << doubles.describe();
  }
}

TEST(KvCache, EveryVectorWidth) {
  for (const char* target : vector_targets()) {
    ASSERT_TRUE(use_vector_target(target));
    RandomAttention random(22);
    for (int round = 0; round < 12; ++round) {
      const auto made = causal_case<float>(random);
      EXPECT_LE(
          error_in_units(decoded(made), made.reference(), largest_of(made.v), made.shape.kv_len),
          8.0)
          << target << ": " << made.describe();
    }
  }
  EXPECT_TRUE(use_vector_target(nullptr));
}

TEST(KvCache, WhatIsNotFiniteReachesItsReadersOnly) {
  RandomAttention random(23);
  for (int round = 0; round < 80; ++round) {
    auto made = causal_case<float>(random);
    for (Tensor<float>* tensor : {&made.q, &made.k, &made.v})
      if (random.chance(0.5))
        tensor->data[random.size(0, tensor->data.size() - 1)] = random.chance(0.5) ? NAN : INFINITY;
    EXPECT_LE(
        error_in_units(decoded(made), made.reference(), largest_of(made.v), made.shape.kv_len), 8.0)
        << made.describe();
  }
}

TEST(KvCache, AWindowBoundsItsMemory) {
  const AttentionShape shape{1, 1, 1, 1, 1, 8, 8};
  AttentionSpec windowed;
  windowed.set_window(16);
  auto small = KvCache<float>::create(shape, windowed).value();
  auto growing = KvCache<float>::create(shape, {}).value();
  Tensor<float> x(1, 1, 1, 8);
  for (int i = 0; i < 1000; ++i) {
    ASSERT_TRUE(small.step(std::as_const(x).view(), std::as_const(x).view(),
                           std::as_const(x).view(), x.view()));
    ASSERT_TRUE(growing.step(std::as_const(x).view(), std::as_const(x).view(),
                             std::as_const(x).view(), x.view()));
  }
  EXPECT_EQ(small.bytes(), 16 * 16 * sizeof(float));
  EXPECT_GE(growing.bytes(), 1000 * 16 * sizeof(float));
}

TEST(KvCache, WhatBelongsToAWholePassIsRefused) {
  const AttentionShape shape{1, 2, 1, 1, 1, 4, 4};
  AttentionSpec spec;
  spec.lengths = {1};
  EXPECT_FALSE(KvCache<float>::create(shape, spec).has_value());
  spec = {};
  spec.right = 1;
  EXPECT_FALSE(KvCache<float>::create(shape, spec).has_value());
  auto cache = KvCache<float>::create(shape, {}).value();
  Tensor<float> one(1, 1, 1, 4), two(1, 2, 1, 4), longer(1, 1, 2, 4);
  EXPECT_TRUE(cache.step(std::as_const(two).view(), std::as_const(one).view(),
                         std::as_const(one).view(), two.view()));
  EXPECT_FALSE(cache.step(std::as_const(one).view(), std::as_const(one).view(),
                          std::as_const(one).view(), one.view()));
  EXPECT_FALSE(cache.step(std::as_const(two).view(), std::as_const(longer).view(),
                          std::as_const(longer).view(), two.view()));
}

TEST(Attention, TheSteadyStateAllocatesNothing) {
  Attention attention(2);
  RandomAttention random(24);
  for (int round = 0; round < 30; ++round) {
    AttentionCase<float> made = random.attention_case<float>();
    if (made.spec.alibi) made.spec.alibi->slopes.assign(made.shape.q_heads, 0.5);
    made.bind();
    Tensor<float> out(made.shape.batch, made.shape.q_heads, made.shape.q_len, made.shape.d_v);
    const auto q = std::as_const(made.q).view(), k = std::as_const(made.k).view(),
               v = std::as_const(made.v).view();
    const auto y = out.view();
    ASSERT_TRUE(attention(q, k, v, made.spec, y).has_value());
    const std::size_t before = allocations;
    const bool fine = attention(q, k, v, made.spec, y).has_value();
    EXPECT_EQ(allocations, before) << made.describe();
    EXPECT_TRUE(fine);
  }
}

// Steps within what was reserved, and models within the longest sequence so far.
TEST(KvCache, TheSteadyStateAllocatesNothing) {
  const AttentionShape shape{1, 4, 2, 1, 1, 16, 16};
  for (const bool windowed : {false, true}) {
    AttentionSpec spec;
    if (windowed) spec.set_window(32);
    auto cache = KvCache<float>::create(shape, spec).value();
    Tensor<float> one(1, 2, 1, 16), four(1, 4, 1, 16);
    const auto key = std::as_const(one).view(), query = std::as_const(four).view();
    const auto out = four.view();
    for (int i = 0; i < 65; ++i) ASSERT_TRUE(cache.step(query, key, key, out));
    const std::size_t before = allocations;
    bool fine = true;
    for (int i = 65; i < 128; ++i) fine = fine && cache.step(query, key, key, out);
    EXPECT_EQ(allocations, before);
    EXPECT_TRUE(fine);
  }
}

TEST(Executable, TheSteadyStateAllocatesItsResultsAlone) {
  testing::RandomModel random(27);
  for (int round = 0; round < 40; ++round) {
    const model::Model model = random();
    const auto executable = make_cpu_backend(1 + static_cast<std::size_t>(round) % 2)->load(model);
    std::vector<std::vector<TokenId>> batch(random.size(1, 20));
    for (auto& tokens : batch) {
      tokens.resize(random.size(1, model.max_length));
      for (TokenId& token : tokens)
        token = static_cast<TokenId>(random.size(0, model.vocabulary.size() - 1));
    }
    for (int warm = 0; warm < 3; ++warm) ASSERT_TRUE((*executable)->run(batch).has_value());
    const std::size_t before = allocations;
    const auto results = (*executable)->run(batch);
    const std::size_t made = allocations - before;
    ASSERT_TRUE(results.has_value());
    EXPECT_LE(made, 1 + batch.size());
  }
}

// Memory grows with the length, not with its square: the keys once more, and what threads need.
TEST(Attention, TakesMemoryForKeysAlone) {
  for (const std::size_t length : {2048u, 16384u}) {
    Attention attention(2);
    AttentionSpec spec;
    spec.causal = true;
    spec.set_window(64);
    const Tensor<float> x(1, 2, length, 64);
    Tensor<float> out(1, 2, length, 64);
    const auto view = x.view();
    const std::size_t before = allocated_bytes;
    const bool fine = attention(view, view, view, spec, out.view()).has_value();
    const std::size_t taken = allocated_bytes - before;
    EXPECT_TRUE(fine);
    EXPECT_LE(taken, 2 * length * (64 * sizeof(float) + 8) + 400'000);
  }
}

TEST(AttentionWeights, TimesTheValuesAreTheOutput) {
  Attention attention(2);
  RandomAttention random(25);
  for (int round = 0; round < 60; ++round) {
    AttentionCase<float> made = random.attention_case<float>();
    made.bind();
    const auto& s = made.shape;
    const auto weights =
        attention_weights(std::as_const(made.q).view(), std::as_const(made.k).view(), made.spec)
            .value();
    ASSERT_EQ(weights.size(), s.batch * s.q_heads * s.q_len * s.kv_len);
    Tensor<double> expected(s.batch, s.q_heads, s.q_len, s.d_v);
    for (std::size_t b = 0; b < s.batch; ++b)
      for (std::size_t h = 0; h < s.q_heads; ++h)
        for (std::size_t i = 0; i < s.q_len; ++i) {
          const KeyRange range = visible_keys(made.spec, s, b, i);
          for (std::size_t j = 0; j < s.kv_len; ++j) {
            const auto weight =
                static_cast<double>(weights[((b * s.q_heads + h) * s.q_len + i) * s.kv_len + j]);
            if (j < range.begin || j >= range.end) {
              ASSERT_EQ(weight, 0.0);
            }
            for (std::size_t c = 0; c < s.d_v; ++c)
              expected.at(b, h, i, c) +=
                  weight * static_cast<double>(made.v.at(b, h / (s.q_heads / s.kv_heads), j, c));
          }
        }
    EXPECT_LE(error_in_units(made.run(attention), expected, largest_of(made.v), s.kv_len), 8.0)
        << made.describe();
  }
}

TEST(MultiHead, IsItsHeadsOneByOne) {
  Attention attention(2);
  RandomAttention random(26);
  for (int round = 0; round < 30; ++round) {
    const auto n = static_cast<Eigen::Index>(random.size(1, 40));
    const auto m = static_cast<Eigen::Index>(random.size(1, 40));
    MultiHeadWeights<double> weights;
    weights.kv_heads = random.size(1, 3);
    weights.q_heads = weights.kv_heads * random.size(1, 3);
    const auto d = static_cast<Eigen::Index>(random.size(1, 12));
    const auto d_v = static_cast<Eigen::Index>(random.size(1, 12));
    const auto q_heads = static_cast<Eigen::Index>(weights.q_heads);
    const auto kv_heads = static_cast<Eigen::Index>(weights.kv_heads);
    const auto matrix = [&](Eigen::Index rows, Eigen::Index cols) {
      return RowMatrix<double>(RowMatrix<double>::NullaryExpr(
          rows, cols, [&](Eigen::Index, Eigen::Index) { return random.normal(); }));
    };
    const RowMatrix<double> x = matrix(n, 10), source = matrix(m, 7);
    weights.wq = matrix(10, q_heads * d);
    weights.wk = matrix(7, kv_heads * d);
    weights.wv = matrix(7, kv_heads * d_v);
    weights.wo = matrix(q_heads * d_v, 9);
    const auto y = multi_head(attention, x, source, weights, {}).value();
    RowMatrix<double> expected = RowMatrix<double>::Zero(n, 9);
    for (Eigen::Index h = 0; h < q_heads; ++h) {
      const Eigen::Index g = h / (q_heads / kv_heads);
      RowMatrix<double> scores = (x * weights.wq.middleCols(h * d, d)) *
                                 (source * weights.wk.middleCols(g * d, d)).transpose() /
                                 std::sqrt(static_cast<double>(d));
      for (Eigen::Index i = 0; i < n; ++i) {
        scores.row(i) = (scores.row(i).array() - scores.row(i).maxCoeff()).exp();
        scores.row(i) /= scores.row(i).sum();
      }
      expected += scores * (source * weights.wv.middleCols(g * d_v, d_v)) *
                  weights.wo.middleRows(h * d_v, d_v);
    }
    EXPECT_LT((y - expected).cwiseAbs().maxCoeff(), 1e-12 * (1 + expected.cwiseAbs().maxCoeff()));
    weights.wo = matrix(q_heads * d_v + 1, 9);
    EXPECT_FALSE(multi_head(attention, x, source, weights, {}).has_value());
  }
}

}  // namespace
}  // namespace rasp::runtime
