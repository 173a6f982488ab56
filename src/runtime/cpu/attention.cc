// One attention call: keys are packed into panels, values padded where they have to be, then every
// block of queries is one task. Rows that are not finite are packed as zeros and remembered, so
// that kernels need not know of them; the rows of the output that read one are set to NaN at the
// end.
#include "runtime/attention.h"

#include <hwy/cache_control.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "runtime/cpu/attention_buffers.h"
#include "runtime/cpu/attention_kernels.h"
#include "runtime/cpu/row_transform.h"
#include "runtime/thread_pool.h"

namespace rasp::runtime {
namespace {

std::size_t round_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

template <typename T>
constexpr T kMax = std::numeric_limits<T>::max();

// One call: references to what the caller gave and to the buffers.
template <typename T>
class Call {
 public:
  Call(const View<const T>& q, const View<const T>& k, const View<const T>& v,
       const AttentionSpec& spec, const View<T>& out, const AttentionShape& shape,
       const RopeTable& rope, ThreadPool& pool, Buffers<T>& buffers)
      : q_(q),
        k_(k),
        v_(v),
        spec_(spec),
        out_(out),
        shape_(shape),
        rope_(rope),
        pool_(pool),
        buffers_(buffers),
        transform_(spec, shape.d),
        dk_(transform_.width()),
        panels_((shape.kv_len + kPanel<T> - 1) / kPanel<T>),
        padded_v_(round_up(shape.d_v, kValuePad<T>)),
        may_group_(spec.equal_keys && spec.normaliser != Normaliser::kLinear && !spec.causal &&
                   !spec.left && !spec.right && !spec.mask && !spec.bias && !spec.alibi &&
                   !spec.rope && shape.d_v != 0),
        offset_(static_cast<std::ptrdiff_t>(shape.kv_len) -
                static_cast<std::ptrdiff_t>(shape.q_len)) {}

  void run();

 private:
  using S = Scratch<T>;

  [[nodiscard]] std::size_t kv_heads() const { return shape_.batch * shape_.kv_heads; }
  [[nodiscard]] std::size_t group() const { return shape_.q_heads / shape_.kv_heads; }

  void prepare_scratch();
  void find_equal_keys();
  void pack_keys();
  void pack_panel(std::size_t head, std::size_t panel, T* row, T* scratch);
  void pack_values();
  void summarise_heads();
  void attend(std::size_t task, S& scratch);
  T pack_queries(std::size_t b, std::size_t h, std::size_t first, std::size_t rows, S& scratch);
  void prefetch_queries(std::size_t b, std::size_t h, std::size_t first) const;
  [[nodiscard]] bool may_overflow(T q_magnitude, T k_magnitude) const;
  [[nodiscard]] ScoreEdits edits_for(std::size_t b, std::size_t h, std::size_t first,
                                     bool check) const;
  void finish(std::size_t b, std::size_t h, std::size_t first, std::size_t rows, std::size_t width,
              S& scratch);
  [[nodiscard]] bool reads_bad_key(std::size_t b, std::size_t h, std::size_t query,
                                   const KeyRange& range) const;

