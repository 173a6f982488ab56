// The command line of one subcommand: options and positional arguments, their help, and errors
// that suggest what was meant. Boost.Program_options does the parsing and stays in arguments.cc.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rasp::cli {

class Parsed {
 public:
  [[nodiscard]] bool has(std::string_view name) const;
  // The value of an option that was given once, or `otherwise`.
  [[nodiscard]] std::string get(std::string_view name, std::string otherwise = {}) const;
  // Every value of a repeatable option or of the positional arguments, in order.
  [[nodiscard]] std::vector<std::string> all(std::string_view name) const;

 private:
  friend class Syntax;
  struct Entry {
    std::string name;
    std::vector<std::string> values;
  };
  std::vector<Entry> entries_;
};

// What a subcommand accepts.
class Syntax {
 public:
  // `usage` is what follows "rasp ", `examples` are whole command lines, one a line.
  Syntax(std::string_view usage, std::string_view summary, std::string_view examples);
  ~Syntax();
  Syntax(const Syntax&) = delete;
  Syntax& operator=(const Syntax&) = delete;

  Syntax& flag(std::string_view name, std::string_view help);
  Syntax& value(std::string_view name, std::string_view placeholder, std::string_view help);
  Syntax& values(std::string_view name, std::string_view placeholder, std::string_view help);
  // Arguments without a dash; at least `least`, at most `most`.
  Syntax& positional(std::string_view name, std::size_t least, std::size_t most);

  [[nodiscard]] Result<Parsed> parse(const std::vector<std::string>& arguments) const;
  [[nodiscard]] std::string help() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// A count given as an option: a whole number from `least` to `most`.
[[nodiscard]] Result<std::uint32_t> parse_count(std::string_view option, std::string_view text,
                                                std::uint32_t least, std::uint32_t most);

}  // namespace rasp::cli
