// The forward pass of model/model.h on one sequence, in the model's own precision.
//
// All that one row needs is done in one visit: only keys and values must be there for every row
// before. Every row is computed in the same order of operations wherever it stands, so results are
// bit-identical for every batching and every number of threads. Keys after a causal query are not
// read. Values are summed with their weights first and divided once at the end: the mean of small
// integers is then correctly rounded, and that is what compiled models rest on.
#pragma once

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <vector>

#include "model/model.h"
#include "runtime/backend.h"
#include "runtime/cpu/exp.h"
#include "runtime/cpu/projection.h"

namespace rasp::runtime {

template <typename Scalar>
class Forward {
 public:
  explicit Forward(const model::Model& model);

  // What a sequence needs, shared by the threads that work on it.
  struct Sequence {
    std::size_t rows = 0;    // BOS included
    std::size_t stride = 0;  // of one dimension of the keys: rows, rounded up
    std::vector<Scalar> x;   // [rows, d_model]
    struct Head {
      std::vector<Scalar> keys;    // [d_qk, stride], so that scores are computed side by side
      std::vector<Scalar> values;  // [rows, d_v]
    };
    std::vector<Head> heads;
  };
  // What a thread needs.
  struct Scratch {
    std::vector<Scalar> projected, scores, mixed, delta, next, hidden;
  };

  // Grow-only: no allocation once the longest sequence was seen.
  void prepare(std::size_t tokens, Sequence& sequence) const;
  void prepare(std::size_t tokens, Scratch& scratch) const;

  [[nodiscard]] std::size_t layers() const { return layers_.size(); }
  [[nodiscard]] std::size_t heads(std::size_t layer) const { return layers_[layer].heads.size(); }
  [[nodiscard]] std::size_t d_mlp(std::size_t layer) const { return layers_[layer].w_in.outputs(); }
  [[nodiscard]] std::size_t d_model() const { return d_model_; }
  [[nodiscard]] std::size_t d_out() const { return unembedding_.outputs(); }

  // The stages, each for rows [begin, end) (BOS is row 0); a stage needs the one before for all
  // rows.
  void embed(std::span<const TokenId> tokens, std::size_t begin, std::size_t end,
             Sequence& sequence) const;
  void project(std::size_t layer, std::size_t begin, std::size_t end, Scratch& scratch,
               Sequence& sequence) const;
  void advance(std::size_t layer, std::size_t begin, std::size_t end, Scratch& scratch,
               Sequence& sequence, Trace* trace) const;
  // y of the rows, written to rows [begin - offset, end - offset) of `y`.
  void unembed(std::size_t begin, std::size_t end, std::size_t offset, Scratch& scratch,
               const Sequence& sequence, model::Matrix& y) const;

 private:
  struct Head {
    Projection<Scalar> wq, wk, wv, wo;
  };
  struct Layer {
    std::vector<Head> heads;
    Projection<Scalar> w_in, w_out;
    std::vector<Scalar> b_in;
  };

  static constexpr std::size_t kLanes = 8;  // rows of keys are padded to a multiple of this

  void attend(const Head& head, const typename Sequence::Head& cache, const Scalar* x,
              std::size_t keys, std::size_t stride, Scratch& scratch, double* weights) const;
  static Scalar maximum(const Scalar* scores, std::size_t count);

