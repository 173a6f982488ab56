// A session that is fed anything: it ends, and unless it was told to leave it goes on computing.
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "cli/repl.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  char* shown = nullptr;
  std::size_t shown_size = 0;
  std::FILE* out = open_memstream(&shown, &shown_size);
  std::FILE* err = std::fopen("/dev/null", "w");
  {
    rasp::cli::Output output(out, err);
    std::atomic<bool> interrupted{false};
    rasp::cli::Repl repl(output, {}, interrupted);
    repl.run_text(std::string(reinterpret_cast<const char*>(data), size), 1);
    if (!repl.leaving()) {
      repl.run_text("1 + 1;", 100);
      output.flush();
      const std::string text(shown, shown_size);
      if (!text.ends_with("    value: out =  2\n")) std::abort();
    }
  }
  std::fclose(out);
  std::fclose(err);
  std::free(shown);
  return 0;
}
