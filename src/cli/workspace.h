// One program at work: its sources, its session, and the interpreter behind both.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "cli/arguments.h"
#include "cli/input.h"
#include "cli/json.h"
#include "cli/output.h"
#include "interpreter/interpreter.h"
#include "lang/session.h"

namespace rasp::cli {

class Workspace {
 public:
  struct Options {
    bool causal = false;
    bool commands = false;  // the REPL's commands are statements
    const std::atomic<bool>* interrupted = nullptr;
  };
  explicit Workspace(const Options& options);

  [[nodiscard]] SourceMap& sources() { return sources_; }
  [[nodiscard]] const SourceMap& sources() const { return sources_; }
  [[nodiscard]] lang::Session& session() { return session_; }
  [[nodiscard]] const lang::Session& session() const { return session_; }
  [[nodiscard]] const interpreter::Options& interpreter() const { return interpreter_; }
  // Reads a file as a source text.
  [[nodiscard]] Result<FileId> add_file(const std::string& path);

 private:
  interpreter::Options interpreter_;
  SourceMap sources_;
  lang::Session session_;
};

// Tells what went wrong: as text on standard error, or as JSON lines on standard output.
class Reporter {
 public:
  Reporter(Output& output, bool json)
      : output_(&output), json_(json), colour_(!json && wants_colour(2)) {}

  void report(const Diagnostic& diagnostic, const SourceMap& sources) const;
  void report(const std::vector<Diagnostic>& diagnostics, const SourceMap& sources) const;
  // Without a place: usage, files. Gives the exit status.
  [[nodiscard]] int usage(const Diagnostic& diagnostic) const;
  [[nodiscard]] bool json() const { return json_; }

 private:
  Output* output_;
  bool json_;
  bool colour_;
};

// Parses a command's arguments, answers --help and mistakes, and else carries the command out.
// Gives the exit status.
using Command = int (*)(const Parsed& parsed, const Reporter& reporter, Output& output);
[[nodiscard]] int with_arguments(const Syntax& syntax, const std::vector<std::string>& arguments,
                                 Output& output, Command command);

}  // namespace rasp::cli
