// A solution against a puzzle: its examples, its specs on every input, its compiled weights, its
// limits. Whatever a solution does, there is a verdict.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "interpreter/interpreter.h"
#include "lang/session.h"
#include "value/atom.h"
#include "verify/equivalence.h"

namespace rasp::verify {

using Compile = std::function<Result<compiler::Compiled>(
    const graph::Graph& graph, graph::NodeId node, const std::vector<compiler::NamedNode>& names,
    const SourceMap& sources, const compiler::Options& options)>;

struct PuzzleOptions {
  bool compile = true;
  Compile compiler = compiler::compile;               // a test may bring one that errs
  std::uint64_t exhaustive_limit = kExhaustiveLimit;  // up to so many inputs, all are tried
  std::uint64_t samples = kSamples;                   // else so many
  std::uint64_t seed = 0;
  std::size_t threads = 0;                         // 0: as many as the machine has
  const runtime::Backend* backend = nullptr;       // runs the weights; null: the CPU
  double seconds = 120;                            // the most that one puzzle may take, about
  const std::atomic<bool>* interrupted = nullptr;  // when it becomes true, the work ends early
  // On the caller's thread, ten times a second; `stage` says what is going on.
  std::function<void(std::string_view stage, const Progress&)> progress;
};

enum class PuzzleVerdict : std::uint8_t {
  kPassed,
  kFailed,       // a wrong answer, or nothing that could be checked
  kRefused,      // the compiler cannot keep its contract
  kError,        // the solution, or the puzzle, is no program
  kUndefined,    // nothing has the puzzle's name
  kLimit,        // more layers or heads than allowed, or more work, memory or time
  kInterrupted,  // no mistake so far
};
[[nodiscard]] std::string_view name_of(PuzzleVerdict verdict);  // "passed", "undefined name", ...

struct PuzzleCounterexample {
  std::string check;      // as written: `shift(1, "-") == ...`
  Span span;              // of the check
  value::Sequence input;  // empty: the check applies nothing to an input
  value::Sequence expected;
  value::Sequence got;  // empty where there is none: `problem` says why
  std::string problem;
  bool weights = false;   // the interpreter says `expected`, the compiled weights say `got`
  std::size_t query = 0;  // of selectors: the row that `expected` and `got` are
  bool is_selector = false;
  std::vector<std::size_t> differing;  // positions
  // The last selector of the solution, on the input.
  std::string selector;
  std::optional<interpreter::Matrix> pattern;
};

struct PuzzleReport {
  std::string name;
  PuzzleVerdict verdict = PuzzleVerdict::kError;
  std::string reason;                    // a sentence; empty when it passed
  std::optional<Diagnostic> diagnostic;  // behind `reason`, where there is a place
  std::uint64_t examples = 0;            // that hold or fail
  std::uint64_t inputs = 0;              // on which a spec was compared with the solution
  std::uint64_t undefined = 0;           // on which a spec has no value: nothing is asked there
  std::uint64_t weighed = 0;             // on which weights were compared with the interpreter
  bool exhaustive = true;                // no random inputs were used
  std::uint64_t seed = 0;                // of those
  bool compiled = false;
  bool exact = false;      // the weights say what the interpreter says, on all inputs tried
  std::size_t layers = 0;  // of the compiled solution; of the largest, where there are several
  std::size_t heads = 0;
  std::int64_t max_layers = -1;  // -1: no limit
  std::int64_t max_heads = -1;
  std::optional<PuzzleCounterexample> counterexample;  // the smallest that the checks have
  double seconds = 0;

  [[nodiscard]] std::uint64_t cases() const { return examples + inputs; }
};

// `session` has run the solution and knows the puzzle.
[[nodiscard]] PuzzleReport verify_puzzle(lang::Session& session, const lang::KnownPuzzle& puzzle,
                                         const SourceMap& sources, const PuzzleOptions& options);

}  // namespace rasp::verify
