// Interpreter and runtime side by side, for one thread.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "interpreter/interpreter.h"
#include "runtime/backend.h"
#include "runtime/codec.h"
#include "verify/equivalence.h"
#include "verify/inputs.h"
#include "verify/search.h"

namespace rasp::verify {

// Equal in value and type; inexact numbers, which only `^` makes, by value.
[[nodiscard]] bool same(const value::Atom& expected, const value::Atom& got);

class Oracle {
 public:
  // The weights run on `backend`, or on the CPU where that is null.
  [[nodiscard]] static Result<Oracle> make(const Subject& subject, const Halt& halt,
                                           const runtime::Backend* backend);

  // One outcome an input, undefined where the interpreter has no value; none at all when the work
  // ends early. At most as many inputs as the longest block so far without allocating more than
  // results.
  [[nodiscard]] Result<std::span<const Outcome>> judge(std::span<const Tokens> inputs);
  // What differs on an input that `judge` found different; without the divergence.
  [[nodiscard]] Result<Counterexample> explain(const Tokens& tokens);
  [[nodiscard]] Result<runtime::Trace> trace(const Tokens& tokens) const {
    return executable_->trace(tokens);
  }

 private:
  Oracle(const Subject& subject, const Halt& halt, std::unique_ptr<runtime::Executable> executable);

  [[nodiscard]] bool interpret(const Tokens& tokens);
  [[nodiscard]] Result<void> judge_selectors(std::span<const Tokens> inputs);
  [[nodiscard]] Result<void> judge_sequences(std::span<const Tokens> inputs);

  const model::Model* model_;
  graph::NodeId node_;
  bool is_selector_;
  Halt halt_;
  interpreter::Evaluator evaluator_;
  std::unique_ptr<runtime::Executable> executable_;
  runtime::Codec codec_;
  value::Sequence input_;
  std::vector<Outcome> outcomes_;
  std::vector<Tokens> batch_;  // of the inputs that have a value
  std::vector<value::Sequence> expected_;
  std::vector<std::size_t> place_;  // in `outcomes_`
};

}  // namespace rasp::verify
