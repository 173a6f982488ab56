// Decoding on every backend: step by step it gives what the full causal pass gives.
#include <gtest/gtest.h>

#include "backends_here.h"
#include "random_attention.h"

namespace rasp::runtime {
namespace {

using testing::AttentionCase;
using testing::error_in_units;
using testing::RandomAttention;
using testing::Tensor;

class BackendDecoding : public testing::OnBackend {
 protected:
  template <typename T>
  Result<std::unique_ptr<DecodeSession<T>>> open(const AttentionShape& shape,
                                                 const AttentionSpec& spec) {
    if constexpr (std::is_same_v<T, float>) {
      return backend().decode_floats(shape, spec);
    } else {
      return backend().decode_doubles(shape, spec);
    }
  }

  template <typename T>
  void check(AttentionCase<T>& made) {
    const AttentionShape& s = made.shape;
    AttentionSpec stepped = made.spec;
    stepped.causal = false;
    made.spec.causal = true;
    auto session = open<T>(s, stepped);
    ASSERT_TRUE(session.has_value()) << session.error().message;
    Tensor<T> out(s.batch, s.q_heads, s.q_len, s.d_v);
    for (std::size_t i = 0; i < s.q_len; ++i) {
      const auto row = [i](auto view) {
        view.data = view.row(0, 0, i);
        view.length = 1;
        return view;
      };
      const auto status =
          (*session)->step(row(std::as_const(made.q).view()), row(std::as_const(made.k).view()),
                           row(std::as_const(made.v).view()), row(out.view()));
      ASSERT_TRUE(status.has_value()) << status.error().message;
    }
    EXPECT_EQ((*session)->position(), s.q_len);
    double largest = 1;
    for (const T entry : made.v.data)
      if (std::isfinite(entry)) largest = std::max(largest, std::abs(static_cast<double>(entry)));
    EXPECT_LE(error_in_units(out, made.reference(), largest, s.kv_len), 8.0) << made.describe();
  }

  template <typename T>
  void check_random(std::uint64_t seed, std::size_t rounds) {
    RandomAttention random(seed);
    std::size_t tried = 0;
    while (tried < rounds) {
      AttentionCase<T> made = random.attention_case<T>();
      AttentionSpec& spec = made.spec;
      if (spec.mask || spec.bias || spec.right || !spec.lengths.empty()) continue;
      ++tried;
      made.shape.q_len = made.shape.kv_len = random.size(1, 70);
      random.fill(made);
      if (spec.normaliser == Normaliser::kHard) {
        for (T& entry : made.q.data) entry = std::nearbyint(entry);
        for (T& entry : made.k.data) entry = std::nearbyint(entry);
      }
      if (tried % 5 == 0 && !made.v.data.empty()) made.v.data[made.v.data.size() / 2] = NAN;
      check(made);
      if (HasFailure()) return;
    }
  }
};
RASP_ON_EVERY_BACKEND(BackendDecoding);

TEST_P(BackendDecoding, FloatsGiveWhatTheFullPassGives) { check_random<float>(21, 25); }

TEST_P(BackendDecoding, DoublesGiveWhatTheFullPassGives) {
  if (!has_doubles()) GTEST_SKIP() << "the device has no float64";
  check_random<double>(22, 10);
}

// So many that the cache grows and rows are split over work-groups.
TEST_P(BackendDecoding, LongTexts) {
  RandomAttention random(23);
  AttentionCase<float> made;
  made.shape = {1, 2, 1, 1100, 1100, 4, 5};
  random.fill(made);
  made.spec.alibi = Alibi{};
  check(made);
}

TEST_P(BackendDecoding, AWindowKeepsItsKeysAlone) {
  AttentionSpec spec;
  spec.set_window(10);
  auto session = backend().decode_floats({1, 1, 1, 1, 1, 4, 4}, spec);
  ASSERT_TRUE(session.has_value());
  const std::vector<float> row(4, 0.5f);
  std::vector<float> out(4);
  const auto view = packed(row.data(), 1, 1, 1, 4);
  for (int i = 0; i < 40; ++i)
    ASSERT_TRUE((*session)->step(view, view, view, packed(out.data(), 1, 1, 1, 4)).has_value());
  EXPECT_LE((*session)->bytes(), 10 * 8 * sizeof(float));
  EXPECT_EQ(out[0], 0.5f);
}

TEST_P(BackendDecoding, MasksAreRefused) {
  AttentionSpec spec;
  spec.lengths = {3};
  EXPECT_FALSE(backend().decode_floats({1, 1, 1, 1, 1, 4, 4}, spec).has_value());
}

}  // namespace
}  // namespace rasp::runtime
