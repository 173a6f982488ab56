// What the interpreter does millions of times: small numbers through the operator table.
#include <benchmark/benchmark.h>

#include <string>
#include <vector>

#include "value/operators.h"

namespace rasp::value {
namespace {

constexpr std::size_t kCount = 256;

template <typename Make>
std::vector<Atom> atoms(Make make) {
  std::vector<Atom> out;
  for (std::size_t i = 0; i < kCount; ++i) out.push_back(make(static_cast<std::int64_t>(i)));
  return out;
}
std::vector<Atom> ints() {
  return atoms([](std::int64_t i) { return make_int(i % 17 + 1); });
}
std::vector<Atom> fractions() {
  return atoms([](std::int64_t i) { return Atom(Number::rational(i % 17 + 1, i % 13 + 1)); });
}
std::vector<Atom> letters() {
  return atoms(
      [](std::int64_t i) { return Atom(std::string(1, static_cast<char>('a' + i % 26))); });
}

template <typename Work>
void measure(benchmark::State& state, const std::vector<Atom>& values, Work work) {
  std::size_t i = 0;
  for (auto step : state) {
    (void)step;
    benchmark::DoNotOptimize(work(values[i % kCount], values[(i + 7) % kCount]));
    ++i;
  }
}

void number_add(benchmark::State& state) {
  measure(state, ints(),
          [](const Atom& a, const Atom& b) { return std::get<Number>(a) + std::get<Number>(b); });
}
void number_less(benchmark::State& state) {
  measure(state, fractions(),
          [](const Atom& a, const Atom& b) { return std::get<Number>(a) < std::get<Number>(b); });
}
void apply_ints(benchmark::State& state) {
  const Op op = static_cast<Op>(state.range(0));
  state.SetLabel(std::string(info(op).symbol));
  measure(state, ints(), [op](const Atom& a, const Atom& b) { return apply(op, a, b); });
}
void apply_fractions(benchmark::State& state) {
  const Op op = static_cast<Op>(state.range(0));
  state.SetLabel(std::string(info(op).symbol));
  measure(state, fractions(), [op](const Atom& a, const Atom& b) { return apply(op, a, b); });
}
void compare_letters(benchmark::State& state) {
  measure(state, letters(), [](const Atom& a, const Atom& b) { return compare(Op::kEq, a, b); });
}
void brief_fraction(benchmark::State& state) {
  measure(state, fractions(), [](const Atom& a, const Atom&) { return brief(a); });
}

BENCHMARK(number_add);
BENCHMARK(number_less);
BENCHMARK(apply_ints)->DenseRange(0, static_cast<int>(kOpCount) - 1);
BENCHMARK(apply_fractions)->DenseRange(0, static_cast<int>(Op::kMod));
BENCHMARK(compare_letters);
BENCHMARK(brief_fraction);

}  // namespace
}  // namespace rasp::value

BENCHMARK_MAIN();
