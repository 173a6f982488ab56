// The outline of a text: where its top-level statements begin and end. It is found on the tokens
// alone, so that each statement is parsed by itself, an error in one leaves the others readable,
// and nesting is known to be bounded before anything recurses.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "syntax/lexer.h"

namespace rasp::syntax {

struct Unit {
  std::size_t first = 0;  // tokens [first, last)
  std::size_t last = 0;
  bool command = false;                 // a line of the REPL
  bool ended = false;                   // by its ';', its '}', or the end of its line
  std::optional<std::size_t> too_deep;  // the token that exceeds kMaxNesting
};

struct OutlineOptions {
  bool commands = false;      // lines of the REPL may stand where a statement may
  bool puzzle_items = false;  // the tokens are the inside of a puzzle
};

// Units of tokens [first, last), in order; they cover every token but stray ';'. Marks the braces
// of blocks, and gives words such as `load` their kinds where they begin a statement. The tokens
// from `last` on (at least one) are looked at, not changed.
[[nodiscard]] std::vector<Unit> outline(std::string_view source, std::vector<Token>& tokens,
                                        std::size_t first, std::size_t last,
                                        const OutlineOptions& options);

// One past the last token of the command that begins at `first`, or `first` when none does. The
// last token, kEndOfText, is part of no command.
[[nodiscard]] std::size_t command_end(std::string_view source, std::span<const Token> tokens,
                                      std::size_t first);

}  // namespace rasp::syntax
