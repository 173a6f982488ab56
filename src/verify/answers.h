// What programs and expected values say of one input, and where two of them differ.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "interpreter/interpreter.h"
#include "lang/value.h"
#include "value/atom.h"
#include "verify/puzzle.h"

namespace rasp::verify {

inline constexpr std::size_t kPuzzleMemory = std::size_t{1} << 28;  // bytes, of one evaluation

// An s-op's elements or a selector's rows.
struct Answer {
  value::Sequence elements;
  std::optional<interpreter::Matrix> rows;
};

// The s-op or selector that a value is.
[[nodiscard]] std::optional<graph::NodeId> node_of(const lang::Value& value);

[[nodiscard]] interpreter::Options interpreter_options(const Halt& halt);

// An error says that the program has no answer to this input, or needs too much for it.
[[nodiscard]] Result<Answer> answer(const graph::Graph& graph, graph::NodeId node,
                                    std::span<const value::Atom> input, const Halt& halt = {});
// The same with an evaluator for many inputs, one of whose roots is the node.
[[nodiscard]] Result<Answer> answer(interpreter::Evaluator& evaluator, const graph::Graph& graph,
                                    graph::NodeId node, std::span<const value::Atom> input);

// A value that stands for an answer: a text, a list, or one atom for elements; rows as texts or
// lists of 0 and 1 where `rows` asks for them. Nullopt for what is no answer.
[[nodiscard]] std::optional<Answer> to_answer(const lang::Value& value, bool rows);

// Numbers and bools by value, as `expect` compares.
[[nodiscard]] bool agree(const Answer& expected, const Answer& got);

// Fills in `expected`, `got` and where they differ; of rows, the first that does.
void show_difference(const Answer& expected, const Answer& got, PuzzleCounterexample& into);
// Fills in `expected` alone, of an input to which there is no answer.
void show_expected(const Answer& expected, PuzzleCounterexample& into);
// The last selector that the program reads, on the input: of those that the user wrote or named, if
// there are any, since what a function of the library selects says little about its caller.
void show_selector(const lang::Session& session, graph::NodeId node, const SourceMap& sources,
                   const Halt& halt, PuzzleCounterexample& into);

}  // namespace rasp::verify
