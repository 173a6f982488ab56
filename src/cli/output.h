// Where the command writes. A reader that went away and a full disk are noticed once, at the end.
#pragma once

#include <cstdio>
#include <string_view>

namespace rasp::cli {

// Exit statuses.
inline constexpr int kDone = 0;
inline constexpr int kFailed = 1;  // the program, or the command's work, failed
inline constexpr int kUsage = 2;   // bad usage, or an input that cannot be read
inline constexpr int kInterrupted = 130;

class Output {
 public:
  explicit Output(std::FILE* out = stdout, std::FILE* err = stderr) : out_(out), err_(err) {}

  void write(std::string_view text);  // standard output, buffered
  void error(std::string_view text);  // standard error, after what was written before
  void flush();
  // Nobody reads standard output any more, or it cannot take more.
  [[nodiscard]] bool broken() const { return problem_ != 0; }
  // Flushes; `status`, or kFailed where something could not be written. A full disk is reported, a
  // reader that went away is not.
  [[nodiscard]] int finish(int status);

 private:
  std::FILE* out_;
  std::FILE* err_;
  int problem_ = 0;  // errno of the first failed write
};

[[nodiscard]] bool is_terminal(int descriptor);
// Colour for this stream: a terminal, NO_COLOR not set, TERM not "dumb".
[[nodiscard]] bool wants_colour(int descriptor);

}  // namespace rasp::cli
