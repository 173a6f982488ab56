// What the parser ran into, in our words: never ANTLR's.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/diagnostic.h"
#include "base/source.h"
#include "syntax/lexer.h"
#include "syntax/tree.h"

namespace rasp::syntax {

struct Explanation {
  Diagnostic diagnostic;
  bool missing_end = false;  // a whole statement stands before: only its ';' is missing
};

// `tokens` are those that `failure` counts in.
[[nodiscard]] Explanation explain(const Failure& failure, std::span<const Token> tokens,
                                  const SourceMap& sources, FileId file);

}  // namespace rasp::syntax
