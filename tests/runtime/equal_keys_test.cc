#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "random_attention.h"
#include "runtime/cpu/row_groups.h"

namespace rasp::runtime {
namespace {

using testing::AttentionCase;
using testing::error_in_units;
using testing::RandomAttention;
using testing::Tensor;

// Keys drawn from a few rows, values small whole numbers.
template <typename T>
AttentionCase<T> repeated_case(RandomAttention& random, double scale) {
  AttentionCase<T> made;
  made.shape = {random.size(1, 2),     0,
                random.size(1, 2),     random.size(1, 70),
                random.size(256, 900), random.size(1, 20),
                random.size(1, 40)};
  made.shape.q_heads = made.shape.kv_heads * random.size(1, 2);
  random.fill(made);
  const std::size_t distinct = random.size(1, 40);
  const auto rows = random.tensor<T>(1, 1, distinct, made.shape.d);
  const auto& s = made.shape;
  for (std::size_t b = 0; b < s.batch; ++b)
    for (std::size_t h = 0; h < s.kv_heads; ++h)
      for (std::size_t j = 0; j < s.kv_len; ++j) {
        const std::size_t from = random.size(0, distinct - 1);
        for (std::size_t c = 0; c < s.d; ++c)
          made.k.at(b, h, j, c) = rows.data[from * s.d + c] * static_cast<T>(scale);
      }
  for (T& entry : made.v.data) entry = std::nearbyint(entry * 20);
  if (random.chance(0.3))
    for (std::size_t b = 0; b < s.batch; ++b) made.spec.lengths.push_back(random.size(0, s.kv_len));
  return made;
}

template <typename T>
double largest_of(const Tensor<T>& tensor) {
  double largest = 1;
  for (const T entry : tensor.data)
    largest = std::max(largest, std::abs(static_cast<double>(entry)));
  return largest;
}

template <typename T>
void check_against_reference() {
  Attention attention(2);
  RandomAttention random(31);
  for (int round = 0; round < 30; ++round) {
    AttentionCase<T> made = repeated_case<T>(random, 1);
    if (random.chance(0.5)) made.spec.score = Score::kGaussian;
    EXPECT_LE(error_in_units(made.run(attention), made.reference(), largest_of(made.v),
                             made.shape.kv_len),
              8.0)
        << made.describe();
  }
}

TEST(EqualKeys, AgreeWithTheReference) {
  check_against_reference<float>();
  check_against_reference<double>();
}

// Weights of 0 and 1: whole numbers far apart, and the mean over the maximal scores.
TEST(EqualKeys, GiveTheBitsOfThePlainSums) {
  Attention attention(2);
  RandomAttention random(32);
  for (int round = 0; round < 60; ++round) {
    AttentionCase<float> made = repeated_case<float>(random, 1);
    for (Tensor<float>* tensor : {&made.q, &made.k})
      for (float& entry : tensor->data) entry = std::nearbyint(2 * entry) + 0.0f * entry;
    made.spec.scale = 256;
    if (round % 2 == 0) made.spec.normaliser = Normaliser::kHard;
    const auto fast = made.run(attention);
    made.spec.equal_keys = false;
    const auto plain = made.run(attention);
    EXPECT_EQ(std::memcmp(fast.data.data(), plain.data.data(), fast.data.size() * sizeof(float)), 0)
        << made.describe();
  }
}

TEST(EqualKeys, WhatIsNotFiniteReachesItsReadersOnly) {
  Attention attention(2);
  RandomAttention random(33);
  for (int round = 0; round < 40; ++round) {
    AttentionCase<float> made = repeated_case<float>(random, 1);
    for (Tensor<float>* tensor : {&made.q, &made.k, &made.v})
      if (random.chance(0.4))
        tensor->data[random.size(0, tensor->data.size() - 1)] = random.chance(0.5) ? NAN : INFINITY;
    double largest = 60;
    for (const float entry : made.v.data)
      if (std::isfinite(entry)) largest = std::max(largest, std::abs(static_cast<double>(entry)));
    EXPECT_LE(error_in_units(made.run(attention), made.reference(), largest, made.shape.kv_len),
              8.0)
        << made.describe();
  }
}

TEST(RowGroups, AreThoseOfTheDefinition) {
  RandomAttention random(34);
  for (int round = 0; round < 300; ++round) {
    const std::size_t count = random.size(0, 80), width = random.size(0, 4);
    std::vector<float> rows(count * width);
    for (float& entry : rows) {
      entry = static_cast<float>(random.size(0, 2));
      if (entry == 0 && random.chance(0.5)) entry = -0.0f;
    }
    const auto equal = [&](std::size_t a, std::size_t b) {
      for (std::size_t c = 0; c < width; ++c)
        if (rows[a * width + c] != rows[b * width + c]) return false;
      return true;
    };
    RowGroups groups;
    groups.group(rows.data(), count, width);
    std::size_t seen = 0;
    for (std::size_t r = 0; r < count; ++r) {
      const std::size_t first = groups.first(groups.of(r));
      EXPECT_TRUE(equal(first, r));
      EXPECT_LE(groups.of(r), seen);
      if (first == r) {
        EXPECT_EQ(groups.of(r), seen++);
      }
      for (std::size_t before = 0; before < first; ++before) EXPECT_FALSE(equal(before, r));
    }
    EXPECT_EQ(groups.size(), seen);
    if (seen > 0) {
      EXPECT_FALSE(groups.group(rows.data(), count, width, width, seen - 1));
    }
  }
}

}  // namespace
}  // namespace rasp::runtime
