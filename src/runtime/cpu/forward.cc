#include "runtime/cpu/forward.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "runtime/cpu/exact_sums.h"
#include "runtime/cpu/forward_kernels.h"

namespace rasp::runtime {
namespace {

// Below so many rows the plain sums are as fast as looking for equal rows.
constexpr std::size_t kRowsWorthGrouping = 24;

template <typename Scalar, typename Tensor>
std::vector<Scalar> narrowed(const Tensor& tensor) {
  std::vector<Scalar> result(static_cast<std::size_t>(tensor.size()));
  for (std::size_t i = 0; i < result.size(); ++i) result[i] = static_cast<Scalar>(tensor.data()[i]);
  return result;
}

template <typename T>
void grow(std::vector<T>& buffer, std::size_t size) {
  if (buffer.size() < size) buffer.resize(size);
}

std::size_t padded(std::size_t keys) { return (keys + kKeyPad - 1) / kKeyPad * kKeyPad; }

}  // namespace

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
  const std::size_t positions = std::size_t{model.max_length} + 1;
  RowGroups groups;
  groups.group(position_embedding_.data(), positions, d_model_);
  for (std::size_t p = 0; p < positions; ++p)
    position_names_.push_back(static_cast<std::uint32_t>(groups.of(p)));
  positions_repeat_ = groups.size() < positions;
}

template <typename Scalar>
void Forward<Scalar>::prepare(std::size_t tokens, Sequence& sequence) const {
  const std::size_t rows = tokens + 1;
  sequence.rows = rows;
  grow(sequence.names, 2 * rows);
  grow(sequence.x, rows * d_model_);
  for (const Layer& layer : layers_) {
    grow(sequence.heads, layer.heads.size());
    for (std::size_t h = 0; h < layer.heads.size(); ++h) {
      const std::size_t d_qk = layer.heads[h].wk.outputs();
      const std::size_t d_v = layer.heads[h].wv.outputs();
      HeadRows& head = sequence.heads[h];
      head.stride = padded(rows);
      grow(head.queries, rows * d_qk);
      grow(head.key_rows, rows * d_qk);
      grow(head.values, rows * d_v);
      grow(head.keys, d_qk * head.stride);
      grow(head.key_of, rows);
      grow(head.counts, rows);
      grow(head.sums, rows * d_v);
      grow(head.mixed, rows * d_v);
    }
  }
}

template <typename Scalar>
void Forward<Scalar>::prepare(std::size_t tokens, Scratch& scratch) const {
  const std::size_t rows = tokens + 1;
  grow(scratch.weights, padded(rows));
  grow(scratch.selected, rows);
  grow(scratch.delta, std::max(d_model_, d_out()));
  grow(scratch.next, d_model_);
  grow(scratch.counts, rows);
  for (const Layer& layer : layers_) {
    for (const Head& head : layer.heads) {
      grow(scratch.partial, kSumLanes * head.wv.outputs());
      grow(scratch.sums, rows * head.wv.outputs());
    }
    grow(scratch.hidden, layer.w_in.outputs());
  }
}

// Rows of the same token whose positions are alike. Causal rows see different keys.
template <typename Scalar>
void Forward<Scalar>::find_equal_rows(std::span<const TokenId> tokens, Sequence& sequence) const {
  const std::size_t rows = tokens.size() + 1;
  if (causal_ || !positions_repeat_) {
    sequence.groups.keep_apart(rows);
  } else {
    for (std::size_t row = 0; row < rows; ++row) {
      sequence.names[2 * row] = row == 0 ? static_cast<std::uint32_t>(tokens_) : tokens[row - 1];
      sequence.names[2 * row + 1] = position_names_[row];
    }
    sequence.groups.group(sequence.names.data(), rows, 2);
  }
  sequence.distinct = sequence.groups.size();
}

template <typename Scalar>
void Forward<Scalar>::embed(std::span<const TokenId> tokens, Sequence& sequence) const {
  find_equal_rows(tokens, sequence);
  for (std::size_t r = 0; r < sequence.distinct; ++r) {
    const std::size_t row = sequence.groups.first(r);
    const std::size_t id = row == 0 ? tokens_ : tokens[row - 1];
    const Scalar* token = token_embedding_.data() + id * d_model_;
    const Scalar* position = position_embedding_.data() + row * d_model_;
    Scalar* x = sequence.x.data() + r * d_model_;
    for (std::size_t d = 0; d < d_model_; ++d) x[d] = token[d] + position[d];
  }
}

