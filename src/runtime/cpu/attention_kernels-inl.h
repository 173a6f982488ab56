// One vector width's kernels; compiled by attention_kernels.cc once a target, so it has no ordinary
// include guard.
//
// Exactness: every score is summed over the dimensions in ascending order, whatever its key's
// index, so equal keys have bit-identical scores. Values are summed over the keys in ascending
// order and never divided here.
#if defined(RASP_ATTENTION_KERNELS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef RASP_ATTENTION_KERNELS_INL
#undef RASP_ATTENTION_KERNELS_INL
#else
#define RASP_ATTENTION_KERNELS_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace rasp::runtime {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A panel is a whole number of vectors on every target.
template <typename T>
using Tag = hn::CappedTag<T, kValuePad<T>>;

// Vectors side by side in a tile: kRowGroup times this many sums have to fit the registers.
constexpr std::size_t kTile = HWY_TARGET <= HWY_AVX3 ? 4 : 2;

// How one dimension adds to a score.
struct DotTerm {
  template <class D, class V, typename T>
  static HWY_INLINE V add(D, V sum, V q, V k, const T*, std::size_t) {
    return hn::MulAdd(q, k, sum);
  }
};
struct GaussianTerm {
  template <class D, class V, typename T>
  static HWY_INLINE V add(D, V sum, V q, V k, const T*, std::size_t) {
    const V difference = hn::Sub(q, k);
    return hn::MulAdd(difference, difference, sum);
  }
};
struct AdditiveTerm {
  template <class D, class V, typename T>
  static HWY_INLINE V add(D d, V sum, V q, V k, const T* v, std::size_t c) {
    return hn::MulAdd(hn::Set(d, v[c]), hn::Tanh(d, hn::Add(q, k)), sum);
  }
};

// scores[r, 0 .. kWidth vectors) of kRows queries against as many keys.
template <std::size_t kRows, std::size_t kWidth, class Term, typename T>
HWY_INLINE void score_tile(const AttentionBlock<T>& block, const T* q, const T* keys, T* scores) {
  const Tag<T> d;
  using V = hn::Vec<Tag<T>>;
  const std::size_t lanes = hn::Lanes(d);
  V sums[kRows][kWidth];
  for (std::size_t r = 0; r < kRows; ++r)
    for (std::size_t w = 0; w < kWidth; ++w) sums[r][w] = hn::Zero(d);
  for (std::size_t c = 0; c < block.dk; ++c, keys += kPanel<T>) {
    V k[kWidth];
    for (std::size_t w = 0; w < kWidth; ++w) k[w] = hn::Load(d, keys + w * lanes);
    for (std::size_t r = 0; r < kRows; ++r) {
      const V factor = hn::Set(d, q[r * block.dk + c]);
      for (std::size_t w = 0; w < kWidth; ++w)
        sums[r][w] = Term::add(d, sums[r][w], factor, k[w], block.additive_v, c);
    }
  }
  for (std::size_t r = 0; r < kRows; ++r)
    for (std::size_t w = 0; w < kWidth; ++w)
      hn::Store(sums[r][w], d, scores + r * kKeyBlock<T> + w * lanes);
}

template <std::size_t kRows, class Term, typename T>
HWY_INLINE void score_tiles(const AttentionBlock<T>& block, const T* q, const T* keys,
                            std::size_t vectors, T* scores) {
  const std::size_t lanes = hn::Lanes(Tag<T>());
  // Tanh is so long that registers are better left to it.
  constexpr bool kOneByOne = std::is_same_v<Term, AdditiveTerm>;
  if constexpr (!kOneByOne) {
    if (vectors == kTile) return score_tile<kRows, kTile, Term>(block, q, keys, scores);
    if constexpr (kTile == 4) {
      if (vectors == 3) return score_tile<kRows, 3, Term>(block, q, keys, scores);
      if (vectors == 2) return score_tile<kRows, 2, Term>(block, q, keys, scores);
    }
  }
  for (std::size_t w = 0; w < vectors; ++w)
    for (std::size_t r = 0; r < kRows; r += kOneByOne ? 1 : kRows)
      score_tile<kOneByOne ? 1 : kRows, 1, Term>(block, q + r * block.dk, keys + w * lanes,
                                                 scores + r * kKeyBlock<T> + w * lanes);
}

