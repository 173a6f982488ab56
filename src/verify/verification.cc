// Examples and specs.
#include "verify/verification.h"

#include <algorithm>
#include <chrono>

#include "lang/containers.h"
#include "verify/answers.h"

namespace rasp::verify {

using graph::NodeId;
using lang::Value;
using syntax::ExprId;
using syntax::ExprKind;

Step<> Verification::run() {
  const std::string& name = puzzle_.name.text;
  if (!session_.is_user_defined(name)) {
    return stop(PuzzleVerdict::kUndefined, "the solution does not define '" + name + "'");
  }
  RASP_CHECK_OK(find_space());
  for (const Check& check : puzzle_.expects) RASP_CHECK_OK(try_example(check));
  for (const Check& check : puzzle_.specs) RASP_CHECK_OK(try_spec(check));
  if (report_.counterexample) {
    return stop(PuzzleVerdict::kFailed, report_.counterexample->problem.empty()
                                            ? "a wrong answer"
                                            : "no answer to an input that has one");
  }
  if (report_.cases() == 0) {
    return stop(PuzzleVerdict::kFailed, "not one case could be checked");
  }
  if (!options_.compile) return {};
  for (const NodeId node : subjects_) RASP_CHECK_OK(weigh(node));
  return check_limits();
}

Halt Verification::halt_of(const PuzzleOptions& options) {
  const std::chrono::duration<double> most(options.seconds);
  return {options.interrupted,
          Halt::Clock::now() + std::chrono::duration_cast<Halt::Clock::duration>(most)};
}

tl::unexpected<Stop> Verification::early_end() const {
  if (halt_.is_interrupted()) return stop(PuzzleVerdict::kInterrupted, "no mistake so far");
  return stop(PuzzleVerdict::kLimit, "no mistake so far, but the work takes longer than " +
                                         std::to_string(static_cast<int>(options_.seconds)) +
                                         " seconds");
}

tl::unexpected<Stop> Verification::broken(Diagnostic problem) const {
  if (halt_.is_interrupted()) return early_end();
  const bool limit = problem.kind == ErrorKind::kLimit;
  return stop(limit ? PuzzleVerdict::kLimit : PuzzleVerdict::kError, std::move(problem));
}

Step<Value> Verification::evaluate(ExprId id) {
  if (halt_.is_due()) return early_end();
  auto value = session_.evaluate(known_, id);
  if (!value) return broken(std::move(value.error()));
  return *std::move(value);
}

// What the compiler will get.
void Verification::add_subject(NodeId node) {
  if (std::ranges::count(subjects_, node) == 0) subjects_.push_back(node);
}

// The puzzle's vocabulary and lengths, or those of its examples.
Step<> Verification::find_space() {
  min_length_ = static_cast<std::uint64_t>(puzzle_.min_length);
  max_length_ = static_cast<std::uint64_t>(puzzle_.max_length);
  value::Sequence tokens;
  if (puzzle_.vocabulary != syntax::kNoExpr) {
    RASP_TRY(const Value given, evaluate(puzzle_.vocabulary));
    auto atoms = lang::to_input(given, expr(puzzle_.vocabulary).span);
    if (!atoms) return broken(std::move(atoms.error()));
    tokens = *std::move(atoms);
  }
  const bool has_tokens = !tokens.empty();
  for (const Check& check : puzzle_.expects) {
    if (has_tokens && max_length_ != 0) break;
    RASP_TRY(const std::optional<Applied> program, applied(check.left));
    if (!program) continue;
    if (!has_tokens) tokens.insert(tokens.end(), program->input.begin(), program->input.end());
    if (puzzle_.max_length == 0) {
      max_length_ = std::max<std::uint64_t>(max_length_, program->input.size());
    }
  }
  for (value::Atom& token : tokens) {
    const auto same = [&](const value::Atom& other) { return value::identical(token, other); };
    if (std::ranges::none_of(vocabulary_, same)) vocabulary_.push_back(std::move(token));
  }
  if (!has_tokens) std::ranges::sort(vocabulary_, value::canonical_less);
  return {};
}

// Nothing when the expression is no application of an s-op or a selector.
Step<std::optional<Applied>> Verification::applied(ExprId id) {
  const syntax::Expr& call = expr(id);
  if (call.kind != ExprKind::kCall || call.children.size() != 2) return std::nullopt;
  RASP_TRY(const Value callee, evaluate(call.children[0]));
  const auto node = node_of(callee);
  if (!node) return std::nullopt;
  RASP_TRY(const Value argument, evaluate(call.children[1]));
  auto input = lang::to_input(argument, expr(call.children[1]).span);
  if (!input) return broken(std::move(input.error()));
  return Applied{*node, *std::move(input)};
}

PuzzleCounterexample Verification::example_of(const Check& check) const {
  PuzzleCounterexample example;
  example.span = join(expr(check.left).span, expr(check.right).span);
  example.check = std::string(sources_.text(example.span));
  return example;
}

std::size_t Verification::rank(const value::Atom& token) const {
  const auto same = [&](const value::Atom& other) { return value::identical(token, other); };
  return static_cast<std::size_t>(std::ranges::find_if(vocabulary_, same) - vocabulary_.begin());
}

// Shorter, or first in the order of the vocabulary; tokens outside it come last.
bool Verification::smaller(const value::Sequence& a, const value::Sequence& b) const {
  if (a.empty() || b.empty()) return !a.empty();
  if (a.size() != b.size()) return a.size() < b.size();
  return std::ranges::lexicographical_compare(a, b, [&](const auto& x, const auto& y) {
    const std::size_t i = rank(x);
    const std::size_t j = rank(y);
    return i != j ? i < j : i == vocabulary_.size() && value::canonical_less(x, y);
  });
}

// The smallest counterexample stays.
void Verification::offer(PuzzleCounterexample example, NodeId node) {
  if (report_.counterexample && !smaller(example.input, report_.counterexample->input)) return;
  if (node != graph::kNoNode) {
    show_selector(session_, node, sources_, halt_, example);
  }
  report_.counterexample = std::move(example);
}

Step<> Verification::try_example(const Check& check) {
  RASP_TRY(const std::optional<Applied> program, applied(check.left));
  if (!program) return try_values(check);
  RASP_TRY(const Value right, evaluate(check.right));
  if (puzzle_.specs.empty()) add_subject(program->node);
  const auto expected = to_answer(right, graph().is_selector(program->node));
  if (!expected) return incomparable(check);
  ++report_.examples;
  PuzzleCounterexample example = example_of(check);
  example.input = program->input;
  const auto got = answer(graph(), program->node, example.input, halt_);
  if (got && agree(*expected, *got)) return {};
  if (got) {
    show_difference(*expected, *got, example);
  } else if (got.error().kind == ErrorKind::kLimit) {
    return broken(got.error());
  } else {
    show_expected(*expected, example);
    example.problem = got.error().message;
  }
  offer(std::move(example), program->node);
  return {};
}

tl::unexpected<Stop> Verification::incomparable(const Check& check) const {
  return stop(PuzzleVerdict::kError,
              error(ErrorKind::kType, check.span, "the two sides of this cannot be compared"));
}

// Values rather than programs.
Step<> Verification::try_values(const Check& check) {
  RASP_TRY(const Value left, evaluate(check.left));
  RASP_TRY(const Value right, evaluate(check.right));
  const auto expected = to_answer(right, false);
  const auto got = to_answer(left, false);
  const bool sequences = expected && got;
  const auto equal = sequences ? std::optional(agree(*expected, *got)) : lang::same(left, right);
  if (!equal) return incomparable(check);
  ++report_.examples;
  if (*equal) return {};
  PuzzleCounterexample example = example_of(check);
  if (sequences) {
    show_difference(*expected, *got, example);
  } else {
    example.problem = "another value";
  }
  offer(std::move(example), graph::kNoNode);
  return {};
}

Step<std::optional<Comparison>> Verification::comparison(const Check& check) {
  RASP_TRY(const Value left, evaluate(check.left));
  RASP_TRY(const Value right, evaluate(check.right));
  const auto solution = node_of(left);
  const auto reference = node_of(right);
  if (!solution && !reference) return std::nullopt;
  const auto* constant = std::get_if<value::Atom>(&right.data);
  if (!solution) {
    return stop(PuzzleVerdict::kError,
                error(ErrorKind::kType, expr(check.left).span,
                      "expected an s-op or a selector, found " + lang::describe(left)));
  }
  const bool selector = graph().is_selector(*solution);
  if (reference ? graph().is_selector(*reference) != selector : selector || constant == nullptr) {
    return stop(PuzzleVerdict::kError,
                error(ErrorKind::kType, expr(check.left).span,
                      "expected " + lang::describe(right) + ", found " + lang::describe(left)));
  }
  return Comparison{*solution, reference.value_or(graph::kNoNode),
                    constant != nullptr ? *constant : value::Atom()};
}

Step<> Verification::try_spec(const Check& check) {
  RASP_TRY(const std::optional<Comparison> what, comparison(check));
  if (!what) return try_values(check);
  add_subject(what->solution);
  if (vocabulary_.empty() || max_length_ == 0) {
    return stop(PuzzleVerdict::kError,
                error(ErrorKind::kValue, puzzle_.name.span,
                      "a puzzle with a spec needs a vocab and lengths, or examples"));
  }
  return compare_everywhere(check, *what);
}

Space Verification::space(std::string_view stage) const {
  Space space;
  space.vocabulary = vocabulary_.size();
  space.min_length = min_length_;
  space.max_length = max_length_;
  space.exhaustive_limit = options_.exhaustive_limit;
  space.samples = options_.samples;
  space.seed = options_.seed;
  space.halt = halt_;
  if (options_.progress) {
    space.progress = [this, stage](const Progress& progress) {
      options_.progress(stage, progress);
    };
  }
  return space;
}

Step<> Verification::compare_everywhere(const Check& check, const Comparison& what) {
  Space inputs = space("interpreted");
  if (report_.counterexample && !report_.counterexample->input.empty()) {
    inputs.max_length = std::min<std::uint64_t>(max_length_, report_.counterexample->input.size());
  }
  if (inputs.max_length < inputs.min_length) return {};
  runtime::ThreadPool pool(options_.threads);
  std::vector<Sides> sides;
  for (std::size_t i = 0; i < pool.workers(); ++i) {
    sides.emplace_back(graph(), what, vocabulary_, halt_);
  }
  const auto found = search(inputs, pool, [&](std::size_t worker, std::span<const Tokens> tokens) {
    return Result<std::span<const Outcome>>(sides[worker].judge(tokens));
  });
  if (!found) return broken(found.error());
  report_.inputs += found->tried - found->skipped;
  report_.undefined += found->skipped;
  report_.exhaustive = report_.exhaustive && found->exhaustive;
  if (found->smallest) {
    PuzzleCounterexample example = example_of(check);
    example.input = spell(*found->smallest, vocabulary_);
    const auto problem = Sides(graph(), what, vocabulary_, {}).explain(example);
    if (problem && problem->kind == ErrorKind::kLimit) return broken(*problem);
    offer(std::move(example), what.solution);
  }
  if (!found->finished) return early_end();
  // A spec that says nothing would let every solution pass.
  if (found->tried == found->skipped) {
    return stop(PuzzleVerdict::kFailed,
                error(ErrorKind::kValue, check.span,
                      "this spec has no value on any input, so nothing could be compared"));
  }
  return {};
}

}  // namespace rasp::verify
