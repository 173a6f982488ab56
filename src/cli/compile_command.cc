// rasp compile.
#include <algorithm>

#include "base/utf8.h"
#include "cli/command.h"
#include "cli/compiling.h"
#include "cli/models.h"
#include "cli/workspace.h"
#include "model/safetensors.h"

namespace rasp::cli {
namespace {

Result<compiler::Options> compile_options(const Parsed& parsed) {
  RASP_TRY(compiler::Options options, compiler_options(parsed, "compile"));
  options.fuse = !parsed.has("no-fuse");
  options.dump = parsed.get("dump");
  const std::vector<std::string>& passes = compiler::pass_names();
  if (parsed.has("dump") && std::find(passes.begin(), passes.end(), options.dump) == passes.end()) {
    std::string all;
    for (const std::string& pass : passes) all += (all.empty() ? "" : ", ") + pass;
    return fail(ErrorKind::kInput, {}, "unknown pass '" + options.dump + "'",
                "the passes are " + all);
  }
  return options;
}

int run_compile(const Parsed& parsed, const Reporter& reporter, Output& output) {
  const auto options = compile_options(parsed);
  if (!options) return reporter.usage(options.error());
  Workspace workspace({.causal = options->causal});
  if (const auto status = run_program(parsed, workspace, reporter, output)) return *status;

  const std::string name = parsed.get("sop");
  const auto failed = [&](const Diagnostic& problem) {
    reporter.report(problem, workspace.sources());
    return kFailed;
  };
  const auto sop = find_node(name, workspace);
  if (!sop) return failed(sop.error());
  const auto result = compile_sop(workspace, *sop, name, *options);
  if (!result) return failed(result.error());
  Reporter(output, false).report(result->compiled.notes, workspace.sources());
  if (!options->dump.empty()) {
    output.write(result->compiled.dump);
    return kDone;
  }
  const std::string path = parsed.get("output");
  if (!path.empty()) {
    const auto saved = model::save(result->compiled.model, path);
    if (!saved) return failed(saved.error());
  }
  const model::Model& model = result->compiled.model;
  if (reporter.json()) {
    output.write(model_json(model, result->seconds) + "\n");
  } else {
    output.write(model_table(model, result->seconds, ""));
    output.write(path.empty() ? "not written: no -o MODEL was given\n"
                              : "written to " + printable(path) + "\n");
  }
  return kDone;
}

}  // namespace

int compile_command(const Arguments& arguments, Output& output) {
  Syntax syntax("compile FILE --sop NAME --vocab V --max-len N [-o MODEL] [options]",
                "Compiles an s-op of a program to the weights of a transformer that computes it\n"
                "exactly, and certifies them.",
                "rasp compile examples/reverse.rasp --sop reverse --vocab abcd --max-len 8 \\\n"
                "    -o reverse.safetensors\n"
                "rasp compile program.rasp --sop total --vocab '[0, 1, 2]' --max-len 10 --json");
  syntax.positional("FILE", 1, 1);
  add_subject_options(syntax, "the s-op to compile");
  syntax.value("output,o", "MODEL", "write the model to this safetensors file");
  add_weight_options(syntax);
  syntax.flag("no-fuse", "keep every named s-op a readable slice of the residual stream")
      .value("dump", "PASS", "stop after a pass and print what it made")
      .flag("json", "print one JSON object");
  return with_arguments(syntax, arguments, output, run_compile);
}

}  // namespace rasp::cli