  const View<const T>& q_;
  const View<const T>& k_;
  const View<const T>& v_;
  const AttentionSpec& spec_;
  const View<T>& out_;
  const AttentionShape& shape_;
  const RopeTable& rope_;
  ThreadPool& pool_;
  Buffers<T>& buffers_;
  RowTransform<T> transform_;
  std::size_t dk_;
  std::size_t panels_;
  std::size_t padded_v_;
  bool may_group_;         // equal keys: whether nothing tells one key from another but its row
  std::ptrdiff_t offset_;  // of query positions
  bool values_direct_ = false;
};

template <typename U>
const U* per_pair_row(const View<const U>& view, std::size_t b, std::size_t h, std::size_t i) {
  return view.row(view.batch == 1 ? 0 : b, view.heads == 1 ? 0 : h, i);
}

template <typename T>
void Call<T>::run() {
  buffers_.bad.assign(kv_heads() * shape_.kv_len, 0);
  prepare_scratch();
  if (spec_.normaliser == Normaliser::kLinear) {
    const LinearCall<T> call{q_, k_, v_, spec_, out_, shape_, rope_, transform_};
    return pool_.parallel_for(kv_heads(), 1,
                              [&](std::size_t worker, std::size_t begin, std::size_t end) {
                                S& scratch = buffers_.scratch[worker];
                                for (std::size_t head = begin; head < end; ++head)
                                  attend_linear(call, head, scratch.row.data(), scratch.linear);
                              });
  }
  if (spec_.alibi) {
    buffers_.slopes = spec_.alibi->slopes;
    if (buffers_.slopes.empty()) buffers_.slopes = default_alibi_slopes(shape_.q_heads);
  }
  buffers_.additive_v.assign(spec_.additive.v.begin(), spec_.additive.v.end());
  find_equal_keys();
  pack_keys();
  pack_values();
  summarise_heads();
  const std::size_t blocks = (shape_.q_len + kQueryBlock - 1) / kQueryBlock;
  pool_.parallel_for(shape_.batch * shape_.q_heads * blocks, 1,
                     [&](std::size_t worker, std::size_t begin, std::size_t end) {
                       for (std::size_t task = begin; task < end; ++task)
                         attend(task, buffers_.scratch[worker]);
                     });
}

template <typename T>
void Call<T>::prepare_scratch() {
  buffers_.scratch.resize(pool_.workers());
  for (S& scratch : buffers_.scratch) {
    scratch.q.reserve(kQueryBlock * dk_);
    scratch.scores.reserve(kRowGroup * kKeyBlock<T>);
    scratch.sums.reserve(kQueryBlock * EqualKeys<T>::width(shape_.d_v));
    scratch.tops.reserve(kQueryBlock);
    scratch.totals.reserve(kQueryBlock * kValuePad<T>);
    scratch.row.reserve(3 * std::max(dk_, shape_.d));
    if (spec_.normaliser == Normaliser::kLinear) scratch.linear.reset(shape_.d, shape_.d_v);
    scratch.ranges.resize(kQueryBlock);
    scratch.poisoned.resize(kQueryBlock);
    scratch.bad_query.resize(kQueryBlock);
  }
}

template <typename T>
void Call<T>::find_equal_keys() {
  if (buffers_.equal.size() < kv_heads()) buffers_.equal.resize(kv_heads());
  pool_.parallel_for(kv_heads(), 1, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t head = begin; head < end; ++head) {
      EqualKeys<T>& equal = buffers_.equal[head];
      const std::size_t b = head / shape_.kv_heads;
      equal.leave();
      if (may_group_)
        equal.find(k_, v_, b, head % shape_.kv_heads,
                   spec_.lengths.empty() ? shape_.kv_len : spec_.lengths[b]);
    }
  });
}

// Of rows [first, first + count) of one head.
template <typename T>
T magnitude_of_rows(const View<const T>& view, std::size_t b, std::size_t h, std::size_t first,
                    std::size_t count) {
  if (view.row_stride == static_cast<std::ptrdiff_t>(view.dim))
    return magnitude(view.row(b, h, first), count * view.dim);
  T largest = 0;
  for (std::size_t i = first; i < first + count; ++i)
    largest = std::max(largest, magnitude(view.row(b, h, i), view.dim));
  return largest;
}

template <typename T>
void Call<T>::pack_keys() {
  buffers_.keys.reserve(kv_heads() * panels_ * kPanel<T> * dk_);
  buffers_.panel_magnitude.resize(kv_heads() * panels_);
  constexpr std::size_t kPanelsAtOnce = 4;
  pool_.parallel_for(kv_heads() * panels_, kPanelsAtOnce,
                     [&](std::size_t worker, std::size_t begin, std::size_t end) {
                       T* row = buffers_.scratch[worker].row.data();
                       for (std::size_t at = begin; at < end; ++at)
                         pack_panel(at / panels_, at % panels_, row, row + std::max(dk_, shape_.d));
                     });
}

// Panel `panel` of kv head `head` (batch included).
template <typename T>
void Call<T>::pack_panel(std::size_t head, std::size_t panel, T* row, T* scratch) {
  T* packed = buffers_.keys.data() + (head * panels_ + panel) * kPanel<T> * dk_;
  const EqualKeys<T>& equal = buffers_.equal[head];
  const std::size_t first = panel * kPanel<T>;
  const std::size_t keys = equal.used() ? equal.size() : shape_.kv_len;
  buffers_.panel_magnitude[head * panels_ + panel] = 0;
  if (first >= keys) return;
  const std::size_t count = std::min(kPanel<T>, keys - first);
  if (count < kPanel<T>) std::fill(packed, packed + kPanel<T> * dk_, T{0});
  const std::size_t b = head / shape_.kv_heads;
  const std::size_t h = head % shape_.kv_heads;
  T largest = std::numeric_limits<T>::infinity();
  if (!equal.used() && !spec_.rope && spec_.score != Score::kAdditive)
    largest = magnitude_of_rows(k_, b, h, first, count);
  const bool as_it_is = largest <= kMax<T>;
  if (!as_it_is) largest = 0;
  for (std::size_t j = 0; j < count; ++j) {
    const std::size_t key = equal.used() ? equal.first(first + j) : first + j;
    const T* source = k_.row(b, h, key);
    if (!as_it_is) {
      const bool usable = transform_.apply(Side::kKey, source, static_cast<std::ptrdiff_t>(key),
                                           rope_, scratch, row);
      if (!usable) buffers_.bad[head * shape_.kv_len + key] = 1;
      source = row;
      largest = std::max(largest, magnitude(row, dk_));
    }
    for (std::size_t c = 0; c < dk_; ++c) packed[c * kPanel<T> + j] = source[c];
  }
  buffers_.panel_magnitude[head * panels_ + panel] = largest;
}

