// Decoding reads every kept key and value once, so it runs at the speed of memory: keys are kept
// row by row, as they come, and scored by dot products along the row. Query heads of one group
// share a pass over their keys.
#include "runtime/kv_cache.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "runtime/cpu/attention_kernels.h"
#include "runtime/cpu/linear_attention.h"
#include "runtime/cpu/row_transform.h"

namespace rasp::runtime {
namespace {

template <typename T>
constexpr T kMax = std::numeric_limits<T>::max();

// Rows of one kv head: a ring when the window bounds it, else growing.
template <typename T>
struct Ring {
  std::vector<T> keys;                             // [capacity, dk]
  std::vector<T> values;                           // [capacity, d_v]
  std::vector<BFloat16> short_keys, short_values;  // instead, where they are stored so
  std::vector<std::uint8_t> bad;
  std::size_t bad_count = 0;
};

}  // namespace

template <typename T>
struct KvCache<T>::Impl {
  Impl(const AttentionShape& sizes, const AttentionSpec& choices, Storage stored)
      : shape(sizes),
        spec(choices),
        storage(stored),
        transform(spec, shape.d),
        dk(transform.width()) {
    const std::size_t heads = shape.batch * shape.kv_heads;
    if (spec.normaliser == Normaliser::kLinear) {
      states.resize(heads);
      for (LinearState<T>& state : states) state.reset(shape.d, shape.d_v);
    } else {
      rings.resize(heads);
    }
    if (spec.left) window = *spec.left + 1;
    if (spec.alibi) {
      slopes = spec.alibi->slopes;
      if (slopes.empty()) slopes = default_alibi_slopes(shape.q_heads);
    }
    additive_v.assign(spec.additive.v.begin(), spec.additive.v.end());
    row.resize(2 * std::max(dk, shape.d));
    query.resize(dk);
  }

  void append(std::size_t head, const T* k, const T* v);
  void keep(const T* from, std::size_t width, bool usable, std::size_t place, std::vector<T>& rows,
            std::vector<BFloat16>& short_rows);
  void attend(std::size_t b, std::size_t h, const T* q, T* out);
  void score_all(std::size_t h, const Ring<T>& ring, std::size_t count);
  void reserve();

  [[nodiscard]] std::size_t kept() const { return std::min(position + 1, window); }
  // Where the key of a position is kept.
  [[nodiscard]] std::size_t slot(std::size_t at) const {
    return window == kUnbounded ? at : at % window;
  }

