// The `cpu` backend: sequences over threads when there are enough of them, else the rows of each.
#include "runtime/backend.h"

#include <algorithm>
#include <mutex>
#include <string>
#include <thread>
#include <utility>

#include "model/safetensors.h"
#include "runtime/codec.h"
#include "runtime/cpu/forward.h"
#include "runtime/kv_cache.h"
#include "runtime/thread_pool.h"

namespace rasp::runtime {
namespace {

// Below this many rows, waking the other threads costs more than they save.
constexpr std::size_t kRowsWorthAThread = 64;

template <typename Scalar>
class CpuGeneration final : public Generation {
 public:
  CpuGeneration(const Forward<Scalar>& forward, std::size_t vocabulary, std::size_t max_length)
      : forward_(&forward), vocabulary_(vocabulary), max_length_(max_length) {
    step(vocabulary, y_);  // BOS
  }
  Result<model::Matrix> step(TokenId token) override {
    if (token >= vocabulary_)
      return fail(ErrorKind::kInput, {},
                  "the token id " + std::to_string(token) + " is not below the vocabulary's size " +
                      std::to_string(vocabulary_));
    if (length() == max_length_)
      return fail(ErrorKind::kLimit, {},
                  "the model takes at most " + std::to_string(max_length_) + " tokens");
    step(token, y_);
    return y_;
  }
  [[nodiscard]] std::size_t length() const override { return kept_.rows - 1; }
  [[nodiscard]] std::size_t bytes() const override { return Forward<Scalar>::bytes(kept_); }

 private:
  void step(std::size_t token, model::Matrix& y) { forward_->step(token, kept_, y); }

  const Forward<Scalar>* forward_;
  std::size_t vocabulary_, max_length_;
  typename Forward<Scalar>::Kept kept_;
  model::Matrix y_;
};

template <typename Scalar>
class CpuExecutable final : public Executable {
 public:
  CpuExecutable(const model::Model& model, std::size_t threads)
      : causal_(model.causal),
        vocabulary_(model.vocabulary.size()),
        max_length_(model.max_length),
        forward_(model),
        pool_(threads),
        workspace_(pool_.workers()) {}

  Result<std::vector<model::Matrix>> run(
      std::span<const std::vector<TokenId>> batch) const override {
    std::size_t longest = 0;
    std::size_t rows = 0;
    for (std::size_t s = 0; s < batch.size(); ++s) {
      RASP_CHECK_OK(check_tokens(batch[s], s, vocabulary_, max_length_));
      longest = std::max(longest, batch[s].size());
      rows += batch[s].size() + 1;
    }
    std::vector<model::Matrix> outputs(batch.size());
    // A caller that finds the threads busy with another's batch works alone.
    const std::unique_lock lock(mutex_, std::try_to_lock);
    if (!lock.owns_lock()) {
      Workspace workspace(1);
      run_sequences(batch, longest, nullptr, workspace, outputs);
    } else if (pool_.workers() == 1 || rows < 2 * kRowsWorthAThread) {
      run_sequences(batch, longest, nullptr, workspace_, outputs);
    } else if (batch.size() >= 2 * pool_.workers()) {
      run_sequences(batch, longest, &pool_, workspace_, outputs);
    } else {
      for (std::size_t s = 0; s < batch.size(); ++s) {
        outputs[s] = output_for(batch[s].size());
        for (Worker& worker : workspace_) forward_.prepare(batch[s].size(), worker.scratch);
        forward_.prepare(batch[s].size(), workspace_[0].sequence);
        run_one(batch[s], &pool_, workspace_, outputs[s]);
      }
    }
    return outputs;
  }

  Result<Trace> trace(std::span<const TokenId> tokens) const override {
    RASP_CHECK_OK(check_tokens(tokens, 0, vocabulary_, max_length_));
    Trace trace = empty_trace(tokens.size() + 1);
    Workspace workspace(1);
    prepare(tokens.size(), workspace[0]);
    auto& [sequence, scratch] = workspace[0];
    std::vector<Scalar> hidden;
    forward_.embed(tokens, sequence);
    expand(sequence, sequence.x, trace.residual[0]);
    for (std::size_t l = 0; l < forward_.layers(); ++l) {
      hidden.resize(sequence.distinct * forward_.d_mlp(l));
      forward_.project(l, 0, sequence.distinct, sequence);
      forward_.arrange(l, 0, forward_.heads(l), sequence);
      forward_.attend(l, 0, forward_.means(l, sequence), scratch, sequence, &trace);
      forward_.advance(l, 0, sequence.distinct, scratch, sequence, &hidden);
      expand(sequence, hidden, trace.hidden[l]);
      expand(sequence, sequence.x, trace.residual[l + 1]);
    }
    forward_.unembed(0, scratch, sequence, trace.output);
    return trace;
  }

