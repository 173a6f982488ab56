// One attention call on a device.
#pragma once

#include "runtime/attention.h"
#include "runtime/gpu/params.h"
#include "runtime/gpu/programs.h"
#include "runtime/gpu/tuning.h"

namespace rasp::runtime::gpu {

// Rows of q, k and v on the device, transformed as the spec asks: rotated, and projected for the
// additive score.
struct DeviceRows {
  Buffer q, k, v;
  std::size_t dk = 0;  // numbers in a row of q and k now
};

// The number that the kernels' `scale` is for a score.
template <typename T>
[[nodiscard]] T score_scale(const AttentionSpec& spec, std::size_t d);

// Slopes of ALiBi as pairs, the number and what its rounding left. Empty without ALiBi.
template <typename T>
[[nodiscard]] std::vector<T> slope_pairs(const AttentionSpec& spec, std::size_t q_heads);

// Cosines and sines of the positions [first, last): [positions, d / 2, 2].
template <typename T>
[[nodiscard]] std::vector<T> rope_pairs(const Rope& rope, std::size_t d, std::ptrdiff_t first,
                                        std::ptrdiff_t last);

// The rows of a view without gaps.
template <typename T>
[[nodiscard]] std::vector<T> gathered(const View<const T>& view);

// Takes the rows of q and k through rotation and projection, and puts the features of linear
// attention in their place. Positions of rows: row i of q at q_position + i, of k at k_position +
// i; `pairs` hold the positions from `first` on.
template <typename T>
[[nodiscard]] Result<void> transform(Workshop& workshop, const AttentionSpec& spec,
                                     const AttentionShape& shape, std::ptrdiff_t q_position,
                                     std::ptrdiff_t k_position, DeviceRows& rows);

// As `Attention` of runtime/attention.h. With a `tile` or
// `widths`, those are used.
template <typename T>
[[nodiscard]] Result<void> attention(Workshop& workshop, const View<const T>& q,
                                     const View<const T>& k, const View<const T>& v,
                                     const AttentionSpec& spec, const View<T>& out,
                                     const Tile* tile = nullptr, const Widths* widths = nullptr);

// As `KvCache`, on the device.
template <typename T>
[[nodiscard]] Result<std::unique_ptr<DecodeSession<T>>> decode_session(
    std::shared_ptr<Workshop> workshop, const AttentionShape& shape, const AttentionSpec& spec);

}  // namespace rasp::runtime::gpu