  static constexpr std::size_t kUnbounded = ~std::size_t{0};
  AttentionShape shape;
  AttentionSpec spec;
  Storage storage;
  RowTransform<T> transform;
  std::size_t dk;
  std::size_t window = kUnbounded;
  std::size_t capacity = 0;
  std::size_t position = 0;  // of the step that runs or comes next
  std::vector<Ring<T>> rings;
  std::vector<LinearState<T>> states;
  std::vector<double> slopes;
  std::vector<T> additive_v, row, query, scores;
  RopeTable rope;
};

// Room for one more position: twice as much when it runs out, so that steps rarely allocate.
template <typename T>
void KvCache<T>::Impl::reserve() {
  if (spec.rope) {
    const auto at = static_cast<std::ptrdiff_t>(position);
    rope.prepare(*spec.rope, shape.d, at, at + 1);
  }
  if (kept() <= capacity) return;
  constexpr std::size_t kFirst = 64;
  capacity = std::min(window, std::max(kFirst, 2 * capacity));
  scores.resize(capacity);
  for (Ring<T>& ring : rings) {
    if (storage == Storage::kBFloat16) {
      ring.short_keys.resize(capacity * dk);
      ring.short_values.resize(capacity * shape.d_v);
    } else {
      ring.keys.resize(capacity * dk);
      ring.values.resize(capacity * shape.d_v);
    }
    ring.bad.resize(capacity);
  }
}

template <typename T>
void KvCache<T>::Impl::append(std::size_t head, const T* k, const T* v) {
  const auto at = static_cast<std::ptrdiff_t>(position);
  T* packed = row.data();
  T* scratch = row.data() + std::max(dk, shape.d);
  const bool usable = transform.apply(Side::kKey, k, at, rope, scratch, packed) &&
                      magnitude(v, shape.d_v) <= kMax<T>;
  if (!states.empty()) return states[head].add(packed, v, usable, spec.feature);
  Ring<T>& ring = rings[head];
  const std::size_t place = slot(position);
  ring.bad_count -= ring.bad[place];
  ring.bad[place] = usable ? 0 : 1;
  ring.bad_count += ring.bad[place];
  keep(packed, dk, true, place, ring.keys, ring.short_keys);
  keep(v, shape.d_v, usable, place, ring.values, ring.short_values);
}

// Row `place` of what is kept; zeros where it is not usable.
template <typename T>
void KvCache<T>::Impl::keep(const T* from, std::size_t width, bool usable, std::size_t place,
                            std::vector<T>& rows, std::vector<BFloat16>& short_rows) {
  for (std::size_t c = 0; c < width; ++c) {
    const T entry = usable ? from[c] : T{0};
    if (storage == Storage::kBFloat16) {
      short_rows[place * width + c] = BFloat16(static_cast<float>(entry));
    } else {
      rows[place * width + c] = entry;
    }
  }
}

// scores[0 .. count) by slot.
template <typename T>
void KvCache<T>::Impl::score_all(std::size_t h, const Ring<T>& ring, std::size_t count) {
  if constexpr (std::is_same_v<T, float>) {
    if (storage == Storage::kBFloat16)
      decode_scores(spec.score, query.data(), ring.short_keys.data(), dk, count, additive_v.data(),
                    scores.data());
  }
  if (storage != Storage::kBFloat16)
    decode_scores(spec.score, query.data(), ring.keys.data(), dk, count, additive_v.data(),
                  scores.data());
  if (spec.score == Score::kGaussian) {
    const auto factor = static_cast<T>(-1 / (2 * spec.sigma * spec.sigma));
    for (std::size_t j = 0; j < count; ++j) scores[j] *= factor;
  }
  if (!spec.alibi) return;
  for (std::size_t at = position + 1 - count; at <= position; ++at)
    scores[slot(at)] -= static_cast<T>(slopes[h] * static_cast<double>(position - at));
}

template <typename T>
void KvCache<T>::Impl::attend(std::size_t b, std::size_t h, const T* q, T* out) {
  const std::size_t head = b * shape.kv_heads + h / (shape.q_heads / shape.kv_heads);
  const bool usable = transform.apply(Side::kQuery, q, static_cast<std::ptrdiff_t>(position), rope,
                                      row.data(), query.data());
  if (!states.empty()) return states[head].read(query.data(), usable, spec.feature, out);
  const Ring<T>& ring = rings[head];
  const std::size_t count = kept();
  bool number = usable && ring.bad_count == 0;
  if (number) {
    score_all(h, ring, count);
    const bool hard = spec.normaliser == Normaliser::kHard;
    if constexpr (std::is_same_v<T, float>) {
      if (storage == Storage::kBFloat16)
        number = decode_mix(scores.data(), ring.short_values.data(), count, shape.d_v, hard, out);
    }
    if (storage != Storage::kBFloat16)
      number = decode_mix(scores.data(), ring.values.data(), count, shape.d_v, hard, out);
  }
  if (!number) std::fill(out, out + shape.d_v, std::numeric_limits<T>::quiet_NaN());
}

template <typename T>
KvCache<T>::KvCache(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
template <typename T>
KvCache<T>::KvCache(KvCache&&) noexcept = default;
template <typename T>
KvCache<T>& KvCache<T>::operator=(KvCache&&) noexcept = default;
template <typename T>
KvCache<T>::~KvCache() = default;

template <typename T>
Result<KvCache<T>> KvCache<T>::create(const AttentionShape& shape, const AttentionSpec& spec,
                                      Storage storage) {
  const auto refuse = [](const char* what) {
    return fail(ErrorKind::kInput, {}, std::string("decoding: ") + what);
  };
  if (spec.mask || spec.bias || !spec.lengths.empty())
    return refuse("explicit masks, biases and lengths belong to a whole pass");
  if (spec.right) return refuse("a window to the right of the newest position is empty");
  if (storage == Storage::kBFloat16 &&
      (!std::is_same_v<T, float> || spec.normaliser == Normaliser::kLinear))
    return refuse("bfloat16 keys and values go with float32, and not with linear attention");
  const auto view = [&](std::size_t heads, std::size_t dim) {
    return View<const T>{nullptr, shape.batch, heads, 1, dim, 0, 0, 0};
  };
  RASP_TRY(
      const AttentionShape one,
      check_attention<T>(view(shape.q_heads, shape.d), view(shape.kv_heads, shape.d),
                         view(shape.kv_heads, shape.d_v), spec, view(shape.q_heads, shape.d_v)));
  return KvCache(std::make_unique<Impl>(one, spec, storage));
}

template <typename T>
Result<void> KvCache<T>::step(const View<const T>& q, const View<const T>& k,
                              const View<const T>& v, const View<T>& out) {
  Impl& impl = *impl_;
  RASP_TRY(const AttentionShape shape, check_attention<T>(q, k, v, impl.spec, out));
  const AttentionShape& own = impl.shape;
  if (shape.batch != own.batch || shape.q_heads != own.q_heads || shape.kv_heads != own.kv_heads ||
      shape.q_len != 1 || shape.kv_len != 1 || shape.d != own.d || shape.d_v != own.d_v)
    return fail(ErrorKind::kInput, {},
                "decoding: a step takes one position of the cache's sizes, " +
                    std::to_string(own.batch) + " sequences of " + std::to_string(own.q_heads) +
                    " heads of " + std::to_string(own.d));
  impl.reserve();
  for (std::size_t b = 0; b < own.batch; ++b)
    for (std::size_t h = 0; h < own.kv_heads; ++h)
      impl.append(b * own.kv_heads + h, k.row(b, h, 0), v.row(b, h, 0));
  for (std::size_t b = 0; b < own.batch; ++b)
    for (std::size_t h = 0; h < own.q_heads; ++h)
      impl.attend(b, h, q.row(b, h, 0), out.row(b, h, 0));
  ++impl.position;
  return {};
}

template <typename T>
std::size_t KvCache<T>::position() const {
  return impl_->position;
}

template <typename T>
std::size_t KvCache<T>::bytes() const {
  const AttentionShape& shape = impl_->shape;
  const std::size_t rows = impl_->rings.size() * impl_->capacity * (impl_->dk + shape.d_v);
  const std::size_t each = impl_->storage == Storage::kBFloat16 ? sizeof(BFloat16) : sizeof(T);
  return each * rows + sizeof(T) * impl_->states.size() * shape.d * (shape.d_v + 1);
}

template class KvCache<float>;
template class KvCache<double>;

}  // namespace rasp::runtime
