// The compiled solution: its weights and its size.
#include <algorithm>

#include "compiler/compiler.h"
#include "verify/oracle.h"
#include "verify/verification.h"

namespace rasp::verify {
namespace {

constexpr std::size_t kMaxCompiled = 20'000;  // nodes: more would keep the compiler for minutes
constexpr std::uint64_t kMaxWeights = std::uint64_t{1} << 24;  // 128 MiB of them

std::string count_text(std::size_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

}  // namespace

Step<> Verification::weigh(graph::NodeId node) {
  const graph::NodeId roots[] = {node};
  if (const std::size_t size = graph::reachable(graph(), roots).size(); size > kMaxCompiled) {
    return stop(PuzzleVerdict::kLimit,
                "the solution is too large to compile: " + std::to_string(size) + " operations");
  }
  if (halt_.is_due()) return early_end();
  std::vector<compiler::NamedNode> names;
  for (const lang::Session::Named& named : session_.named_nodes()) {
    names.push_back({named.node, named.name});
  }
  compiler::Options compiling;
  compiling.vocabulary = vocabulary_;
  compiling.max_length = static_cast<std::uint32_t>(max_length_);
  compiling.max_weights = kMaxWeights;
  compiling.halt = halt_;
  auto compiled = options_.compiler(graph(), node, names, sources_, compiling);
  if (!compiled && halt_.is_due()) return early_end();
  if (!compiled) return stop(PuzzleVerdict::kRefused, std::move(compiled.error()));
  const model::Model& model = compiled->model;
  if (!model.certificate.holds) {
    return stop(PuzzleVerdict::kRefused, "the certificate of the compiled weights does not hold");
  }
  report_.compiled = true;
  report_.layers = std::max(report_.layers, model.layers.size());
  std::size_t heads = 0;
  for (const model::Layer& layer : model.layers) heads += layer.heads.size();
  report_.heads = std::max(report_.heads, heads);
  return compare_weights({graph(), node, model, names, sources_});
}

Step<> Verification::compare_weights(const Subject& subject) {
  Options options;
  options.exhaustive_limit = options_.exhaustive_limit;
  options.samples = options_.samples;
  options.seed = options_.seed;
  options.threads = options_.threads;
  options.backend = options_.backend;
  options.min_length = min_length_;
  options.halt = halt_;
  if (options_.progress) {
    options.progress = [this](const Progress& progress) {
      options_.progress("compiled", progress);
    };
  }
  auto compared = compare(subject, options);
  if (!compared) return broken(std::move(compared.error()));
  report_.weighed += compared->tried - compared->skipped;
  report_.exhaustive = report_.exhaustive && compared->exhaustive;
  switch (compared->verdict) {
    case Verdict::kExact:
      return {};
    case Verdict::kInterrupted:
      return early_end();
    case Verdict::kNothing:
      return stop(PuzzleVerdict::kFailed, "the solution has an answer to no input");
    case Verdict::kMismatch:
      break;
  }
  Counterexample& mismatch = *compared->counterexample;
  PuzzleCounterexample example;
  example.check = "the compiled weights";
  example.span = graph()[subject.node].span;
  example.weights = true;
  example.is_selector = graph().is_selector(subject.node);
  example.query = example.is_selector ? mismatch.position : 0;
  example.input = std::move(mismatch.input);
  example.expected = std::move(mismatch.expected);
  example.got = std::move(mismatch.got);
  example.problem = std::move(mismatch.problem);
  for (std::size_t i = 0; i < example.got.size() && i < example.expected.size(); ++i) {
    if (!same(example.expected[i], example.got[i])) example.differing.push_back(i);
  }
  offer(std::move(example), subject.node);
  return stop(PuzzleVerdict::kFailed, "the weights say something else than the interpreter");
}

Step<> Verification::check_limits() {
  report_.exact = report_.compiled;
  const auto over = [](std::size_t count, std::int64_t most) {
    return most >= 0 && count > static_cast<std::size_t>(most);
  };
  const auto limit = [&](std::size_t count, std::int64_t most, std::string_view noun) {
    return stop(PuzzleVerdict::kLimit, "the solution takes " + count_text(count, noun) +
                                           ", the puzzle allows " + std::to_string(most));
  };
  if (!report_.compiled) return {};
  if (over(report_.layers, puzzle_.max_layers)) {
    return limit(report_.layers, puzzle_.max_layers, "layer");
  }
  if (over(report_.heads, puzzle_.max_heads)) {
    return limit(report_.heads, puzzle_.max_heads, "head");
  }
  return {};
}

}  // namespace rasp::verify
