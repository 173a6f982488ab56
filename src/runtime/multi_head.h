// Attention with its projections: self-attention of one sequence, or cross-attention to another.
#pragma once

#include <Eigen/Core>

#include "base/result.h"
#include "runtime/attention.h"

namespace rasp::runtime {

template <typename T>
using RowMatrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;

// Heads side by side in the columns, head h at [h * d, (h + 1) * d). Row vectors multiply from the
// left.
template <typename T>
struct MultiHeadWeights {
  std::size_t q_heads = 1, kv_heads = 1;
  RowMatrix<T> wq;  // [width, q_heads * d]
  RowMatrix<T> wk;  // [source width, kv_heads * d]
  RowMatrix<T> wv;  // [source width, kv_heads * d_v]
  RowMatrix<T> wo;  // [q_heads * d_v, out width]
};

// x [n, width]; keys and values come from `source` [m, source width], which is x itself for
// self-attention. The result is [n, out width]. Products are blocked (Eigen): rows that are equal
// may differ in the last place, so compiled models do not come this way.
template <typename T>
[[nodiscard]] Result<RowMatrix<T>> multi_head(Attention& attention, const RowMatrix<T>& x,
                                              const RowMatrix<T>& source,
                                              const MultiHeadWeights<T>& weights,
                                              const AttentionSpec& spec);

}  // namespace rasp::runtime
