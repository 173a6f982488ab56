// What went wrong, as a value. Libraries return or collect diagnostics; only the command prints
// them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"

namespace rasp {

enum class Level { kError, kWarning, kNote };

// The kinds of language.md section 6, then those of the tools around the language.
enum class ErrorKind {
  kSyntax,
  kName,
  kType,
  kValue,
  kArithmetic,
  kLoad,
  kLimit,
  kCompile,  // the compiler refuses: it cannot keep its contract
  kModel,    // a model file is not what it should be
  kInput,    // an input, a file or an option of the command is not usable
};

[[nodiscard]] std::string_view name_of(ErrorKind kind);
[[nodiscard]] std::string_view name_of(Level level);

struct Diagnostic {
  Level level = Level::kError;
  ErrorKind kind = ErrorKind::kValue;
  Span span;
  std::string message;  // one sentence: what was expected and what was found
  std::string hint;     // what to do, or a suggestion; empty when there is none
};

[[nodiscard]] Diagnostic error(ErrorKind kind, const Span& span, std::string message,
                               std::string hint = {});
[[nodiscard]] Diagnostic warning(ErrorKind kind, const Span& span, std::string message,
                                 std::string hint = {});
[[nodiscard]] Diagnostic note(const Span& span, std::string message);

struct FormatOptions {
  bool colour = false;
};

// Several lines, each ended by a line break: "file:line:column: kind error: message", the source
// line with the offending part underlined, and the hint. Long source lines are cut around the
// place.
[[nodiscard]] std::string format(const Diagnostic& diagnostic, const SourceMap& sources,
                                 const FormatOptions& options = {});

// The candidate that `name` most likely meant (edit distance, at most a third of its length), or
// "".
[[nodiscard]] std::string closest(std::string_view name,
                                  const std::vector<std::string>& candidates);

}  // namespace rasp