// Scores of the keys [begin, end) of the key block that starts at `first`, in whole vectors.
template <std::size_t kRows, class Term, typename T>
HWY_INLINE void score_group(const AttentionBlock<T>& block, const T* q, std::size_t first,
                            std::size_t begin, std::size_t end) {
  const std::size_t lanes = hn::Lanes(Tag<T>());
  const std::size_t width = kTile * lanes;
  for (std::size_t at = begin / lanes * lanes; at < end;) {
    const std::size_t next = std::min(at / width * width + width, end);
    const std::size_t key = first + at;
    const T* keys = block.keys + key / kPanel<T> * (kPanel<T> * block.dk) + key % kPanel<T>;
    const std::size_t vectors = (next - at + lanes - 1) / lanes;
    score_tiles<kRows, Term>(block, q, keys, vectors, block.scores + at);
    at += vectors * lanes;
  }
}

// Hides what row `row` does not see of scores [begin, end), by its range.
template <typename T>
HWY_INLINE void hide_ends(const AttentionBlock<T>& block, std::size_t row, std::size_t first,
                          std::size_t begin, std::size_t end, T* scores) {
  constexpr T kHidden = -std::numeric_limits<T>::infinity();
  const KeyRange range = block.ranges[row];
  const std::size_t from = std::clamp(range.begin, first + begin, first + end) - first;
  const std::size_t to = std::clamp(range.end, first + from, first + end) - first;
  std::fill(scores + begin, scores + from, kHidden);
  std::fill(scores + to, scores + end, kHidden);
}

// Applies the edits to one row of scores [begin, end), whose ends are hidden.
template <typename T>
HWY_INLINE void edit_row(const AttentionBlock<T>& block, std::size_t row, std::size_t first,
                         std::size_t begin, std::size_t end, T* scores) {
  constexpr T kHidden = -std::numeric_limits<T>::infinity();
  constexpr T kMost = std::numeric_limits<T>::max();
  const ScoreEdits& edits = block.edits;
  const auto line = [row](const auto* entries, std::ptrdiff_t stride) {
    return entries == nullptr ? nullptr : entries + static_cast<std::ptrdiff_t>(row) * stride;
  };
  const std::uint8_t* mask = line(edits.mask, edits.mask_stride);
  const double* bias = line(edits.bias, edits.bias_stride);
  const double position = edits.first_position + static_cast<double>(row);
  for (std::size_t at = begin; at < end; ++at) {
    const std::size_t key = first + at;
    if (scores[at] == kHidden) continue;
    if ((mask != nullptr && mask[key] == 0) ||
        (bias != nullptr && bias[key] == -std::numeric_limits<double>::infinity())) {
      scores[at] = kHidden;
      continue;
    }
    T score = scores[at] * block.factor;
    if (edits.slope != 0)
      score -= static_cast<T>(edits.slope * std::abs(position - static_cast<double>(key)));
    if (bias != nullptr) score += static_cast<T>(bias[key]);
    // The largest finite score is let through; NaN and infinities are not.
    if (!(std::abs(score) <= kMost)) {
      block.poisoned[row] = 1;
      score = 0;
    }
    scores[at] = score;
  }
}

// Turns a row of scores into weights and returns what the row's sums so far have to be multiplied
// by, since the maximum may have grown.
template <bool kHard, typename T>
HWY_INLINE T weigh_row(const AttentionBlock<T>& block, std::size_t row, std::size_t begin,
                       std::size_t end, T* scores) {
  const Tag<T> d;
  using V = hn::Vec<Tag<T>>;
  const std::size_t lanes = hn::Lanes(d);
  V highest = hn::Load(d, scores + begin);
  for (std::size_t at = begin + lanes; at < end; at += lanes)
    highest = hn::Max(highest, hn::Load(d, scores + at));
  T* totals = block.totals + row * kValuePad<T>;
  V total = hn::Load(d, totals);
  T fade = T{1};
  const T before = block.tops[row];
  if (!hn::AllTrue(d, hn::Le(highest, hn::Set(d, before)))) {  // rare after the first blocks
    const T top = hn::GetLane(hn::MaxOfLanes(d, highest));
    block.tops[row] = top;
    fade = kHard ? T{0} : hn::GetLane(exp_nonpositive(d, hn::Set(d, before - top)));
    total = hn::Mul(total, hn::Set(d, fade));
  } else if (before == -std::numeric_limits<T>::infinity()) {  // nothing seen yet
    for (std::size_t at = begin; at < end; at += lanes) hn::Store(hn::Zero(d), d, scores + at);
    return fade;
  }
  const V shift = hn::Set(d, block.tops[row]);
  for (std::size_t at = begin; at < end; at += lanes) {
    const V score = hn::Load(d, scores + at);
    const V weight = kHard ? hn::IfThenElseZero(hn::Eq(score, shift), hn::Set(d, T{1}))
                           : exp_nonpositive(d, hn::Sub(score, shift));
    total = hn::Add(total, weight);
    hn::Store(weight, d, scores + at);
  }
  hn::Store(total, d, totals);
  return fade;
}

