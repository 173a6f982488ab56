// Inputs as the command line gives them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "value/atom.h"

namespace rasp::cli {

// The tokens of an input, and whether it was written as a text.
struct Example {
  value::Sequence tokens;
  bool text = true;
};

// How an example reads in an output: "hello", or [1, 2, 'a'].
[[nodiscard]] std::string describe(const Example& example);

// Tokens of unknown writing: as a text when each is one character, else as a list.
[[nodiscard]] Example as_example(value::Sequence tokens);

// INPUT: a text (its characters are the tokens), a JSON list of numbers, strings and booleans, a
// JSON string, or @FILE for the text or JSON in a file. What starts with [ or " is JSON. Numbers
// are exact: 0.1 is one tenth.
[[nodiscard]] Result<Example> parse_input(std::string_view text);
// The same for inputs that something is computed on: none may be empty.
[[nodiscard]] Result<std::vector<Example>> parse_inputs(const std::vector<std::string>& texts);

// The whole text of a file; fails on what is no readable file, or is longer than `limit` bytes.
inline constexpr std::size_t kMaxFileBytes = std::size_t{64} << 20;
[[nodiscard]] Result<std::string> read_file(const std::string& path,
                                            std::size_t limit = kMaxFileBytes);

}  // namespace rasp::cli
