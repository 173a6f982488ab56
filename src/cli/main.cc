#include <csignal>
#include <cstdio>
#include <new>

#include "cli/command.h"
#include "cli/output.h"

int main(int count, char** values) {
  // A reader that goes away is seen where the write fails.
  std::signal(SIGPIPE, SIG_IGN);
  rasp::cli::Output output;
  try {
    const rasp::cli::Arguments arguments(values + (count > 0 ? 1 : 0), values + count);
    return output.finish(rasp::cli::main_command(arguments, output));
  } catch (const std::bad_alloc&) {
    std::fputs("rasp: out of memory\n", stderr);
    return rasp::cli::kFailed;
  }
}
