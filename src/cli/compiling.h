// Compiling from the command's side: one call, and the report about a model.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/workspace.h"
#include "compiler/compiler.h"
#include "graph/graph.h"
#include "model/model.h"

namespace rasp::cli {

struct TimedCompilation {
  compiler::Compiled compiled;
  double seconds = 0;
};

// The names that slices and heads go by.
[[nodiscard]] std::vector<compiler::NamedNode> named_nodes(const Workspace& workspace);
[[nodiscard]] Result<TimedCompilation> compile_sop(const Workspace& workspace, graph::NodeId sop,
                                                   const std::string& name,
                                                   const compiler::Options& options);
// The different tokens of an input, in canonical order.
[[nodiscard]] std::vector<value::Atom> vocabulary_of(const value::Sequence& tokens);

// What there is to know of a model's size and certificate, as lines or as one JSON object.
// `seconds` below 0: it was not compiled just now.
[[nodiscard]] std::string model_table(const model::Model& model, double seconds,
                                      std::string_view indent);
[[nodiscard]] std::string model_json(const model::Model& model, double seconds);
// One line a part.
[[nodiscard]] std::string certificate_table(const model::Certificate& certificate,
                                            std::string_view indent);

}  // namespace rasp::cli
