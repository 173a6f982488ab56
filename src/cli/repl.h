// The session loop: reads statements, runs them, prints what they gave.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "cli/display.h"
#include "cli/output.h"
#include "cli/workspace.h"

namespace rasp::cli {

struct ReplOptions {
  bool terminal = false;  // banner, prompts
  bool causal = false;
};

class Repl {
 public:
  Repl(Output& output, const ReplOptions& options, std::atomic<bool>& interrupted);

  // Reads until the end of standard input or `exit`; the exit status.
  [[nodiscard]] int loop();
  // Runs the statements and commands of one text, whose first line is number `first_line`.
  void run_text(std::string text, std::size_t first_line);
  [[nodiscard]] bool leaving() const { return leaving_; }

 private:
  friend class Commands;

  [[nodiscard]] std::optional<Diagnostic> on_event(const lang::Event& event);
  void print(const Shown& shown, std::string_view name);
  void report(const Diagnostic& diagnostic);
  [[nodiscard]] std::vector<std::string> complete(std::string_view word, bool first) const;
  // The value of an expression that a command holds, at `span`; nothing of the session changes.
  // Reports why there is none.
  [[nodiscard]] std::optional<lang::Value> evaluate(const Span& span);
  // A text to run, in which bytes outside [begin, end) of the typed `text` are blank: places in it
  // are places in what was typed.
  [[nodiscard]] FileId add_source(const std::shared_ptr<const std::string>& text,
                                  std::size_t first_line, std::size_t begin, std::size_t end,
                                  std::string_view ending = {});
  [[nodiscard]] std::string describe(const Span& span) const;  // "console:3:1"

  Output* output_;
  ReplOptions options_;
  std::atomic<bool>* interrupted_;
  Workspace workspace_;
  DisplaySettings settings_;
  Display display_;
  struct Typed {
    std::shared_ptr<const std::string> text;
    std::size_t first_line = 1;
  };
  std::unordered_map<FileId, Typed> typed_;  // by the source that was made of it
  bool leaving_ = false;
  bool failed_ = false;
};

}  // namespace rasp::cli
