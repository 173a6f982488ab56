// What each head of a model does, measured as circuit analysis does: on random sequences whose
// second half repeats the first (Elhage et al. 2021, "A Mathematical Framework for Transformer
// Circuits"; Olsson et al. 2022, "In-context Learning and Induction Heads").
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/model.h"
#include "runtime/backend.h"

namespace rasp::runtime {

// Mean attention weights, each from 0 to 1. Queries are tokens; weight that goes to BOS counts for
// `bos` alone.
struct HeadScores {
  double previous_token = 0;  // on the token before, over queries from the second on
  double induction = 0;       // on the token behind the previous occurrence of the query's token,
                              // over queries of the second half
  double duplicate = 0;       // on the previous occurrence, over queries of the second half
  double current = 0;         // on the query itself, over all
  double bos = 0;             // on BOS, over all
};

// What a head mostly does: "previous-token", "induction", "duplicate-token" or "current-token",
// where that score is at least a half; else "".
[[nodiscard]] std::string_view role_of(const HeadScores& scores);

struct HeadScoring {
  std::size_t sequences = 16;  // that are averaged over
  std::size_t block = 0;       // tokens of a half; 0: as many as fit, at most kMaxBlock
  std::uint64_t seed = 0;
};
inline constexpr std::size_t kMaxBlock = 64;

struct ScoredHeads {
  std::size_t block = 0;                        // tokens of a half, as it was used
  std::vector<std::vector<HeadScores>> layers;  // [layer][head]
};

// The tokens of a half are drawn from the vocabulary without replacement, so that every token has
// one previous occurrence. Errors: a model of fewer than 3 tokens, or for fewer than 6 positions;
// a block that does not fit, with the sizes.
[[nodiscard]] Result<ScoredHeads> score_heads(const model::Model& model,
                                              const Executable& executable,
                                              const HeadScoring& options);

// The largest block that a model takes: at most half its length, and no longer than its vocabulary.
[[nodiscard]] std::size_t largest_block(const model::Model& model);

}  // namespace rasp::runtime
