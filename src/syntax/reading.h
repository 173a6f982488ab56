// Where an expression without parentheses reads differently from the way Python reads it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "syntax/lexer.h"
#include "syntax/precedence.h"

namespace rasp::syntax {

// The tokens of one item, [first, last), as indices into the unit. Those of a choice's condition
// and `else` are between the items.
struct ItemTokens {
  std::size_t first = 0;
  std::size_t last = 0;
};

struct Surprise {
  std::uint32_t begin = 0;  // the smallest part that holds every difference, in bytes
  std::uint32_t end = 0;
  std::string message;
  std::string hint;
};

// `rasp` is how RASP groups the items.
[[nodiscard]] std::optional<Surprise> surprising_reading(std::span<const Item> items,
                                                         const Grouping& rasp,
                                                         std::span<const ItemTokens> places,
                                                         std::span<const Token> tokens,
                                                         std::string_view source);

}  // namespace rasp::syntax
