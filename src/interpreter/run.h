// What the evaluation of one input shares between its steps, and the steps themselves. A step reads
// finished columns and rows and fills `out`, which is none of them.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "interpreter/column.h"
#include "value/operators.h"

namespace rasp::interpreter {

struct Run {
  std::size_t n = 0;
  bool causal = false;
  std::vector<Failure> failures;
  std::size_t failure_bytes = 0;
  std::size_t available = 0;  // bytes that the step may still take
  bool exhausted = false;     // it needed more: its result is worthless
  const std::atomic<bool>* interrupted = nullptr;
  std::vector<std::int64_t> scaled;     // scratch of aggregates
  std::vector<std::int64_t> key_codes;  // scratch of selects
  std::vector<std::int64_t> query_codes;

  FailureId fail(graph::NodeId node, std::size_t position, value::OpError error) {
    const std::size_t bytes = sizeof(Failure) + error.message.size();
    take(bytes);
    failure_bytes += bytes;
    failures.push_back({node, position, std::move(error)});
    return static_cast<FailureId>(failures.size() - 1);
  }
  // Steps look here once a position or a row, which can each take milliseconds.
  [[nodiscard]] bool is_interrupted() const {
    return interrupted != nullptr && interrupted->load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool must_end() const { return exhausted || is_interrupted(); }
  void take(std::size_t bytes) {
    exhausted = exhausted || bytes > available;
    available -= exhausted ? 0 : bytes;
  }
  // Stores one element of an atom column; what it holds elsewhere counts as memory.
  void put(Column& out, std::size_t position, const value::Atom& atom) {
    count_heap(out, atom);
    out.atoms[position] = atom;
  }
  void put(Column& out, std::size_t position, value::Atom&& atom) {
    count_heap(out, atom);
    out.atoms[position] = std::move(atom);
  }

 private:
  void count_heap(Column& out, const value::Atom& atom) {
    const std::size_t bytes = heap_bytes(atom);
    if (bytes == 0) return;
    take(bytes);
    out.heap_bytes += bytes;
  }
};

// ---- s-ops, position by position (elementwise.cc, lanes.cc) ----

void read_tokens(std::span<const value::Atom> input, value::TokenKind kind, graph::NodeId node,
                 Column& out, Run& run);
// `b` is null for operators of one operand.
void map(value::Op op, const Column& a, const Column* b, graph::NodeId node, Column& out, Run& run);
void choose(const Column& condition, const Column& yes, const Column& no, Column& out, Run& run);
void lookup(const value::Table& table, const Column& index, graph::NodeId node, Column& out,
            Run& run);
void member(const value::Table& list, const Column& element, Column& out, Run& run);
// The fast form of `map`: false, with `out` worthless, where operands or results are no lanes, and
// where an operator fails.
[[nodiscard]] bool map_lanes(value::Op op, const Column& a, const Column* b, std::size_t n,
                             Column& out);
// Makes every element of a sequence undefined that mixes strings with numbers or bools (bools, ints
// and floats do mix).
void forbid_mixture(graph::NodeId node, Column& out, Run& run);

// ---- selectors (select.cc) ----

void select(value::Op comparison, const Column& key, const Column& query, graph::NodeId node,
            Rows& out, Run& run);
void combine(graph::Kind kind, const Rows& a, const Rows* b, Rows& out, Run& run);

// ---- aggregate.cc ----

void aggregate(const Rows& rows, const Column& values, const value::Atom& otherwise,
               graph::NodeId node, Column& out, Run& run);

}  // namespace rasp::interpreter
