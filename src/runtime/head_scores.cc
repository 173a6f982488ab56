#include "runtime/head_scores.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <random>
#include <string>
#include <utility>

namespace rasp::runtime {
namespace {

// The same on every machine, which the standard library's distributions are not.
std::size_t draw(std::mt19937_64& engine, std::size_t below) {
  const std::uint64_t fair = UINT64_MAX - UINT64_MAX % below;
  std::uint64_t number = engine();
  while (number >= fair) number = engine();
  return static_cast<std::size_t>(number % below);
}

// `block` different tokens, twice.
std::vector<TokenId> repeated_sequence(std::size_t vocabulary, std::size_t block,
                                       std::mt19937_64& engine) {
  std::vector<TokenId> all(vocabulary);
  std::iota(all.begin(), all.end(), TokenId{0});
  for (std::size_t i = 0; i < block; ++i) std::swap(all[i], all[i + draw(engine, vocabulary - i)]);
  std::vector<TokenId> tokens(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(block));
  tokens.resize(2 * block);
  std::copy_n(tokens.begin(), block, tokens.begin() + static_cast<std::ptrdiff_t>(block));
  return tokens;
}

// Adds the means of one sequence. `weights` [1 + n, 1 + n] has BOS in front.
void add_scores(const model::Matrix& weights, std::size_t block, HeadScores& scores) {
  const auto n = static_cast<Eigen::Index>(2 * block);
  const auto half = static_cast<Eigen::Index>(block);
  HeadScores sums;
  for (Eigen::Index i = 1; i <= n; ++i) {
    sums.current += weights(i, i);
    sums.bos += weights(i, 0);
    if (i > 1) sums.previous_token += weights(i, i - 1);
    if (i <= half) continue;
    sums.duplicate += weights(i, i - half);
    sums.induction += weights(i, i - half + 1);
  }
  const auto count = static_cast<double>(n);
  scores.current += sums.current / count;
  scores.bos += sums.bos / count;
  scores.previous_token += sums.previous_token / (count - 1);
  scores.duplicate += sums.duplicate / static_cast<double>(block);
  scores.induction += sums.induction / static_cast<double>(block);
}

}  // namespace

std::string_view role_of(const HeadScores& scores) {
  const std::array<std::pair<double, std::string_view>, 4> candidates = {
      {{scores.previous_token, "previous-token"},
       {scores.induction, "induction"},
       {scores.duplicate, "duplicate-token"},
       {scores.current, "current-token"}}};
  const auto best =
      std::max_element(candidates.begin(), candidates.end(),
                       [](const auto& a, const auto& b) { return a.first < b.first; });
  return best->first >= 0.5 ? best->second : "";
}

std::size_t largest_block(const model::Model& model) {
  return std::min({std::size_t{model.max_length} / 2, model.vocabulary.size(), kMaxBlock});
}

Result<ScoredHeads> score_heads(const model::Model& model, const Executable& executable,
                                const HeadScoring& options) {
  constexpr std::size_t kLeast = 3;  // with fewer, one key is right for several scores
  const std::size_t most = largest_block(model);
  const std::string sizes = "a vocabulary of " + std::to_string(model.vocabulary.size()) +
                            " and a max length of " + std::to_string(model.max_length);
  if (most < kLeast)
    return fail(
        ErrorKind::kInput, {},
        "heads are scored on at least 3 different tokens, repeated, but the model has " + sizes);
  ScoredHeads scored;
  scored.block = options.block == 0 ? most : options.block;
  if (scored.block < kLeast || scored.block > most)
    return fail(ErrorKind::kInput, {},
                "a block of " + std::to_string(scored.block) + " tokens: from 3 to " +
                    std::to_string(most) + " fit " + sizes);
  for (const model::Layer& layer : model.layers) scored.layers.emplace_back(layer.heads.size());
  std::mt19937_64 engine(options.seed);
  for (std::size_t s = 0; s < options.sequences; ++s) {
    RASP_TRY(const Trace trace,
             executable.trace(repeated_sequence(model.vocabulary.size(), scored.block, engine)));
    for (std::size_t l = 0; l < scored.layers.size(); ++l)
      for (std::size_t h = 0; h < scored.layers[l].size(); ++h)
        add_scores(trace.attention[l][h], scored.block, scored.layers[l][h]);
  }
  const auto count = static_cast<double>(std::max<std::size_t>(1, options.sequences));
  for (auto& layer : scored.layers)
    for (HeadScores& head : layer)
      for (double* score :
           {&head.previous_token, &head.induction, &head.duplicate, &head.current, &head.bos})
        *score /= count;
  return scored;
}

}  // namespace rasp::runtime
