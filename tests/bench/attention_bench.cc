// Attention in float32: GFLOP/s as 4 n^2 d a head (half for causal), beside the machine's peak as a
// loop of independent multiply-adds reaches it.
#include <benchmark/benchmark.h>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include <random>
#include <vector>

#include "runtime/attention.h"
#include "runtime/kv_cache.h"

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

// The peak to compare with: twelve independent chains of fused multiply-adds in registers.
#if defined(__x86_64__)
__attribute__((target("avx512f"))) float multiply_add(float start, std::size_t rounds) {
  constexpr std::size_t kChains = 12;
  __m512 sums[kChains];
  for (__m512& sum : sums) sum = _mm512_set1_ps(start);
  const __m512 factor = _mm512_set1_ps(0.5f);
  for (std::size_t i = 0; i < rounds; ++i)
    for (__m512& sum : sums) sum = _mm512_fmadd_ps(sum, factor, factor);
  __m512 total = _mm512_setzero_ps();
  for (const __m512& sum : sums) total = _mm512_add_ps(total, sum);
  return _mm512_cvtss_f32(total);
}

void peak(benchmark::State& state) {
  if (!__builtin_cpu_supports("avx512f")) return state.SkipWithError("needs AVX-512");
  constexpr std::size_t kRounds = 100'000;
  float start = 0.25f;
  for (auto _ : state) {
    benchmark::DoNotOptimize(start);
    benchmark::DoNotOptimize(multiply_add(start, kRounds));
  }
  state.counters["GFLOP/s"] = benchmark::Counter(12 * 16 * 2 * 1e-9 * kRounds,
                                                 benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(peak);
#endif

// One step after `kept` positions: bytes of keys and values read a second.
void decode(benchmark::State& state) {
  const auto kept = static_cast<std::size_t>(state.range(0));
  const AttentionShape shape{1, 8, 8, 1, 1, 64, 64};
  AttentionSpec spec;
  spec.set_window(kept);
  auto cache = KvCache<float>::create(shape, spec);
  const auto x = random_numbers(8 * 64);
  std::vector<float> out(8 * 64);
  const View<const float> row = packed(x.data(), 1, 8, 1, 64);
  const auto step = [&] { return cache->step(row, row, row, packed(out.data(), 1, 8, 1, 64)); };
  for (std::size_t i = 0; i < kept; ++i)
    if (!step()) return state.SkipWithError("step failed");
  for (auto _ : state) {
    if (!step()) return state.SkipWithError("step failed");
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<std::int64_t>(cache->bytes()));
}
BENCHMARK(decode)->Arg(1024)->Arg(16384);

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
