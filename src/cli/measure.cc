#include "cli/measure.h"

#include <algorithm>
#include <chrono>
#include <random>

namespace rasp::cli {
namespace {

constexpr std::size_t kLeastRuns = 3;
constexpr std::size_t kMostRuns = 101;
constexpr double kSeconds = 0.3;  // of all runs, where one is short

double median(std::vector<double>& times) {
  std::ranges::sort(times);
  return times[times.size() / 2];
}

// The median time of `body`, which gives a Result; `body` prepares nothing that should not count.
template <typename Body>
Result<double> median_seconds(const Body& body) {
  std::vector<double> times;
  double total = 0;
  while (times.size() < kLeastRuns || (total < kSeconds && times.size() < kMostRuns)) {
    RASP_TRY(const double seconds, body());
    times.push_back(seconds);
    total += seconds;
  }
  return median(times);
}

template <typename Body>
Result<double> seconds_of(const Body& body) {
  const auto start = std::chrono::steady_clock::now();
  const auto result = body();
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (!result) return fail(result.error());
  return took.count();
}

}  // namespace

Result<visual::MeasuredCost> measure_model(const model::Model& model,
                                           const runtime::Executable& executable, std::size_t n) {
  std::vector<runtime::TokenId> tokens(n);
  std::mt19937 engine(1);
  for (runtime::TokenId& token : tokens)
    token = static_cast<runtime::TokenId>(engine() % model.vocabulary.size());
  const std::span batch(&tokens, 1);
  visual::MeasuredCost measured;
  RASP_CHECK_OK(executable.run(batch));  // allocates
  RASP_TRY(measured.forward_seconds,
           median_seconds([&] { return seconds_of([&] { return executable.run(batch); }); }));
  if (!model.causal) return measured;
  RASP_TRY(const auto state, executable.start());
  std::vector<double> times;  // of the last tokens, at nearly n positions
  for (std::size_t i = 0; i < n; ++i) {
    RASP_TRY(const double seconds, seconds_of([&] { return state->step(tokens[i]); }));
    if (n - i <= kMostRuns) times.push_back(seconds);
  }
  measured.token_seconds = median(times);
  measured.cache_bytes = static_cast<double>(state->bytes());
  return measured;
}

}  // namespace rasp::cli
