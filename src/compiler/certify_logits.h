// What a head's logits select, from its query and key matrices.
#pragma once

#include <string>

#include "compiler/certify_stream.h"

namespace rasp::compiler::checker {

// Logits are taken relative to BOS's. Of one query, the tokens that are not below -exp_zero are
// selected, and all of them must have one logit, bit for bit: the softmax then gives every selected
// key exactly the same weight and every other key exactly 0.
struct Selection {
  enum class Kind : std::uint8_t {
    kNothing,  // no query selects a token: BOS alone is attended to
    kMean,     // selected at exp_zero or more: their mean, or BOS's value where there are none
    kShared,   // selected at 0: the mean of their values and BOS's
    kSink,     // selected at -depth, 0 < depth < sink_limit: 1 / (exp(depth) + w) of their sum
  };
  Kind kind = Kind::kNothing;
  double depth = 0;
  bool one_key = true;      // no query selects keys at two positions
  bool all_keys = true;     // every query selects every token that it sees
  bool never_empty = true;  // every query selects a token, whatever the sequence
  double margin = 0;        // the least distance of any logit from the side on which it must not be
  std::string fault;        // why the softmax is not as above; else empty
};

[[nodiscard]] Selection check_logits(const Stream& stream, std::uint32_t step, const Matrix& wq,
                                     const Matrix& wk, double scale);

}  // namespace rasp::compiler::checker
