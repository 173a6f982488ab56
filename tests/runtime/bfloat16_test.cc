#include "runtime/bfloat16.h"

#include <gtest/gtest.h>

#include <cmath>

#include "random_attention.h"
#include "runtime/cpu/attention_kernels.h"
#include "runtime/kv_cache.h"

namespace rasp::runtime {
namespace {

using testing::AttentionCase;
using testing::error_in_units;
using testing::RandomAttention;
using testing::Tensor;

Tensor<BFloat16> shortened(const Tensor<float>& tensor) {
  Tensor<BFloat16> made(tensor.batch, tensor.heads, tensor.length, tensor.dim);
  for (std::size_t i = 0; i < tensor.data.size(); ++i) made.data[i] = BFloat16(tensor.data[i]);
  return made;
}

void shorten(Tensor<float>& tensor) {
  for (float& entry : tensor.data) entry = static_cast<float>(BFloat16(entry));
}

TEST(BFloat16, RoundsToTheNearest) {
  for (std::uint32_t bits = 0; bits < 0x10000; ++bits) {  // every one comes back
    const float value = std::bit_cast<float>(bits << 16);
    if (std::isnan(value)) {
      EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(value))));
    } else {
      EXPECT_EQ(BFloat16(value).bits, bits);
    }
  }
  EXPECT_EQ(BFloat16(1 + 0x1p-8f).bits, BFloat16(1.0f).bits);  // ties to even
  EXPECT_EQ(BFloat16(1 + 3 * 0x1p-8f).bits, BFloat16(1 + 0x1p-6f).bits);
  EXPECT_EQ(BFloat16(1 + 0x1.2p-8f).bits, BFloat16(1 + 0x1p-7f).bits);
  EXPECT_TRUE(std::isinf(static_cast<float>(BFloat16(std::numeric_limits<float>::max()))));
  EXPECT_TRUE(std::isnan(static_cast<float>(BFloat16(std::bit_cast<float>(0x7F800001u)))));
}

// The call in float on what is stored, rounded once.
TEST(BFloat16, AttentionIsThatOfFloatsRounded) {
  Attention attention(2);
  RandomAttention random(41);
  for (int round = 0; round < 60; ++round) {
    AttentionCase<float> made = random.attention_case<float>();
    made.bind();
    for (Tensor<float>* tensor : {&made.q, &made.k, &made.v}) shorten(*tensor);
    const auto& s = made.shape;
    const auto q = shortened(made.q), k = shortened(made.k), v = shortened(made.v);
    Tensor<BFloat16> out(s.batch, s.q_heads, s.q_len, s.d_v);
    ASSERT_TRUE(attention(q.view(), k.view(), v.view(), made.spec, out.view()).has_value());
    const Tensor<float> expected = made.run(attention);
    for (std::size_t i = 0; i < out.data.size(); ++i)
      ASSERT_EQ(out.data[i].bits, BFloat16(expected.data[i]).bits) << made.describe();
  }
}

TEST(BFloat16, ACacheKeepsRoundedKeysAndValues) {
  for (const char* target : vector_targets()) {
    ASSERT_TRUE(use_vector_target(target));
    RandomAttention random(42);
    for (int round = 0; round < 20; ++round) {
      AttentionCase<float> made;
      made.shape = random.shape(60, 40);
      made.shape.kv_len = made.shape.q_len;
      made.spec.causal = true;
      if (random.chance(0.5)) made.spec.set_window(random.size(1, 30));
      random.fill(made);
      const auto& s = made.shape;
      auto cache = KvCache<float>::create(s, made.spec, Storage::kBFloat16).value();
      Tensor<float> out(s.batch, s.q_heads, s.q_len, s.d_v);
      for (std::size_t i = 0; i < s.q_len; ++i) {
        const auto at = [i](auto view) {
          view.data += static_cast<std::ptrdiff_t>(i) * view.row_stride;
          view.length = 1;
          return view;
        };
        ASSERT_TRUE(cache.step(at(std::as_const(made.q).view()), at(std::as_const(made.k).view()),
                               at(std::as_const(made.v).view()), at(out.view())));
      }
      shorten(made.k);
      shorten(made.v);
      EXPECT_LE(error_in_units(out, made.reference(), 4.0, s.kv_len), 8.0)
          << target << ": " << made.describe();
    }
  }
  EXPECT_TRUE(use_vector_target(nullptr));
}

TEST(BFloat16, HalvesTheCache) {
  const AttentionShape shape{1, 2, 2, 1, 1, 8, 8};
  AttentionSpec spec;
  spec.set_window(16);
  auto wide = KvCache<float>::create(shape, spec).value();
  auto half = KvCache<float>::create(shape, spec, Storage::kBFloat16).value();
  Tensor<float> x(1, 2, 1, 8);
  const auto row = std::as_const(x).view();
  ASSERT_TRUE(wide.step(row, row, row, x.view()) && half.step(row, row, row, x.view()));
  EXPECT_EQ(half.bytes() * 2, wide.bytes());
  EXPECT_FALSE(KvCache<double>::create(shape, spec, Storage::kBFloat16).has_value());
  AttentionSpec linear;
  linear.normaliser = Normaliser::kLinear;
  EXPECT_FALSE(KvCache<float>::create(shape, linear, Storage::kBFloat16).has_value());
}

}  // namespace
}  // namespace rasp::runtime
