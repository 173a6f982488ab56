// The forward pass of model/model.h on one sequence, in the model's own precision.
//
// Rows are computed in the same order of operations wherever they stand, so results are
// bit-identical for every batching and every number of threads. Keys after a causal query are not
// read. Values are summed with their weights first and divided once at the end: the mean of small
// integers is then correctly rounded, and that is what compiled models rest on.
//
// What is equal is computed once. Without a causal mask, equal rows of the stream stay equal, and
// equal queries of a head have equal means. Equal keys have equal scores; where the values of a
// head are such that no sum of them rounds, and a query's weights are all 0 or 1, the keys of a
// group are added as one. Each of these gives the very bits that the plain sums give.
#pragma once

#include <span>
#include <vector>

#include "model/model.h"
#include "runtime/backend.h"
#include "runtime/cpu/projection.h"
#include "runtime/cpu/row_groups.h"

namespace rasp::runtime {

template <typename Scalar>
class Forward {
 public:
  explicit Forward(const model::Model& model);

  // Of one head, for the keys and queries of a sequence.
  struct HeadRows {
    std::vector<Scalar> queries, key_rows;  // [distinct, d_qk]
    std::vector<Scalar> values;             // [distinct, d_v]
    RowGroups query_groups, key_groups;     // of distinct rows
    std::size_t stride = 0;                 // of a dimension of `keys`
    std::vector<Scalar> keys;               // [d_qk, stride], a column a key group
    std::vector<std::uint32_t> key_of;      // [rows] the key group of a position
    bool addable = false;                   // groups may be added as one
    std::vector<Scalar> counts;             // [key groups] positions
    std::vector<Scalar> sums;               // [key groups, d_v] of the values of all positions
    std::vector<Scalar> mixed;              // [query groups, d_v]
  };
  // What a sequence needs, shared by the threads that work on it. Rows are positions, BOS
  // included; `distinct` of them are computed.
  struct Sequence {
    std::size_t rows = 0, distinct = 0;
    RowGroups groups;
    std::vector<std::uint32_t> names;  // [rows, 2] what makes rows equal
    std::vector<Scalar> x;             // [distinct, d_model]
    std::vector<HeadRows> heads;
  };
  // What a thread needs.
  struct Scratch {
    std::vector<Scalar> weights, partial, delta, next, hidden, counts, sums;
    std::vector<std::uint32_t> selected;
  };

  // What is kept of a causal sequence that grows position by position.
  struct Kept {
    std::size_t rows = 0;                       // so far, BOS included
    std::size_t capacity = 0;                   // of keys and values; doubled when it is reached
    std::vector<std::vector<HeadRows>> layers;  // `keys` and `values` of every head
    std::vector<std::uint32_t> positions;       // 0, 1, ... for `key_of`
    Sequence now;                               // the one row that is computed
    Scratch scratch;
  };

  // Grow-only: no allocation once the longest sequence was seen.
  void prepare(std::size_t tokens, Sequence& sequence) const;
  void prepare(std::size_t tokens, Scratch& scratch) const;

  [[nodiscard]] std::size_t layers() const { return layers_.size(); }
  [[nodiscard]] std::size_t heads(std::size_t layer) const { return layers_[layer].heads.size(); }
  [[nodiscard]] std::size_t d_mlp(std::size_t layer) const { return layers_[layer].w_in.outputs(); }
  [[nodiscard]] std::size_t d_model() const { return d_model_; }
  [[nodiscard]] std::size_t d_out() const { return unembedding_.outputs(); }

  // The stages, in this order; each needs the one before for all of its range. First the whole
  // embedding.
  void embed(std::span<const TokenId> tokens, Sequence& sequence) const;
  // Then for every layer: queries, keys and values of distinct rows [begin, end);
  void project(std::size_t layer, std::size_t begin, std::size_t end, Sequence& sequence) const;
  // the groups of heads [begin, end);
  void arrange(std::size_t layer, std::size_t begin, std::size_t end, Sequence& sequence) const;
  // the means of `means(layer)` queries [begin, end), counted over the heads. With a trace, their
  // weights;
  [[nodiscard]] std::size_t means(std::size_t layer, const Sequence& sequence) const;
  void attend(std::size_t layer, std::size_t begin, std::size_t end, Scratch& scratch,
              Sequence& sequence, Trace* trace) const;
  // heads' outputs and MLP added to distinct rows [begin, end); `hidden`, when not null, takes the
  // units of all of them [distinct, d_mlp].
  void advance(std::size_t layer, std::size_t begin, std::size_t end, Scratch& scratch,
               Sequence& sequence, std::vector<Scalar>* hidden = nullptr) const;
  // At last y of rows [offset, rows), to rows from 0 on of `y`.
  void unembed(std::size_t offset, Scratch& scratch, const Sequence& sequence,
               model::Matrix& y) const;

  // Decoding: all stages for the next position of a causal model, which is BOS and then the tokens.
  // y [d_out] is that of a whole pass, to the bit. Allocates where the capacity is doubled.
  void step(std::size_t token, Kept& kept, model::Matrix& y) const;
  [[nodiscard]] static std::size_t bytes(const Kept& kept);  // of keys and values so far

 private:
  struct Head {
    Projection<Scalar> wq, wk, wv, wo;
  };
  struct Layer {
    std::vector<Head> heads;
    Projection<Scalar> w_in, w_out;
    std::vector<Scalar> b_in;
  };

  // What a query sees: the first `keys` positions, which hold the first `groups` key groups, with
  // their numbers of positions and the sums of their values.
  struct Seen {
    std::size_t keys = 0, groups = 0;
    const Scalar* counts = nullptr;
    const Scalar* sums = nullptr;
  };
  static constexpr std::size_t kSumLanes = 4;  // partial sums of a mean

  void find_equal_rows(std::span<const TokenId> tokens, Sequence& sequence) const;
  void arrange(const Head& head, const Sequence& sequence, HeadRows& rows) const;
  void sum_groups(std::size_t d_v, const Sequence& sequence, HeadRows& rows) const;
  void attend_full(const Head& head, std::size_t begin, std::size_t end, Scratch& scratch,
                   const Sequence& sequence, HeadRows& rows) const;
  void attend_causal(const Head& head, std::size_t begin, std::size_t end, Scratch& scratch,
                     const Sequence& sequence, HeadRows& rows) const;
  // Of the query of distinct row `row`, to mixed [d_v].
  void mean(const Head& head, const Sequence& sequence, const HeadRows& rows, std::size_t row,
            const Seen& seen, Scratch& scratch, Scalar* mixed) const;
  void mean_of_positions(const Sequence& sequence, const HeadRows& rows, std::size_t d_v,
                         std::size_t keys, Scratch& scratch, Scalar* mixed) const;
  void reserve(std::size_t rows, Kept& kept) const;
  void trace_attention(const Head& head, std::size_t begin, std::size_t end, Scratch& scratch,
                       const Sequence& sequence, const HeadRows& rows,
                       model::Matrix& attention) const;

  std::size_t d_model_ = 0;
  std::size_t tokens_ = 0;  // BOS is the row after them
  bool causal_ = false;
  Scalar scale_ = 1;
  std::vector<Scalar> token_embedding_;
  std::vector<Scalar> position_embedding_;
  std::vector<std::uint32_t> position_names_;  // equal where rows of the embedding are
  bool positions_repeat_ = false;
  std::vector<Layer> layers_;
  Projection<Scalar> unembedding_;
};

}  // namespace rasp::runtime
