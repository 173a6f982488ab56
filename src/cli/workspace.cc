#include "cli/workspace.h"

#include "base/utf8.h"

namespace rasp::cli {
namespace {

lang::Options session_options(const interpreter::Options& interpreter,
                              const Workspace::Options& workspace) {
  lang::Options options;
  options.commands = workspace.commands;
  options.interrupted = workspace.interrupted;
  options.applier.sop = [interpreter](const graph::Graph& graph, graph::NodeId sop,
                                      std::span<const value::Atom> input) {
    return interpreter::evaluate(graph, sop, input, interpreter);
  };
  options.applier.selector =
      [interpreter](const graph::Graph& graph, graph::NodeId selector,
                    std::span<const value::Atom> input) -> Result<std::vector<std::vector<bool>>> {
    RASP_TRY(const interpreter::Matrix matrix,
             interpreter::evaluate_selector(graph, selector, input, interpreter));
    std::vector<std::vector<bool>> rows(matrix.size(), std::vector<bool>(matrix.size()));
    for (std::size_t query = 0; query < matrix.size(); ++query) {
      for (std::size_t key = 0; key < matrix.size(); ++key) {
        rows[query][key] = matrix.at(query, key);
      }
    }
    return rows;
  };
  return options;
}

}  // namespace

Workspace::Workspace(const Options& options)
    : interpreter_{.causal = options.causal, .interrupted = options.interrupted},
      session_(sources_, session_options(interpreter_, options)) {}

Result<FileId> Workspace::add_file(const std::string& path) {
  RASP_TRY(std::string text, read_file(path));
  return sources_.add(path, std::move(text));
}

void Reporter::report(const Diagnostic& diagnostic, const SourceMap& sources) const {
  if (json_) {
    output_->write(json_diagnostic(diagnostic, sources) + "\n");
  } else {
    output_->error(format(diagnostic, sources, {.colour = colour_}));
  }
}

void Reporter::report(const std::vector<Diagnostic>& diagnostics, const SourceMap& sources) const {
  for (const Diagnostic& diagnostic : diagnostics) report(diagnostic, sources);
}

int Reporter::usage(const Diagnostic& diagnostic) const {
  if (json_) {
    output_->write(json_diagnostic(diagnostic, SourceMap()) + "\n");
  } else {
    output_->error("rasp: " + printable(diagnostic.message) + "\n");
    if (!diagnostic.hint.empty()) output_->error("  " + printable(diagnostic.hint) + "\n");
  }
  return kUsage;
}

int with_arguments(const Syntax& syntax, const std::vector<std::string>& arguments, Output& output,
                   Command command) {
  const auto parsed = syntax.parse(arguments);
  const Reporter reporter(output, parsed && parsed->has("json"));
  if (!parsed) return reporter.usage(parsed.error());
  if (parsed->has("help")) {
    output.write(syntax.help());
    return kDone;
  }
  return command(*parsed, reporter, output);
}

}  // namespace rasp::cli
