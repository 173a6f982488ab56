// A line at a terminal that says how far the work is, once it takes long; it goes away in the end.
#pragma once

#include <string_view>

#include "cli/output.h"
#include "verify/equivalence.h"

namespace rasp::cli {

class ProgressLine {
 public:
  explicit ProgressLine(Output& output) : output_(&output), usable_(is_terminal(2)) {}
  ~ProgressLine();
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;

  // `title` says what is being done.
  void show(std::string_view title, const verify::Progress& progress);

 private:
  Output* output_;
  bool usable_;
  bool shown_ = false;
};

}  // namespace rasp::cli
