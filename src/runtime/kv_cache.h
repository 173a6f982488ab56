// Attention one position at a time: what a full causal pass gives, step by step.
#pragma once

#include <memory>

#include "base/result.h"
#include "runtime/attention.h"

namespace rasp::runtime {

enum class Storage : std::uint8_t {
  kAsComputed,  // T
  kBFloat16,    // half the memory and traffic of float; keys and values are rounded when they come
};

// Keys and values of the positions so far, for one spec, which is causal by nature. With a window
// (`left`) only the window is kept, so memory does not grow with the text; linear attention keeps
// its state alone. Not for more than one thread at a time. T: float, double.
template <typename T>
class KvCache {
 public:
  // Sizes: shape.batch, q_heads, kv_heads, d, d_v; its lengths are not read. Explicit masks, biases
  // and lengths are refused: they belong to a whole pass; so is `right`, since no key lies ahead.
  // BFloat16 is for float alone, and not for linear attention, which keeps no keys.
  [[nodiscard]] static Result<KvCache> create(const AttentionShape& shape,
                                              const AttentionSpec& spec,
                                              Storage storage = Storage::kAsComputed);
  KvCache(KvCache&&) noexcept;
  KvCache& operator=(KvCache&&) noexcept;
  ~KvCache();

  // Appends k [batch, kv_heads, 1, d] and v [batch, kv_heads, 1, d_v], then attends with q [batch,
  // q_heads, 1, d] to out [batch, q_heads, 1, d_v].
  [[nodiscard]] Result<void> step(const View<const T>& q, const View<const T>& k,
                                  const View<const T>& v, const View<T>& out);

  [[nodiscard]] std::size_t position() const;  // steps so far
  [[nodiscard]] std::size_t bytes() const;     // held for keys, values or states

 private:
  struct Impl;
  explicit KvCache(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rasp::runtime