// Values are read where they are when every row is finite and fills whole vectors.
template <typename T>
void Call<T>::pack_values() {
  constexpr std::size_t kRowsAtOnce = 256;
  const std::size_t rows = kv_heads() * shape_.kv_len;
  const auto source = [&](std::size_t at) {
    const std::size_t head = at / shape_.kv_len;
    return v_.row(head / shape_.kv_heads, head % shape_.kv_heads, at % shape_.kv_len);
  };
  const std::size_t blocks = (shape_.kv_len + kRowsAtOnce - 1) / kRowsAtOnce;
  std::atomic<bool> all_finite = true;
  pool_.parallel_for(kv_heads() * blocks, 1, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t block = begin; block < end; ++block) {
      const std::size_t head = block / blocks;
      if (buffers_.equal[head].used()) continue;
      const std::size_t first = block % blocks * kRowsAtOnce;
      const std::size_t count = std::min(kRowsAtOnce, shape_.kv_len - first);
      if (magnitude_of_rows(v_, head / shape_.kv_heads, head % shape_.kv_heads, first, count) <=
          kMax<T>)
        continue;
      all_finite.store(false, std::memory_order_relaxed);
      for (std::size_t at = head * shape_.kv_len + first;
           count != 0 && at < head * shape_.kv_len + first + count; ++at)
        if (!(magnitude(source(at), shape_.d_v) <= kMax<T>)) buffers_.bad[at] |= 2;
    }
  });
  values_direct_ = all_finite.load() && shape_.d_v == padded_v_;
  if (values_direct_) return;
  T* packed = buffers_.values.reserve(rows * padded_v_);
  pool_.parallel_for(rows, kRowsAtOnce, [&](std::size_t, std::size_t begin, std::size_t end) {
    for (std::size_t at = begin; at < end; ++at) {
      T* row = packed + at * padded_v_;
      const std::size_t used = (buffers_.bad[at] & 2) != 0 ? 0 : shape_.d_v;
      std::copy(source(at), source(at) + used, row);
      std::fill(row + used, row + padded_v_, T{0});
    }
  });
}

template <typename T>
void Call<T>::summarise_heads() {
  buffers_.head_has_bad.resize(kv_heads());
  buffers_.head_magnitude.resize(kv_heads());
  for (std::size_t head = 0; head < kv_heads(); ++head) {
    const auto bad = buffers_.bad.begin() + static_cast<std::ptrdiff_t>(head * shape_.kv_len);
    const auto bad_end = bad + static_cast<std::ptrdiff_t>(shape_.kv_len);
    buffers_.head_has_bad[head] =
        std::any_of(bad, bad_end, [](std::uint8_t flag) { return flag != 0; }) ? 1 : 0;
    T largest = 0;
    for (std::size_t p = 0; p < panels_; ++p)
      largest = std::max(largest, buffers_.panel_magnitude[head * panels_ + p]);
    buffers_.head_magnitude[head] = largest;
  }
}

// Returns the largest magnitude.
template <typename T>
T Call<T>::pack_queries(std::size_t b, std::size_t h, std::size_t first, std::size_t rows,
                        S& scratch) {
  for (std::size_t r = 0; r < rows; ++r) {
    const auto position = static_cast<std::ptrdiff_t>(first + r) + offset_;
    const bool usable = transform_.apply(Side::kQuery, q_.row(b, h, first + r), position, rope_,
                                         scratch.row.data(), scratch.q.data() + r * dk_);
    scratch.bad_query[r] = usable ? 0 : 1;
  }
  return magnitude(scratch.q.data(), rows * dk_);
}

// The next task's, most likely; they come while this one computes.
template <typename T>
void Call<T>::prefetch_queries(std::size_t b, std::size_t h, std::size_t first) const {
  for (std::size_t r = first; r < first + kQueryBlock; ++r) {
    const T* row = q_.row(b, h, r);
    for (std::size_t c = 0; c < shape_.d; c += kValuePad<T>) hwy::Prefetch(row + c);
  }
}

