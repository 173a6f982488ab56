// Whether a model's weights compute what its program means: the interpreter against the runtime, on
// every input there is, or on random ones where those are too many.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/halt.h"
#include "base/result.h"
#include "base/source.h"
#include "compiler/compiler.h"
#include "graph/graph.h"
#include "model/model.h"
#include "runtime/backend.h"
#include "value/atom.h"
#include "verify/search.h"

namespace rasp::verify {

// What is compared. Vocabulary, length and causality are the model's.
struct Subject {
  const graph::Graph& graph;
  graph::NodeId node;  // an s-op, or a selector where the model's decoder is a pattern
  const model::Model& model;
  // What the source calls its nodes: for explanations.
  const std::vector<compiler::NamedNode>& names;
  const SourceMap& sources;
};

struct Options {
  std::uint64_t exhaustive_limit = kExhaustiveLimit;  // up to so many inputs, all are tried
  std::uint64_t samples = kSamples;                   // else so many, at least one
  std::uint64_t seed = 0;
  std::uint64_t min_length = 1;               // of inputs
  std::size_t threads = 0;                    // 0: as many as the machine has
  const runtime::Backend* backend = nullptr;  // runs the weights; null: the CPU
  Halt halt;
  std::function<void(const Progress&)> progress;  // on the caller's thread, ten times a second
};

// Where the trace first leaves the interpreter's values.
struct Divergence {
  std::int32_t layer = 0;  // -1: the embedding
  std::string slice;
  std::string origin;        // "file:line:column", or ""
  bool at_bos = false;       // else:
  std::size_t position = 0;  // of the token
  std::string expected;
  std::string got;
};

struct Counterexample {
  value::Sequence input;
  std::size_t position = 0;  // the first at which they differ; of a selector, the query
  // Whole outputs; of a selector, the row of the query as bools. `got` is empty when the model's
  // output is no value: `problem` says why.
  value::Sequence expected;
  value::Sequence got;
  std::string problem;
  // Nothing when every slice that has a meaning in the source agrees: the output itself is wrong.
  std::optional<Divergence> divergence;
};

enum class Verdict : std::uint8_t {
  kExact,
  kMismatch,
  kNothing,      // no input was compared: that is no success
  kInterrupted,  // no mismatch so far
};

struct Report {
  Verdict verdict = Verdict::kNothing;
  bool exhaustive = false;
  std::uint64_t seed = 0;     // when not exhaustive
  std::uint64_t total = 0;    // inputs that there were to try
  std::uint64_t tried = 0;    // of those; up to the first mismatch
  std::uint64_t skipped = 0;  // of those tried: the interpreter has no value
  double seconds = 0;
  // The smallest input (shorter first, then by the order of the vocabulary); with random inputs
  // the smallest that taking tokens away or making them smaller leads to.
  std::optional<Counterexample> counterexample;
};

// An error is a model that cannot be run or that does not fit the node.
[[nodiscard]] Result<Report> compare(const Subject& subject, const Options& options);

}  // namespace rasp::verify
