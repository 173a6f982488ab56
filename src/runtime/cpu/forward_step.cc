// The forward pass one position at a time. Every stage is that of the whole pass, on one row; only
// keys and values of the rows before are kept, as the plain sums read them.
#include <algorithm>

#include "runtime/cpu/forward.h"
#include "runtime/cpu/forward_kernels.h"

namespace rasp::runtime {

// Room for `rows`: keys stand dimension by dimension, so a wider stride moves them.
template <typename Scalar>
void Forward<Scalar>::reserve(std::size_t rows, Kept& kept) const {
  if (rows <= kept.capacity) return;
  kept.capacity = std::max<std::size_t>(2 * kept.capacity, 4 * kKeyPad);
  kept.layers.resize(layers_.size());
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    kept.layers[l].resize(layers_[l].heads.size());
    for (std::size_t h = 0; h < layers_[l].heads.size(); ++h) {
      HeadRows& head = kept.layers[l][h];
      const std::size_t d_qk = layers_[l].heads[h].wk.outputs();
      std::vector<Scalar> keys(d_qk * kept.capacity);
      for (std::size_t d = 0; d < d_qk; ++d)
        std::copy_n(head.keys.data() + d * head.stride, kept.rows, keys.data() + d * kept.capacity);
      head.keys = std::move(keys);
      head.stride = kept.capacity;
      head.queries.resize(d_qk);
      head.values.resize(kept.capacity * layers_[l].heads[h].wv.outputs());
    }
  }
  for (std::size_t row = kept.positions.size(); row < kept.capacity; ++row)
    kept.positions.push_back(static_cast<std::uint32_t>(row));
  prepare(0, kept.now);
  prepare(kept.capacity, kept.scratch);
  kept.now.groups.keep_apart(kept.capacity);
  for (HeadRows& head : kept.now.heads) head.query_groups.keep_apart(1);
}

template <typename Scalar>
void Forward<Scalar>::step(std::size_t token, Kept& kept, model::Matrix& y) const {
  reserve(kept.rows + 1, kept);
  const std::size_t row = kept.rows++;
  Sequence& now = kept.now;
  for (std::size_t d = 0; d < d_model_; ++d)
    now.x[d] = token_embedding_[token * d_model_ + d] + position_embedding_[row * d_model_ + d];
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    project(l, 0, 1, now);
    for (std::size_t h = 0; h < layers_[l].heads.size(); ++h) {
      const Head& head = layers_[l].heads[h];
      HeadRows& before = kept.layers[l][h];
      HeadRows& added = now.heads[h];
      for (std::size_t d = 0; d < head.wk.outputs(); ++d)
        before.keys[d * before.stride + row] = added.key_rows[d];
      std::copy_n(added.queries.data(), head.wq.outputs(), before.queries.data());
      std::copy_n(added.values.data(), head.wv.outputs(),
                  before.values.data() + row * head.wv.outputs());
      before.key_of.swap(kept.positions);
      const Seen seen{kept.rows, kept.rows, nullptr, nullptr};
      mean(head, now, before, 0, seen, kept.scratch, added.mixed.data());
      before.key_of.swap(kept.positions);
    }
    advance(l, 0, 1, kept.scratch, now);
  }
  y.resize(1, static_cast<Eigen::Index>(d_out()));
  unembed(0, kept.scratch, now, y);
}

template <typename Scalar>
std::size_t Forward<Scalar>::bytes(const Kept& kept) {
  std::size_t numbers = 0;
  for (const auto& heads : kept.layers)
    for (const HeadRows& head : heads)
      numbers += head.queries.size() + head.values.size() / kept.capacity;
  return kept.rows * numbers * sizeof(Scalar);
}

template void Forward<float>::step(std::size_t, Kept&, model::Matrix&) const;
template void Forward<double>::step(std::size_t, Kept&, model::Matrix&) const;
template std::size_t Forward<float>::bytes(const Kept&);
template std::size_t Forward<double>::bytes(const Kept&);

}  // namespace rasp::runtime
