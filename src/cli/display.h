// Values as the REPL prints them. Layout and wording are those of the original where its output is
// plain; grids stay aligned for tokens of any width.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/example_values.h"
#include "cli/input.h"
#include "cli/workspace.h"
#include "interpreter/interpreter.h"
#include "lang/value.h"

namespace rasp::cli {

struct DisplaySettings {
  std::vector<Example> sop_examples{Example{value::characters("hello"), true}};
  std::vector<Example> selector_examples{Example{value::characters("hello"), true}};
  bool show_sop_examples = true;
  bool show_selector_examples = true;
  bool full_sequences = false;  // input and output in columns
  bool colour = false;
  std::size_t max_items = 0;  // of a list, dict or sequence; 0: no limit
};

// What was shown, and why an example could not be: the first such failure, and its example.
struct Shown {
  std::string text;
  std::optional<Diagnostic> problem;
  std::string example;
};

class Display {
 public:
  Display(const Workspace& workspace, const DisplaySettings& settings);

  // `name = value;`, or an expression whose value has the name "out".
  [[nodiscard]] Shown named(std::string_view name, const lang::Value& value);
  // The result of applying to an input, as an expression statement: "=  [0, 1, 2] (ints)".
  [[nodiscard]] Shown applied(const lang::Value& value);
  // Heads and output of a s-op on one input.
  [[nodiscard]] Shown drawing(std::string_view name, const lang::Value& value,
                              const Example& example);
  void forget();  // the graph was replaced

 private:
  class Writer;
  const Workspace* workspace_;
  const DisplaySettings* settings_;
  ExampleValues sop_values_;
  ExampleValues selector_values_;
};

}  // namespace rasp::cli
