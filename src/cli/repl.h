// The session loop: reads statements, runs them, prints what they gave.
#pragma once

#include <atomic>
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
  // The value of an expression that a command holds, bytes [begin, end) of `text`; nothing else of
  // the session changes. Reports why there is none.
  [[nodiscard]] std::optional<lang::Value> evaluate(std::string_view text, std::size_t begin,
                                                    std::size_t end, std::size_t first_line);
  [[nodiscard]] FileId add_source(std::string text, std::size_t first_line);

  Output* output_;
  ReplOptions options_;
  std::atomic<bool>* interrupted_;
  Workspace workspace_;
  DisplaySettings settings_;
  Display display_;
  std::unordered_map<FileId, std::size_t> first_lines_;  // of the texts typed so far
  bool leaving_ = false;
  bool failed_ = false;
};

}  // namespace rasp::cli
