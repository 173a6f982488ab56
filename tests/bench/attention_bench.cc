// Attention: GFLOP/s as 4 d a score (half of n^2 scores for causal) and the share of what the
// machine's multiply-adds reach in a loop of their own, measured before each benchmark; decoding,
// as the share of what one core reads of memory; equal keys, as times the speed without.
#include <benchmark/benchmark.h>

#include <cmath>

#include "machine.h"
#include "runtime/attention.h"
#include "runtime/kv_cache.h"
#include "runtime/multi_head.h"

namespace {

using namespace rasp::runtime;
using rasp::bench::random_floats;

struct Sizes {
  std::size_t heads, length, dim, threads;
};

Sizes sizes_of(const benchmark::State& state) {
  const auto size = [&](std::size_t at) { return static_cast<std::size_t>(state.range(at)); };
  return {size(0), size(1), size(2), size(3)};
}

template <typename T>
struct Tensors {
  explicit Tensors(const Sizes& s) : sizes(s) {
    const auto numbers = random_floats(s.heads * s.length * s.dim);
    for (std::vector<T>* tensor : {&q, &k, &v, &out})
      for (const float number : numbers) tensor->push_back(static_cast<T>(number));
  }
  [[nodiscard]] View<const T> view(const std::vector<T>& tensor) const {
    return packed(tensor.data(), 1, sizes.heads, sizes.length, sizes.dim);
  }
  [[nodiscard]] bool run(Attention& attention, const AttentionSpec& spec) {
    const View<T> to = packed(out.data(), 1, sizes.heads, sizes.length, sizes.dim);
    return attention(view(q), view(k), view(v), spec, to).has_value();
  }
  Sizes sizes;
  std::vector<T> q, k, v, out;
};

// `work`: of one head, in units of 4 d operations.
template <typename T>
void run(benchmark::State& state, const AttentionSpec& spec, double work) {
  const Sizes s = sizes_of(state);
  const double peak = rasp::bench::peak_gflops() * (std::is_same_v<T, double> ? 0.5 : 1) *
                      static_cast<double>(s.threads);
  Tensors<T> tensors(s);
  Attention attention(s.threads);
  for (auto _ : state) {
    if (!tensors.run(attention, spec)) return state.SkipWithError("attention failed");
    benchmark::ClobberMemory();
  }
  const double gflop = 4e-9 * work * static_cast<double>(s.dim * s.heads);
  const auto rate = benchmark::Counter::kIsIterationInvariantRate;
  state.counters["GFLOP/s"] = benchmark::Counter(gflop, rate);
  if (peak > 0) state.counters["of_peak"] = benchmark::Counter(gflop / peak, rate);
}

double length_of(const benchmark::State& state) { return static_cast<double>(state.range(1)); }

void full(benchmark::State& state) { run<float>(state, {}, std::pow(length_of(state), 2)); }
void full_f64(benchmark::State& state) { run<double>(state, {}, std::pow(length_of(state), 2)); }
void full_bf16(benchmark::State& state) { run<BFloat16>(state, {}, std::pow(length_of(state), 2)); }

void causal(benchmark::State& state) {
  AttentionSpec spec;
  spec.causal = true;
  const double n = length_of(state);
  run<float>(state, spec, n * (n + 1) / 2);
}

void window_256(benchmark::State& state) {
  AttentionSpec spec;
  spec.causal = true;
  spec.set_window(256);
  run<float>(state, spec, length_of(state) * 256 - 256.0 * 255 / 2);
}

void linear_causal(benchmark::State& state) {
  AttentionSpec spec;
  spec.normaliser = Normaliser::kLinear;
  spec.causal = true;
  run<float>(state, spec, length_of(state) * static_cast<double>(state.range(2)));
}

// The first key of each of `distinct` stands for all that repeat it; values are small integers.
void equal_keys(benchmark::State& state) {
  const Sizes s = sizes_of(state);
  const auto distinct = static_cast<std::size_t>(state.range(4));
  Tensors<float> tensors(s);
  for (std::size_t h = 0; h < s.heads; ++h)
    for (std::size_t j = distinct; j < s.length; ++j)
      std::copy_n(tensors.k.data() + (h * s.length + j * 7 % distinct) * s.dim, s.dim,
                  tensors.k.data() + (h * s.length + j) * s.dim);
  for (float& value : tensors.v) value = std::nearbyint(4 * value);
  Attention attention(s.threads);
  AttentionSpec plain;
  plain.equal_keys = false;
  const double start = rasp::bench::seconds_now();
  if (!tensors.run(attention, plain)) return state.SkipWithError("attention failed");
  const double dense = rasp::bench::seconds_now() - start;
  for (auto _ : state) {
    if (!tensors.run(attention, {})) return state.SkipWithError("attention failed");
    benchmark::ClobberMemory();
  }
  state.counters["times_faster"] =
      benchmark::Counter(dense, benchmark::Counter::kIsIterationInvariantRate);
}

// One step with `kept` positions: bytes of keys and values read a second.
void decode_with(benchmark::State& state, Storage storage) {
  const auto kept = static_cast<std::size_t>(state.range(0));
  AttentionSpec spec;
  spec.set_window(kept);
  auto cache = KvCache<float>::create({1, 8, 8, 1, 1, 64, 64}, spec, storage);
  const auto x = random_floats(8 * 64);
  std::vector<float> out(8 * 64);
  const View<const float> row = packed(x.data(), 1, 8, 1, 64);
  const auto step = [&] {
    return cache->step(row, row, row, packed(out.data(), 1, 8, 1, 64)).has_value();
  };
  for (std::size_t i = 0; i < kept; ++i)
    if (!step()) return state.SkipWithError("step failed");
  const auto bytes = static_cast<double>(cache->bytes());
  const double speed = rasp::bench::read_speed(cache->bytes() / sizeof(float));
  for (auto _ : state) {
    if (!step()) return state.SkipWithError("step failed");
    benchmark::ClobberMemory();
  }
  const auto rate = benchmark::Counter::kIsIterationInvariantRate;
  state.counters["GB/s"] = benchmark::Counter(1e-9 * bytes, rate);
  state.counters["of_read_speed"] = benchmark::Counter(bytes / speed, rate);
}
void decode(benchmark::State& state) { decode_with(state, Storage::kAsComputed); }
void decode_bf16(benchmark::State& state) { decode_with(state, Storage::kBFloat16); }

// Self-attention of width heads * dim with its four projections.
void projections(benchmark::State& state) {
  const Sizes s = sizes_of(state);
  const double peak = rasp::bench::peak_gflops();
  const auto width = static_cast<Eigen::Index>(s.heads * s.dim);
  const RowMatrix<float> x = RowMatrix<float>::Random(static_cast<Eigen::Index>(s.length), width);
  const RowMatrix<float> w = RowMatrix<float>::Random(width, width) / std::sqrt(float(width));
  const MultiHeadWeights<float> weights{s.heads, s.heads, w, w, w, w};
  Attention attention(s.threads);
  for (auto _ : state) benchmark::DoNotOptimize(multi_head(attention, x, x, weights, {}));
  const auto n = static_cast<double>(s.length), d = static_cast<double>(width);
  const double gflop = 1e-9 * (8 * n * d * d + 4 * n * n * d);
  const auto rate = benchmark::Counter::kIsIterationInvariantRate;
  state.counters["GFLOP/s"] = benchmark::Counter(gflop, rate);
  if (peak > 0) state.counters["of_peak"] = benchmark::Counter(gflop / peak, rate);
}

const std::vector<std::string> kNames = {"heads", "n", "d", "threads"};

void shapes(benchmark::internal::Benchmark* bench) {
  bench->ArgNames(kNames)->UseRealTime();
  for (const std::int64_t threads : {1, 2})
    for (const std::int64_t n : {512, 1024, 2048, 4096, 8192})
      for (const std::int64_t d : {64, 128}) bench->Args({8, n, d, threads});
}
void lengths(benchmark::internal::Benchmark* bench) {
  bench->ArgNames(kNames)->UseRealTime();
  for (const std::int64_t n : {2048, 4096, 8192, 16384}) bench->Args({8, n, 64, 1});
}
BENCHMARK(full)->Apply(shapes);
BENCHMARK(causal)->Apply(shapes);
BENCHMARK(window_256)->Apply(lengths);
BENCHMARK(linear_causal)->Apply(lengths);
BENCHMARK(full_f64)->ArgNames(kNames)->Args({8, 1024, 64, 1})->UseRealTime();
BENCHMARK(full_bf16)->ArgNames(kNames)->Args({8, 1024, 64, 1})->UseRealTime();
BENCHMARK(equal_keys)
    ->ArgNames({"heads", "n", "d", "threads", "distinct"})
    ->Args({8, 4096, 64, 1, 32})
    ->Args({1, 16384, 64, 2, 32})
    ->UseRealTime();
BENCHMARK(decode)->ArgName("kept")->Arg(1024)->Arg(16384)->UseRealTime();
BENCHMARK(decode_bf16)->ArgName("kept")->Arg(1024)->Arg(16384)->UseRealTime();
BENCHMARK(projections)->ArgNames(kNames)->Args({8, 512, 64, 1})->Args({8, 2048, 64, 1});

}  // namespace

BENCHMARK_MAIN();
