// What a causal mask takes away from a program.
#pragma once

#include <vector>

#include "graph/graph.h"

namespace rasp::compiler {

// The selectors that some aggregate below `root` reads (or `root` itself) and that can hold for a
// key after the query, in the graph's order. Exact where positions shifted by constants are
// compared with each other or with constants; any other comparison is taken to be able to.
[[nodiscard]] std::vector<graph::NodeId> selectors_looking_ahead(const graph::Graph& graph,
                                                                 graph::NodeId root);

}  // namespace rasp::compiler
