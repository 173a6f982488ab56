// The two sides of a spec.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "interpreter/interpreter.h"
#include "value/atom.h"
#include "verify/answers.h"
#include "verify/puzzle.h"
#include "verify/search.h"

namespace rasp::verify {

// What a spec compares on every input: two programs, or a program with one atom.
struct Comparison {
  graph::NodeId solution = graph::kNoNode;
  graph::NodeId reference = graph::kNoNode;
  value::Atom constant;  // where there is no reference
};

[[nodiscard]] value::Sequence spell(std::span<const runtime::TokenId> tokens,
                                    const value::Sequence& vocabulary);

// Both of them, for one thread.
class Sides {
 public:
  // Inputs are spelled with `vocabulary`, which outlives this.
  Sides(const graph::Graph& graph, const Comparison& what, const value::Sequence& vocabulary,
        const Halt& halt);

  // A Judge. Inputs to which the reference has no answer are undefined: nothing is asked of the
  // solution there.
  [[nodiscard]] std::span<const Outcome> judge(std::span<const Tokens> inputs);
  // Fills in what differs on an input that `judge` found different; gives the solution's error,
  // where it has no answer.
  [[nodiscard]] std::optional<Diagnostic> explain(PuzzleCounterexample& example);

 private:
  [[nodiscard]] Outcome judge_input(const value::Sequence& input);
  [[nodiscard]] Result<Answer> reference_answer(const value::Sequence& input);

  const graph::Graph* graph_;
  Comparison what_;
  const value::Sequence* vocabulary_;
  Halt halt_;
  std::vector<Outcome> outcomes_;
  interpreter::Evaluator solution_;
  std::optional<interpreter::Evaluator> reference_;
};

}  // namespace rasp::verify
