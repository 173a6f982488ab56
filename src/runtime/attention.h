// Attention as such: any q, k, v, every variant by itself or with the others. Knows no model.
//
// Shapes. q [batch, q_heads, q_len, d], k [batch, kv_heads, kv_len, d], v [batch, kv_heads, kv_len,
// d_v], out [batch, q_heads, q_len, d_v]. Query head h reads kv head h / (q_heads / kv_heads):
// as many as q_heads are multi-head, 1 is multi-query, between is grouped-query (Ainslie et al.
// 2023). Query i stands at position i + kv_len - q_len, key j at position j: masks and positions
// align at the end.
//
// Masked keys are skipped: whatever they hold, NaN included, has no influence. A row that sees no
// key gives zeros. NaN or infinity in an unmasked q, k or v gives NaN in the rows that read it and
// nowhere else. Values are summed with their weights first and divided once at the end. Results are
// the same bits from run to run and for every number of threads.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "base/result.h"
#include "runtime/bfloat16.h"

namespace rasp::runtime {

// A tensor of four dimensions; the last is contiguous, the strides of the others, in elements, are
// free (0 repeats).
template <typename T>
struct View {
  T* data = nullptr;
  std::size_t batch = 0;
  std::size_t heads = 0;
  std::size_t length = 0;
  std::size_t dim = 0;
  std::ptrdiff_t batch_stride = 0;
  std::ptrdiff_t head_stride = 0;
  std::ptrdiff_t row_stride = 0;

  [[nodiscard]] T* row(std::size_t b, std::size_t h, std::size_t i) const {
    return data + static_cast<std::ptrdiff_t>(b) * batch_stride +
           static_cast<std::ptrdiff_t>(h) * head_stride +
           static_cast<std::ptrdiff_t>(i) * row_stride;
  }
  // NOLINTNEXTLINE(google-explicit-constructor): a view for writing is one for reading
  operator View<const T>() const {
    return {data, batch, heads, length, dim, batch_stride, head_stride, row_stride};
  }
};

// [batch, heads, length, dim] without gaps.
template <typename T>
[[nodiscard]] View<T> packed(T* data, std::size_t batch, std::size_t heads, std::size_t length,
                             std::size_t dim) {
  const auto row = static_cast<std::ptrdiff_t>(dim);
  const auto head = static_cast<std::ptrdiff_t>(length) * row;
  return {data, batch, heads, length, dim, static_cast<std::ptrdiff_t>(heads) * head, head, row};
}

enum class Score : std::uint8_t {
  kDot,       // scale * q . k
  kAdditive,  // v . tanh(Wq q + Wk k)                  (Bahdanau, Cho, Bengio 2014)
  kGaussian,  // -|q - k|^2 / (2 sigma^2)               (Nadaraya 1964, Watson 1964)
};

enum class Normaliser : std::uint8_t {
  kSoftmax,
  kHard,    // the mean over the keys of maximal score
  kLinear,  // phi(q) . sum phi(k) v^T / phi(q) . sum phi(k)   (Katharopoulos et al. 2020)
};

// Rotates the pairs of q and k by position * base^(-2i/d) (Su et al. 2021).
struct Rope {
  double base = 10'000;
  bool interleaved = true;  // pairs (2i, 2i + 1); else (i, i + d/2)
};

// Adds -slope[h] * |position of the query - position of the key| (Press, Smith, Lewis 2021).
struct Alibi {
  std::vector<double> slopes;  // [q_heads]; empty: `default_alibi_slopes`
};

// The geometric slopes 2^(-8i/n), i from 1 to n, and where n is no power of two those of the power
// below, then every other one of the power above.
[[nodiscard]] std::vector<double> default_alibi_slopes(std::size_t heads);

struct AdditiveWeights {
  std::size_t hidden = 0;
  std::vector<double> wq, wk;  // [hidden, d], row-major
  std::vector<double> v;       // [hidden]
};

// Entries for [batch, q_heads, q_len, kv_len]; batch and heads may be 1 in size: they repeat then.
using MaskView = View<const std::uint8_t>;  // not 0: may be attended to

struct AttentionSpec {
  Score score = Score::kDot;
  std::optional<double> scale;  // kDot; default 1 / sqrt(d)
  double sigma = 1;             // kGaussian
  AdditiveWeights additive;     // kAdditive

  std::optional<Rope> rope;  // even d
  std::optional<Alibi> alibi;

  // All that are given hold together.
  bool causal = false;               // keys up to the query's position
  std::optional<std::size_t> left;   // so many keys before the query's position, not more
  std::optional<std::size_t> right;  // and after it
  std::optional<MaskView> mask;
  std::optional<View<const double>> bias;  // added to scores; -infinity masks
  std::vector<std::size_t> lengths;        // [batch]: keys from there on are masked

  Normaliser normaliser = Normaliser::kSoftmax;
  double (*feature)(double) = nullptr;  // kLinear; default elu(x) + 1

  // Where keys repeat, every key is visible, and the values are such that their sums do not round
  // (small integers), score each distinct key once and weigh it by its count. Weights of 0 and 1
  // give the same bits as without; others may differ in the last places, within the same bound.
  bool equal_keys = true;

  // The usual window of `keys` >= 1 keys, the query's own included.
  void set_window(std::size_t keys) { left = keys - 1; }
};

// The shapes of one call.
struct AttentionShape {
  std::size_t batch = 0;
  std::size_t q_heads = 0, kv_heads = 0;
  std::size_t q_len = 0, kv_len = 0;
  std::size_t d = 0, d_v = 0;
};

// Whether the sizes fit together and the choices make sense; errors carry the sizes.
template <typename T>
[[nodiscard]] Result<AttentionShape> check_attention(const View<const T>& q, const View<const T>& k,
                                                     const View<const T>& v,
                                                     const AttentionSpec& spec,
                                                     const View<const T>& out);

// The keys that causal, window and lengths leave to query i: [begin, end).
struct KeyRange {
  std::size_t begin = 0, end = 0;
};
[[nodiscard]] KeyRange visible_keys(const AttentionSpec& spec, const AttentionShape& shape,
                                    std::size_t batch, std::size_t query);

// The CPU kernels. One object may be used by one thread at a time; it keeps its threads and its
// buffers, so that a call allocates nothing once it has seen the shape. T: float, double, or
// BFloat16, which is computed in float and rounded at the end.
class Attention {
 public:
  explicit Attention(std::size_t threads = 0);  // 0: as many as the machine has
  Attention(Attention&&) noexcept;
  Attention& operator=(Attention&&) noexcept;
  ~Attention();

  template <typename T>
  [[nodiscard]] Result<void> operator()(const View<const T>& q, const View<const T>& k,
                                        const View<const T>& v, const AttentionSpec& spec,
                                        const View<T>& out);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// The attention matrix itself, [batch, q_heads, q_len, kv_len], exactly 0 where masked. The only
// entry that holds so many values.
template <typename T>
[[nodiscard]] Result<std::vector<T>> attention_weights(const View<const T>& q,
                                                       const View<const T>& k,
                                                       const AttentionSpec& spec);

}  // namespace rasp::runtime
