// What the machine can do, to compare with: multiply-adds a second and bytes read a second.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <random>
#include <vector>

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace rasp::bench {

// Twelve independent chains of float multiply-adds in registers, as wide as the machine has them.
// What they come to, so that they are not left out.
#if defined(__x86_64__)
constexpr std::size_t kChains = 12;

__attribute__((target("avx512f"), noinline)) inline float chains_512(float start,
                                                                     std::size_t rounds) {
  __m512 sums[kChains];
  for (__m512& sum : sums) sum = _mm512_set1_ps(start);
  const __m512 factor = _mm512_set1_ps(0.5f);
  for (std::size_t i = 0; i < rounds; ++i)
#pragma GCC unroll 12
    for (__m512& sum : sums) sum = _mm512_fmadd_ps(sum, factor, factor);
  __m512 total = _mm512_setzero_ps();
  for (const __m512& sum : sums) total = _mm512_add_ps(total, sum);
  return _mm512_cvtss_f32(total);
}

__attribute__((target("avx2,fma"), noinline)) inline float chains_256(float start,
                                                                      std::size_t rounds) {
  __m256 sums[kChains];
  for (__m256& sum : sums) sum = _mm256_set1_ps(start);
  const __m256 factor = _mm256_set1_ps(0.5f);
  for (std::size_t i = 0; i < rounds; ++i)
#pragma GCC unroll 12
    for (__m256& sum : sums) sum = _mm256_fmadd_ps(sum, factor, factor);
  __m256 total = _mm256_setzero_ps();
  for (const __m256& sum : sums) total = _mm256_add_ps(total, sum);
  return _mm256_cvtss_f32(total);
}
#endif

inline double seconds_now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

// GFLOP/s of one core, the best of `tries` short loops; 0 where there is no loop for the machine.
inline double peak_gflops(int tries = 20) {
#if defined(__x86_64__)
  constexpr std::size_t kRounds = 100'000;
  const bool wide = __builtin_cpu_supports("avx512f") != 0;
  if (!wide && __builtin_cpu_supports("avx2") == 0) return 0;
  double best = 1e9;
  volatile float sink = 0;
  for (int i = 0; i < tries; ++i) {
    const double start = seconds_now();
    sink = wide ? chains_512(0.25f, kRounds) : chains_256(0.25f, kRounds);
    best = std::min(best, seconds_now() - start);
  }
  static_cast<void>(sink);
  return 2e-9 * kChains * (wide ? 16 : 8) * kRounds / best;
#else
  static_cast<void>(tries);
  return 0;
#endif
}

// Bytes a second that one core reads and adds of a buffer of so many floats, the best of `tries`.
inline double read_speed(std::size_t floats, int tries = 10) {
  const std::vector<float> buffer(floats, 1.0f);
  double best = 1e9;
  volatile float sink = 0;
  for (int i = 0; i < tries; ++i) {
    const double start = seconds_now();
    constexpr std::size_t kLanes = 128;
    float sums[kLanes] = {};
    for (std::size_t at = 0; at + kLanes <= floats; at += kLanes)
      for (std::size_t lane = 0; lane < kLanes; ++lane) sums[lane] += buffer[at + lane];
    float total = 0;
    for (const float sum : sums) total += sum;
    sink = total;
    best = std::min(best, seconds_now() - start);
  }
  static_cast<void>(sink);
  return static_cast<double>(floats * sizeof(float)) / best;
}

inline std::vector<float> random_floats(std::size_t count) {
  std::mt19937 engine(1);
  std::normal_distribution<float> normal(0, 1);
  std::vector<float> numbers(count);
  for (float& number : numbers) number = normal(engine);
  return numbers;
}

}  // namespace rasp::bench
