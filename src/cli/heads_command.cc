// rasp heads.
#include <charconv>

#include "base/utf8.h"
#include "cli/command.h"
#include "cli/json.h"
#include "cli/models.h"
#include "cli/workspace.h"
#include "runtime/head_scores.h"
#include "visual/text.h"

namespace rasp::cli {

using visual::pad_left;
using visual::pad_right;
namespace {

constexpr std::uint32_t kMostSequences = 10'000;

Result<std::uint64_t> parse_seed(const std::string& text) {
  std::uint64_t seed = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), seed);
  if (status == std::errc() && end == text.data() + text.size()) return seed;
  return fail(ErrorKind::kInput, {},
              "option '--seed' expects a whole number below 2^64, got '" + text + "'");
}

Result<runtime::HeadScoring> scoring_of(const Parsed& parsed) {
  runtime::HeadScoring scoring;
  RASP_TRY(scoring.seed, parse_seed(parsed.get("seed", "0")));
  RASP_TRY(scoring.sequences,
           parse_count("--sequences", parsed.get("sequences", "16"), 1, kMostSequences));
  if (parsed.has("block")) {
    RASP_TRY(scoring.block, parse_count("--block", parsed.get("block"), 3,
                                        static_cast<std::uint32_t>(runtime::kMaxBlock)));
  }
  return scoring;
}

std::string fixed(double score) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", score);
  return text;
}

std::string table(const model::Model& model, const runtime::ScoredHeads& scored,
                  const runtime::HeadScoring& scoring) {
  std::string text = printable(model.name) + ": mean attention weights on " +
                     std::to_string(scoring.sequences) + " random sequences of " +
                     std::to_string(scored.block) + " different tokens, twice (seed " +
                     std::to_string(scoring.seed) + ")\n";
  text += "layer  head  previous  induction  duplicate  current    BOS  role             name\n";
  for (std::size_t l = 0; l < scored.layers.size(); ++l)
    for (std::size_t h = 0; h < scored.layers[l].size(); ++h) {
      const runtime::HeadScores& scores = scored.layers[l][h];
      const std::string role(role_of(scores));
      text += pad_left(std::to_string(l), 5) + pad_left(std::to_string(h), 6) +
              pad_left(fixed(scores.previous_token), 10) + pad_left(fixed(scores.induction), 11) +
              pad_left(fixed(scores.duplicate), 11) + pad_left(fixed(scores.current), 9) +
              pad_left(fixed(scores.bos), 7) + "  " + pad_right(role.empty() ? "-" : role, 17) +
              printable(model.layers[l].heads[h].name) + "\n";
    }
  return text + "Weight on BOS counts for no other score; the query of BOS itself is left out.\n";
}

std::string json_of(const model::Model& model, const runtime::ScoredHeads& scored,
                    const runtime::HeadScoring& scoring) {
  std::string heads = "[";
  for (std::size_t l = 0; l < scored.layers.size(); ++l)
    for (std::size_t h = 0; h < scored.layers[l].size(); ++h) {
      const runtime::HeadScores& scores = scored.layers[l][h];
      const std::string role(role_of(scores));
      heads += (heads.size() > 1 ? ", " : "") +
               JsonObject()
                   .add("layer", std::to_string(l))
                   .add("head", std::to_string(h))
                   .text("name", model.layers[l].heads[h].name)
                   .add("previous_token", json_real(scores.previous_token))
                   .add("induction", json_real(scores.induction))
                   .add("duplicate_token", json_real(scores.duplicate))
                   .add("current_token", json_real(scores.current))
                   .add("bos", json_real(scores.bos))
                   .add("role", role.empty() ? "null" : json_string(role))
                   .str();
    }
  return JsonObject()
             .text("name", model.name)
             .add("sequences", std::to_string(scoring.sequences))
             .add("block", std::to_string(scored.block))
             .add("seed", std::to_string(scoring.seed))
             .add("heads", heads + "]")
             .str() +
         "\n";
}

int run_heads(const Parsed& parsed, const Reporter& reporter, Output& output) {
  const auto scoring = scoring_of(parsed);
  if (!scoring) return reporter.usage(scoring.error());
  const auto model = load_model(parsed.get("MODEL"), reporter);
  if (!model) return kUsage;
  const auto failed = [&](const Diagnostic& problem) {
    reporter.report(problem, SourceMap());
    return kFailed;
  };
  const auto executable = runtime::make_cpu_backend(1)->load(*model);
  if (!executable) return failed(executable.error());
  const auto scored = score_heads(*model, **executable, *scoring);
  if (!scored) return failed(scored.error());
  output.write(reporter.json() ? json_of(*model, *scored, *scoring)
                               : table(*model, *scored, *scoring));
  return kDone;
}

}  // namespace

int heads_command(const Arguments& arguments, Output& output) {
  Syntax syntax(
      "heads MODEL [options]",
      "Scores every head of a model on random sequences of different tokens, repeated\n"
      "once, by the mean attention weight that queries give to\n"
      "  previous   the token before\n"
      "  induction  the token behind the previous occurrence of their own token\n"
      "  duplicate  the previous occurrence of their own token\n"
      "  current    themselves\n"
      "Induction and duplicate are means over the second half. BOS, which the model puts\n"
      "in front, has a column of its own. A score of at least a half names the role.",
      "rasp heads next.safetensors\n"
      "rasp heads next.safetensors --sequences 100 --seed 7 --json");
  syntax.positional("MODEL", 1, 1)
      .value("sequences", "N", "sequences that are averaged over (16 without it)")
      .value("block", "N", "tokens before the repetition (as many as fit, at most 64)")
      .value("seed", "N", "of the random tokens (0 without it)")
      .flag("json", "print one JSON object");
  return with_arguments(syntax, arguments, output, run_heads);
}

}  // namespace rasp::cli
