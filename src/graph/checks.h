// What the builders say when no input could make a node right (language.md section 6).
#pragma once

#include <span>

#include "graph/graph.h"

namespace rasp::graph {

[[nodiscard]] Diagnostic operand_error(const Graph& graph, value::Op op,
                                       std::span<const NodeId> args, const Span& span);
[[nodiscard]] Diagnostic zero_divisor_error(value::Op op, const Span& span);
[[nodiscard]] Diagnostic select_error(const Graph& graph, NodeId key, NodeId query,
                                      value::Op comparison, const Span& span);
[[nodiscard]] Diagnostic lookup_error(const Graph& graph, const value::Table& table, NodeId index,
                                      const Span& span);

}  // namespace rasp::graph
