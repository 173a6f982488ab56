// Tokens of a text, by the lexer that is generated from the grammar.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "syntax/antlr.h"

namespace rasp::syntax {

using Kind = generated::RaspParser;  // names the kinds of tokens: Kind::NAME, ...
inline constexpr int kEndOfText = -1;

struct Token {
  int kind = kEndOfText;
  std::uint32_t begin = 0;  // byte offsets
  std::uint32_t end = 0;
  bool first_on_line = false;
  bool block = false;  // a '{' or '}' around statements (set by the outline)

  [[nodiscard]] std::string_view text(std::string_view source) const {
    return source.substr(begin, end - begin);
  }
};

// All tokens, then one of kind kEndOfText; stops with it after `max_tokens`. `source` is free of
// NUL and of invalid UTF-8.
[[nodiscard]] std::vector<Token> tokenise(std::string_view source, std::size_t max_tokens);

// Whether an expression can end with a token of this kind.
[[nodiscard]] bool ends_operand(int kind);
[[nodiscard]] bool is_comparison_sign(int kind);

}  // namespace rasp::syntax
