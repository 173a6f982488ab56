// Attention in float32: GFLOP/s as 4 n^2 d a head (half for causal), beside the machine's peak as a
// loop of independent multiply-adds reaches it.
#include <benchmark/benchmark.h>

#include <random>
#include <vector>

#include "runtime/attention.h"

namespace {

using namespace rasp::runtime;

std::vector<float> random_numbers(std::size_t count) {
  std::mt19937 engine(1);
  std::normal_distribution<float> normal(0, 1);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = normal(engine);
  return numbers;
}

struct Sizes {
  std::size_t heads, length, dim;
};

void run(benchmark::State& state, const Sizes& s, const AttentionSpec& spec, std::size_t threads,
         double scores) {
  const auto q = random_numbers(s.heads * s.length * s.dim);
  const auto k = random_numbers(s.heads * s.length * s.dim);
  const auto v = random_numbers(s.heads * s.length * s.dim);
  std::vector<float> out(q.size());
  const auto view = [&](const float* data) { return packed(data, 1, s.heads, s.length, s.dim); };
  Attention attention(threads);
  for (auto _ : state) {
    const auto status = attention(view(q.data()), view(k.data()), view(v.data()), spec,
                                  packed(out.data(), 1, s.heads, s.length, s.dim));
    if (!status) state.SkipWithError(status.error().message.c_str());
    benchmark::ClobberMemory();
  }
  state.counters["GFLOP/s"] =
      benchmark::Counter(4e-9 * scores * static_cast<double>(s.dim * s.heads),
                         benchmark::Counter::kIsIterationInvariantRate);
}

Sizes sizes_of(const benchmark::State& state) {
  return {static_cast<std::size_t>(state.range(0)), static_cast<std::size_t>(state.range(1)),
          static_cast<std::size_t>(state.range(2))};
}

void full(benchmark::State& state) {
  const Sizes s = sizes_of(state);
  const auto n = static_cast<double>(s.length);
  run(state, s, {}, static_cast<std::size_t>(state.range(3)), n * n);
}

void causal(benchmark::State& state) {
  const Sizes s = sizes_of(state);
  const auto n = static_cast<double>(s.length);
  AttentionSpec spec;
  spec.causal = true;
  run(state, s, spec, static_cast<std::size_t>(state.range(3)), n * (n + 1) / 2);
}

void window_256(benchmark::State& state) {
  const Sizes s = sizes_of(state);
  const auto n = static_cast<double>(s.length);
  AttentionSpec spec;
  spec.causal = true;
  spec.set_window(256);
  run(state, s, spec, static_cast<std::size_t>(state.range(3)), n * 256);
}

void linear_causal(benchmark::State& state) {
  const Sizes s = sizes_of(state);
  AttentionSpec spec;
  spec.normaliser = Normaliser::kLinear;
  spec.causal = true;
  run(state, s, spec, static_cast<std::size_t>(state.range(3)),
      static_cast<double>(s.length * s.dim));
}

void shapes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames({"heads", "n", "d", "threads"})->UseRealTime();
  for (const std::int64_t n : {512, 1024, 2048})
    for (const std::int64_t d : {64, 128}) bench->Args({8, n, d, 1});
  bench->Args({8, 2048, 64, 2});
}
BENCHMARK(full)->Apply(shapes);
BENCHMARK(causal)->Apply(shapes);
BENCHMARK(window_256)->ArgNames({"heads", "n", "d", "threads"})->Args({8, 4096, 64, 1});
BENCHMARK(linear_causal)->ArgNames({"heads", "n", "d", "threads"})->Args({8, 4096, 64, 1});

}  // namespace

BENCHMARK_MAIN();