  Result<std::unique_ptr<Generation>> start() const override {
    if (!causal_) return Executable::start();
    return std::make_unique<CpuGeneration<Scalar>>(forward_, vocabulary_, max_length_);
  }

 private:
  struct Worker {
    typename Forward<Scalar>::Sequence sequence;
    typename Forward<Scalar>::Scratch scratch;
  };
  using Workspace = std::vector<Worker>;

  [[nodiscard]] model::Matrix output_for(std::size_t rows) const {
    return model::Matrix(static_cast<Eigen::Index>(rows),
                         static_cast<Eigen::Index>(forward_.d_out()));
  }

  // Whole sequences, one after the other or spread over `pool`.
  void run_sequences(std::span<const std::vector<TokenId>> batch, std::size_t longest,
                     ThreadPool* pool, Workspace& workspace,
                     std::vector<model::Matrix>& outputs) const {
    for (Worker& worker : workspace) prepare(longest, worker);
    for (std::size_t s = 0; s < batch.size(); ++s) outputs[s] = output_for(batch[s].size());
    const auto body = [&](std::size_t w, std::size_t begin, std::size_t end) {
      for (std::size_t s = begin; s < end; ++s)
        run_one(batch[s], nullptr, std::span(workspace).subspan(w, 1), outputs[s]);
    };
    if (pool == nullptr) return body(0, 0, batch.size());
    const std::size_t grain = std::max<std::size_t>(
        1, std::min(kRowsWorthAThread / (longest + 1), batch.size() / (4 * pool->workers())));
    pool->parallel_for(batch.size(), grain, body);
  }

  // One sequence, in the first worker's; its rows are spread over `pool`, when there is one, whose
  // threads use a worker each.
  void run_one(std::span<const TokenId> tokens, ThreadPool* pool, std::span<Worker> workers,
               model::Matrix& y) const {
    auto& sequence = workers[0].sequence;
    forward_.prepare(tokens.size(), sequence);
    const auto stage = [&](std::size_t count, std::size_t grain, auto&& body) {
      if (pool == nullptr) return body(workers[0].scratch, 0, count);
      pool->parallel_for(count, grain, [&](std::size_t w, std::size_t begin, std::size_t end) {
        body(workers[w].scratch, begin, end);
      });
    };
    constexpr std::size_t kRows = kRowsWorthAThread / 4;
    forward_.embed(tokens, sequence);
    for (std::size_t l = 0; l < forward_.layers(); ++l) {
      stage(sequence.distinct, kRows, [&](auto&, std::size_t begin, std::size_t end) {
        forward_.project(l, begin, end, sequence);
      });
      stage(forward_.heads(l), 1, [&](auto&, std::size_t begin, std::size_t end) {
        forward_.arrange(l, begin, end, sequence);
      });
      stage(forward_.means(l, sequence), kRows,
            [&](auto& scratch, std::size_t begin, std::size_t end) {
              forward_.attend(l, begin, end, scratch, sequence, nullptr);
            });
      stage(sequence.distinct, kRows, [&](auto& scratch, std::size_t begin, std::size_t end) {
        forward_.advance(l, begin, end, scratch, sequence);
      });
    }
    forward_.unembed(1, workers[0].scratch, sequence, y);
  }

  // Distinct rows of `from` to all rows of `to`.
  static void expand(const typename Forward<Scalar>::Sequence& sequence,
                     const std::vector<Scalar>& from, model::Matrix& to) {
    const auto width = static_cast<std::size_t>(to.cols());
    for (std::size_t row = 0; row < sequence.rows; ++row) {
      const Scalar* source = from.data() + sequence.groups.of(row) * width;
      std::copy(source, source + width, to.row(static_cast<Eigen::Index>(row)).data());
    }
  }

  void prepare(std::size_t tokens, Worker& worker) const {
    forward_.prepare(tokens, worker.sequence);
    forward_.prepare(tokens, worker.scratch);
  }

