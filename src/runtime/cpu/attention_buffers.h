// What attention calls keep from one to the next.
#pragma once

#include <vector>

#include "runtime/attention.h"
#include "runtime/cpu/aligned_buffer.h"
#include "runtime/cpu/equal_keys.h"
#include "runtime/cpu/linear_attention.h"

namespace rasp::runtime {

// What a thread needs for a block of queries.
template <typename T>
struct Scratch {
  AlignedBuffer<T> q, scores, sums, tops, totals, row;
  std::vector<KeyRange> ranges;
  std::vector<std::uint8_t> poisoned, bad_query;
  LinearState<T> linear;
};

template <typename T>
struct Buffers {
  AlignedBuffer<T> keys, values;
  std::vector<std::uint8_t> bad;  // [batch, kv_heads, kv_len]: the key or its value is not finite
  std::vector<T> panel_magnitude;
  std::vector<std::uint8_t> head_has_bad;  // [batch, kv_heads]
  std::vector<T> head_magnitude;           // largest entry of a packed key
  std::vector<EqualKeys<T>> equal;         // [batch, kv_heads]
  std::vector<T> additive_v;
  std::vector<double> slopes;
  std::vector<Scratch<T>> scratch;  // one a worker
};

}  // namespace rasp::runtime