// Whether a sum of finite terms could leave the range of T.
template <typename T>
bool Call<T>::may_overflow(T q_magnitude, T k_magnitude) const {
  const auto terms = static_cast<double>(dk_);
  const auto q = static_cast<double>(q_magnitude);
  const auto k = static_cast<double>(k_magnitude);
  const double limit = static_cast<double>(kMax<T>) / 8;
  if (spec_.score == Score::kAdditive) return false;  // tanh is at most 1
  if (spec_.score == Score::kGaussian) return !((q + k) * (q + k) * terms < limit);
  return !(q * k * terms < limit);
}

template <typename T>
ScoreEdits Call<T>::edits_for(std::size_t b, std::size_t h, std::size_t first, bool check) const {
  ScoreEdits edits;
  edits.any = check || spec_.mask || spec_.bias || spec_.alibi || spec_.score == Score::kGaussian;
  if (spec_.mask) {
    edits.mask = per_pair_row(*spec_.mask, b, h, first);
    edits.mask_stride = spec_.mask->row_stride;
  }
  if (spec_.bias) {
    edits.bias = per_pair_row(*spec_.bias, b, h, first);
    edits.bias_stride = spec_.bias->row_stride;
  }
  if (spec_.alibi) edits.slope = buffers_.slopes[h];
  edits.first_position = static_cast<double>(static_cast<std::ptrdiff_t>(first) + offset_);
  return edits;
}

template <typename T>
void Call<T>::attend(std::size_t task, S& scratch) {
  const std::size_t blocks = (shape_.q_len + kQueryBlock - 1) / kQueryBlock;
  // The last blocks first: with a causal mask they are the longest.
  const std::size_t first = (blocks - 1 - task % blocks) * kQueryBlock;
  const std::size_t h = task / blocks % shape_.q_heads;
  const std::size_t b = task / blocks / shape_.q_heads;
  const std::size_t rows = std::min(kQueryBlock, shape_.q_len - first);
  const std::size_t kv_head = h / group();
  const std::size_t head = b * shape_.kv_heads + kv_head;
  const EqualKeys<T>& equal = buffers_.equal[head];
  for (std::size_t r = 0; r < rows; ++r)
    scratch.ranges[r] =
        equal.used() ? KeyRange{0, equal.size()} : visible_keys(spec_, shape_, b, first + r);
  std::fill(scratch.poisoned.begin(), scratch.poisoned.end(), std::uint8_t{0});
  const T q_magnitude = pack_queries(b, h, first, rows, scratch);
  if (first >= kQueryBlock) prefetch_queries(b, h, first - kQueryBlock);

  AttentionBlock<T> block;
  block.score = spec_.score;
  block.hard = spec_.normaliser == Normaliser::kHard;
  if (spec_.score == Score::kGaussian)
    block.factor = static_cast<T>(-1 / (2 * spec_.sigma * spec_.sigma));
  block.rows = rows;
  block.dk = dk_;
  block.d_v = padded_v_;
  block.q = scratch.q.data();
  block.keys = buffers_.keys.data() + head * panels_ * kPanel<T> * dk_;
  block.values = values_direct_ ? v_.row(b, kv_head, 0)
                                : buffers_.values.data() + head * shape_.kv_len * padded_v_;
  block.value_stride = values_direct_ ? v_.row_stride : static_cast<std::ptrdiff_t>(padded_v_);
  if (equal.used()) {
    block.d_v = EqualKeys<T>::width(shape_.d_v);
    block.values = equal.values();
    block.value_stride = static_cast<std::ptrdiff_t>(block.d_v);
    block.count_column = shape_.d_v;
  }
  block.additive_v = buffers_.additive_v.data();
  block.ranges = scratch.ranges.data();
  block.edits = edits_for(b, h, first, may_overflow(q_magnitude, buffers_.head_magnitude[head]));
  block.scores = scratch.scores.data();
  block.sums = scratch.sums.data();
  block.tops = scratch.tops.data();
  block.totals = scratch.totals.data();
  block.poisoned = scratch.poisoned.data();
  attend_block(block);
  finish(b, h, first, rows, block.d_v, scratch);
}

template <typename T>
bool Call<T>::reads_bad_key(std::size_t b, std::size_t h, std::size_t query,
                            const KeyRange& range) const {
  const std::size_t head = b * shape_.kv_heads + h / group();
  if (buffers_.head_has_bad[head] == 0) return false;
  const std::uint8_t* bad = buffers_.bad.data() + head * shape_.kv_len;
  for (std::size_t key = range.begin; key < range.end; ++key) {
    if (bad[key] == 0) continue;
    if (spec_.mask && per_pair_row(*spec_.mask, b, h, query)[key] == 0) continue;
    if (spec_.bias &&
        per_pair_row(*spec_.bias, b, h, query)[key] == -std::numeric_limits<double>::infinity())
      continue;
    return true;
  }
  return false;
}