template <typename Scalar>
void Forward<Scalar>::project(std::size_t layer, std::size_t begin, std::size_t end,
                              Sequence& sequence) const {
  const std::vector<Head>& heads = layers_[layer].heads;
  for (std::size_t h = 0; h < heads.size(); ++h) {
    HeadRows& rows = sequence.heads[h];
    const std::size_t d_qk = heads[h].wk.outputs();
    const std::size_t d_v = heads[h].wv.outputs();
    for (std::size_t row = begin; row < end; ++row) {
      const Scalar* x = sequence.x.data() + row * d_model_;
      heads[h].wq.apply(x, rows.queries.data() + row * d_qk);
      heads[h].wk.apply(x, rows.key_rows.data() + row * d_qk);
      heads[h].wv.apply(x, rows.values.data() + row * d_v);
    }
  }
}

template <typename Scalar>
void Forward<Scalar>::arrange(std::size_t layer, std::size_t begin, std::size_t end,
                              Sequence& sequence) const {
  for (std::size_t h = begin; h < end; ++h)
    arrange(layers_[layer].heads[h], sequence, sequence.heads[h]);
}

template <typename Scalar>
void Forward<Scalar>::arrange(const Head& head, const Sequence& sequence, HeadRows& rows) const {
  const std::size_t d_qk = head.wk.outputs();
  const std::size_t distinct = sequence.distinct;
  const bool grouped = distinct >= kRowsWorthGrouping;
  if (grouped) {
    rows.key_groups.group(rows.key_rows.data(), distinct, d_qk);
  } else {
    rows.key_groups.keep_apart(distinct);
  }
  if (grouped && !causal_) {
    rows.query_groups.group(rows.queries.data(), distinct, d_qk);
  } else {
    rows.query_groups.keep_apart(distinct);
  }
  const std::size_t groups = rows.key_groups.size();
  for (std::size_t g = 0; g < groups; ++g) {
    const Scalar* key = rows.key_rows.data() + rows.key_groups.first(g) * d_qk;
    for (std::size_t d = 0; d < d_qk; ++d) rows.keys[d * rows.stride + g] = key[d];
  }
  for (std::size_t row = 0; row < sequence.rows; ++row)
    rows.key_of[row] = static_cast<std::uint32_t>(rows.key_groups.of(sequence.groups.of(row)));
  rows.addable = false;
  if (grouped && 2 * groups <= sequence.rows) sum_groups(head.wv.outputs(), sequence, rows);
}

// Decides whether groups may be added as one, and adds them.
template <typename Scalar>
void Forward<Scalar>::sum_groups(std::size_t d_v, const Sequence& sequence, HeadRows& rows) const {
  const std::size_t groups = rows.key_groups.size();
  std::fill(rows.counts.begin(), rows.counts.begin() + static_cast<std::ptrdiff_t>(groups), 0);
  std::fill(rows.sums.begin(), rows.sums.begin() + static_cast<std::ptrdiff_t>(groups * d_v), 0);
  double magnitude = static_cast<double>(sequence.rows);
  for (std::size_t row = 0; row < sequence.rows; ++row) {
    const std::size_t group = rows.key_of[row];
    const Scalar* value = rows.values.data() + sequence.groups.of(row) * d_v;
    Scalar* sum = rows.sums.data() + group * d_v;
    rows.counts[group] += 1;
    for (std::size_t d = 0; d < d_v; ++d) {
      sum[d] += value[d];
      magnitude += static_cast<double>(std::abs(value[d]));
    }
  }
  constexpr double kMost = std::numeric_limits<Scalar>::digits == 24 ? 0x1p24 : 0x1p53;
  rows.addable = static_cast<double>(sequence.rows) < kMost &&
                 sums_are_exact(rows.values.data(), sequence.distinct * d_v, magnitude);
}

template <typename Scalar>
std::size_t Forward<Scalar>::means(std::size_t layer, const Sequence& sequence) const {
  std::size_t count = 0;
  for (std::size_t h = 0; h < layers_[layer].heads.size(); ++h)
    count += sequence.heads[h].query_groups.size();
  return count;
}

template <typename Scalar>
void Forward<Scalar>::attend(std::size_t layer, std::size_t begin, std::size_t end,
                             Scratch& scratch, Sequence& sequence, Trace* trace) const {
  const std::vector<Head>& heads = layers_[layer].heads;
  std::size_t first = 0;  // of the head's queries
  for (std::size_t h = 0; h < heads.size() && first < end; ++h) {
    HeadRows& rows = sequence.heads[h];
    const std::size_t queries = rows.query_groups.size();
    const std::size_t from = std::max(begin, first) - first;
    const std::size_t to = std::min(end - first, queries);
    first += queries;
    if (from >= to) continue;
    if (causal_) {
      attend_causal(heads[h], from, to, scratch, sequence, rows);
    } else {
      attend_full(heads[h], from, to, scratch, sequence, rows);
    }
    if (trace != nullptr)
      trace_attention(heads[h], from, to, scratch, sequence, rows, trace->attention[layer][h]);
  }
}

