#include "cli/output.h"

#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <string>

namespace rasp::cli {
namespace {

// Whether a write failed only because a signal came, such as Ctrl-C while a terminal takes no more.
bool only_interrupted(std::FILE* file) {
  if (errno != EINTR) return false;
  std::clearerr(file);
  return true;
}

}  // namespace

void Output::write(std::string_view text) {
  while (problem_ == 0 && !text.empty()) {
    errno = 0;
    text.remove_prefix(std::fwrite(text.data(), 1, text.size(), out_));
    if (!text.empty() && !only_interrupted(out_)) problem_ = errno != 0 ? errno : EIO;
  }
}

void Output::flush() {
  while (problem_ == 0) {
    errno = 0;
    if (std::fflush(out_) == 0) return;
    if (!only_interrupted(out_)) problem_ = errno != 0 ? errno : EIO;
  }
}

void Output::error(std::string_view text) {
  flush();
  // A failure to write the failure has nowhere to go.
  static_cast<void>(std::fwrite(text.data(), 1, text.size(), err_));
  static_cast<void>(std::fflush(err_));
}

int Output::finish(int status) {
  flush();
  if (problem_ == 0) return status;
  if (problem_ != EPIPE) {
    error("rasp: cannot write the output: " + std::string(std::strerror(problem_)) + "\n");
  }
  return status == kDone ? kFailed : status;
}

bool is_terminal(int descriptor) { return isatty(descriptor) == 1; }

bool wants_colour(int descriptor) {
  const char* none = std::getenv("NO_COLOR");
  const char* term = std::getenv("TERM");
  return (none == nullptr || *none == '\0') &&
         (term == nullptr || std::string_view(term) != "dumb") && is_terminal(descriptor);
}

}  // namespace rasp::cli
