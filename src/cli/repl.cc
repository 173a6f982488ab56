#include "cli/repl.h"

#include <unistd.h>

#include <algorithm>

#include "base/utf8.h"
#include "cli/command.h"
#include "cli/commands.h"
#include "cli/format.h"
#include "cli/interrupt.h"
#include "cli/line_editor.h"
#include "cli/presenter.h"
#include "syntax/parser.h"

namespace rasp::cli {
namespace {

constexpr std::size_t kMaxTerminalItems = 1000;
constexpr std::string_view kConsole = "console";
// A text of more lines is not asked for its end inside a block: asking costs its whole length.
constexpr std::size_t kFewLines = 50;

// How many blocks a line opens less how many it closes; no string goes over a line.
int braces(std::string_view line) {
  int depth = 0;
  bool in_string = false;
  for (const char c : line) {
    if (c == '"') in_string = !in_string;
    if (in_string) continue;
    if (c == '#') break;
    depth += c == '{' ? 1 : c == '}' ? -1 : 0;
  }
  return depth;
}

// Statements in the making: the lines typed so far.
struct Pending {
  std::string text;
  std::size_t first_line = 1;
  std::size_t lines = 0;
  int depth = 0;

  void add(const std::string& line) {
    text += line;
    text += '\n';
    depth += braces(line);
    ++lines;
  }
  [[nodiscard]] bool complete() const {
    if (lines > kFewLines && depth > 0) return false;
    return syntax::is_complete(text, {.commands = true});
  }
  [[nodiscard]] bool blank() const {
    return text.find_first_not_of(" \t\r\n") == std::string::npos;
  }
};

}  // namespace

Repl::Repl(Output& output, const ReplOptions& options, std::atomic<bool>& interrupted)
    : output_(&output),
      options_(options),
      interrupted_(&interrupted),
      workspace_({.causal = options.causal, .commands = true, .interrupted = &interrupted}),
      display_(workspace_, settings_) {
  settings_.colour = options.terminal && wants_colour(STDOUT_FILENO);
  settings_.max_items = is_terminal(STDOUT_FILENO) ? kMaxTerminalItems : 0;
}

FileId Repl::add_source(const std::shared_ptr<const std::string>& text, std::size_t first_line,
                        std::size_t begin, std::size_t end, std::string_view ending) {
  std::string source = text->substr(0, end);
  for (std::size_t i = 0; i < begin; ++i) {
    if (source[i] != '\n') source[i] = ' ';
  }
  source += ending;
  const FileId file = workspace_.sources().add(std::string(kConsole), std::move(source));
  typed_.emplace(file, Typed{text, first_line});
  return file;
}

// A place in a typed text is told as a place in everything that was typed.
void Repl::report(const Diagnostic& diagnostic) {
  if (diagnostic.level == Level::kError) failed_ = true;
  const FormatOptions format_options{.colour = wants_colour(STDERR_FILENO)};
  const auto typed = typed_.find(diagnostic.span.file);
  if (typed == typed_.end()) {
    output_->error(format(diagnostic, workspace_.sources(), format_options));
    return;
  }
  const std::size_t lines = typed->second.first_line - 1;
  SourceMap whole;
  Diagnostic moved = diagnostic;
  moved.span.file =
      whole.add(std::string(kConsole), std::string(lines, '\n') + *typed->second.text);
  moved.span.begin += static_cast<std::uint32_t>(lines);
  moved.span.end += static_cast<std::uint32_t>(lines);
  output_->error(format(moved, whole, format_options));
}

std::string Repl::describe(const Span& span) const {
  const auto typed = typed_.find(span.file);
  if (typed == typed_.end()) return workspace_.sources().describe(span);
  const Place place = workspace_.sources().place(span.file, span.begin);
  return std::string(kConsole) + ":" + std::to_string(place.line + typed->second.first_line - 1) +
         ":" + std::to_string(place.column);
}

void Repl::print(const Shown& shown, std::string_view name) {
  output_->write(shown.text);
  if (!shown.problem) return;
  output_->write("        note: " + std::string(name.empty() ? "the drawing" : name) +
                 " has no value on the example " + shown.example + ": " +
                 printable(shown.problem->message) + "\n");
}

std::optional<Diagnostic> Repl::on_event(const lang::Event& event) {
  switch (event.kind) {
    case lang::Event::Kind::kValue: {
      const bool applied = std::holds_alternative<lang::AppliedSequenceRef>(event.value.data) ||
                           std::holds_alternative<lang::AppliedMatrixRef>(event.value.data);
      print(applied && event.name == "out" ? display_.applied(event.value)
                                           : display_.named(event.name, event.value),
            event.name);
      break;
    }
    case lang::Event::Kind::kDefined:
      print(display_.named(event.name, event.value), event.name);
      break;
    case lang::Event::Kind::kDraw:
      print(display_.drawing(
                event.name, event.value,
                event.input ? Example{*event.input, false} : settings_.sop_examples.front()),
            event.name);
      break;
    case lang::Event::Kind::kExpect:
      if (!event.holds) failed_ = true;
      output_->write("    expect: " + expectation_text(event) + "\n");
      break;
    case lang::Event::Kind::kPuzzle:
      output_->write("    puzzle: " + event.name + "\n");
      break;
    case lang::Event::Kind::kCommand:
      break;
  }
  return std::nullopt;
}

void Repl::run_text(std::string typed, std::size_t first_line) {
  // A command may evaluate expressions, so it runs between two runs of the session: the run stops
  // in front of it, and the rest of the text follows as a text of its own.
  const auto text = std::make_shared<const std::string>(std::move(typed));
  std::size_t from = 0;
  while (!leaving_) {
    const FileId file = add_source(text, first_line, from, text->size());
    std::optional<Span> command;
    const lang::Outcome outcome =
        workspace_.session().run(file, [&](const lang::Event& event) -> std::optional<Diagnostic> {
          if (event.kind != lang::Event::Kind::kCommand) return on_event(event);
          command = event.span;
          return error(ErrorKind::kInput, event.span, "a command");
        });
    for (const Diagnostic& diagnostic : outcome.diagnostics) {
      const bool stop = command && diagnostic.level == Level::kError;
      const bool later =
          command && diagnostic.span.file == file && diagnostic.span.begin >= command->begin;
      if (!stop && !later) report(diagnostic);
    }
    if (!command) return;
    Commands(*this, *command).obey();
    from = command->end;
    if (text->find_first_not_of(" \t\r\n;", from) == std::string::npos) return;
  }
}

std::optional<lang::Value> Repl::evaluate(const Span& span) {
  const Typed typed = typed_.at(span.file);
  const FileId file = add_source(typed.text, typed.first_line, span.begin, span.end, ";");
  std::optional<lang::Value> value;
  const lang::Outcome outcome =
      workspace_.session().run(file, [&](const lang::Event& event) -> std::optional<Diagnostic> {
        if (event.kind == lang::Event::Kind::kValue) value = event.value;
        // Refused: `out` stays what it was.
        return error(ErrorKind::kInput, event.span, "an expression was expected");
      });
  if (value) return value;
  for (const Diagnostic& diagnostic : outcome.diagnostics) report(diagnostic);
  return std::nullopt;
}

std::vector<std::string> Repl::complete(std::string_view word, bool first) const {
  std::vector<std::string> names = workspace_.session().names();
  const auto& keywords = syntax::keywords();
  names.insert(names.end(), keywords.begin(), keywords.end());
  if (first) names.insert(names.end(), Commands::words().begin(), Commands::words().end());
  return matching(word, std::move(names));
}

int Repl::loop() {
  std::optional<LineEditor> editor;
  PipeReader pipe;
  if (options_.terminal) {
    editor.emplace([this](std::string_view word, bool first) { return complete(word, first); },
                   wants_colour(STDOUT_FILENO), *interrupted_);
    output_->write("rasp " RASP_VERSION ". The running example is " +
                   cli::describe(settings_.sop_examples.front()) +
                   "; `help` tells more, Ctrl-D leaves.\n");
  }
  Pending pending;
  std::size_t line_number = 0;
  while (!leaving_ && !output_->broken()) {
    output_->flush();
    interrupted_->store(false);  // it was for the statement before
    std::string line;
    const ReadStatus status =
        editor ? editor->read(pending.lines == 0 ? ">> " : ".. ", line) : pipe.read(line);
    interrupted_->store(false);
    if (status == ReadStatus::kInterrupted) {
      pending = {};
      continue;
    }
    if (status == ReadStatus::kTooLong) {
      report(error(ErrorKind::kLimit, {}, "a line of the input is longer than 64 MiB"));
      break;
    }
    if (status == ReadStatus::kLine) {
      ++line_number;
      if (pending.lines == 0) pending.first_line = line_number;
      pending.add(line);
      if (!pending.complete()) continue;
    }
    Pending now = std::move(pending);
    pending = {};
    if (!now.blank()) run_text(std::move(now.text), now.first_line);
    if (status == ReadStatus::kEnd) break;
  }
  if (editor && !leaving_) output_->write("\n");
  return failed_ && !options_.terminal ? kFailed : kDone;
}

namespace {

int run_repl(const Parsed& parsed, const Reporter&, Output& output) {
  const bool terminal = is_terminal(STDIN_FILENO) && is_terminal(STDOUT_FILENO);
  // Without a terminal Ctrl-C ends the process, as it does everywhere else.
  std::atomic<bool> never{false};
  Repl repl(output, {.terminal = terminal, .causal = parsed.has("causal")},
            terminal ? catch_interrupts() : never);
  return repl.loop();
}

}  // namespace

int repl_command(const Arguments& arguments, Output& output) {
  Syntax syntax("[repl] [options]",
                "Reads statements and shows their values, at a terminal or from a pipe.",
                "rasp\n"
                "echo 'length;' | rasp repl");
  syntax.flag("causal", "let every selector see only positions up to its own");
  return with_arguments(syntax, arguments, output, run_repl);
}

}  // namespace rasp::cli
