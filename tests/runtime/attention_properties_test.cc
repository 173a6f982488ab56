// What must hold of attention whatever the numbers are, and of the comparison that the other tests
// rest on.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>

#include "random_attention.h"
#include "runtime/kv_cache.h"

namespace rasp::runtime {
namespace {

using testing::AttentionCase;
using testing::error_in_units;
using testing::RandomAttention;
using testing::Tensor;

double largest_of(const std::vector<float>& entries) {
  double largest = 1;
  for (const float entry : entries) largest = std::max(largest, std::abs(double{entry}));
  return largest;
}

Tensor<float> permuted(const Tensor<float>& tensor, const std::vector<std::size_t>& order) {
  Tensor<float> made = tensor;
  for (std::size_t b = 0; b < tensor.batch; ++b)
    for (std::size_t h = 0; h < tensor.heads; ++h)
      for (std::size_t i = 0; i < tensor.length; ++i)
        std::copy_n(tensor.view().row(b, h, order[i]), tensor.dim, made.view().row(b, h, i));
  return made;
}

// Without positions, permuted rows give the permuted result.
TEST(AttentionProperties, EquivariantUnderPermutation) {
  Attention attention(2);
  RandomAttention random(51);
  for (int round = 0; round < 40; ++round) {
    AttentionCase<float> made;
    made.shape = random.shape();
    made.shape.kv_len = made.shape.q_len;
    made.spec.normaliser = random.chance(0.5) ? Normaliser::kSoftmax : Normaliser::kLinear;
    random.fill(made);
    std::vector<std::size_t> order(made.shape.q_len);
    std::iota(order.begin(), order.end(), 0u);
    for (std::size_t i = order.size(); i > 1; --i)
      std::swap(order[i - 1], order[random.size(0, i - 1)]);
    const Tensor<float> expected = permuted(made.run(attention), order);
    for (Tensor<float>* tensor : {&made.q, &made.k, &made.v}) *tensor = permuted(*tensor, order);
    EXPECT_LE(error_in_units(made.run(attention), expected.as_double(), largest_of(made.v.data),
                             made.shape.kv_len),
              16.0)
        << made.describe();
  }
}

// The state step by step gives what phi(Q) (phi(K)^T V) over the whole prefix gives.
TEST(AttentionProperties, LinearStepByStepIsLinearAtOnce) {
  Attention attention(1);
  RandomAttention random(52);
  for (int round = 0; round < 30; ++round) {
    AttentionCase<double> made;
    made.shape = random.shape(40, 40);
    made.shape.kv_len = made.shape.q_len;
    made.spec.normaliser = Normaliser::kLinear;
    made.spec.causal = true;
    random.fill(made);
    const auto& s = made.shape;
    const Tensor<double> steps = made.run(attention);
    for (std::size_t end = 1; end <= s.q_len; ++end) {  // each prefix at once, its last query
      View<const double> q = std::as_const(made.q).view(), k = std::as_const(made.k).view(),
                         v = std::as_const(made.v).view();
      k.length = v.length = end;
      q.data += static_cast<std::ptrdiff_t>(end - 1) * q.row_stride;
      q.length = 1;
      AttentionSpec whole;
      whole.normaliser = Normaliser::kLinear;
      Tensor<double> out(s.batch, s.q_heads, 1, s.d_v);
      ASSERT_TRUE(attention(q, k, v, whole, out.view()).has_value());
      for (std::size_t b = 0; b < s.batch; ++b)
        for (std::size_t h = 0; h < s.q_heads; ++h)
          for (std::size_t c = 0; c < s.d_v; ++c)
            EXPECT_NEAR(out.at(b, h, 0, c), steps.view().row(b, h, end - 1)[c], 1e-13);
    }
  }
}

// Scores do not change when every position moves by as much: the window, ALiBi and RoPE see
// differences alone.
TEST(AttentionProperties, PositionsAreRelative) {
  Attention attention(2);
  RandomAttention random(53);
  for (int round = 0; round < 30; ++round) {
    AttentionCase<double> made;
    made.shape = random.shape(60, 40);
    made.shape.d = (made.shape.d + 1) / 2 * 2;
    made.shape.kv_len = std::max<std::size_t>(made.shape.kv_len, 1);
    made.spec.causal = random.chance(0.5);
    made.spec.left = random.size(0, 20);
    if (random.chance(0.5)) made.spec.alibi = Alibi{};
    if (random.chance(0.7)) made.spec.rope = Rope{10'000, random.chance(0.5)};
    random.fill(made);
    const Tensor<double> here = made.run(attention);
    // Keys in front, which the mask hides, move every position by as many.
    const std::size_t moved_by = random.size(1, 50);
    const auto& s = made.shape;
    AttentionCase<double> moved = made;
    moved.shape.kv_len += moved_by;
    random.fill(moved);
    moved.q = made.q;
    for (std::size_t b = 0; b < s.batch; ++b)
      for (std::size_t h = 0; h < s.kv_heads; ++h)
        for (std::size_t j = 0; j < s.kv_len; ++j) {
          std::copy_n(made.k.view().row(b, h, j), s.d, moved.k.view().row(b, h, j + moved_by));
          std::copy_n(made.v.view().row(b, h, j), s.d_v, moved.v.view().row(b, h, j + moved_by));
        }
    moved.mask = Tensor<std::uint8_t>(1, 1, s.q_len, s.kv_len + moved_by);
    for (std::size_t i = 0; i < s.q_len; ++i)
      for (std::size_t j = moved_by; j < s.kv_len + moved_by; ++j) moved.mask.at(0, 0, i, j) = 1;
    moved.bind();
    EXPECT_LE(error_in_units(moved.run(attention), here, 5.0, s.kv_len), 16.0) << made.describe();
  }
}

// The comparison finds results that are wrong: kernels that see one key too many or too few, scale
// by the wrong size, put one number in the wrong place, or give NaN.
TEST(AttentionProperties, WrongResultsAreFound) {
  Attention attention(2);
  RandomAttention random(54);
  int tried = 0;
  for (int round = 0; round < 40; ++round) {
    AttentionCase<float> made;
    made.shape = random.shape();
    made.shape.q_len = std::max<std::size_t>(made.shape.q_len, 2);
    made.shape.kv_len = made.shape.q_len;
    made.shape.d = std::max<std::size_t>(made.shape.d, 2);
    made.spec.causal = true;
    random.fill(made);
    const Tensor<double> right = made.reference();
    const auto found = [&](const Tensor<float>& out) {
      ++tried;
      return error_in_units(out, right, largest_of(made.v.data), made.shape.kv_len) > 8.0;
    };
    Tensor<float> out = made.run(attention);
    EXPECT_FALSE(found(out));
    AttentionCase<float> wrong = made;
    wrong.spec.causal = false;
    wrong.spec.right = 1;
    EXPECT_TRUE(found(wrong.run(attention)));
    wrong.spec = {};
    wrong.spec.causal = true;
    wrong.spec.set_window(made.shape.kv_len - 1);  // the last query misses the first key
    EXPECT_TRUE(found(wrong.run(attention)));
    wrong.spec.left.reset();
    wrong.spec.scale = 1 / std::sqrt(static_cast<double>(made.shape.d + 1));
    EXPECT_TRUE(found(wrong.run(attention)));
    const std::size_t at = random.size(0, out.data.size() - 1);
    const float kept = out.data[at];
    for (const float entry : {NAN, INFINITY, kept + 0.01f}) {
      out.data[at] = entry;
      EXPECT_TRUE(found(out));
    }
  }
  EXPECT_EQ(tried, 40 * 7);
}

}  // namespace
}  // namespace rasp::runtime
