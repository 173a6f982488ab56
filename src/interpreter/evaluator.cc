#include <algorithm>
#include <cassert>
#include <numeric>
#include <string>
#include <utility>

#include "interpreter/interpreter.h"
#include "interpreter/plan.h"
#include "interpreter/run.h"

namespace rasp::interpreter {
namespace {

using graph::Kind;
using graph::NodeId;
using value::Atom;

constexpr std::size_t kKeptLength = 512;  // fixed results of longer inputs are not kept

tl::unexpected<Diagnostic> out_of_memory(std::size_t limit) {
  return fail(
      ErrorKind::kLimit, {},
      "evaluating this input takes more than " + std::to_string(limit >> 20) + " MiB of values",
      "try a shorter input");
}

tl::unexpected<Diagnostic> interrupted() {
  return fail(ErrorKind::kLimit, {}, "interrupted while an input was evaluated");
}

}  // namespace

struct Evaluator::State {
  State(const graph::Graph& program, std::span<const NodeId> roots, Options chosen);

  [[nodiscard]] Result<void> evaluate(std::span<const Atom> input);
  [[nodiscard]] Slot slot_of(NodeId root) const;
  [[nodiscard]] Diagnostic explain(FailureId id) const;

  const graph::Graph* graph;
  Options options;
  Plan plan;
  Run run;
  std::vector<Column> columns;
  std::vector<Rows> rows;

 private:
  struct Mark {  // how many failures there are
    std::size_t count = 0;
    std::size_t bytes = 0;
  };

  bool evaluate_steps(std::size_t begin, std::size_t end, std::span<const Atom> input);
  [[nodiscard]] tl::unexpected<Diagnostic> early_end() const;
  void evaluate_sop(const Step& step, std::span<const Atom> input, Column& out);
  void evaluate_selector(const Step& step, Rows& out);
  bool roots_fit() const;
  void extend_indices();
  void forget_failures(const Mark& kept);
  void release(const Slot& slot);
  [[nodiscard]] std::size_t used() const { return held_ + run.failure_bytes; }

