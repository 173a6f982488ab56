// Between the language's atoms and the runtime's numbers: token ids in, rows of y out. Prepared
// once a model, for callers that run many sequences; `encode` and `decode` of backend.h are for
// one.
#pragma once

#include <span>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "model/model.h"
#include "runtime/backend.h"

namespace rasp::runtime {

class Codec {
 public:
  explicit Codec(const model::Model& model);  // which satisfies model::check

  [[nodiscard]] Result<std::vector<TokenId>> encode(std::span<const value::Atom> input) const;
  // y [n, d_out], BOS row dropped; an error when an output is not finite.
  [[nodiscard]] Result<value::Sequence> decode(const model::Matrix& y) const;

 private:
  [[nodiscard]] value::Atom decode_row(const double* y) const;

  std::unordered_map<value::Atom, TokenId, value::AtomIdentityHash, value::AtomIdentical> ids_;
  std::size_t max_length_ = 0;
  std::size_t outputs_ = 0;
  model::Decoder decoder_;
  std::vector<double> codes_;  // of decoder_.codes
};

// Whether ids can be run: 1 to `max_length` of them, each below `vocabulary`. `sequence` is the
// place in a batch, for the message.
[[nodiscard]] Result<void> check_tokens(std::span<const TokenId> tokens, std::size_t sequence,
                                        std::size_t vocabulary, std::size_t max_length);

// The fraction nearest to `y`, which is finite, among those with denominators of 1 to
// `max_denominator`, at most 2^32; the smaller of two that are equally near. (Walks down the
// Stern-Brocot tree; Graham, Knuth, Patashnik, Concrete Mathematics, 4.5.) Differences below 2^-62
// are not seen.
[[nodiscard]] value::Number nearest_fraction(double y, std::int64_t max_denominator);

}  // namespace rasp::runtime