template <typename Scalar>
void Forward<Scalar>::attend_full(const Head& head, std::size_t begin, std::size_t end,
                                  Scratch& scratch, const Sequence& sequence,
                                  HeadRows& rows) const {
  const std::size_t d_v = head.wv.outputs();
  const Seen all{sequence.rows, rows.key_groups.size(), rows.counts.data(), rows.sums.data()};
  for (std::size_t query = begin; query < end; ++query)
    mean(head, sequence, rows, rows.query_groups.first(query), all, scratch,
         rows.mixed.data() + query * d_v);
}

// The groups of the keys so far, and their sums, grow with the query.
template <typename Scalar>
void Forward<Scalar>::attend_causal(const Head& head, std::size_t begin, std::size_t end,
                                    Scratch& scratch, const Sequence& sequence,
                                    HeadRows& rows) const {
  const std::size_t d_v = head.wv.outputs();
  Seen seen{0, 0, scratch.counts.data(), scratch.sums.data()};
  for (std::size_t row = 0; row < end; ++row) {
    const std::size_t group = rows.key_of[row];
    Scalar* sum = scratch.sums.data() + group * d_v;
    if (group == seen.groups) {
      ++seen.groups;
      scratch.counts[group] = 0;
      std::fill(sum, sum + d_v, Scalar{0});
    }
    ++seen.keys;
    if (rows.addable) {
      scratch.counts[group] += 1;
      for (std::size_t d = 0; d < d_v; ++d) sum[d] += rows.values[row * d_v + d];
    }
    if (row >= begin) mean(head, sequence, rows, row, seen, scratch, rows.mixed.data() + row * d_v);
  }
}

template <typename Scalar>
void Forward<Scalar>::mean(const Head& head, const Sequence& sequence, const HeadRows& rows,
                           std::size_t row, const Seen& seen, Scratch& scratch,
                           Scalar* mixed) const {
  const std::size_t d_qk = head.wk.outputs();
  const std::size_t d_v = head.wv.outputs();
  Scalar* weights = scratch.weights.data();
  key_weights(rows.queries.data() + row * d_qk, d_qk, rows.keys.data(), rows.stride, seen.groups,
              scale_, weights);
  const auto zero_or_one = [](Scalar weight) { return weight == Scalar{0} || weight == Scalar{1}; };
  if (!rows.addable || !std::all_of(weights, weights + seen.groups, zero_or_one))
    return mean_of_positions(sequence, rows, d_v, seen.keys, scratch, mixed);
  Scalar total = 0;
  std::fill(mixed, mixed + d_v, Scalar{0});
  for (std::size_t g = 0; g < seen.groups; ++g) {
    if (weights[g] == Scalar{0}) continue;
    total += seen.counts[g];
    for (std::size_t d = 0; d < d_v; ++d) mixed[d] += seen.sums[g * d_v + d];
  }
  for (std::size_t d = 0; d < d_v; ++d) mixed[d] /= total;
}

// The plain sums, over the keys whose weights are not zero: every fourth to the same partial sum.
template <typename Scalar>
void Forward<Scalar>::mean_of_positions(const Sequence& sequence, const HeadRows& rows,
                                        std::size_t d_v, std::size_t keys, Scratch& scratch,
                                        Scalar* mixed) const {
  const Scalar* weights = scratch.weights.data();
  std::uint32_t* selected = scratch.selected.data();
  std::size_t count = 0;
  for (std::size_t j = 0; j < keys; ++j) {
    selected[count] = static_cast<std::uint32_t>(j);
    count += weights[rows.key_of[j]] != Scalar{0} ? 1 : 0;
  }
  Scalar totals[kSumLanes] = {};
  Scalar* partial = scratch.partial.data();
  std::fill(partial, partial + kSumLanes * d_v, Scalar{0});
  const auto add = [&](std::size_t at, std::size_t lane) {
    const std::size_t position = selected[at];
    const Scalar weight = weights[rows.key_of[position]];
    const Scalar* value = rows.values.data() + sequence.groups.of(position) * d_v;
    totals[lane] += weight;
    for (std::size_t d = 0; d < d_v; ++d) partial[lane * d_v + d] += weight * value[d];
  };
  std::size_t at = 0;
  for (; at + kSumLanes <= count; at += kSumLanes)
    for (std::size_t lane = 0; lane < kSumLanes; ++lane) add(at + lane, lane);
  for (; at < count; ++at) add(at, at % kSumLanes);
  const Scalar total = (totals[0] + totals[1]) + (totals[2] + totals[3]);
  for (std::size_t d = 0; d < d_v; ++d) {
    const Scalar* column = partial + d;
    mixed[d] = ((column[0] + column[d_v]) + (column[2 * d_v] + column[3 * d_v])) / total;
  }
}

