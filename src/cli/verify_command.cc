// rasp verify of an s-op.
#include <chrono>
#include <random>

#include "base/utf8.h"
#include "cli/command.h"
#include "cli/compiling.h"
#include "cli/format.h"
#include "cli/interrupt.h"
#include "cli/json.h"
#include "cli/models.h"
#include "cli/progress_line.h"
#include "cli/workspace.h"
#include "verify/equivalence.h"

namespace rasp::cli {
namespace {

std::string seconds_text(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3g", seconds);
  return text;
}

std::string layer_text(std::int32_t layer) {
  return layer < 0 ? "the embedding" : "layer " + std::to_string(layer);
}

std::string divergence_text(const std::optional<verify::Divergence>& divergence) {
  if (!divergence) return "  every slice agrees that the source has a name for\n";
  std::string text =
      "  first wrong in " + layer_text(divergence->layer) + ": " + printable(divergence->slice);
  if (!divergence->origin.empty()) text += " (" + printable(divergence->origin) + ")";
  return text +
         (divergence->at_bos ? " at BOS" : " at position " + std::to_string(divergence->position)) +
         " is " + printable(divergence->got) + ", not " + printable(divergence->expected) + "\n";
}

std::string inputs_text(const verify::Report& report, std::uint32_t max_length) {
  std::string text = std::to_string(report.tried);
  if (report.tried < report.total) text += " of " + std::to_string(report.total);
  text += report.exhaustive ? " inputs, of all of up to " : " random inputs of up to ";
  text += std::to_string(max_length) + (max_length == 1 ? " token" : " tokens");
  if (!report.exhaustive) text += " (seed " + std::to_string(report.seed) + ")";
  if (report.skipped > 0) {
    text += ", " + std::to_string(report.skipped) + " of them without a value";
  }
  return text + ", in " + seconds_text(report.seconds) + " s";
}

std::string report_text(const verify::Report& report, const model::Model& model) {
  const std::string inputs = inputs_text(report, model.max_length);
  const std::string name = printable(model.name);
  switch (report.verdict) {
    case verify::Verdict::kExact:
      return "exact: " + name + " on " + inputs + "\n";
    case verify::Verdict::kNothing:
      return "refused: " + name + " has no value on any input, so nothing was compared: " + inputs +
             "\n";
    case verify::Verdict::kInterrupted:
      return "interrupted: no mismatch of " + name + " so far on " + inputs + "\n";
    case verify::Verdict::kMismatch:
      break;
  }
  const verify::Counterexample& example = *report.counterexample;
  const bool selector = model.decoder.kind == model::Decoder::Kind::kPattern;
  return "mismatch: " + name + "(" + describe(as_example(example.input)) + ") at " +
         (selector ? "query " : "position ") + std::to_string(example.position) +
         "\n  interpreter  " + format_sequence(example.expected) + "\n  weights      " +
         (example.problem.empty() ? format_sequence(example.got) : example.problem) + "\n" +
         divergence_text(example.divergence) + "  after " + inputs + "\n";
}

std::string_view verdict_name(verify::Verdict verdict) {
  switch (verdict) {
    case verify::Verdict::kExact:
      return "exact";
    case verify::Verdict::kMismatch:
      return "mismatch";
    case verify::Verdict::kInterrupted:
      return "interrupted";
    case verify::Verdict::kNothing:
      break;
  }
  return "refused";
}

std::string divergence_json(const std::optional<verify::Divergence>& divergence) {
  if (!divergence) return "null";
  return JsonObject()
      .add("layer", std::to_string(divergence->layer))
      .text("slice", divergence->slice)
      .text("origin", divergence->origin)
      .add("position", divergence->at_bos ? "\"BOS\"" : std::to_string(divergence->position))
      .text("expected", divergence->expected)
      .text("got", divergence->got)
      .str();
}

std::string report_json(const verify::Report& report, const model::Model& model) {
  JsonObject object;
  object.text("verdict", verdict_name(report.verdict))
      .text("name", model.name)
      .add("inputs", std::to_string(report.tried))
      .add("skipped", std::to_string(report.skipped))
      .add("exhaustive", report.exhaustive ? "true" : "false");
  if (!report.exhaustive) object.add("seed", std::to_string(report.seed));
  object.add("seconds", json_real(report.seconds));
  if (report.verdict == verify::Verdict::kNothing) {
    object.text("reason", "the interpreter has a value on none of the inputs");
  }
  if (!report.counterexample) return object.str();
  const verify::Counterexample& example = *report.counterexample;
  JsonObject found;
  found.add("input", json_input(as_example(example.input)))
      .add("position", std::to_string(example.position))
      .add("expected", json_atoms(example.expected))
      .add("got", example.problem.empty() ? json_atoms(example.got) : "null");
  if (!example.problem.empty()) found.text("problem", example.problem);
  found.add("first_wrong", divergence_json(example.divergence));
  return object.add("counterexample", found.str()).str();
}

int refuse(const Diagnostic& problem, const std::string& name, const Workspace& workspace,
           const Reporter& reporter, Output& output) {
  if (!reporter.json()) {
    reporter.report(problem, workspace.sources());
    return kFailed;
  }
  JsonObject object;
  object.text("verdict", "refused").text("name", name).add("inputs", "0").add("skipped", "0");
  object.add("seconds", "0").text("reason", problem.message);
  output.write(object.str() + "\n");
  reporter.report(problem, workspace.sources());
  return kFailed;
}

Result<verify::Options> verify_options(const Parsed& parsed) {
  constexpr std::uint32_t kMost = UINT32_MAX;
  verify::Options options;
  RASP_TRY(options.samples, parse_count("--samples", parsed.get("samples", "10000"), 1, kMost));
  const std::string seed = parsed.get("seed", std::to_string(std::random_device()()));
  RASP_TRY(options.seed, parse_count("--seed", seed, 0, kMost));
  return options;
}

int run_verify_sop(const Parsed& parsed, const Reporter& reporter, Output& output) {
  const auto compiling = compiler_options(parsed, "verify");
  if (!compiling) return reporter.usage(compiling.error());
  auto options = verify_options(parsed);
  if (!options) return reporter.usage(options.error());

  const auto backend = chosen_backend(parsed);
  if (!backend) return reporter.usage(backend.error());
  // On the CPU the threads of the comparison each run the weights themselves.
  if ((*backend)->name() != "cpu") options->backend = backend->get();

  Workspace workspace({.causal = compiling->causal});
  if (const auto status = run_program(parsed, workspace, reporter, output)) return *status;
  const std::string name = parsed.get("sop");
  const auto node = find_node(name, workspace);
  if (!node) {
    reporter.report(node.error(), workspace.sources());
    return kFailed;
  }
  const auto compilation = compile_sop(workspace, *node, name, *compiling);
  if (!compilation) return refuse(compilation.error(), name, workspace, reporter, output);
  Reporter(output, false).report(compilation->compiled.notes, workspace.sources());

  const model::Model& model = compilation->compiled.model;
  const auto names = named_nodes(workspace);
  options->halt.interrupted = &catch_interrupts();
  const auto report = [&] {
    ProgressLine line(output);
    options->progress = [&](const verify::Progress& progress) { line.show(name, progress); };
    return verify::compare({workspace.session().graph(), *node, model, names, workspace.sources()},
                           *options);
  }();
  if (!report) {
    reporter.report(report.error(), workspace.sources());
    return kFailed;
  }
  output.write(reporter.json() ? report_json(*report, model) + "\n" : report_text(*report, model));
  if (report->verdict == verify::Verdict::kInterrupted) return kInterrupted;
  return report->verdict == verify::Verdict::kExact ? kDone : kFailed;
}

}  // namespace

int verify_sop_command(const Arguments& arguments, Output& output) {
  Syntax syntax("verify FILE --sop NAME --vocab V --max-len N [options]",
                "Compiles an s-op and compares what its weights compute with what the interpreter\n"
                "says: on every input where there are at most a million, else on random ones.\n"
                "Where they differ it shows the smallest input.",
                "rasp verify examples/histogram.rasp --sop hist --vocab abcd --max-len 8\n"
                "rasp verify sort.rasp --sop sorted --vocab '[0, 1, 2]' --max-len 40 \\\n"
                "    --samples 1000 --seed 7 --json");
  syntax.positional("FILE", 1, 1);
  add_subject_options(syntax, "the s-op (or the selector) to verify");
  add_weight_options(syntax);
  syntax.value("samples", "K", "random inputs, where not all are tried (10000 without it)")
      .value("seed", "S", "of the random inputs (another one each time without it)")
      .flag("json", "print one JSON object");
  add_backend_option(syntax);
  return with_arguments(syntax, arguments, output, run_verify_sop);
}

}  // namespace rasp::cli