  std::size_t d_model_ = 0;
  std::size_t tokens_ = 0;  // BOS is the row after them
  bool causal_ = false;
  Scalar scale_ = 1;
  std::vector<Scalar> token_embedding_;
  std::vector<Scalar> position_embedding_;
  std::vector<Layer> layers_;
  Projection<Scalar> unembedding_;
};

template <typename Scalar, typename Tensor>
std::vector<Scalar> narrowed(const Tensor& tensor) {
  std::vector<Scalar> result(static_cast<std::size_t>(tensor.size()));
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = static_cast<Scalar>(tensor.data()[i]);
  return result;
}

template <typename Scalar>
Forward<Scalar>::Forward(const model::Model& model)
    : d_model_(model.d_model),
      tokens_(model.vocabulary.size()),
      causal_(model.causal),
      scale_(static_cast<Scalar>(model.attention_scale)),
      token_embedding_(narrowed<Scalar>(model.token_embedding)),
      position_embedding_(narrowed<Scalar>(model.position_embedding)),
      unembedding_(model.unembedding) {
  for (const model::Layer& source : model.layers) {
    Layer& layer = layers_.emplace_back();
    for (const model::Head& head : source.heads)
      layer.heads.push_back({Projection<Scalar>(head.wq), Projection<Scalar>(head.wk),
                             Projection<Scalar>(head.wv), Projection<Scalar>(head.wo)});
    layer.w_in = Projection<Scalar>(source.mlp.w_in);
    layer.b_in = narrowed<Scalar>(source.mlp.b_in);
    layer.w_out = Projection<Scalar>(source.mlp.w_out);
  }
}

template <typename T>
void grow(std::vector<T>& buffer, std::size_t size) {
  if (buffer.size() < size) buffer.resize(size);
}

template <typename Scalar>
void Forward<Scalar>::prepare(std::size_t tokens, Sequence& sequence) const {
  const std::size_t rows = tokens + 1;
  sequence.rows = rows;
  sequence.stride = (rows + kLanes - 1) / kLanes * kLanes;
  grow(sequence.x, rows * d_model_);
  for (const Layer& layer : layers_) {
    grow(sequence.heads, layer.heads.size());
    for (std::size_t h = 0; h < layer.heads.size(); ++h) {
      grow(sequence.heads[h].keys, layer.heads[h].wk.outputs() * sequence.stride);
      grow(sequence.heads[h].values, layer.heads[h].wv.outputs() * rows);
    }
  }
}

template <typename Scalar>
void Forward<Scalar>::prepare(std::size_t tokens, Scratch& scratch) const {
  grow(scratch.scores, tokens + 1 + kLanes);
  grow(scratch.delta, std::max(d_model_, d_out()));
  grow(scratch.next, d_model_);
  for (const Layer& layer : layers_) {
    for (const Head& head : layer.heads) {
      grow(scratch.projected, std::max(head.wq.outputs(), head.wv.outputs()));
      grow(scratch.mixed, head.wv.outputs());
    }
    grow(scratch.hidden, layer.w_in.outputs());
  }
}

template <typename Scalar>
void Forward<Scalar>::embed(std::span<const TokenId> tokens, std::size_t begin, std::size_t end,
                            Sequence& sequence) const {
  for (std::size_t row = begin; row < end; ++row) {
    const std::size_t id = row == 0 ? tokens_ : tokens[row - 1];
    const Scalar* token = token_embedding_.data() + id * d_model_;
    const Scalar* position = position_embedding_.data() + row * d_model_;
    Scalar* x = sequence.x.data() + row * d_model_;
    for (std::size_t d = 0; d < d_model_; ++d) x[d] = token[d] + position[d];
  }
}

template <typename Scalar>
void Forward<Scalar>::project(std::size_t layer, std::size_t begin, std::size_t end,
                              Scratch& scratch, Sequence& sequence) const {
  const std::vector<Head>& heads = layers_[layer].heads;
  for (std::size_t h = 0; h < heads.size(); ++h) {
    typename Sequence::Head& cache = sequence.heads[h];
    const std::size_t d_qk = heads[h].wk.outputs();
    const std::size_t d_v = heads[h].wv.outputs();
    for (std::size_t row = begin; row < end; ++row) {
      const Scalar* x = sequence.x.data() + row * d_model_;
      heads[h].wk.apply(x, scratch.projected.data());
      for (std::size_t d = 0; d < d_qk; ++d)
        cache.keys[d * sequence.stride + row] = scratch.projected[d];
      heads[h].wv.apply(x, cache.values.data() + row * d_v);
    }
  }
}

template <typename Scalar>
Scalar Forward<Scalar>::maximum(const Scalar* scores, std::size_t count) {
  // Side by side first: the maximum does not depend on the order.
  Scalar lanes[kLanes];
  std::fill(lanes, lanes + kLanes, scores[0]);
  std::size_t j = 0;
  for (; j + kLanes <= count; j += kLanes)
    for (std::size_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] = scores[j + lane] > lanes[lane] ? scores[j + lane] : lanes[lane];
  Scalar best = lanes[0];
  for (std::size_t lane = 1; lane < kLanes; ++lane) best = std::max(best, lanes[lane]);
  for (; j < count; ++j) best = std::max(best, scores[j]);
  return best;
}

// One row of one head into scratch.mixed [d_v]: the weighted mean of the values of the first `keys`
// keys. `weights`, when not null, takes the attention of the row [keys].
template <typename Scalar>
void Forward<Scalar>::attend(const Head& head, const typename Sequence::Head& cache,
                             const Scalar* x, std::size_t keys, std::size_t stride,
                             Scratch& scratch, double* weights) const {
  const std::size_t d_qk = head.wq.outputs();
  const std::size_t d_v = head.wv.outputs();
  // Whole groups of lanes: what the padding holds is computed with and then left alone.
  const std::size_t padded = (keys + kLanes - 1) / kLanes * kLanes;
  Scalar* __restrict scores = scratch.scores.data();
  Scalar* __restrict mixed = scratch.mixed.data();
  head.wq.apply(x, scratch.projected.data());

  std::fill(scores, scores + padded, Scalar{0});
  for (std::size_t d = 0; d < d_qk; ++d) {
    const Scalar factor = scratch.projected[d];
    if (factor == Scalar{0}) continue;
    const Scalar* column = cache.keys.data() + d * stride;
    for (std::size_t j = 0; j < padded; ++j) scores[j] += factor * column[j];
  }
  for (std::size_t j = 0; j < padded; ++j) scores[j] *= scale_;
  const Scalar top = maximum(scores, keys);
  for (std::size_t j = 0; j < padded; ++j) scores[j] = exp_of<Scalar>(scores[j] - top);

  Scalar sum = 0;
  std::fill(mixed, mixed + d_v, Scalar{0});
  for (std::size_t j = 0; j < keys; ++j) {
    const Scalar weight = scores[j];
    if (weight == Scalar{0}) continue;
    sum += weight;
    const Scalar* value = cache.values.data() + j * d_v;
    for (std::size_t d = 0; d < d_v; ++d) mixed[d] += weight * value[d];
  }
  for (std::size_t d = 0; d < d_v; ++d) mixed[d] /= sum;
  if (weights != nullptr)
    for (std::size_t j = 0; j < keys; ++j) weights[j] = static_cast<double>(scores[j] / sum);
}

template <typename Scalar>
void Forward<Scalar>::advance(std::size_t layer, std::size_t begin, std::size_t end,
                              Scratch& scratch, Sequence& sequence, Trace* trace) const {
  const Layer& parts = layers_[layer];
  Scalar* next = scratch.next.data();
  const auto add = [&](const Projection<Scalar>& projection, const Scalar* input) {
    projection.apply(input, scratch.delta.data());
    for (std::size_t d = projection.first_output(); d < projection.last_output(); ++d)
      next[d] += scratch.delta[d];
  };
  for (std::size_t row = begin; row < end; ++row) {
    const auto at = static_cast<Eigen::Index>(row);
    Scalar* x = sequence.x.data() + row * d_model_;
    std::copy(x, x + d_model_, next);
    // All heads of a layer read the stream as it was before the layer.
    const std::size_t keys = causal_ ? row + 1 : sequence.rows;
    for (std::size_t h = 0; h < parts.heads.size(); ++h) {
      double* weights = trace == nullptr ? nullptr : trace->attention[layer][h].row(at).data();
      attend(parts.heads[h], sequence.heads[h], x, keys, sequence.stride, scratch, weights);
      add(parts.heads[h].wo, scratch.mixed.data());
    }
    Scalar* hidden = scratch.hidden.data();
    parts.w_in.apply(next, hidden);
    for (std::size_t u = 0; u < parts.b_in.size(); ++u) {
      const Scalar input = hidden[u] + parts.b_in[u];
      hidden[u] = input < Scalar{0} ? Scalar{0} : input;  // NaN stays
    }
    add(parts.w_out, hidden);
    std::copy(next, next + d_model_, x);
    if (trace == nullptr) continue;
    std::copy(hidden, hidden + parts.b_in.size(), trace->hidden[layer].row(at).data());
    std::copy(x, x + d_model_, trace->residual[layer + 1].row(at).data());
  }
}

template <typename Scalar>
void Forward<Scalar>::unembed(std::size_t begin, std::size_t end, std::size_t offset,
                              Scratch& scratch, const Sequence& sequence, model::Matrix& y) const {
  for (std::size_t row = begin; row < end; ++row) {
    unembedding_.apply(sequence.x.data() + row * d_model_, scratch.delta.data());
    std::copy(scratch.delta.data(), scratch.delta.data() + d_out(),
              y.row(static_cast<Eigen::Index>(row - offset)).data());
  }
}

}  // namespace rasp::runtime