  std::size_t held_ = 0;          // bytes of all columns and rows
  std::size_t fixed_length_ = 0;  // the length of input that the fixed steps stand for, or 0
  Mark fixed_failures_;
};

Evaluator::State::State(const graph::Graph& program, std::span<const NodeId> roots, Options chosen)
    : graph(&program), options(chosen), plan(make_plan(program, roots)) {
  run.causal = options.causal;
  run.interrupted = options.interrupted;
  columns.resize(plan.columns);
  rows.resize(plan.row_blocks);
  for (const auto& [node, column] : plan.constants) {
    Column& out = columns[column];
    out.begin_atoms(1);
    out.step = 0;
    out.atoms[0] = program.atom(program[node]);
    out.heap_bytes = heap_bytes(out.atoms[0]);
    out.compact(1);
    held_ += out.bytes();
  }
}

Slot Evaluator::State::slot_of(NodeId root) const {
  const auto found = plan.roots.find(root);
  assert(found != plan.roots.end());
  return found->second;
}

Diagnostic Evaluator::State::explain(FailureId id) const {
  const Failure& failure = run.failures[id];
  std::string message(1, '\'');
  message += graph::expression(*graph, failure.node);
  message += "' is undefined at position " + std::to_string(failure.position) + ": ";
  message += failure.error.message;
  return error(failure.error.kind, (*graph)[failure.node].span, std::move(message));
}

void Evaluator::State::extend_indices() {
  if (plan.indices == kNoSlot) return;
  Column& out = columns[plan.indices];
  if (out.lanes.size() >= run.n) return;
  held_ -= out.bytes();
  out.begin_lanes(Column::Form::kInts, run.n);
  std::iota(out.lanes.begin(), out.lanes.end(), std::int64_t{0});
  held_ += out.bytes();
}

void Evaluator::State::forget_failures(const Mark& kept) {
  run.failures.resize(kept.count);
  run.failure_bytes = kept.bytes;
}

// A constant is held once; handing it out takes a copy a position.
bool Evaluator::State::roots_fit() const {
  const auto fits = [this](const auto& root) {
    const Slot& slot = root.second;
    return slot.is_rows || columns[slot.index].step == 1 ||
           columns[slot.index].heap_bytes < options.memory_limit / run.n;
  };
  return std::ranges::all_of(plan.roots, fits);
}

Result<void> Evaluator::State::evaluate(std::span<const Atom> input) {
  run.n = input.size();
  extend_indices();
  const bool fixed_stand = fixed_length_ == run.n;
  fixed_length_ = 0;
  if (!fixed_stand) {
    forget_failures({});
    if (!evaluate_steps(0, plan.fixed_steps, input)) return early_end();
    fixed_failures_ = {run.failures.size(), run.failure_bytes};
  }
  forget_failures(fixed_failures_);
  if (!evaluate_steps(plan.fixed_steps, plan.steps.size(), input) || !roots_fit()) {
    return early_end();
  }
  if (run.n <= kKeptLength) fixed_length_ = run.n;
  return {};
}

tl::unexpected<Diagnostic> Evaluator::State::early_end() const {
  return run.is_interrupted() ? interrupted() : out_of_memory(options.memory_limit);
}

// False when the memory limit is reached, or when the caller wants it to end.
bool Evaluator::State::evaluate_steps(std::size_t begin, std::size_t end,
                                      std::span<const Atom> input) {
  const std::size_t row_bytes = run.n * ((run.n + 63) / 64) * sizeof(std::uint64_t);
  for (std::size_t s = begin; s < end; ++s) {
    const Step& step = plan.steps[s];
    const bool selects = graph::is_selector(step.kind);
    const std::size_t before = selects ? rows[step.out].bytes() : columns[step.out].bytes();
    const std::size_t others = used() - before;
    if (others + (selects ? row_bytes : 0) > options.memory_limit) return false;
    run.available = options.memory_limit - others;
    run.exhausted = false;
    if (selects) {
      evaluate_selector(step, rows[step.out]);
    } else {
      evaluate_sop(step, input, columns[step.out]);
    }
    held_ -= before;
    held_ += selects ? rows[step.out].bytes() : columns[step.out].bytes();
    if (run.must_end() || used() > options.memory_limit) return false;
    for (std::uint32_t i = step.release_begin; i < step.release_end; ++i) release(plan.released[i]);
  }
  return true;
}

void Evaluator::State::evaluate_sop(const Step& step, std::span<const Atom> input, Column& out) {
  const auto column = [&](std::size_t i) -> const Column& { return columns[step.args[i]]; };
  const graph::Node& node = (*graph)[step.node];
  switch (step.kind) {
    case Kind::kTokens:
      read_tokens(input, step.token_kind, step.node, out, run);
      break;
    case Kind::kMap:
      map(step.op, column(0), step.args[1] == kNoSlot ? nullptr : &column(1), step.node, out, run);
      break;
    case Kind::kChoose:
      choose(column(0), column(1), column(2), out, run);
      break;
    case Kind::kLookup:
      lookup(graph->table(node), column(0), step.node, out, run);
      break;
    case Kind::kMember:
      member(graph->table(node), column(0), out, run);
      break;
    default:
      assert(step.kind == Kind::kAggregate);
      aggregate(rows[step.args[0]], column(1), graph->atom(node), step.node, out, run);
  }
  if (out.has_lanes() || run.exhausted) return;
  if (step.may_mix) forbid_mixture(step.node, out, run);
  if (step.may_compact) out.compact(run.n);
}

void Evaluator::State::evaluate_selector(const Step& step, Rows& out) {
  if (step.kind == Kind::kSelect) {
    select(step.op, columns[step.args[0]], columns[step.args[1]], step.node, out, run);
  } else {
    const Rows* second = step.args[1] == kNoSlot ? nullptr : &rows[step.args[1]];
    combine(step.kind, rows[step.args[0]], second, out, run);
  }
}

void Evaluator::State::release(const Slot& slot) {
  if (slot.is_fixed && run.n <= kKeptLength) return;
  if (slot.is_rows) {
    if (!slot.is_fixed) return;  // the next selector takes the same bytes
    held_ -= rows[slot.index].bytes();
    rows[slot.index] = {};
    return;
  }
  Column& column = columns[slot.index];
  if (!slot.is_fixed && column.heap_bytes == 0) return;
  held_ -= column.bytes();
  if (slot.is_fixed) {
    column = {};
  } else {
    column.drop_heap();
  }
  held_ += column.bytes();
}

Evaluator::Evaluator(const graph::Graph& graph, std::vector<NodeId> roots, Options options)
    : state_(std::make_unique<State>(graph, roots, options)) {}
Evaluator::~Evaluator() = default;
Evaluator::Evaluator(Evaluator&&) noexcept = default;
Evaluator& Evaluator::operator=(Evaluator&&) noexcept = default;

Result<void> Evaluator::run(std::span<const Atom> input) {
  if (input.empty()) {
    return fail(ErrorKind::kValue, {}, "an input has at least one token, and this one is empty");
  }
  if (input.size() > kMaxInput) {
    return fail(ErrorKind::kLimit, {},
                "an input has at most " + std::to_string(kMaxInput) + " tokens, and this one has " +
                    std::to_string(input.size()));
  }
  return state_->evaluate(input);
}

Result<value::Sequence> Evaluator::sequence(NodeId root) const {
  const Column& column = state_->columns[state_->slot_of(root).index];
  if (column.failures.any()) return fail(state_->explain(column.failures.first()));
  value::Sequence result;
  result.reserve(state_->run.n);
  Atom scratch;
  for (std::size_t i = 0; i < state_->run.n; ++i) result.push_back(column.at(i, scratch));
  return result;
}

Result<Matrix> Evaluator::matrix(NodeId root) const {
  const Rows& rows = state_->rows[state_->slot_of(root).index];
  if (rows.failures.any()) return fail(state_->explain(rows.failures.first()));
  Matrix result(state_->run.n);
  for (std::size_t q = 0; q < state_->run.n; ++q) {
    std::ranges::copy(rows.row(q), result.row(q).begin());
  }
  return result;
}

std::vector<std::optional<Atom>> Evaluator::elements(NodeId root) const {
  const Column& column = state_->columns[state_->slot_of(root).index];
  std::vector<std::optional<Atom>> result(state_->run.n);
  Atom scratch;
  for (std::size_t i = 0; i < state_->run.n; ++i) {
    if (column.failures.defined(i)) result[i] = column.at(i, scratch);
  }
  return result;
}

Result<value::Sequence> evaluate(const graph::Graph& graph, NodeId sop, std::span<const Atom> input,
                                 Options options) {
  Evaluator evaluator(graph, {sop}, options);
  RASP_CHECK_OK(evaluator.run(input));
  return evaluator.sequence(sop);
}

Result<Matrix> evaluate_selector(const graph::Graph& graph, NodeId selector,
                                 std::span<const Atom> input, Options options) {
  Evaluator evaluator(graph, {selector}, options);
  RASP_CHECK_OK(evaluator.run(input));
  return evaluator.matrix(selector);
}

}  // namespace rasp::interpreter
