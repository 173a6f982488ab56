// Values of s-ops and selectors on a running example, for sessions of many statements: what was
// shown once is not computed again, so that 10,000 lines of `x = x + x;` cost 10,000 additions and
// not 50 million.
#pragma once

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
  // `root` in a graph of its own, in which s-ops with known values are tables indexed by position.
  struct Shortcut {
    graph::Graph graph;
    graph::NodeId root = graph::kNoNode;
  };
  [[nodiscard]] bool shorten(graph::NodeId root, Shortcut& shortcut) const;
  void use_input(const value::Sequence& input);
  void remember(graph::NodeId sop, const value::Sequence& values);

  const graph::Graph* graph_;
  interpreter::Options options_;
  value::Sequence input_;
  std::unordered_map<graph::NodeId, value::Sequence> known_;
  std::size_t bytes_ = 0;
};

}  // namespace rasp::cli
