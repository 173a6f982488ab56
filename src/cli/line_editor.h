// Lines from a person at a terminal (libedit: editing, history, completion) or from a pipe.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rasp::cli {

enum class ReadStatus { kLine, kEnd, kInterrupted, kTooLong };

// What could stand where `word` was begun. `first`: it is the first word of the line.
using Complete = std::function<std::vector<std::string>(std::string_view word, bool first)>;

class LineEditor {
 public:
  // `interrupted` is what Ctrl-C sets.
  LineEditor(Complete complete, bool colour, const std::atomic<bool>& interrupted);
  ~LineEditor();  // saves the history
  LineEditor(const LineEditor&) = delete;
  LineEditor& operator=(const LineEditor&) = delete;

  // `line` is without its line break. kInterrupted: Ctrl-C was pressed; the caller clears
  // the flag.
  [[nodiscard]] ReadStatus read(std::string_view prompt, std::string& line);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

class PipeReader {
 public:
  [[nodiscard]] ReadStatus read(std::string& line);

 private:
  std::string buffer_;
  std::size_t at_ = 0;
  bool ended_ = false;
};

// The candidates that begin with `word`, sorted, without repetitions.
[[nodiscard]] std::vector<std::string> matching(std::string_view word,
                                                std::vector<std::string> candidates);
// The longest text that all of them begin with.
[[nodiscard]] std::string common_prefix(const std::vector<std::string>& candidates);

}  // namespace rasp::cli