// Weights as they were used, divided by their sum; queries [begin, end).
template <typename Scalar>
void Forward<Scalar>::trace_attention(const Head& head, std::size_t begin, std::size_t end,
                                      Scratch& scratch, const Sequence& sequence,
                                      const HeadRows& rows, model::Matrix& attention) const {
  const std::size_t d_qk = head.wk.outputs();
  for (std::size_t i = 0; i < sequence.rows; ++i) {
    const std::size_t row = sequence.groups.of(i);
    const std::size_t query = rows.query_groups.of(row);
    if (query < begin || query >= end) continue;
    const std::size_t keys = causal_ ? i + 1 : sequence.rows;
    std::size_t groups = 0;
    for (std::size_t j = 0; j < keys; ++j) groups = std::max<std::size_t>(groups, rows.key_of[j]);
    Scalar* weights = scratch.weights.data();
    key_weights(rows.queries.data() + row * d_qk, d_qk, rows.keys.data(), rows.stride, groups + 1,
                scale_, weights);
    Scalar total = 0;
    for (std::size_t j = 0; j < keys; ++j) total += weights[rows.key_of[j]];
    double* line = attention.row(static_cast<Eigen::Index>(i)).data();
    for (std::size_t j = 0; j < keys; ++j)
      line[j] = static_cast<double>(weights[rows.key_of[j]] / total);
  }
}

template <typename Scalar>
void Forward<Scalar>::advance(std::size_t layer, std::size_t begin, std::size_t end,
                              Scratch& scratch, Sequence& sequence,
                              std::vector<Scalar>* all_hidden) const {
  const Layer& parts = layers_[layer];
  Scalar* next = scratch.next.data();
  const auto add = [&](const Projection<Scalar>& projection, const Scalar* input) {
    projection.apply(input, scratch.delta.data());
    for (std::size_t d = projection.first_output(); d < projection.last_output(); ++d)
      next[d] += scratch.delta[d];
  };
  for (std::size_t row = begin; row < end; ++row) {
    Scalar* x = sequence.x.data() + row * d_model_;
    std::copy(x, x + d_model_, next);
    for (std::size_t h = 0; h < parts.heads.size(); ++h) {
      const HeadRows& rows = sequence.heads[h];
      const std::size_t d_v = parts.heads[h].wv.outputs();
      add(parts.heads[h].wo, rows.mixed.data() + rows.query_groups.of(row) * d_v);
    }
    Scalar* hidden = all_hidden == nullptr ? scratch.hidden.data()
                                           : all_hidden->data() + row * parts.w_in.outputs();
    parts.w_in.apply(next, hidden);
    for (std::size_t u = 0; u < parts.b_in.size(); ++u) {
      const Scalar input = hidden[u] + parts.b_in[u];
      hidden[u] = input < Scalar{0} ? Scalar{0} : input;  // NaN stays
    }
    add(parts.w_out, hidden);
    std::copy(next, next + d_model_, x);
  }
}

template <typename Scalar>
void Forward<Scalar>::unembed(std::size_t offset, Scratch& scratch, const Sequence& sequence,
                              model::Matrix& y) const {
  for (std::size_t row = offset; row < sequence.rows; ++row) {
    const std::size_t r = sequence.groups.of(row);
    double* out = y.row(static_cast<Eigen::Index>(row - offset)).data();
    const std::size_t first = sequence.groups.first(r);
    if (first >= offset && first < row) {
      const double* same = y.row(static_cast<Eigen::Index>(first - offset)).data();
      std::copy(same, same + d_out(), out);
      continue;
    }
    unembedding_.apply(sequence.x.data() + r * d_model_, scratch.delta.data());
    std::copy(scratch.delta.data(), scratch.delta.data() + d_out(), out);
  }
}

template class Forward<float>;
template class Forward<double>;

}  // namespace rasp::runtime
