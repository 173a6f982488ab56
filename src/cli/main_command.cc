// The table of subcommands.
#include <span>
#include <string>

#include "base/diagnostic.h"
#include "base/utf8.h"
#include "cli/command.h"

namespace rasp::cli {
namespace {

struct Entry {
  std::string_view name;
  std::string_view summary;
  int (*run)(const Arguments& arguments, Output& output);
};

constexpr Entry kEntries[] = {
    {"repl", "a session (also without a command)", repl_command},
    {"run", "run a program and show what it computes", run_command},
    {"eval", "evaluate an expression", eval_command},
    {"check", "parse and check programs", check_command},
    {"compile", "compile an s-op to transformer weights", compile_command},
    {"verify", "check puzzle solutions, or an s-op's weights", verify_command},
    {"puzzles", "list, show and start puzzles", puzzles_command},
    {"watch", "check puzzle solutions at every save", watch_command},
    {"exec", "run a compiled model", exec_command},
    {"inspect", "show what is in a compiled model", inspect_command},
    {"certify", "check a compiled model from its weights", certify_command},
    {"generate", "let a causal model continue a text", generate_command},
    {"heads", "score a model's heads as circuit analysis does", heads_command},
    {"attention", "attention as such, on NumPy files", attention_command},
    {"bench", "measure attention on this machine", bench_command},
    {"devices", "list what models and attention can run on", devices_command},
};

std::string help() {
  std::string text =
      "rasp: RASP, the language of select and aggregate, interpreted and compiled to attention\n\n"
      "Usage: rasp [COMMAND] [arguments]\n\nCommands:\n";
  for (const Entry& entry : kEntries) {
    std::string line = "  " + std::string(entry.name);
    line.resize(12, ' ');
    text += line + std::string(entry.summary) + "\n";
  }
  return text +
         "\n`rasp COMMAND --help` tells more, with examples. `rasp --version` prints the version.\n"
         "\nExamples:\n"
         "  rasp\n"
         "  rasp eval 'sort(tokens, tokens);' --input banana\n"
         "  rasp run examples/reverse.rasp --show reverse --input hello --json\n"
         "\nExit status: 0 done, 1 the program failed, 2 bad usage or unreadable input.\n";
}

}  // namespace

int main_command(const Arguments& arguments, Output& output) {
  if (arguments.empty()) return repl_command({}, output);
  const std::string& first = arguments.front();
  if (first == "--help" || first == "-h" || first == "help") {
    output.write(help());
    return kDone;
  }
  if (first == "--version") {
    output.write("rasp " RASP_VERSION "\n");
    return kDone;
  }
  if (first.starts_with('-')) return repl_command(arguments, output);
  std::vector<std::string> names;
  for (const Entry& entry : kEntries) {
    if (first == entry.name) {
      return entry.run({arguments.begin() + 1, arguments.end()}, output);
    }
    names.emplace_back(entry.name);
  }
  const std::string meant = closest(first, names);
  output.error(
      "rasp: unknown command '" + printable(first) + "'\n  " +
      (meant.empty() ? "`rasp --help` lists the commands" : "did you mean '" + meant + "'?") +
      "\n");
  return kUsage;
}

}  // namespace rasp::cli
