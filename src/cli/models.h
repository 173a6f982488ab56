// What the commands about models share: their options, the s-op they are about, the file they read.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "base/result.h"
#include "cli/arguments.h"
#include "cli/workspace.h"
#include "compiler/compiler.h"
#include "graph/graph.h"
#include "model/model.h"
#include "runtime/backends.h"

namespace rasp::cli {

// --sop, --vocab and --max-len; --causal and --dtype: as `compile` and `verify` have them.
void add_subject_options(Syntax& syntax, std::string_view sop_help);
void add_weight_options(Syntax& syntax);
// What they say. `command` is named in errors.
[[nodiscard]] Result<compiler::Options> compiler_options(const Parsed& parsed,
                                                         std::string_view command);

// Runs the program in FILE; reports, and gives an exit status where that fails.
[[nodiscard]] std::optional<int> run_program(const Parsed& parsed, Workspace& workspace,
                                             const Reporter& reporter, Output& output);
// The s-op or the selector that a program gives a name to.
[[nodiscard]] Result<graph::NodeId> find_node(const std::string& name, Workspace& workspace);

// --backend, and the backend that it names.
void add_backend_option(Syntax& syntax);
[[nodiscard]] Result<std::unique_ptr<runtime::Backend>> chosen_backend(const Parsed& parsed);

// Loads a model; reports and gives nullopt where it cannot.
[[nodiscard]] std::optional<model::Model> load_model(const std::string& path,
                                                     const Reporter& reporter);

}  // namespace rasp::cli
