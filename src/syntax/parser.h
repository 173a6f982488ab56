// Text to tree. The grammar is grammar/Rasp.g4; ANTLR's tree does not leave this room.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "base/source.h"
#include "syntax/ast.h"

namespace rasp::syntax {

inline constexpr std::size_t kMaxSourceBytes = std::size_t{4} << 20;
inline constexpr std::size_t kMaxTokens = 1'000'000;
inline constexpr std::size_t kMaxNesting =
    200;  // brackets, blocks, prefix operators, nested ternaries
inline constexpr std::size_t kMaxChain = 20'000;     // operators in one unparenthesised chain
inline constexpr std::size_t kMaxSyntaxErrors = 20;  // reported for one text

struct ParseOptions {
  bool commands = false;           // the REPL's commands are statements
  bool warn_on_precedence = true;  // where an expression reads otherwise than in Python
};

struct Parsed {
  Program program;  // what could be parsed: every statement without an error
  std::vector<Diagnostic>
      diagnostics;                // syntax and limit errors; warnings on surprising precedence
  [[nodiscard]] bool ok() const;  // no errors (warnings allowed)
};

// Never fails otherwise: whatever bytes the text holds, the result is a tree, diagnostics, or both.
[[nodiscard]] Parsed parse(const SourceMap& sources, FileId file, const ParseOptions& options = {});

// Whether a text that was typed so far is a whole number of statements (or commands, which end with
// their line), so that the REPL knows when to ask for more. Blank text is complete.
[[nodiscard]] bool is_complete(std::string_view text, const ParseOptions& options = {});

// The reserved words: select, aggregate, if, else, ... ; for completion and for "cannot be
// assigned".
[[nodiscard]] const std::vector<std::string>& keywords();

}  // namespace rasp::syntax
