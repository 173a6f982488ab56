#include "verify/oracle.h"

#include <algorithm>
#include <string>
#include <utility>

namespace rasp::verify {
namespace {

interpreter::Options interpreter_options(const model::Model& model, const Halt& halt) {
  interpreter::Options options;
  options.causal = model.causal;
  options.interrupted = halt.interrupted;
  return options;
}

value::Sequence row_of(const interpreter::Matrix& matrix, std::size_t query) {
  value::Sequence row;
  for (std::size_t key = 0; key < matrix.size(); ++key) row.emplace_back(matrix.at(query, key));
  return row;
}

value::Sequence row_of(const std::vector<std::vector<bool>>& pattern, std::size_t query) {
  value::Sequence row;
  for (const bool selected : pattern[query]) row.emplace_back(selected);
  return row;
}

// The first query whose row differs.
std::optional<std::size_t> first_difference(const interpreter::Matrix& expected,
                                            const std::vector<std::vector<bool>>& got) {
  for (std::size_t query = 0; query < expected.size(); ++query) {
    for (std::size_t key = 0; key < expected.size(); ++key) {
      if (expected.at(query, key) != got[query][key]) return query;
    }
  }
  return std::nullopt;
}

std::optional<std::size_t> first_difference(const value::Sequence& expected,
                                            const value::Sequence& got) {
  for (std::size_t i = 0; i < expected.size(); ++i) {
    if (!same(expected[i], got[i])) return i;
  }
  return std::nullopt;
}

tl::unexpected<Diagnostic> no_difference() {
  return fail(ErrorKind::kModel, {}, "the model's outputs differ from one run to the next");
}

}  // namespace

bool same(const value::Atom& expected, const value::Atom& got) {
  if (value::identical(expected, got)) return true;
  const auto* number = std::get_if<value::Number>(&expected);
  return number != nullptr && !number->is_exact() && value::equal(expected, got);
}

Result<Oracle> Oracle::make(const Subject& subject, const Halt& halt,
                            const runtime::Backend* backend) {
  const bool is_pattern = subject.model.decoder.kind == model::Decoder::Kind::kPattern;
  if (is_pattern != subject.graph.is_selector(subject.node)) {
    return fail(ErrorKind::kModel, subject.graph[subject.node].span,
                is_pattern ? "the model answers with a selector, but the program has an s-op"
                           : "the model answers with an s-op, but the program has a selector");
  }
  // The threads of a comparison each take whole inputs: those of the runtime would be in the way.
  const auto cpu = backend == nullptr ? runtime::make_cpu_backend(1) : nullptr;
  RASP_TRY(auto executable, (backend == nullptr ? cpu.get() : backend)->load(subject.model));
  return Oracle(subject, halt, std::move(executable));
}

Oracle::Oracle(const Subject& subject, const Halt& halt,
               std::unique_ptr<runtime::Executable> executable)
    : model_(&subject.model),
      node_(subject.node),
      is_selector_(subject.graph.is_selector(subject.node)),
      halt_(halt),
      evaluator_(subject.graph, {subject.node}, interpreter_options(subject.model, halt)),
      executable_(std::move(executable)),
      codec_(subject.model) {}

bool Oracle::interpret(const Tokens& tokens) {
  input_.clear();
  for (const runtime::TokenId token : tokens) input_.push_back(model_->vocabulary[token]);
  return evaluator_.run(input_).has_value();
}

Result<std::span<const Outcome>> Oracle::judge(std::span<const Tokens> inputs) {
  outcomes_.assign(inputs.size(), Outcome::kUndefined);
  RASP_CHECK_OK(is_selector_ ? judge_selectors(inputs) : judge_sequences(inputs));
  if (halt_.is_due()) outcomes_.clear();  // what was interrupted looks undefined
  return std::span<const Outcome>(outcomes_);
}

Result<void> Oracle::judge_selectors(std::span<const Tokens> inputs) {
  for (std::size_t i = 0; i < inputs.size() && !halt_.is_due(); ++i) {
    if (!interpret(inputs[i])) continue;
    const auto expected = evaluator_.matrix(node_);
    if (!expected) continue;
    RASP_TRY(const runtime::Trace trace, executable_->trace(inputs[i]));
    const bool differs = first_difference(*expected, decode_pattern(*model_, trace)).has_value();
    outcomes_[i] = differs ? Outcome::kDifferent : Outcome::kSame;
  }
  return {};
}

Result<void> Oracle::judge_sequences(std::span<const Tokens> inputs) {
  if (batch_.size() < inputs.size()) batch_.resize(inputs.size());
  expected_.clear();
  place_.clear();
  for (std::size_t i = 0; i < inputs.size() && !halt_.is_due(); ++i) {
    if (!interpret(inputs[i])) continue;
    auto expected = evaluator_.sequence(node_);
    if (!expected) continue;
    batch_[expected_.size()] = inputs[i];
    expected_.push_back(std::move(*expected));
    place_.push_back(i);
  }
  RASP_TRY(const auto outputs, executable_->run(std::span(batch_).first(expected_.size())));
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const auto got = codec_.decode(outputs[i]);
    const bool differs = !got || first_difference(expected_[i], *got).has_value();
    outcomes_[place_[i]] = differs ? Outcome::kDifferent : Outcome::kSame;
  }
  return {};
}

Result<Counterexample> Oracle::explain(const Tokens& tokens) {
  Counterexample result;
  if (!interpret(tokens)) return no_difference();
  result.input = input_;
  if (is_selector_) {
    RASP_TRY(const interpreter::Matrix expected, evaluator_.matrix(node_));
    RASP_TRY(const runtime::Trace trace, executable_->trace(tokens));
    const auto pattern = decode_pattern(*model_, trace);
    const auto query = first_difference(expected, pattern);
    if (!query) return no_difference();
    result.position = *query;
    result.expected = row_of(expected, *query);
    result.got = row_of(pattern, *query);
    return result;
  }
  RASP_TRY(result.expected, evaluator_.sequence(node_));
  RASP_TRY(const auto outputs, executable_->run(std::span(&tokens, 1)));
  auto got = codec_.decode(outputs.front());
  if (!got) {
    result.problem = got.error().message;
    while (outputs.front().row(static_cast<Eigen::Index>(result.position)).allFinite()) {
      ++result.position;
    }
    return result;
  }
  const auto position = first_difference(result.expected, *got);
  if (!position) return no_difference();
  result.position = *position;
  result.got = std::move(*got);
  return result;
}

}  // namespace rasp::verify
