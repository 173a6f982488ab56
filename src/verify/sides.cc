#include "verify/sides.h"

#include <new>

namespace rasp::verify {
namespace {

interpreter::Evaluator evaluator_of(const graph::Graph& graph, graph::NodeId node,
                                    const Halt& halt) {
  return {graph, {node}, interpreter_options(halt)};
}

}  // namespace

value::Sequence spell(std::span<const runtime::TokenId> tokens, const value::Sequence& vocabulary) {
  value::Sequence input;
  input.reserve(tokens.size());
  for (const runtime::TokenId token : tokens) input.push_back(vocabulary[token]);
  return input;
}

Sides::Sides(const graph::Graph& graph, const Comparison& what, const value::Sequence& vocabulary,
             const Halt& halt)
    : graph_(&graph),
      what_(what),
      vocabulary_(&vocabulary),
      halt_(halt),
      solution_(evaluator_of(graph, what.solution, halt)) {
  if (what.reference != graph::kNoNode) {
    reference_.emplace(evaluator_of(graph, what.reference, halt));
  }
}

std::span<const Outcome> Sides::judge(std::span<const Tokens> inputs) {
  outcomes_.clear();
  for (const Tokens& tokens : inputs) {
    const Outcome outcome = judge_input(spell(tokens, *vocabulary_));
    if (halt_.is_due()) break;  // what was interrupted looks undefined or wrong
    outcomes_.push_back(outcome);
  }
  return outcomes_;
}

Outcome Sides::judge_input(const value::Sequence& input) {
  try {
    const auto expected = reference_answer(input);
    if (!expected) return Outcome::kUndefined;
    const auto got = answer(solution_, *graph_, what_.solution, input);
    return got && agree(*expected, *got) ? Outcome::kSame : Outcome::kDifferent;
  } catch (const std::bad_alloc&) {
    return Outcome::kDifferent;  // `explain` throws again, where it is caught
  }
}

std::optional<Diagnostic> Sides::explain(PuzzleCounterexample& example) {
  const auto expected = reference_answer(example.input);
  const auto got = answer(solution_, *graph_, what_.solution, example.input);
  if (expected && got) show_difference(*expected, *got, example);
  if (got) return std::nullopt;
  if (expected) show_expected(*expected, example);
  example.problem = got.error().message;
  return got.error();
}

Result<Answer> Sides::reference_answer(const value::Sequence& input) {
  if (reference_) return answer(*reference_, *graph_, what_.reference, input);
  return Answer{value::Sequence(input.size(), what_.constant), std::nullopt};
}

}  // namespace rasp::verify