// sums[r, 0 .. kWidth vectors) = sums * fade + weights x values, over the keys [begin, end).
template <std::size_t kRows, std::size_t kWidth, typename T>
HWY_INLINE void mix_tile(const AttentionBlock<T>& block, const T* fades, std::size_t begin,
                         std::size_t end, const T* values, T* sums) {
  const Tag<T> d;
  using V = hn::Vec<Tag<T>>;
  const std::size_t lanes = hn::Lanes(d);
  V acc[kRows][kWidth];
  for (std::size_t r = 0; r < kRows; ++r)
    for (std::size_t w = 0; w < kWidth; ++w)
      acc[r][w] = hn::Mul(hn::Load(d, sums + r * block.d_v + w * lanes), hn::Set(d, fades[r]));
  values += static_cast<std::ptrdiff_t>(begin) * block.value_stride;
  for (std::size_t at = begin; at < end; ++at, values += block.value_stride) {
    V v[kWidth];
    for (std::size_t w = 0; w < kWidth; ++w) v[w] = hn::LoadU(d, values + w * lanes);
    for (std::size_t r = 0; r < kRows; ++r) {
      const V weight = hn::Set(d, block.scores[r * kKeyBlock<T> + at]);
      for (std::size_t w = 0; w < kWidth; ++w) acc[r][w] = hn::MulAdd(weight, v[w], acc[r][w]);
    }
  }
  for (std::size_t r = 0; r < kRows; ++r)
    for (std::size_t w = 0; w < kWidth; ++w)
      hn::Store(acc[r][w], d, sums + r * block.d_v + w * lanes);
}

template <std::size_t kRows, typename T>
HWY_INLINE void mix_group(const AttentionBlock<T>& block, const T* fades, std::size_t first,
                          std::size_t begin, std::size_t end, T* sums) {
  const std::size_t lanes = hn::Lanes(Tag<T>());
  const T* values = block.values + static_cast<std::ptrdiff_t>(first) * block.value_stride;
  std::size_t c = 0;
  for (; c + kTile * lanes <= block.d_v; c += kTile * lanes)
    mix_tile<kRows, kTile>(block, fades, begin, end, values + c, sums + c);
  for (; c < block.d_v; c += lanes)
    mix_tile<kRows, 1>(block, fades, begin, end, values + c, sums + c);
}

// What a group of rows sees: any of them, and every one.
struct GroupSpan {
  std::size_t begin = ~std::size_t{0}, end = 0;
  std::size_t all_begin = 0, all_end = ~std::size_t{0};
};

template <typename T>
HWY_INLINE GroupSpan span_of(const AttentionBlock<T>& block, std::size_t row) {
  GroupSpan span;
  for (std::size_t r = row; r < std::min(row + kRowGroup, block.rows); ++r) {
    const KeyRange range = block.ranges[r];
    span.all_begin = std::max(span.all_begin, range.begin);
    span.all_end = std::min(span.all_end, range.end);
    if (range.begin >= range.end) continue;
    span.begin = std::min(span.begin, range.begin);
    span.end = std::max(span.end, range.end);
  }
  return span;
}

