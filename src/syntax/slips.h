// What people write who come from other languages, and how RASP says it.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

#include "syntax/lexer.h"

namespace rasp::syntax {

struct Problem {
  std::string message;
  std::string hint;
};

// `tokens` are the unit's, ended by kEndOfText; `at` is the one that the parser did not expect.
struct Stop {
  std::span<const Token> tokens;
  std::size_t at = 0;
  std::string_view source;

  [[nodiscard]] int kind(std::size_t index) const { return tokens[index].kind; }
  [[nodiscard]] int kind_before(std::size_t steps = 1) const {
    return at < steps ? 0 : tokens[at - steps].kind;
  }
  [[nodiscard]] std::string_view text(std::size_t index) const {
    return tokens[index].text(source);
  }
};

[[nodiscard]] std::string in_quotes(std::string_view text);  // 'text'
// The token as a message names it: 'x', "abc", the end of the text.
[[nodiscard]] std::string shown(const Stop& stop, std::size_t index);
// For a token that is none of the language.
[[nodiscard]] Problem foreign_token(const Stop& stop);
[[nodiscard]] bool is_foreign(int kind);
// A hint on the signs at and around the stop: `**`, `+=`, `=>`, a ',' before a ')'.
[[nodiscard]] std::string hint_on_signs(const Stop& stop);
// A hint on the word that begins the statement at `first`, or stands at the stop: `while`, `is`.
[[nodiscard]] std::string hint_on_words(const Stop& stop, std::size_t first);

}  // namespace rasp::syntax
