// The oracle: what a node of the graph means on an input. No recursion over depth; each node is
// evaluated once an input and dropped after its last reader; selectors are bit rows.
//
// Undefined elements (language.md section 4): an element whose computation fails carries its
// failure. It counts only where it is read: as the result asked for, or as the cause that an
// operator, a row of a selector or an aggregate that reads it is undefined in turn. A row of a
// select reads its query and every key; `kChoose` reads its condition and one branch. A sequence
// whose defined elements mix strings with numbers is undefined throughout; bools count as numbers.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "value/atom.h"

namespace rasp::interpreter {

struct Options {
  bool causal = false;                              // every selector and `k <= q`
  std::size_t memory_limit = std::size_t{1} << 30;  // bytes of values held at once
  // When it becomes true, a run ends early, with a limit error.
  const std::atomic<bool>* interrupted = nullptr;
};

inline constexpr std::size_t kMaxInput = 65'536;  // tokens

// n x n bools; row = query, column = key.
class Matrix {
 public:
  Matrix() = default;
  explicit Matrix(std::size_t n) : n_(n), words_((n + 63) / 64), bits_(n * words_) {}

  [[nodiscard]] std::size_t size() const { return n_; }
  [[nodiscard]] bool at(std::size_t query, std::size_t key) const {
    return (bits_[query * words_ + key / 64] >> (key % 64)) & 1u;
  }
  void set(std::size_t query, std::size_t key) {
    bits_[query * words_ + key / 64] |= std::uint64_t{1} << (key % 64);
  }
  [[nodiscard]] std::span<std::uint64_t> row(std::size_t query) {
    return {bits_.data() + query * words_, words_};
  }
  [[nodiscard]] std::span<const std::uint64_t> row(std::size_t query) const {
    return {bits_.data() + query * words_, words_};
  }

 private:
  std::size_t n_ = 0;
  std::size_t words_ = 0;
  std::vector<std::uint64_t> bits_;  // bits at and beyond n are 0
};

// Evaluates the same roots on many inputs: the order and the last uses are worked out once. Not
// thread-safe; make one a thread. The graph must outlive it and may grow meanwhile.
class Evaluator {
 public:
  Evaluator(const graph::Graph& graph, std::vector<graph::NodeId> roots, Options options = {});
  ~Evaluator();
  Evaluator(Evaluator&&) noexcept;
  Evaluator& operator=(Evaluator&&) noexcept;

  // Evaluates every root on `input` (1 to kMaxInput tokens). An error here concerns the input or a
  // limit; undefined elements are reported by the accessors below.
  [[nodiscard]] Result<void> run(std::span<const value::Atom> input);

  // Of the last run; `root` must be one of the roots. An undefined element (or row) is an error
  // that names the position, the value and the expression.
  [[nodiscard]] Result<value::Sequence> sequence(graph::NodeId root) const;
  [[nodiscard]] Result<Matrix> matrix(graph::NodeId root) const;
  // Elements one by one, nullopt where undefined: for comparing inner nodes with a model's trace.
  [[nodiscard]] std::vector<std::optional<value::Atom>> elements(graph::NodeId root) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// One root, one input.
[[nodiscard]] Result<value::Sequence> evaluate(const graph::Graph& graph, graph::NodeId sop,
                                               std::span<const value::Atom> input,
                                               Options options = {});
[[nodiscard]] Result<Matrix> evaluate_selector(const graph::Graph& graph, graph::NodeId selector,
                                               std::span<const value::Atom> input,
                                               Options options = {});

}  // namespace rasp::interpreter
