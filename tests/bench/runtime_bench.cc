// Whole models through the cpu backend: sequences a second of a histogram, built here as the
// compiler builds it (one head whose weight on BOS is 1 / (1 + count), decoded by tangents).
#include <benchmark/benchmark.h>

#include "runtime/backend.h"

namespace {

using namespace rasp;
using model::Matrix;

model::Model histogram(Eigen::Index tokens, Eigen::Index length) {
  const Eigen::Index bos = tokens;       // flag
  const Eigen::Index result = bos + 1;   // 1 / (1 + count)
  const Eigen::Index flag = result + 1;  // is a token
  model::Model model;
  model.max_length = static_cast<std::uint32_t>(length);
  model.d_model = static_cast<std::uint32_t>(flag + 1);
  const auto width = static_cast<Eigen::Index>(model.d_model);
  for (Eigen::Index t = 0; t < tokens; ++t) model.vocabulary.push_back(value::make_int(t));
  model.token_embedding = Matrix::Zero(tokens + 1, width);
  for (Eigen::Index t = 0; t <= tokens; ++t) model.token_embedding(t, t) = 1;
  for (Eigen::Index t = 0; t < tokens; ++t) model.token_embedding(t, flag) = 1;
  model.position_embedding = Matrix::Zero(length + 1, width);
  model::Head head;
  head.wq = Matrix::Zero(width, tokens + 1);
  head.wk = Matrix::Zero(width, tokens + 1);
  for (Eigen::Index t = 0; t < tokens; ++t) head.wq(t, t) = head.wk(t, t) = 1;
  head.wq(flag, tokens) = 1;
  head.wq *= 256;
  head.wk(bos, tokens) = 1;
  head.wv = Matrix::Zero(width, 1);
  head.wv(bos, 0) = 1;
  head.wo = Matrix::Zero(1, width);
  head.wo(0, result) = 1;
  model.layers.emplace_back().heads.push_back(head);
  model.layers[0].mlp = {Matrix::Zero(width, 0), model::Vector::Zero(0), Matrix::Zero(0, width)};
  model.unembedding = Matrix::Zero(width, length);
  for (Eigen::Index count = 1; count <= length; ++count) {
    const auto m = static_cast<double>(count + 1);
    model.unembedding(flag, count - 1) = 2 * m;
    model.unembedding(result, count - 1) = -m * m;
    model.decoder.values.push_back(value::make_int(count));
  }
  return model;
}

void histogram_batch(benchmark::State& state) {
  const model::Model model = histogram(4, state.range(0));
  const auto executable =
      runtime::make_cpu_backend(static_cast<std::size_t>(state.range(1)))->load(model).value();
  std::vector<std::vector<runtime::TokenId>> batch(static_cast<std::size_t>(state.range(2)));
  std::uint32_t seed = 1;
  for (auto& tokens : batch) {
    tokens.resize(model.max_length);
    for (auto& token : tokens) token = (seed = seed * 1664525u + 1013904223u) >> 30;
  }
  for (auto _ : state) benchmark::DoNotOptimize(executable->run(batch));
  state.counters["sequences"] = benchmark::Counter(static_cast<double>(batch.size()),
                                                   benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(histogram_batch)
    ->ArgNames({"length", "threads", "batch"})
    ->Args({8, 1, 4096})
    ->Args({8, 2, 4096})
    ->Args({64, 1, 64})
    ->Args({4095, 1, 1})
    ->Args({4095, 2, 1})
    ->UseRealTime();

}  // namespace

BENCHMARK_MAIN();
