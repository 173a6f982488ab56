#include "cli/presenter.h"

#include "base/utf8.h"
#include "cli/format.h"
#include "cli/json.h"
#include "cli/json_value.h"

namespace rasp::cli {
namespace {

constexpr std::size_t kMaxTerminalItems = 1000;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r\n;") - first + 1);
}

}  // namespace

bool is_expression(const lang::Event& event, const SourceMap& sources) {
  return event.kind == lang::Event::Kind::kValue &&
         (event.name == "out" || trimmed(sources.text(event.span)) == event.name);
}

std::string expectation_text(const lang::Event& event) {
  std::string_view written = trimmed(event.text);
  if (written.starts_with("expect")) written = trimmed(written.substr(6));
  const std::string text = (event.holds ? "✓ " : "✗ ") + printable(written);
  return event.holds ? text : text + ": " + printable(event.message);
}

Presenter::Presenter(Workspace& workspace, Output& output, std::vector<Example> examples, bool json)
    : workspace_(&workspace), output_(&output), json_(json), display_(workspace, settings_) {
  settings_.selector_examples = examples;
  settings_.sop_examples = std::move(examples);
  settings_.colour = wants_colour(1);
  settings_.max_items = is_terminal(1) ? kMaxTerminalItems : 0;
}

std::optional<Diagnostic> Presenter::show(std::string_view name, const lang::Value& value) {
  if (json_) {
    auto lines = json_lines(name, value, settings_.sop_examples, *workspace_);
    if (!lines) return std::move(lines).error();
    for (const std::string& line : *lines) output_->write(line + "\n");
    return std::nullopt;
  }
  const bool applied = std::holds_alternative<lang::AppliedSequenceRef>(value.data) ||
                       std::holds_alternative<lang::AppliedMatrixRef>(value.data);
  const Shown shown =
      applied && name == "out" ? display_.applied(value) : display_.named(name, value);
  if (!shown.problem) output_->write(shown.text);
  return shown.problem;
}

std::optional<Diagnostic> Presenter::event(const lang::Event& event, bool verbose) {
  auto problem = tell(event, verbose);
  if (problem && !problem->span.valid()) problem->span = event.span;
  return problem;
}

std::optional<Diagnostic> Presenter::tell(const lang::Event& event, bool verbose) {
  switch (event.kind) {
    case lang::Event::Kind::kValue:
      if (verbose) return show(event.name, event.value);
      break;
    case lang::Event::Kind::kDraw: {
      if (!verbose || json_) break;
      const Example example =
          event.input ? as_example(*event.input) : settings_.sop_examples.front();
      const Shown shown = display_.drawing(event.name, event.value, example);
      if (shown.problem) return shown.problem;
      output_->write(shown.text);
      break;
    }
    case lang::Event::Kind::kExpect:
      if (!event.holds) ++failed_;
      if (json_ && !event.holds) {
        const Diagnostic failure =
            error(ErrorKind::kValue, event.span, "the expectation does not hold: " + event.message);
        output_->write(json_diagnostic(failure, workspace_->sources()) + "\n");
      } else if (!json_ && (verbose || !event.holds)) {
        output_->write("    expect: " + expectation_text(event) + "\n");
      }
      break;
    case lang::Event::Kind::kCommand:
      return error(ErrorKind::kSyntax, event.span,
                   "'" + event.text + "' is a command of the REPL, not a statement");
    case lang::Event::Kind::kDefined:
    case lang::Event::Kind::kPuzzle:
      break;
  }
  return std::nullopt;
}

}  // namespace rasp::cli
