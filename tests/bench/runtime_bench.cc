// Whole compiled models through the cpu backend: sequences a second; and the histogram of a long
// sequence beside what the matrix of scores alone would take.
#include <benchmark/benchmark.h>

#include <cmath>
#include <string>

#include "../support/compiled.h"
#include "machine.h"
#include "runtime/backend.h"

namespace {

using namespace rasp;
using Batch = std::vector<std::vector<runtime::TokenId>>;

struct Program {
  const char* text;
  const char* vocabulary;
};
constexpr Program kHistogram{"ans = selector_width(select(tokens, tokens, ==));", "abcd"};
constexpr Program kTwoTokens{kHistogram.text, "ab"};
constexpr Program kReverse{"ans = aggregate(select(indices, length - indices - 1, ==), tokens);",
                           "abcd"};
constexpr Program kSort{
    "smaller = select(tokens, tokens, <) or (select(tokens, tokens, ==) and select(indices, "
    "indices, <)); ans = aggregate(select(selector_width(smaller), indices, ==), tokens);",
    "abcd"};
constexpr Program kDyck{
    "before = select(indices, indices, <=); opened = (indices + 1) * aggregate(before, "
    "indicator(tokens == \"(\")); closed = (indices + 1) * aggregate(before, indicator(tokens == "
    "\")\")); balance = opened - closed; negative = has_focus(select(balance, 0, <) and before); "
    "ans = \"F\" if negative else (\"T\" if balance == 0 else \"P\");",
    "()"};

model::Model compiled(const Program& program, std::int64_t length, model::Dtype dtype) {
  const test::Source source(program.text, "ans");
  compiler::Options options;
  options.vocabulary = value::characters(program.vocabulary);
  options.max_length = static_cast<std::uint32_t>(length);
  options.dtype = dtype;
  auto result = source.compile(options);
  return result ? std::move(result->model) : model::Model{};
}

Batch random_batch(const model::Model& model, std::size_t sequences) {
  Batch batch(sequences);
  std::uint32_t seed = 1;
  for (auto& tokens : batch) {
    tokens.resize(model.max_length);
    for (auto& token : tokens) {
      seed = seed * 1664525u + 1013904223u;
      token = (seed >> 16) % static_cast<std::uint32_t>(model.vocabulary.size());
    }
  }
  return batch;
}

// length, threads, sequences
void whole_model(benchmark::State& state, const Program& program) {
  const model::Model model = compiled(program, state.range(0), model::Dtype::kF32);
  if (model.max_length == 0) return state.SkipWithError("does not compile");
  const auto backend = runtime::make_cpu_backend(static_cast<std::size_t>(state.range(1)));
  const auto executable = backend->load(model).value();
  const Batch batch = random_batch(model, static_cast<std::size_t>(state.range(2)));
  for (auto _ : state) benchmark::DoNotOptimize(executable->run(batch));
  state.counters["sequences"] = benchmark::Counter(static_cast<double>(batch.size()),
                                                   benchmark::Counter::kIsIterationInvariantRate);
}

void shapes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"length", "threads", "batch"})->UseRealTime();
  for (const std::int64_t threads : {1, 2})
    bench->Args({8, threads, 4096})->Args({64, threads, 64});
}
BENCHMARK_CAPTURE(whole_model, histogram, kHistogram)->Apply(shapes);
BENCHMARK_CAPTURE(whole_model, reverse, kReverse)->Apply(shapes);
BENCHMARK_CAPTURE(whole_model, sort, kSort)->Apply(shapes);
BENCHMARK_CAPTURE(whole_model, dyck, kDyck)->Apply(shapes);

// The scores of n queries and n keys, block by block, so that no memory is asked for: what dense
// attention does before any power or sum.
double seconds_of_scores(const model::Model& model) {
  const Eigen::Index n = model.max_length + 1;
  const Eigen::Index d = model.layers[0].heads[0].wk.cols();
  constexpr Eigen::Index kRows = 64;
  const model::Matrix q = model::Matrix::Random(n, d), k = model::Matrix::Random(d, n);
  model::Matrix scores(kRows, n);
  double best = 1e9;
  for (int i = 0; i < 10; ++i) {
    const double start = bench::seconds_now();
    for (Eigen::Index row = 0; row + kRows <= n; row += kRows) {
      scores.noalias() = q.middleRows(row, kRows) * k;
      benchmark::DoNotOptimize(scores.data());
    }
    best = std::min(best, bench::seconds_now() - start);
  }
  return best;
}

void long_histogram(benchmark::State& state) {
  const model::Model model = compiled(kTwoTokens, state.range(0), model::Dtype::kF64);
  if (model.max_length == 0) return state.SkipWithError("does not compile");
  const auto backend = runtime::make_cpu_backend(1);
  const auto executable = backend->load(model).value();
  const Batch batch = random_batch(model, 1);
  const double scores = seconds_of_scores(model);
  for (auto _ : state) benchmark::DoNotOptimize(executable->run(batch));
  state.counters["scores_ms"] = 1e3 * scores;
  state.counters["times_faster"] =
      benchmark::Counter(scores, benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(long_histogram)->ArgName("length")->Arg(4095)->Arg(4096)->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
