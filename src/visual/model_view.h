// A model as interpretability work reads it: per head what its query-key circuit says between named
// values, and what its output-value circuit writes for each of them (Elhage et al., A Mathematical
// Framework for Transformer Circuits, 2021). All of it is worked out from the weights and the names
// of the slices.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "model/model.h"

namespace rasp::visual {

inline constexpr std::int32_t kAny = -1;  // not one of the slices: every token alike

// The values of a slice, and the columns that stand for them; of a slice that does not list its
// values the lowest and the highest.
struct NamedRows {
  std::vector<std::string> labels;
  model::Matrix features;    // [labels, width]
  std::size_t left_out = 0;  // values beyond the limit
};
[[nodiscard]] NamedRows named_rows(const model::Slice& slice, std::size_t limit);

// What a pair of slices adds to the logits, in units of C (256 with float32, 2048 with float64).
// Terms that depend on one of the two alone are added to the first table that has it.
struct QkTable {
  std::int32_t query_slice = kAny, key_slice = kAny;  // indices into Model::slices
  NamedRows queries, keys;
  model::Matrix logits;  // [queries, keys]
  std::vector<double>
      bos;  // [queries], BOS as the key; empty where another table of the query has it
};

// What the head adds to a slice for each value of the keys it selects: attention weight left out,
// and with a sum the factor that undoes it.
struct OvTable {
  std::int32_t key_slice = kAny, target_slice = kAny;
  NamedRows keys;
  model::Matrix written;             // [keys, width of the target]
  std::vector<std::string> meaning;  // what the target then holds: a value, or numbers
  std::string when_bos;              // what it holds when only BOS is attended to
};

enum class HeadKind : std::uint8_t {
  kMean,     // the mean of the selected keys; BOS where there are none
  kSum,      // the sum over the selected keys: BOS takes nearly all of the weight
  kShare,    // BOS is level with the selected keys
  kPattern,  // nothing is read: the attention itself is the answer
};
[[nodiscard]] std::string_view name_of(HeadKind kind);

struct HeadView {
  HeadKind kind = HeadKind::kMean;
  std::vector<QkTable> qk;
  std::vector<OvTable> ov;
};

struct MlpView {
  std::size_t units = 0;
  std::vector<std::int32_t> reads, writes;  // slices
};

// At most `limit` values of every axis.
[[nodiscard]] HeadView view_head(const model::Model& model, std::size_t layer, std::size_t head,
                                 std::size_t limit);
[[nodiscard]] MlpView view_mlp(const model::Model& model, std::size_t layer);

// C of the logits.
[[nodiscard]] double logit_unit(const model::Model& model);
[[nodiscard]] std::string_view name_of(model::Slice::Encoding encoding);

// What columns of a slice say: the value whose features they are ("a", or "1 | 2" where several
// look alike), else the numbers.
[[nodiscard]] std::string meaning_of(const model::Slice& slice, const model::Vector& columns);

}  // namespace rasp::visual
