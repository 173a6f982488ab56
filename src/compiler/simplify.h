// Pass 1. Holds after: the compiler's program means what the graph means on every input where that
// has a value; equal sub-programs are one node; widths, sums and existence tests are nodes of their
// own.
#pragma once

#include <vector>

#include "base/result.h"
#include "compiler/ir.h"
#include "graph/graph.h"

namespace rasp::compiler {

struct Simplified {
  Ir ir;
  IrId root = kNoIr;
  IrId root_is_float = kNoIr;  // a bool s-op: the root's number is a float; kNoIr for a selector
  std::vector<IrId> of_node;   // graph node -> what became of it; kNoIr where it is not needed
};

[[nodiscard]] Simplified simplify(const graph::Graph& graph, graph::NodeId root, bool causal,
                                  std::uint32_t max_length,
                                  const std::vector<value::Atom>& vocabulary);

}  // namespace rasp::compiler