// kRows queries from `row` on against the key block that starts at `first`.
template <std::size_t kRows, class Term, typename T>
HWY_NOINLINE void attend_group(const AttentionBlock<T>& block, const GroupSpan& span,
                               std::size_t row, std::size_t first) {
  const std::size_t begin = std::max(span.begin, first) - first;
  const std::size_t end = std::min(span.end, first + kKeyBlock<T>) - first;
  const T* q = block.q + row * block.dk;
  score_group<kRows, Term>(block, q, first, begin, end);
  const std::size_t lanes = hn::Lanes(Tag<T>());
  const std::size_t low = begin / lanes * lanes;
  const std::size_t high = (end + lanes - 1) / lanes * lanes;
  const bool ragged = span.all_begin > first + low || span.all_end < first + high;
  T fades[kRows];
  for (std::size_t r = 0; r < kRows; ++r) {
    T* scores = block.scores + r * kKeyBlock<T>;
    if (ragged) hide_ends(block, row + r, first, low, high, scores);
    if (block.edits.any) edit_row(block, row + r, first, low, high, scores);
    fades[r] = block.hard ? weigh_row<true>(block, row + r, low, high, scores)
                          : weigh_row<false>(block, row + r, low, high, scores);
  }
  mix_group<kRows>(block, fades, first, begin, end, block.sums + row * block.d_v);
}

template <class Term, typename T>
HWY_INLINE void attend_groups(const AttentionBlock<T>& block, const GroupSpan* spans,
                              std::size_t first) {
  for (std::size_t row = 0; row < block.rows; row += kRowGroup) {
    const GroupSpan& span = spans[row / kRowGroup];
    if (span.begin >= first + kKeyBlock<T> || span.end <= first) continue;
    switch (std::min(kRowGroup, block.rows - row)) {
      case 1:
        attend_group<1, Term>(block, span, row, first);
        break;
      case 2:
        attend_group<2, Term>(block, span, row, first);
        break;
      case 3:
        attend_group<3, Term>(block, span, row, first);
        break;
      case 4:
        attend_group<4, Term>(block, span, row, first);
        break;
      case 5:
        attend_group<5, Term>(block, span, row, first);
        break;
      default:
        attend_group<6, Term>(block, span, row, first);
        break;
    }
  }
}

template <typename T>
HWY_INLINE void attend(const AttentionBlock<T>& block) {
  std::fill(block.sums, block.sums + block.rows * block.d_v, T{0});
  std::fill(block.tops, block.tops + block.rows, -std::numeric_limits<T>::infinity());
  std::fill(block.totals, block.totals + block.rows * kValuePad<T>, T{0});
  GroupSpan spans[kQueryBlock / kRowGroup];
  std::size_t begin = ~std::size_t{0}, end = 0;
  for (std::size_t row = 0; row < block.rows; row += kRowGroup) {
    const GroupSpan span = spans[row / kRowGroup] = span_of(block, row);
    begin = std::min(begin, span.begin);
    end = std::max(end, span.end);
  }
  if (begin >= end) return;
  for (std::size_t first = begin / kKeyBlock<T> * kKeyBlock<T>; first < end;
       first += kKeyBlock<T>) {
    switch (block.score) {
      case Score::kDot:
        attend_groups<DotTerm>(block, spans, first);
        break;
      case Score::kGaussian:
        attend_groups<GaussianTerm>(block, spans, first);
        break;
      case Score::kAdditive:
        attend_groups<AdditiveTerm>(block, spans, first);
        break;
    }
  }
}

// The one division; rows that saw nothing stay 0.
template <typename T>
HWY_INLINE void divide(const AttentionBlock<T>& block) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t r = 0; r < block.rows; ++r) {
    T* totals = block.totals + r * kValuePad<T>;
    totals[0] = hn::GetLane(hn::SumOfLanes(d, hn::Load(d, totals)));
    T* sums = block.sums + r * block.d_v;
    if (block.count_column != 0) totals[0] = sums[block.count_column];
    if (totals[0] == T{0}) continue;
    for (std::size_t c = 0; c < block.d_v; c += lanes)
      hn::Store(hn::Div(hn::Load(d, sums + c), hn::Set(d, totals[0])), d, sums + c);
  }
}

void attend_f32(const AttentionBlock<float>& block) {
  attend(block);
  divide(block);
}
void attend_f64(const AttentionBlock<double>& block) {
  attend(block);
  divide(block);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rasp::runtime
HWY_AFTER_NAMESPACE();

#endif
