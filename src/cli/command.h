// The subcommands. Each parses its own arguments, prints, and gives the exit status.
#pragma once

#include <string>
#include <vector>

#include "cli/arguments.h"
#include "cli/output.h"

namespace rasp::cli {

using Arguments = std::vector<std::string>;

[[nodiscard]] int repl_command(const Arguments& arguments, Output& output);
[[nodiscard]] int run_command(const Arguments& arguments, Output& output);
[[nodiscard]] int eval_command(const Arguments& arguments, Output& output);
[[nodiscard]] int check_command(const Arguments& arguments, Output& output);
[[nodiscard]] int compile_command(const Arguments& arguments, Output& output);
[[nodiscard]] int exec_command(const Arguments& arguments, Output& output);
[[nodiscard]] int verify_command(const Arguments& arguments, Output& output);
[[nodiscard]] int verify_sop_command(const Arguments& arguments, Output& output);  // with --sop
[[nodiscard]] int puzzles_command(const Arguments& arguments, Output& output);
[[nodiscard]] int watch_command(const Arguments& arguments, Output& output);
[[nodiscard]] int inspect_command(const Arguments& arguments, Output& output);
[[nodiscard]] int certify_command(const Arguments& arguments, Output& output);
[[nodiscard]] int attention_command(const Arguments& arguments, Output& output);
[[nodiscard]] int generate_command(const Arguments& arguments, Output& output);
[[nodiscard]] int heads_command(const Arguments& arguments, Output& output);
[[nodiscard]] int bench_command(const Arguments& arguments, Output& output);
[[nodiscard]] int devices_command(const Arguments& arguments, Output& output);

// The whole command line, without the program's name.
[[nodiscard]] int main_command(const Arguments& arguments, Output& output);

}  // namespace rasp::cli
