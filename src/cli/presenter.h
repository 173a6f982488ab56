// Shows what a program does, for `run` and `eval`: values as the REPL prints them or as JSON lines,
// and what its `expect` lines found.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "cli/display.h"
#include "cli/output.h"
#include "cli/workspace.h"

namespace rasp::cli {

class Presenter {
 public:
  Presenter(Workspace& workspace, Output& output, std::vector<Example> examples, bool json);

  // The error that keeps the value from being shown, if any.
  [[nodiscard]] std::optional<Diagnostic> show(std::string_view name, const lang::Value& value);
  // What a statement did. `verbose`: also values, drawings and expectations that hold. An error
  // without a place of its own gets the statement's.
  [[nodiscard]] std::optional<Diagnostic> event(const lang::Event& event, bool verbose);
  [[nodiscard]] std::size_t failed_expectations() const { return failed_; }

 private:
  [[nodiscard]] std::optional<Diagnostic> tell(const lang::Event& event, bool verbose);

  Workspace* workspace_;
  Output* output_;
  bool json_;
  DisplaySettings settings_;
  Display display_;
  std::size_t failed_ = 0;
};

// Whether the event is of `expr;`, not of `name = expr;`.
[[nodiscard]] bool is_expression(const lang::Event& event, const SourceMap& sources);
// "✓ a == b", or "✗ a == b: where they differ".
[[nodiscard]] std::string expectation_text(const lang::Event& event);

}  // namespace rasp::cli
