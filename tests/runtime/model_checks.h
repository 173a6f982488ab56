// What tests of models hold every backend to.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>
#include <vector>

#include "../model/random_model.h"
#include "reference_forward.h"
#include "runtime/backend.h"

namespace rasp::testing {

using Tokens = std::vector<runtime::TokenId>;

// At least `least` of them where the model takes so many.
inline Tokens random_tokens(const model::Model& model, RandomModel& random, std::size_t least = 1) {
  Tokens tokens(random.size(std::min<std::size_t>(least, model.max_length), model.max_length));
  for (runtime::TokenId& token : tokens)
    token = static_cast<runtime::TokenId>(random.size(0, model.vocabulary.size() - 1));
  return tokens;
}

// The largest difference, measured against the largest entry (at least 1); NaN when any is NaN.
inline double difference(const model::Matrix& a, const Rows& b, std::size_t skipped_rows) {
  double worst = 0;
  double norm = 1;
  for (Eigen::Index r = 0; r < a.rows(); ++r)
    for (Eigen::Index c = 0; c < a.cols(); ++c) {
      const double expected =
          b[static_cast<std::size_t>(r) + skipped_rows][static_cast<std::size_t>(c)];
      const double off = std::abs(a(r, c) - expected);
      if (std::isnan(off)) return off;
      worst = std::max(worst, off);
      norm = std::max(norm, std::abs(expected));
    }
  return worst / norm;
}

inline bool same_bits(const model::Matrix& a, const model::Matrix& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         std::memcmp(a.data(), b.data(), static_cast<std::size_t>(a.size()) * sizeof(double)) == 0;
}

// A float64 model's trace against the definition, and its outputs against those of a run.
inline void expect_trace_as_defined(const runtime::Executable& executable,
                                    const model::Model& model, const Tokens& tokens) {
  const auto trace = executable.trace(tokens);
  ASSERT_TRUE(trace.has_value()) << trace.error().message;
  const auto expected = reference_forward(model, tokens);
  ASSERT_EQ(trace->residual.size(), model.layers.size() + 1);
  for (std::size_t l = 0; l <= model.layers.size(); ++l)
    EXPECT_LT(difference(trace->residual[l], expected.residual[l], 0), 1e-11);
  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    ASSERT_EQ(trace->attention[l].size(), model.layers[l].heads.size());
    EXPECT_EQ(trace->hidden[l].cols(), model.layers[l].mlp.w_in.cols());
    for (std::size_t h = 0; h < model.layers[l].heads.size(); ++h)
      EXPECT_LT(difference(trace->attention[l][h], expected.attention[l][h], 0), 1e-11);
  }
  const model::Matrix y = executable.run(std::span(&tokens, 1)).value().at(0);
  EXPECT_TRUE(same_bits(y, trace->output.bottomRows(y.rows())));
}

}  // namespace rasp::testing
