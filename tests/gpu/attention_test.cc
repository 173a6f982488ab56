// Attention on every backend against the reference, with the tolerances of tests/runtime.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "backends_here.h"
#include "random_attention.h"

namespace rasp::runtime {
namespace {

using testing::AttentionCase;
using testing::error_in_units;
using testing::RandomAttention;
using testing::Tensor;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr double kTolerance = 8.0;  // as in tests/runtime/attention_test.cc

// RASP_LONG_TESTS=1 tries twenty times as many cases.
std::size_t rounds(std::size_t count) {
  const char* mode = std::getenv("RASP_LONG_TESTS");
  return mode != nullptr && *mode == '1' ? 20 * count : count;
}

template <typename T>
double largest_of(const Tensor<T>& tensor) {
  double largest = 1;
  for (const T entry : tensor.data)
    if (std::isfinite(entry)) largest = std::max(largest, std::abs(static_cast<double>(entry)));
  return largest;
}

template <typename T>
Tensor<T> run(const Backend& backend, const AttentionCase<T>& made) {
  Tensor<T> out(made.shape.batch, made.shape.q_heads, made.shape.q_len, made.shape.d_v);
  std::fill(out.data.begin(), out.data.end(), T{77});
  const auto status =
      backend.attention(made.q.view(), made.k.view(), made.v.view(), made.spec, out.view());
  EXPECT_TRUE(status.has_value()) << (status ? "" : status.error().message);
  return out;
}

class BackendAttention : public testing::OnBackend {
 protected:
  template <typename T>
  void check_random_cases(std::uint64_t seed, std::size_t count) {
    RandomAttention random(seed);
    for (std::size_t round = 0; round < count; ++round) {
      AttentionCase<T> made = random.attention_case<T>();
      made.bind();
      ASSERT_LE(error_in_units(run(backend(), made), made.reference(), largest_of(made.v),
                               made.shape.kv_len),
                kTolerance)
          << made.describe();
    }
  }
};
RASP_ON_EVERY_BACKEND(BackendAttention);

TEST_P(BackendAttention, FloatsAgreeWithTheReference) { check_random_cases<float>(1, rounds(120)); }

TEST_P(BackendAttention, DoublesAgreeWithTheReference) {
  if (!has_doubles()) GTEST_SKIP() << "the device has no float64";
  check_random_cases<double>(2, rounds(60));
}

TEST_P(BackendAttention, RepetitionChangesNoBit) {
  RandomAttention random(3);
  for (std::size_t round = 0; round < rounds(20); ++round) {
    AttentionCase<float> made = random.attention_case<float>();
    made.bind();
    const auto once = run(backend(), made);
    const auto again = run(backend(), made);
    EXPECT_EQ(0, std::memcmp(once.data.data(), again.data.data(), once.data.size() * sizeof(float)))
        << made.describe();
  }
}

TEST_P(BackendAttention, WhatIsNotFiniteReachesItsReadersOnly) {
  RandomAttention random(7);
  std::size_t poisoned = 0;
  for (std::size_t round = 0; round < rounds(80); ++round) {
    AttentionCase<float> made = random.attention_case<float>();
    made.bind();
    for (Tensor<float>* tensor : {&made.q, &made.k, &made.v}) {
      if (tensor->data.empty() || random.chance(0.5)) continue;
      tensor->data[random.size(0, tensor->data.size() - 1)] =
          random.chance(0.5) ? kNan : std::numeric_limits<float>::infinity();
    }
    const auto expected = made.reference();
    for (const double entry : expected.data) poisoned += std::isnan(entry) ? 1 : 0;
    ASSERT_LE(error_in_units(run(backend(), made), expected, largest_of(made.v), made.shape.kv_len),
              kTolerance)
        << made.describe();
  }
  EXPECT_GT(poisoned, 400u);
}

// Whatever keys hold that no query sees, and however large it is.
TEST_P(BackendAttention, MaskedKeysHaveNoInfluence) {
  RandomAttention random(6);
  std::size_t hidden = 0;
  for (std::size_t round = 0; round < rounds(60); ++round) {
    AttentionCase<float> made = random.attention_case<float>();
    made.bind();
    const auto& s = made.shape;
    const auto before = run(backend(), made);
    for (std::size_t b = 0; b < s.batch; ++b)
      for (std::size_t j = 0; j < s.kv_len; ++j) {
        bool seen = false;
        for (std::size_t i = 0; i < s.q_len; ++i) {
          const KeyRange range = visible_keys(made.spec, s, b, i);
          seen = seen || (j >= range.begin && j < range.end);
        }
        if (seen) continue;
        ++hidden;
        for (std::size_t h = 0; h < s.kv_heads; ++h) {
          for (std::size_t c = 0; c < s.d; ++c) made.k.at(b, h, j, c) = round % 2 ? kNan : 1e38f;
          for (std::size_t c = 0; c < s.d_v; ++c) made.v.at(b, h, j, c) = round % 2 ? kNan : -1e38f;
        }
      }
    const auto after = run(backend(), made);
    EXPECT_EQ(
        0, std::memcmp(before.data.data(), after.data.data(), before.data.size() * sizeof(float)))
        << made.describe();
  }
  EXPECT_GT(hidden, 100u);
}

TEST_P(BackendAttention, ScoresThatOverflowGiveNan) {
  AttentionCase<float> made;
  made.shape = {1, 1, 1, 2, 3, 2, 1};
  RandomAttention random(8);
  random.fill(made);
  made.spec.scale = 1;
  made.q.data = {1e30f, 1, 1, 1};
  made.k.data = {1e30f, 0, 1, 1, 0, 0};
  const auto out = run(backend(), made);
  EXPECT_TRUE(std::isnan(out.data[0]));
  EXPECT_TRUE(std::isfinite(out.data[1]));
}

// A mean of small whole numbers is the quotient, rounded once: whatever order it is summed in.
TEST_P(BackendAttention, MeansOfWholeNumbersAreCorrectlyRounded) {
  for (const std::size_t n : {3u, 7u, 49u, 130u, 1000u}) {
    AttentionCase<float> made;
    made.shape = {1, 1, 1, n, n, 4, 3};
    RandomAttention random(n);
    random.fill(made);
    // Half of the keys score 0, the others far below: their weights are exactly 0.
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t c = 0; c < 4; ++c) made.k.at(0, 0, j, c) = j % 2 == 0 ? 0.0f : -256.0f;
    for (float& entry : made.q.data) entry = 1;
    made.spec.scale = 1;
    std::vector<std::int64_t> sums(3);
    for (std::size_t j = 0; j < n; ++j)
      for (std::size_t c = 0; c < 3; ++c) {
        const auto value = static_cast<std::int64_t>((j * 37 + c * 11) % 101);
        made.v.at(0, 0, j, c) = static_cast<float>(value);
        if (j % 2 == 0) sums[c] += value;
      }
    const auto out = run(backend(), made);
    const auto count = static_cast<float>((n + 1) / 2);
    for (std::size_t i = 0; i < out.data.size(); ++i)
      ASSERT_EQ(out.data[i], static_cast<float>(sums[i % 3]) / count) << n;
  }
}

TEST_P(BackendAttention, SizesThatDoNotFitAreAnError) {
  const std::vector<float> q(2 * 3), k(2 * 4);
  std::vector<float> out(2 * 3);
  const auto status =
      backend().attention(packed(q.data(), 1, 1, 2, 3), packed(k.data(), 1, 1, 2, 4),
                          packed(k.data(), 1, 1, 2, 3), {}, packed(out.data(), 1, 1, 2, 3));
  ASSERT_FALSE(status.has_value());
  EXPECT_NE(status.error().message.find("differ in head size"), std::string::npos);
}

TEST_P(BackendAttention, NothingToDoIsDone) {
  AttentionCase<float> made;
  made.shape = {1, 2, 1, 5, 0, 4, 3};
  RandomAttention(9).fill(made);
  const auto out = run(backend(), made);  // no keys
  for (const float entry : out.data) EXPECT_EQ(entry, 0.0f);
  made.shape = {0, 2, 1, 5, 5, 4, 3};
  RandomAttention(9).fill(made);
  EXPECT_TRUE(run(backend(), made).data.empty());
}

double twice_and_one(double x) { return x > 0 ? 2 * x + 1 : std::exp(x); }

TEST_P(BackendAttention, TheCallersFeatureMapIsUsed) {
  RandomAttention random(11);
  for (const bool causal : {false, true}) {
    AttentionCase<float> made;
    made.shape = {2, 4, 2, 90, 90, 6, 5};
    made.spec.normaliser = Normaliser::kLinear;
    made.spec.feature = twice_and_one;
    made.spec.causal = causal;
    random.fill(made);
    EXPECT_LE(error_in_units(run(backend(), made), made.reference(), largest_of(made.v), 90),
              kTolerance);
  }
}

}  // namespace
}  // namespace rasp::runtime
