// Runs models. The runtime knows weights and token ids, nothing of RASP.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "model/model.h"
#include "runtime/attention.h"

namespace rasp::runtime {

using TokenId = std::uint32_t;  // an index into the model's vocabulary

// What one sequence of n tokens went through; kept as doubles, each exactly what the forward pass
// held.
struct Trace {
  std::vector<model::Matrix> residual;  // layers + 1 of [1 + n, d_model]; 0 is the embedding
  std::vector<std::vector<model::Matrix>>
      attention;                      // [layer][head] of [1 + n, 1 + n], row = query
  std::vector<model::Matrix> hidden;  // [layer] of [1 + n, d_mlp], after the ReLU
  model::Matrix output;               // [1 + n, d_out]
};

// A sequence of a causal model that grows token by token. Keys and values of every layer are kept,
// so a token costs one row, not a whole pass. Not for longer than its Executable, and not for more
// than one thread at a time.
class Generation {
 public:
  virtual ~Generation() = default;
  // y [1, d_out] at the position of `token`, which follows those before: the very row that a pass
  // over the whole sequence gives. Errors: a token outside the vocabulary, one beyond max_length;
  // they leave the sequence as it was.
  [[nodiscard]] virtual Result<model::Matrix> step(TokenId token) = 0;
  [[nodiscard]] virtual std::size_t length() const = 0;  // tokens so far
  [[nodiscard]] virtual std::size_t bytes() const = 0;   // of keys and values so far
};

// A model whose weights are where they will be used (converted once to its dtype, on the device).
class Executable {
 public:
  virtual ~Executable() = default;
  // y of every sequence, BOS rows dropped: one [n_i, d_out] matrix each. Sequences may have unequal
  // lengths, 1 to max_length; ids must be below the vocabulary's size. The result does not depend
  // on how sequences are batched.
  [[nodiscard]] virtual Result<std::vector<model::Matrix>> run(
      std::span<const std::vector<TokenId>> batch) const = 0;
  [[nodiscard]] virtual Result<Trace> trace(std::span<const TokenId> tokens) const = 0;
  // An error for a model that is not causal, and where the backend runs whole sequences only.
  [[nodiscard]] virtual Result<std::unique_ptr<Generation>> start() const;
};

// What a backend works on, and its limits. Sizes in bytes; 0 where they are not known.
struct DeviceInfo {
  std::string backend;  // "cpu", "opencl" or "cuda"
  std::string name;
  std::string driver;  // its version; empty for the CPU
  std::uint64_t memory = 0;
  std::uint64_t largest_allocation = 0;
  std::uint64_t local_memory = 0;  // that a work-group (block) shares
  std::uint32_t units = 0;         // processors that run work-groups; threads of the CPU
  bool doubles = true;             // float64 is there
  bool gpu = false;                // else a CPU or another accelerator
};

// Attention one position at a time, where the backend keeps the keys and values: see kv_cache.h.
template <typename T>
class DecodeSession {
 public:
  virtual ~DecodeSession() = default;
  [[nodiscard]] virtual Result<void> step(const View<const T>& q, const View<const T>& k,
                                          const View<const T>& v, const View<T>& out) = 0;
  [[nodiscard]] virtual std::size_t position() const = 0;  // steps so far
  [[nodiscard]] virtual std::size_t bytes() const = 0;     // held for keys, values or states
};

// Backends and what they load may be used from several threads: those take turns.
class Backend {
 public:
  virtual ~Backend() = default;
  [[nodiscard]] virtual std::string_view name() const = 0;  // DeviceInfo::backend
  [[nodiscard]] virtual const DeviceInfo& device() const = 0;
  [[nodiscard]] virtual Result<std::unique_ptr<Executable>> load(
      const model::Model& model) const = 0;
  // As `Attention` of attention.h; views are of the host's memory.
  [[nodiscard]] virtual Result<void> attention(const View<const float>& q,
                                               const View<const float>& k,
                                               const View<const float>& v,
                                               const AttentionSpec& spec,
                                               const View<float>& out) const = 0;
  [[nodiscard]] virtual Result<void> attention(const View<const double>& q,
                                               const View<const double>& k,
                                               const View<const double>& v,
                                               const AttentionSpec& spec,
                                               const View<double>& out) const = 0;
  // As `KvCache<T>::create`; for one thread at a time, and not for longer than the backend.
  [[nodiscard]] virtual Result<std::unique_ptr<DecodeSession<float>>> decode_floats(
      const AttentionShape& shape, const AttentionSpec& spec) const = 0;
  [[nodiscard]] virtual Result<std::unique_ptr<DecodeSession<double>>> decode_doubles(
      const AttentionShape& shape, const AttentionSpec& spec) const = 0;
};

// `threads` work on a batch, the caller among them; 0: as many as the machine has.
[[nodiscard]] std::unique_ptr<Backend> make_cpu_backend(std::size_t threads = 0);

// Token ids of an input. Errors name the token, the position and the limit: a token outside the
// vocabulary, an empty input, one longer than max_length. `1` and `"1"` are different tokens.
[[nodiscard]] Result<std::vector<TokenId>> encode(const model::Model& model,
                                                  std::span<const value::Atom> input);
// What a model whose decoder is a pattern says of a sequence: which keys each query selects (rows =
// queries).
[[nodiscard]] std::vector<std::vector<bool>> decode_pattern(const model::Model& model,
                                                            const Trace& trace);
// The atoms that the rows of y mean (BOS row already dropped).
[[nodiscard]] Result<value::Sequence> decode(const model::Model& model, const model::Matrix& y);

}  // namespace rasp::runtime
