// Values of s-ops and selectors on a running example, for sessions of many statements: what was
// shown once is not computed again, so that 10,000 lines of `x = x + x;` cost 10,000 additions and
// not 50 million.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "interpreter/interpreter.h"
#include "value/atom.h"

namespace rasp::cli {

class ExampleValues {
 public:
  ExampleValues(const graph::Graph& graph, interpreter::Options options)
      : graph_(&graph), options_(options) {}

  // The same results as interpreter::evaluate and evaluate_selector.
  [[nodiscard]] Result<value::Sequence> sequence(graph::NodeId sop, const value::Sequence& input);
  [[nodiscard]] Result<interpreter::Matrix> matrix(graph::NodeId selector,
                                                   const value::Sequence& input);
  void clear();

 private:
  // What is known of a node on the input: its values, or why there are none.
  struct Known {
    value::Sequence values;
    interpreter::Matrix matrix;
    std::optional<Diagnostic> problem;  // then the node is undefined at position 0
  };
  // `root` in a graph of its own, in which known s-ops are tables indexed by position, and known
  // selectors are made of such tables.
  struct Shortcut {
    graph::Graph graph;
    graph::NodeId root = graph::kNoNode;
  };
  [[nodiscard]] bool shorten(graph::NodeId root, Shortcut& shortcut) const;
  [[nodiscard]] Result<graph::NodeId> stand_in(graph::NodeId id, Shortcut& shortcut) const;
  [[nodiscard]] const Diagnostic* inherited_problem(graph::NodeId sop) const;
  [[nodiscard]] Result<value::Sequence> compute(graph::NodeId sop);
  void use_input(const value::Sequence& input);
  void remember(graph::NodeId node, Known known, std::size_t bytes);

  const graph::Graph* graph_;
  interpreter::Options options_;
  value::Sequence input_;
  std::unordered_map<graph::NodeId, Known> known_;
  std::size_t bytes_ = 0;
};

}  // namespace rasp::cli
