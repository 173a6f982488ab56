// The forward pass of model/model.h, written as its definition reads: plain loops, double
// precision, every matrix formed.
#pragma once

#include <cmath>
#include <vector>

#include "model/model.h"
#include "runtime/backend.h"

namespace rasp::testing {

using Rows = std::vector<std::vector<double>>;

inline Rows times(const Rows& x, const model::Matrix& w) {
  Rows y(x.size(), std::vector<double>(static_cast<std::size_t>(w.cols()), 0.0));
  for (std::size_t r = 0; r < x.size(); ++r)
    for (Eigen::Index j = 0; j < w.cols(); ++j)
      for (Eigen::Index i = 0; i < w.rows(); ++i)
        y[r][static_cast<std::size_t>(j)] += x[r][static_cast<std::size_t>(i)] * w(i, j);
  return y;
}

inline void add_to(Rows& x, const Rows& y) {
  for (std::size_t r = 0; r < x.size(); ++r)
    for (std::size_t d = 0; d < x[r].size(); ++d) x[r][d] += y[r][d];
}

// [queries, keys]
inline Rows attention_weights(const model::Model& model, const model::Head& head, const Rows& x) {
  const Rows q = times(x, head.wq);
  const Rows k = times(x, head.wk);
  Rows weights(x.size(), std::vector<double>(x.size(), 0.0));
  for (std::size_t i = 0; i < x.size(); ++i) {
    const std::size_t keys = model.causal ? i + 1 : x.size();
    double top = -INFINITY;
    for (std::size_t j = 0; j < keys; ++j) {
      double score = 0;
      for (std::size_t d = 0; d < q[i].size(); ++d) score += q[i][d] * k[j][d];
      weights[i][j] = score * model.attention_scale;
      top = std::max(top, weights[i][j]);
    }
    double sum = 0;
    for (std::size_t j = 0; j < keys; ++j) sum += weights[i][j] = std::exp(weights[i][j] - top);
    for (std::size_t j = 0; j < keys; ++j) weights[i][j] /= sum;
  }
  return weights;
}

struct ReferenceTrace {
  std::vector<Rows> residual;
  std::vector<std::vector<Rows>> attention;
  Rows output;  // BOS row included
};

inline ReferenceTrace reference_forward(const model::Model& model,
                                        const std::vector<runtime::TokenId>& tokens) {
  Rows x;
  for (std::size_t r = 0; r <= tokens.size(); ++r) {
    const auto id =
        static_cast<Eigen::Index>(r == 0 ? model.vocabulary.size() : std::size_t{tokens[r - 1]});
    std::vector<double>& row = x.emplace_back();
    for (Eigen::Index d = 0; d < model.d_model; ++d)
      row.push_back(model.token_embedding(id, d) +
                    model.position_embedding(static_cast<Eigen::Index>(r), d));
  }
  ReferenceTrace trace;
  trace.residual.push_back(x);
  for (const model::Layer& layer : model.layers) {
    const Rows before = x;
    trace.attention.emplace_back();
    for (const model::Head& head : layer.heads) {
      const Rows weights = attention_weights(model, head, before);
      const Rows v = times(before, head.wv);
      Rows mixed(x.size(), std::vector<double>(static_cast<std::size_t>(head.wv.cols()), 0.0));
      for (std::size_t i = 0; i < x.size(); ++i)
        for (std::size_t j = 0; j < x.size(); ++j)
          for (std::size_t d = 0; d < mixed[i].size(); ++d) mixed[i][d] += weights[i][j] * v[j][d];
      add_to(x, times(mixed, head.wo));
      trace.attention.back().push_back(weights);
    }
    Rows hidden = times(x, layer.mlp.w_in);
    for (std::vector<double>& row : hidden)
      for (std::size_t u = 0; u < row.size(); ++u)
        row[u] = std::max(0.0, row[u] + layer.mlp.b_in(static_cast<Eigen::Index>(u)));
    add_to(x, times(hidden, layer.mlp.w_out));
    trace.residual.push_back(x);
  }
  trace.output = times(x, model.unembedding);
  return trace;
}

}  // namespace rasp::testing