  [[nodiscard]] Trace empty_trace(std::size_t rows) const {
    const auto n = static_cast<Eigen::Index>(rows);
    const auto width = static_cast<Eigen::Index>(forward_.d_model());
    Trace trace;
    trace.residual.assign(forward_.layers() + 1, model::Matrix(n, width));
    for (std::size_t l = 0; l < forward_.layers(); ++l) {
      trace.attention.emplace_back(forward_.heads(l), model::Matrix::Zero(n, n));
      trace.hidden.emplace_back(n, static_cast<Eigen::Index>(forward_.d_mlp(l)));
    }
    trace.output = output_for(rows);
    return trace;
  }

  bool causal_;
  std::size_t vocabulary_;
  std::size_t max_length_;
  Forward<Scalar> forward_;
  mutable std::mutex mutex_;  // of the pool and the workspace
  mutable ThreadPool pool_;
  mutable Workspace workspace_;
};

template <typename T>
class CpuDecodeSession final : public DecodeSession<T> {
 public:
  explicit CpuDecodeSession(KvCache<T> cache) : cache_(std::move(cache)) {}
  Result<void> step(const View<const T>& q, const View<const T>& k, const View<const T>& v,
                    const View<T>& out) override {
    return cache_.step(q, k, v, out);
  }
  [[nodiscard]] std::size_t position() const override { return cache_.position(); }
  [[nodiscard]] std::size_t bytes() const override { return cache_.bytes(); }

 private:
  KvCache<T> cache_;
};

class CpuBackend final : public Backend {
 public:
  explicit CpuBackend(std::size_t threads) : threads_(threads) {
    if (threads == 0) threads = std::thread::hardware_concurrency();
    device_.backend = "cpu";
    device_.name = "this machine";
    device_.units = static_cast<std::uint32_t>(std::max<std::size_t>(1, threads));
  }
  [[nodiscard]] std::string_view name() const override { return device_.backend; }
  [[nodiscard]] const DeviceInfo& device() const override { return device_; }
  [[nodiscard]] Result<std::unique_ptr<Executable>> load(const model::Model& model) const override {
    RASP_CHECK_OK(model::check(model));
    if (model.dtype == model::Dtype::kF32)
      return std::make_unique<CpuExecutable<float>>(model, threads_);
    return std::make_unique<CpuExecutable<double>>(model, threads_);
  }
  [[nodiscard]] Result<void> attention(const View<const float>& q, const View<const float>& k,
                                       const View<const float>& v, const AttentionSpec& spec,
                                       const View<float>& out) const override {
    return attend(q, k, v, spec, out);
  }
  [[nodiscard]] Result<void> attention(const View<const double>& q, const View<const double>& k,
                                       const View<const double>& v, const AttentionSpec& spec,
                                       const View<double>& out) const override {
    return attend(q, k, v, spec, out);
  }
  [[nodiscard]] Result<std::unique_ptr<DecodeSession<float>>> decode_floats(
      const AttentionShape& shape, const AttentionSpec& spec) const override {
    return decode<float>(shape, spec);
  }
  [[nodiscard]] Result<std::unique_ptr<DecodeSession<double>>> decode_doubles(
      const AttentionShape& shape, const AttentionSpec& spec) const override {
    return decode<double>(shape, spec);
  }

 private:
  template <typename T>
  Result<void> attend(const View<const T>& q, const View<const T>& k, const View<const T>& v,
                      const AttentionSpec& spec, const View<T>& out) const {
    const std::scoped_lock lock(mutex_);
    if (!attention_) attention_ = std::make_unique<Attention>(threads_);
    return (*attention_)(q, k, v, spec, out);
  }
  template <typename T>
  static Result<std::unique_ptr<DecodeSession<T>>> decode(const AttentionShape& shape,
                                                          const AttentionSpec& spec) {
    RASP_TRY(KvCache<T> cache, KvCache<T>::create(shape, spec));
    return std::make_unique<CpuDecodeSession<T>>(std::move(cache));
  }

  std::size_t threads_;
  DeviceInfo device_;
  mutable std::mutex mutex_;  // of the attention
  mutable std::unique_ptr<Attention> attention_;
};

}  // namespace

std::unique_ptr<Backend> make_cpu_backend(std::size_t threads) {
  return std::make_unique<CpuBackend>(threads);
}

}  // namespace rasp::runtime
