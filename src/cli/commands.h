// The commands of the REPL: `set example`, `examples off`, `:type`, `help`, ...
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/repl.h"

namespace rasp::cli {

// A command as it was typed, in the text around it.
struct CommandText {
  std::string_view text;  // the whole text
  std::size_t begin = 0;  // the command is bytes [begin, end) of it
  std::size_t end = 0;
  std::size_t first_line = 1;  // of the text
};

class Commands {
 public:
  explicit Commands(Repl& repl) : repl_(&repl) {}

  void obey(const CommandText& command);
  // Words that can begin a command, for completion.
  [[nodiscard]] static const std::vector<std::string>& words();

 private:
  // Which of the two running examples a command is about.
  struct Subset {
    bool sop = true;
    bool selector = true;
  };
  struct Words;

  [[nodiscard]] bool example_command(Words& words, const CommandText& command);
  void colon_command(std::string_view name, Words& words, const CommandText& command);
  void set_example(const Subset& subset, Words& words, const CommandText& command);
  void show_example(const Subset& subset);
  void show_type(const lang::Value& value);
  void show_depth(const lang::Value& value, std::string_view source);
  void compile(const lang::Value& value, std::string_view source);
  void show_source(std::string_view name);
  void help(std::string_view topic);
  void problem(const std::string& message, const std::string& hint = {});
  void say(const std::string& text);

  Repl* repl_;
};

}  // namespace rasp::cli