template <typename T>
void Call<T>::finish(std::size_t b, std::size_t h, std::size_t first, std::size_t rows,
                     std::size_t width, S& scratch) {
  for (std::size_t r = 0; r < rows; ++r) {
    T* out = out_.row(b, h, first + r);
    const T* sums = scratch.sums.data() + r * width;
    const T total = scratch.totals.data()[r * kValuePad<T>];
    const bool poisoned = scratch.poisoned[r] != 0 ||
                          (scratch.bad_query[r] != 0 && total != T{0}) ||
                          reads_bad_key(b, h, first + r, scratch.ranges[r]);
    if (poisoned) {
      std::fill(out, out + shape_.d_v, std::numeric_limits<T>::quiet_NaN());
    } else {
      std::copy(sums, sums + shape_.d_v, out);
    }
  }
}

}  // namespace

struct Attention::Impl {
  explicit Impl(std::size_t threads) : pool(threads) {}
  ThreadPool pool;
  RopeTable rope;
  Buffers<float> floats;
  Buffers<double> doubles;
  AlignedBuffer<float> wide[4];  // q, k, v and out of BFloat16
};

namespace {

View<float> room_for(const View<const BFloat16>& view, AlignedBuffer<float>& buffer) {
  float* data = buffer.reserve(view.batch * view.heads * view.length * view.dim);
  return packed(data, view.batch, view.heads, view.length, view.dim);
}

template <typename From, typename To>
void convert(const View<From>& from, const View<To>& to) {
  for (std::size_t b = 0; b < from.batch; ++b)
    for (std::size_t h = 0; h < from.heads; ++h)
      for (std::size_t i = 0; i < from.length; ++i)
        std::transform(from.row(b, h, i), from.row(b, h, i) + from.dim, to.row(b, h, i),
                       [](auto entry) { return static_cast<To>(entry); });
}

}  // namespace

Attention::Attention(std::size_t threads) : impl_(std::make_unique<Impl>(threads)) {}
Attention::Attention(Attention&&) noexcept = default;
Attention& Attention::operator=(Attention&&) noexcept = default;
Attention::~Attention() = default;

template <typename T>
Result<void> Attention::operator()(const View<const T>& q, const View<const T>& k,
                                   const View<const T>& v, const AttentionSpec& spec,
                                   const View<T>& out) {
  RASP_TRY(const AttentionShape shape, check_attention<T>(q, k, v, spec, out));
  const auto q_len = static_cast<std::ptrdiff_t>(shape.q_len);
  const auto kv_len = static_cast<std::ptrdiff_t>(shape.kv_len);
  if (spec.rope)
    impl_->rope.prepare(*spec.rope, shape.d, std::min<std::ptrdiff_t>(0, kv_len - q_len), kv_len);
  if constexpr (std::is_same_v<T, float>) {
    Call<T>(q, k, v, spec, out, shape, impl_->rope, impl_->pool, impl_->floats).run();
  } else {
    Call<T>(q, k, v, spec, out, shape, impl_->rope, impl_->pool, impl_->doubles).run();
  }
  return {};
}

template Result<void> Attention::operator()(const View<const float>&, const View<const float>&,
                                            const View<const float>&, const AttentionSpec&,
                                            const View<float>&);
template Result<void> Attention::operator()(const View<const double>&, const View<const double>&,
                                            const View<const double>&, const AttentionSpec&,
                                            const View<double>&);

template <>
Result<void> Attention::operator()(const View<const BFloat16>& q, const View<const BFloat16>& k,
                                   const View<const BFloat16>& v, const AttentionSpec& spec,
                                   const View<BFloat16>& out) {
  RASP_CHECK_OK(check_attention<BFloat16>(q, k, v, spec, out));
  const View<const BFloat16>* inputs[] = {&q, &k, &v};
  View<float> wide[3];
  for (std::size_t i = 0; i < 3; ++i) {
    wide[i] = room_for(*inputs[i], impl_->wide[i]);
    convert(*inputs[i], wide[i]);
  }
  const View<float> sums = room_for(out, impl_->wide[3]);
  RASP_CHECK_OK((*this)(View<const float>(wide[0]), View<const float>(wide[1]),
                        View<const float>(wide[2]), spec, sums));
  convert(View<const float>(sums), out);
  return {};
}

}  // namespace rasp::runtime
