// What a causal mask takes away from a program.
#pragma once

#include "graph/graph.h"

namespace rasp::compiler {

// Whether a `select` can hold for a key after the query. Exact for comparisons of positions shifted
// by constants; any other selector is taken to be able to.
[[nodiscard]] bool looks_ahead(const graph::Graph& graph, graph::NodeId select);

}  // namespace rasp::compiler
