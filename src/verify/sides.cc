#include "verify/sides.h"

#include <new>

namespace rasp::verify {
namespace {

interpreter::Evaluator evaluator_of(const graph::Graph& graph, graph::NodeId node) {
  interpreter::Options options;
  options.memory_limit = kPuzzleMemory;
  return {graph, {node}, options};
}

}  // namespace

Sides::Sides(const graph::Graph& graph, const Comparison& what)
    : graph_(&graph), what_(what), solution_(evaluator_of(graph, what.solution)) {
  if (what.reference != graph::kNoNode) reference_.emplace(evaluator_of(graph, what.reference));
}

Outcome Sides::judge(const value::Sequence& input) {
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
