#include "runtime/attention.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <cstring>
#include <string>

#include "random_attention.h"
#include "runtime/cpu/attention_kernels.h"

namespace rasp::runtime {
namespace {

using testing::AttentionCase;
using testing::error_in_units;
using testing::RandomAttention;
using testing::Tensor;

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

// RASP_LONG_TESTS=1 tries twenty times as many cases.
std::size_t rounds(std::size_t count) {
  const char* mode = std::getenv("RASP_LONG_TESTS");
  return mode != nullptr && *mode == '1' ? 20 * count : count;
}

template <typename T>
double largest_of(const Tensor<T>& tensor) {
  double largest = 1;
  for (const T entry : tensor.data)
    largest = std::max(largest, std::abs(static_cast<double>(entry)));
  return largest;
}

template <typename T>
void expect_reference(const AttentionCase<T>& made, Attention& attention,
                      const std::string& label) {
  const double error =
      error_in_units(made.run(attention), made.reference(), largest_of(made.v), made.shape.kv_len);
  EXPECT_LE(error, 8.0) << label << made.describe();
}

template <typename T>
void check_random_cases(std::uint64_t seed, std::size_t count, const std::string& label = "") {
  Attention attention(2);
  RandomAttention random(seed);
  for (std::size_t round = 0; round < count; ++round) {
    AttentionCase<T> made = random.attention_case<T>();
    made.bind();
    expect_reference(made, attention, label);
    if (::testing::Test::HasFailure()) return;
  }
}

TEST(Attention, FloatsAgreeWithTheReference) { check_random_cases<float>(1, rounds(300)); }
TEST(Attention, DoublesAgreeWithTheReference) { check_random_cases<double>(2, rounds(200)); }

TEST(Attention, EveryVectorWidthAgreesWithTheReference) {
  const auto targets = vector_targets();
  ASSERT_FALSE(targets.empty());
  for (const char* target : targets) {
    ASSERT_TRUE(use_vector_target(target));
    check_random_cases<float>(3, rounds(40), std::string(target) + ": ");
    check_random_cases<double>(4, rounds(20), std::string(target) + ": ");
  }
  EXPECT_TRUE(use_vector_target(nullptr));
  EXPECT_FALSE(use_vector_target("ABACUS"));
}

template <typename T>
bool same_bits(const Tensor<T>& a, const Tensor<T>& b) {
  return a.data.size() == b.data.size() &&
         std::memcmp(a.data.data(), b.data.data(), a.data.size() * sizeof(T)) == 0;
}

TEST(Attention, ThreadsAndRepetitionChangeNoBit) {
  Attention one(1), four(4);
  RandomAttention random(5);
  for (std::size_t round = 0; round < rounds(60); ++round) {
    AttentionCase<float> made = random.attention_case<float>();
    made.bind();
    const auto first = made.run(one);
    EXPECT_TRUE(same_bits(first, made.run(four))) << made.describe();
    EXPECT_TRUE(same_bits(first, made.run(one))) << made.describe();
  }
}

// Whatever masked keys hold, and however large it is, the result is bit for bit the same.
TEST(Attention, MaskedKeysHaveNoInfluence) {
  Attention attention(2);
  RandomAttention random(6);
  std::size_t hidden = 0;
  for (std::size_t round = 0; round < rounds(150); ++round) {
    AttentionCase<float> made = random.attention_case<float>();
    made.bind();
    const auto& s = made.shape;
    const auto before = made.run(attention);
    for (std::size_t b = 0; b < s.batch; ++b)
      for (std::size_t j = 0; j < s.kv_len; ++j) {
        const bool in_length = made.spec.lengths.empty() || j < made.spec.lengths[b];
        bool seen = false;  // may be, by range or mask; a weight of 0 does not hide a key
        for (std::size_t h = 0; h < s.q_heads; ++h)
          for (std::size_t i = 0; i < s.q_len; ++i) {
            const KeyRange range = visible_keys(made.spec, s, b, i);
            seen = seen || (in_length && j >= range.begin && j < range.end);
          }
        if (seen) continue;
        ++hidden;
        for (std::size_t h = 0; h < s.kv_heads; ++h) {
          for (std::size_t c = 0; c < s.d; ++c) made.k.at(b, h, j, c) = round % 2 ? kNan : 1e38f;
          for (std::size_t c = 0; c < s.d_v; ++c) made.v.at(b, h, j, c) = round % 2 ? kNan : -1e38f;
        }
      }
    const auto after = made.run(attention);
    // Values are repacked when one is not finite, but sums keep their order.
    EXPECT_TRUE(same_bits(before, after)) << made.describe();
  }
  EXPECT_GT(hidden, 100u);
}

TEST(Attention, WhatIsNotFiniteReachesItsReadersOnly) {
  Attention attention(2);
  RandomAttention random(7);
  std::size_t poisoned = 0;
  for (std::size_t round = 0; round < rounds(200); ++round) {
    AttentionCase<float> made = random.attention_case<float>();
    made.bind();
    for (Tensor<float>* tensor : {&made.q, &made.k, &made.v}) {
      if (tensor->data.empty() || random.chance(0.5)) continue;
      tensor->data[random.size(0, tensor->data.size() - 1)] =
          random.chance(0.5) ? kNan : std::numeric_limits<float>::infinity();
    }
    const auto expected = made.reference();
    for (const double entry : expected.data) poisoned += std::isnan(entry) ? 1 : 0;
    double largest = 1;
    for (const float entry : made.v.data)
      if (std::isfinite(entry)) largest = std::max(largest, std::abs(static_cast<double>(entry)));
    EXPECT_LE(error_in_units(made.run(attention), expected, largest, made.shape.kv_len), 8.0)
        << made.describe();
  }
  EXPECT_GT(poisoned, 1000u);
}

TEST(Attention, ScoresThatOverflowGiveNan) {
  Attention attention(1);
  AttentionCase<float> made;
  made.shape = {1, 1, 1, 2, 3, 2, 1};
  RandomAttention random(8);
  random.fill(made);
  std::fill(made.q.data.begin(), made.q.data.end(), 1e30f);
  std::fill(made.k.data.begin(), made.k.data.end(), 1e30f);
  for (const float entry : made.run(attention).data) EXPECT_TRUE(std::isnan(entry));
}

TEST(Attention, RowsThatSeeNothingAreZero) {
  Attention attention(2);
  RandomAttention random(9);
  AttentionCase<float> made;
  made.shape = {2, 4, 2, 130, 0, 5, 7};  // no keys at all
  random.fill(made);
  for (const float entry : made.run(attention).data) EXPECT_EQ(entry, 0.0f);
  made.shape.kv_len = 40;  // fewer keys than queries: the first ninety see none
  made.spec.causal = true;
  random.fill(made);
  const auto out = made.run(attention);
  for (std::size_t i = 0; i < 90; ++i)
    for (std::size_t c = 0; c < 7; ++c) EXPECT_EQ(out.data[i * 7 + c], 0.0f);
  EXPECT_NE(out.data[90 * 7], 0.0f);
}

TEST(Attention, PermutedKeysGiveTheSameMeans) {
  Attention attention(2);
  RandomAttention random(10);
  for (std::size_t round = 0; round < rounds(30); ++round) {
    AttentionCase<double> made;
    made.shape = random.shape();
    random.fill(made);
    const auto before = made.run(attention);
    AttentionCase<double> reversed = made;
    const auto& s = made.shape;
    for (std::size_t b = 0; b < s.batch; ++b)
      for (std::size_t h = 0; h < s.kv_heads; ++h)
        for (std::size_t j = 0; j < s.kv_len; ++j) {
          for (std::size_t c = 0; c < s.d; ++c)
            reversed.k.at(b, h, s.kv_len - 1 - j, c) = made.k.at(b, h, j, c);
          for (std::size_t c = 0; c < s.d_v; ++c)
            reversed.v.at(b, h, s.kv_len - 1 - j, c) = made.v.at(b, h, j, c);
        }
    EXPECT_LE(error_in_units(reversed.run(attention), before, largest_of(made.v), s.kv_len), 8.0);
  }
}

TEST(Attention, ACausalPrefixStays) {
  Attention attention(2);
  RandomAttention random(11);
  for (std::size_t round = 0; round < rounds(30); ++round) {
    AttentionCase<float> made;
    made.shape = random.shape();
    made.shape.kv_len = made.shape.q_len;
    made.spec.causal = true;
    if (random.chance(0.5)) made.spec.set_window(random.size(1, 70));
    random.fill(made);
    const auto whole = made.run(attention);
    const std::size_t length = random.size(1, made.shape.q_len);
    Tensor<float> out(made.shape.batch, made.shape.q_heads, length, made.shape.d_v);
    auto q = std::as_const(made.q).view(), k = std::as_const(made.k).view(),
         v = std::as_const(made.v).view();
    q.length = k.length = v.length = length;  // strided: the rest is left out
    ASSERT_TRUE(attention(q, k, v, made.spec, out.view()).has_value());
    for (std::size_t b = 0; b < made.shape.batch; ++b)
      for (std::size_t h = 0; h < made.shape.q_heads; ++h)
        EXPECT_EQ(std::memcmp(out.view().row(b, h, 0), std::as_const(whole).view().row(b, h, 0),
                              length * made.shape.d_v * sizeof(float)),
                  0);
  }
}

TEST(Attention, AWindowIsAMask) {
  Attention attention(2);
  RandomAttention random(12);
  for (std::size_t round = 0; round < rounds(30); ++round) {
    AttentionCase<float> made;
    made.shape = random.shape();
    made.spec.causal = random.chance(0.5);
    made.spec.left = random.size(0, 60);
    made.spec.right = random.size(0, 60);
    random.fill(made);
    const auto windowed = made.run(attention);
    const auto& s = made.shape;
    made.mask = Tensor<std::uint8_t>(1, 1, s.q_len, s.kv_len);
    for (std::size_t i = 0; i < s.q_len; ++i) {
      const KeyRange range = visible_keys(made.spec, s, 0, i);
      for (std::size_t j = range.begin; j < range.end; ++j) made.mask.at(0, 0, i, j) = 1;
    }
    made.spec = {};
    made.bind();
    EXPECT_LE(
        error_in_units(windowed, made.run(attention).as_double(), largest_of(made.v), s.kv_len),
        8.0);
  }
}

TEST(Attention, GroupedHeadsAreRepeatedHeads) {
  Attention attention(2);
  RandomAttention random(13);
  for (std::size_t round = 0; round < rounds(30); ++round) {
    AttentionCase<float> made;
    made.shape = random.shape();
    made.spec.causal = random.chance(0.5);
    random.fill(made);
    const auto grouped = made.run(attention);
    const auto& s = made.shape;
    AttentionCase<float> repeated = made;
    repeated.shape.kv_heads = s.q_heads;
    random.fill(repeated);
    repeated.q = made.q;
    const std::size_t group = s.q_heads / s.kv_heads;
    for (std::size_t b = 0; b < s.batch; ++b)
      for (std::size_t h = 0; h < s.q_heads; ++h)
        for (std::size_t j = 0; j < s.kv_len; ++j) {
          for (std::size_t c = 0; c < s.d; ++c)
            repeated.k.at(b, h, j, c) = made.k.at(b, h / group, j, c);
          for (std::size_t c = 0; c < s.d_v; ++c)
            repeated.v.at(b, h, j, c) = made.v.at(b, h / group, j, c);
        }
    EXPECT_TRUE(same_bits(grouped, repeated.run(attention)));
  }
}

TEST(Attention, RopeDependsOnRelativePositionsOnly) {
  Attention attention(1);
  RandomAttention random(14);
  AttentionCase<double> made;
  made.shape = {1, 2, 2, 9, 20, 16, 8};
  made.spec.rope = Rope{};
  random.fill(made);
  const auto here = made.run(attention);
  // Keys in front that are masked move every position by as many.
  AttentionCase<double> moved = made;
  moved.shape.kv_len = 57;
  random.fill(moved);
  moved.q = made.q;
  for (std::size_t h = 0; h < 2; ++h)
    for (std::size_t j = 0; j < 20; ++j) {
      for (std::size_t c = 0; c < 16; ++c) moved.k.at(0, h, j + 37, c) = made.k.at(0, h, j, c);
      for (std::size_t c = 0; c < 8; ++c) moved.v.at(0, h, j + 37, c) = made.v.at(0, h, j, c);
    }
  moved.mask = Tensor<std::uint8_t>(1, 1, 9, 57);
  for (std::size_t i = 0; i < 9; ++i)
    for (std::size_t j = 37; j < 57; ++j) moved.mask.at(0, 0, i, j) = 1;
  moved.bind();
  EXPECT_LE(error_in_units(moved.run(attention), here, largest_of(made.v), 20), 16.0);
}

TEST(Attention, AlibiSlopes) {
  EXPECT_EQ(default_alibi_slopes(1), (std::vector<double>{0x1p-8}));
  EXPECT_EQ(default_alibi_slopes(4), (std::vector<double>{0x1p-2, 0x1p-4, 0x1p-6, 0x1p-8}));
  EXPECT_EQ(default_alibi_slopes(8)[0], 0.5);
  // Three heads: those of two, then the first of four.
  EXPECT_EQ(default_alibi_slopes(3), (std::vector<double>{0x1p-4, 0x1p-8, 0x1p-2}));
  EXPECT_EQ(default_alibi_slopes(6),
            (std::vector<double>{0x1p-2, 0x1p-4, 0x1p-6, 0x1p-8, 0x1p-1, 0x1p-3}));
  EXPECT_TRUE(default_alibi_slopes(0).empty());
}

// What compiled models rest on.
TEST(Attention, MeansOfIntegersAreCorrectlyRounded) {
  Attention attention(2);
  RandomAttention random(15);
  for (std::size_t keys : {1u, 2u, 63u, 64u, 129u, 1000u, 5000u}) {
    AttentionCase<float> made;
    made.shape = {1, 1, 1, 3, keys, 4, 20};
    random.fill(made);
    std::fill(made.k.data.begin(), made.k.data.end(), 0.5f);
    for (float& entry : made.v.data) entry = std::nearbyint(entry * 100);
    const auto out = made.run(attention);
    for (std::size_t c = 0; c < 20; ++c) {
      float sum = 0;
      for (std::size_t j = 0; j < keys; ++j) sum += made.v.at(0, 0, j, c);
      EXPECT_EQ(out.data[c], sum / static_cast<float>(keys));
    }
  }
}

TEST(Attention, SizesThatDoNotFitAreErrors) {
  Attention attention(1);
  RandomAttention random(16);
  const auto message = [&](auto&& change) {
    AttentionCase<float> made;
    made.shape = {2, 4, 2, 5, 6, 8, 3};
    random.fill(made);
    Tensor<float> out(2, 4, 5, 3);
    change(made, out);
    made.bind();
    const auto status = attention(std::as_const(made.q).view(), std::as_const(made.k).view(),
                                  std::as_const(made.v).view(), made.spec, out.view());
    return status ? std::string() : status.error().message;
  };
  using Case = AttentionCase<float>;
  using Out = Tensor<float>;
  EXPECT_EQ(message([](Case&, Out&) {}), "");
  EXPECT_NE(message([](Case& c, Out&) { c.k = Tensor<float>(2, 3, 6, 8); }).find("heads"),
            std::string::npos);
  EXPECT_NE(message([](Case& c, Out&) {
              c.k = Tensor<float>(2, 3, 6, 8);
              c.v = Tensor<float>(2, 3, 6, 3);
            }).find("4 query heads are not a multiple of 3"),
            std::string::npos);
  EXPECT_NE(message([](Case& c, Out&) { c.q = Tensor<float>(2, 4, 5, 7); }).find("[2, 4, 5, 7]"),
            std::string::npos);
  EXPECT_NE(message([](Case& c, Out&) { c.q = Tensor<float>(1, 4, 5, 8); }).find("batch"),
            std::string::npos);
  EXPECT_NE(message([](Case&, Out& o) { o = Tensor<float>(2, 4, 5, 4); }).find("[2, 4, 5, 3]"),
            std::string::npos);
  EXPECT_NE(message([](Case& c, Out&) { c.mask = Tensor<std::uint8_t>(3, 1, 5, 6); }).find("mask"),
            std::string::npos);
  EXPECT_NE(message([](Case& c, Out&) { c.bias = Tensor<double>(1, 1, 6, 5); }).find("bias"),
            std::string::npos);
  EXPECT_NE(message([](Case& c, Out&) { c.spec.lengths = {1}; }).find("1 lengths"),
            std::string::npos);
  EXPECT_NE(message([](Case& c, Out&) {
              c.spec.lengths = {1, 7};
            }).find("7 for 6"),
            std::string::npos);
  EXPECT_NE(message([](Case& c, Out&) {
              c.spec.score = Score::kAdditive;
              c.spec.additive.hidden = 2;
            }).find("additive"),
            std::string::npos);
  EXPECT_NE(message([](Case& c, Out&) {
              c.spec.score = Score::kGaussian;
              c.spec.sigma = 0;
            }).find("sigma"),
            std::string::npos);
  EXPECT_NE(
      message([](Case& c, Out&) { c.spec.alibi = Alibi{{1.0}}; }).find("1 ALiBi slopes for 4"),
      std::string::npos);
  EXPECT_NE(message([](Case& c, Out&) {
              c.spec.normaliser = Normaliser::kLinear;
              c.spec.left = 3;
            }).find("linear"),
            std::string::npos);
}

// `zero`: from there on down the result is 0.
template <typename T>
void check_power(void (*kernel)(const T*, T*, std::size_t), long double (*exact)(long double),
                 T zero) {
  RandomAttention random(17);
  std::vector<T> x = {T{0}, -T{0}, -std::numeric_limits<T>::infinity(),
                      std::numeric_limits<T>::lowest()};
  x.push_back(zero);
  x.push_back(zero * 2);
  for (int i = 0; i < 100'000; ++i) {
    x.push_back(static_cast<T>(-std::abs(random.normal())));
    x.push_back(zero * static_cast<T>(random.size(1, 1'000'000)) / T{1'000'000});
  }
  std::vector<T> y(x.size());
  kernel(x.data(), y.data(), x.size());
  EXPECT_EQ(y[0], T{1});
  EXPECT_EQ(y[1], T{1});
  for (std::size_t i = 2; i < 6; ++i) EXPECT_EQ(y[i], T{0});
  long double worst = 0;
  for (std::size_t i = 6; i < x.size(); ++i) {
    const long double power = exact(static_cast<long double>(x[i]));
    const auto near = static_cast<T>(power);
    const long double ulp =
        static_cast<long double>(std::nextafter(near, T{2})) - static_cast<long double>(near);
    const long double error = std::abs(static_cast<long double>(y[i]) - power) / ulp;
    if (!(error <= worst)) worst = error;
  }
  EXPECT_LE(worst, 2.0L);
}

TEST(Attention, PowersOfTheKernels) {
  for (const char* target : vector_targets()) {
    ASSERT_TRUE(use_vector_target(target));
    check_power<float>(kernel_exp, std::exp, -104);
    check_power<double>(kernel_exp, std::exp, -746);
  }
  EXPECT_TRUE(use_vector_target(nullptr));
}

}  // namespace
}  // namespace rasp::runtime
