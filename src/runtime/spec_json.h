// An AttentionSpec as one JSON object, for the command line and other programs. Keys are those of
// the struct; unknown or doubled ones, and values that say nothing, are errors.
//
//   score       "dot" | "additive" | "gaussian"
//   scale       number (dot)
//   sigma       number (gaussian)
//   additive    {"wq": W, "wk": W, "v": V} (additive): lists [hidden][d], [hidden][d], [hidden]
//   rope        true | {"base": number, "interleaved": true | false}
//   alibi       true | list of slopes, one a query head
//   positions   "sinusoidal" | "one-hot" | FILE [positions, d]: added to q and k before scoring
//   mask        "full" | "causal" | FILE of bool or uint8, true where a query may attend
//   causal      true | false: as mask "causal", but goes with a mask from a file
//   left, right whole numbers: so many keys before and after the query's own, not more
//   window      whole number W: the W keys up to the query's own (left W - 1, and nothing after)
//   bias        FILE of float32 or float64, added to the scores; -inf masks
//   lengths     list of whole numbers, one a sequence
//   normaliser  "softmax" | "hard" | "linear"
//   feature     "elu+1" | "relu" | "exp" (linear)
//
// Masks and biases are [q_len, kv_len], [q_heads, q_len, kv_len] or [batch, q_heads, q_len,
// kv_len]; batch and q_heads may be 1. FILE is a NumPy array file, relative to the JSON text's
// folder.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "runtime/attention.h"
#include "runtime/npy.h"
#include "runtime/positions.h"

namespace rasp::runtime {

struct SpecFile {
  AttentionSpec spec;  // its views look into the arrays below
  enum class Positions : std::uint8_t { kNone, kSinusoidal, kOneHot, kGiven };
  Positions positions = Positions::kNone;
  PositionTable position_table;  // kGiven

  std::vector<std::uint8_t> mask_values;
  std::vector<double> bias_values;
};

// `folder` is where FILEs are looked for. A pointer, since the spec looks into it.
[[nodiscard]] Result<std::unique_ptr<SpecFile>> parse_spec(std::string_view json,
                                                           const std::string& folder);

// The table that the spec asks for, long enough for `length` positions; none when it asks for none.
[[nodiscard]] Result<std::optional<PositionTable>> position_table_of(const SpecFile& file,
                                                                     std::size_t length,
                                                                     std::size_t dim);

}  // namespace rasp::runtime
