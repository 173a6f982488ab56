// The two sides of a spec.
#pragma once

#include <optional>

#include "graph/graph.h"
#include "interpreter/interpreter.h"
#include "value/atom.h"
#include "verify/answers.h"
#include "verify/oracle.h"
#include "verify/puzzle.h"

namespace rasp::verify {

// What a spec compares on every input: two programs, or a program with one atom.
struct Comparison {
  graph::NodeId solution = graph::kNoNode;
  graph::NodeId reference = graph::kNoNode;
  value::Atom constant;  // where there is no reference
};

// Both of them, for one thread.
class Sides {
 public:
  Sides(const graph::Graph& graph, const Comparison& what);

  // Inputs to which the reference has no answer are undefined: nothing is asked of the solution.
  [[nodiscard]] Outcome judge(const value::Sequence& input);
  // Fills in what differs on an input that `judge` found different; gives the solution's error,
  // where it has no answer.
  [[nodiscard]] std::optional<Diagnostic> explain(PuzzleCounterexample& example);

 private:
  [[nodiscard]] Result<Answer> reference_answer(const value::Sequence& input);

  const graph::Graph* graph_;
  Comparison what_;
  interpreter::Evaluator solution_;
  std::optional<interpreter::Evaluator> reference_;
};

}  // namespace rasp::verify
