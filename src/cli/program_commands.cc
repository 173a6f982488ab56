// rasp run, rasp eval, rasp check.
#include <algorithm>
#include <filesystem>

#include "cli/command.h"
#include "cli/json.h"
#include "cli/presenter.h"
#include "cli/workspace.h"
#include "syntax/parser.h"

namespace rasp::cli {
namespace {

// What --input gives, or the example of the REPL.
Result<std::vector<Example>> examples_of(const Parsed& parsed) {
  RASP_TRY(std::vector<Example> examples, parse_inputs(parsed.all("input")));
  if (examples.empty()) examples.push_back({value::characters("hello"), true});
  return examples;
}

// Errors go where the format says; warnings and notes are for people.
void report(const lang::Outcome& outcome, const Workspace& workspace, const Reporter& reporter,
            Output& output) {
  const Reporter people(output, false);
  for (const Diagnostic& diagnostic : outcome.diagnostics) {
    (diagnostic.level == Level::kError ? reporter : people).report(diagnostic, workspace.sources());
  }
}

Diagnostic unknown_name(const std::string& name, const lang::Session& session) {
  const std::string meant = closest(name, session.names());
  return error(ErrorKind::kName, {}, "the program defines no '" + name + "'",
               meant.empty() ? "" : "did you mean '" + meant + "'?");
}

int show_names(const std::vector<std::string>& names, Workspace& workspace, Presenter& presenter,
               const Reporter& reporter) {
  for (const std::string& name : names) {
    const auto value = workspace.session().lookup(name);
    auto problem = value ? presenter.show(name, *value)
                         : std::optional(unknown_name(name, workspace.session()));
    if (problem) {
      // What is built in has no place; the name's definition tells more than nothing.
      const auto place = workspace.session().definition(name);
      if (!problem->span.valid() && place) problem->span = *place;
      reporter.report(*problem, workspace.sources());
      return kFailed;
    }
  }
  return kDone;
}

int run_file(const Parsed& parsed, const Reporter& reporter, Output& output) {
  auto examples = examples_of(parsed);
  if (!examples) return reporter.usage(examples.error());
  Workspace workspace({.causal = parsed.has("causal")});
  const auto file = workspace.add_file(parsed.get("FILE"));
  if (!file) return reporter.usage(file.error());

  const std::vector<std::string> names = parsed.all("show");
  Presenter presenter(workspace, output, std::move(*examples), reporter.json());
  bool shown = false;
  std::optional<lang::Event> last;
  const auto on_event = [&](const lang::Event& event) -> std::optional<Diagnostic> {
    const bool verbose = names.empty() && (event.kind != lang::Event::Kind::kValue ||
                                           is_expression(event, workspace.sources()));
    if (event.kind == lang::Event::Kind::kValue) {
      last = event;
      shown = shown || verbose;
    }
    return presenter.event(event, verbose);
  };
  const lang::Outcome outcome = workspace.session().run(*file, on_event);
  report(outcome, workspace, reporter, output);
  if (!outcome.ok()) return kFailed;
  int status = show_names(names, workspace, presenter, reporter);
  if (status == kDone && names.empty() && !shown && last) {
    if (const auto problem = presenter.event(*last, true)) {
      reporter.report(*problem, workspace.sources());
      status = kFailed;
    }
  }
  return presenter.failed_expectations() > 0 ? kFailed : status;
}

}  // namespace

int run_command(const Arguments& arguments, Output& output) {
  Syntax syntax("run FILE [options]",
                "Runs a RASP program and shows what it computes: the names given by --show, or\n"
                "the values of its expression statements, or else its last value.",
                "rasp run reverse.rasp --show reverse --input hello\n"
                "rasp run sort.rasp --show sorted --input '[3, 1, 2]' --json\n"
                "rasp run hist.rasp --show hist --input @text.txt");
  syntax.positional("FILE", 1, 1)
      .values("show", "NAME", "show the value of NAME (repeatable)")
      .values("input", "INPUT",
              "evaluate on INPUT (repeatable; \"hello\" without it): a text,\n"
              "a JSON list, a JSON string, or @FILE for what is in a file")
      .flag("causal", "let every selector see only positions up to its own")
      .flag("json", "print one JSON object a line");
  return with_arguments(syntax, arguments, output, run_file);
}

namespace {

int run_eval(const Parsed& parsed, const Reporter& reporter, Output& output) {
  auto examples = examples_of(parsed);
  if (!examples) return reporter.usage(examples.error());
  Workspace workspace({.causal = parsed.has("causal")});
  if (parsed.has("load")) {
    const auto file = workspace.add_file(parsed.get("load"));
    if (!file) return reporter.usage(file.error());
    const lang::Outcome loaded = workspace.session().run(*file);
    report(loaded, workspace, reporter, output);
    if (!loaded.ok()) return kFailed;
  }
  std::string text = parsed.get("EXPR");
  if (!syntax::is_complete(text)) text += ";";
  const FileId file = workspace.sources().add("expression", std::move(text));

  Presenter presenter(workspace, output, std::move(*examples), reporter.json());
  const lang::Outcome outcome = workspace.session().run(
      file, [&](const lang::Event& event) { return presenter.event(event, true); });
  report(outcome, workspace, reporter, output);
  return outcome.ok() && presenter.failed_expectations() == 0 ? kDone : kFailed;
}

}  // namespace

int eval_command(const Arguments& arguments, Output& output) {
  Syntax syntax("eval EXPR [options]",
                "Evaluates an expression, or statements, and shows each value.",
                "rasp eval '1/3 + 1/6;'\n"
                "rasp eval 'shift(tokens, 1, \"-\");' --input abc\n"
                "rasp eval 'hist' --load examples/histogram.rasp --input banana --json");
  syntax.positional("EXPR", 1, 1)
      .value("load", "FILE", "run FILE first")
      .values("input", "INPUT", "evaluate on INPUT, as in rasp run (repeatable)")
      .flag("causal", "let every selector see only positions up to its own")
      .flag("json", "print one JSON object a line");
  return with_arguments(syntax, arguments, output, run_eval);
}

namespace {

int run_check(const Parsed& parsed, const Reporter& reporter, Output& output) {
  int status = kDone;
  for (const std::string& path : parsed.all("FILE")) {
    Workspace workspace({});
    const auto file = workspace.add_file(path);
    if (!file) {
      status = reporter.usage(file.error());
      continue;
    }
    const lang::Outcome outcome = workspace.session().check(*file);
    reporter.report(outcome.diagnostics, workspace.sources());
    const auto errors = std::count_if(outcome.diagnostics.begin(), outcome.diagnostics.end(),
                                      [](const Diagnostic& d) { return d.level == Level::kError; });
    if (reporter.json()) {
      output.write(JsonObject()
                       .text("file", path)
                       .add("ok", outcome.ok() ? "true" : "false")
                       .add("errors", std::to_string(errors))
                       .str() +
                   "\n");
    } else {
      const std::string verdict =
          outcome.ok() ? "ok" : std::to_string(errors) + (errors == 1 ? " error" : " errors");
      output.write(path + ": " + verdict + "\n");
    }
    if (!outcome.ok() && status == kDone) status = kFailed;
  }
  return status;
}

}  // namespace

int check_command(const Arguments& arguments, Output& output) {
  Syntax syntax("check FILE... [options]",
                "Parses and checks RASP programs without running them on any input.",
                "rasp check program.rasp\n"
                "rasp check *.rasp --json");
  syntax.positional("FILE", 1, SIZE_MAX)
      .flag("json",
            "print one JSON object a line: each error and warning, then a summary\n"
            "of each file");
  return with_arguments(syntax, arguments, output, run_check);
}

}  // namespace rasp::cli
