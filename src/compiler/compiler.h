// From an s-op to exact attention weights (design: eight passes, one file each).
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/halt.h"
#include "base/result.h"
#include "graph/graph.h"
#include "model/model.h"

namespace rasp::compiler {

inline constexpr std::uint64_t kMaxWeights = std::uint64_t{1} << 28;

struct Options {
  std::vector<value::Atom> vocabulary;  // pairwise not identical, at least one
  std::uint32_t max_length = 0;         // at least 1
  bool causal = false;                  // every selector and `k <= q`
  bool fuse = true;  // false: every named s-op stays a readable slice of the residual stream
  model::Dtype dtype = model::Dtype::kF32;
  std::string dump;                         // a pass: its printed result goes to Compiled::dump
  std::uint64_t max_weights = kMaxWeights;  // of the whole model: more are refused
  Halt halt;                                // ends the work early, in a limit error
};

// A node that has a name in the source: for errors, and with fuse = false for what is kept
// readable. Otherwise models call nodes by their expressions: names never influence a byte.
struct NamedNode {
  graph::NodeId node = graph::kNoNode;
  std::string name;
};

struct Compiled {
  model::Model model;  // certified: model.certificate.holds
  std::string dump;
  std::vector<Diagnostic> notes;
};

// Either a certified model or a refusal: which expression, where, why, and what would help. `names`
// label; with fuse = false they also choose what is kept readable.
[[nodiscard]] Result<Compiled> compile(const graph::Graph& graph, graph::NodeId sop,
                                       const std::vector<NamedNode>& names,
                                       const SourceMap& sources, const Options& options);

// Where a node was written, as models say it: "line 3" in the file of the compiled s-op,
// "basics.rasp:7" elsewhere. No columns and no paths: what a program's variables are called, or
// where it lies, does not change its model.
[[nodiscard]] std::string place_in_model(const SourceMap& sources, const Span& sop,
                                         const Span& node);

// The passes' names, in order, for `dump`.
[[nodiscard]] const std::vector<std::string>& pass_names();

// Checks a model from its weights alone. Throws Halted (halted.h) when the halt is due.
[[nodiscard]] model::Certificate certify(const model::Model& model, const Halt& halt = {});

}  // namespace rasp::compiler
