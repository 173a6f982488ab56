// The commands of the REPL: `set example`, `examples off`, `:type`, `help`, ...
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "cli/repl.h"

namespace rasp::cli {

class Commands {
 public:
  // `command` is where the command stands, in a text of the session.
  Commands(Repl& repl, const Span& command) : repl_(&repl), command_(command) {}

  void obey();
  // Words that can begin a command, for completion.
  [[nodiscard]] static const std::vector<std::string>& words();

 private:
  // Which of the two running examples a command is about.
  struct Subset {
    bool sop = true;
    bool selector = true;
  };
  struct Words;

  [[nodiscard]] bool example_command(Words& words);
  void colon_command(std::string_view name, Words& words);
  void set_example(const Subset& subset, Words& words);
  void show_example(const Subset& subset);
  void show_type(const lang::Value& value);
  void show_depth(const lang::Value& value, std::string_view source);
  void compile(const lang::Value& value, std::string_view source);
  void show_source(std::string_view name);
  void help(std::string_view topic);
  void problem(const std::string& message, const std::string& hint = {});
  void say(const std::string& text);

  Repl* repl_;
  Span command_;
};

}  // namespace rasp::cli
