// Kernels of decoding, one query against rows of keys; compiled by attention_kernels.cc once a
// target, after attention_kernels-inl.h.
#if defined(RASP_DECODE_KERNELS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef RASP_DECODE_KERNELS_INL
#undef RASP_DECODE_KERNELS_INL
#else
#define RASP_DECODE_KERNELS_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace rasp::runtime {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// A vector of stored numbers as they are computed with.
template <class D, typename T>
HWY_INLINE hn::Vec<D> load_stored(D d, const T* from) {
  return hn::LoadU(d, from);
}
template <class D>
HWY_INLINE hn::Vec<D> load_stored(D d, const BFloat16* from) {
  const hn::RebindToUnsigned<D> wide;
  const hn::Rebind<std::uint16_t, D> narrow;
  const auto bits = hn::LoadU(narrow, reinterpret_cast<const std::uint16_t*>(from));
  return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(wide, bits)));
}

// One key's score: the whole vectors of the row, then the rest one by one. Equal keys have equal
// scores: the order depends on dk alone.
template <class Term, typename T, typename S>
HWY_INLINE T row_score(const T* q, const S* key, std::size_t dk, const T* additive_v) {
  const Tag<T> d;
  const hn::CappedTag<T, 1> one;
  const std::size_t lanes = hn::Lanes(d);
  auto sum = hn::Zero(d);
  std::size_t c = 0;
  for (; c + lanes <= dk; c += lanes) {
    const auto weight = additive_v == nullptr ? hn::Zero(d) : hn::LoadU(d, additive_v + c);
    sum = Term::add_lanes(d, sum, hn::LoadU(d, q + c), load_stored(d, key + c), weight);
  }
  auto rest = hn::Zero(one);
  for (; c < dk; ++c) {
    const auto weight = hn::Set(one, additive_v == nullptr ? T{0} : additive_v[c]);
    rest = Term::add_lanes(one, rest, hn::Set(one, q[c]), hn::Set(one, static_cast<T>(key[c])),
                           weight);
  }
  return hn::GetLane(hn::SumOfLanes(d, sum)) + hn::GetLane(rest);
}

struct DotLanes {
  template <class D, class V>
  static HWY_INLINE V add_lanes(D, V sum, V q, V k, V) {
    return hn::MulAdd(q, k, sum);
  }
};
struct GaussianLanes {
  template <class D, class V>
  static HWY_INLINE V add_lanes(D, V sum, V q, V k, V) {
    const V difference = hn::Sub(q, k);
    return hn::MulAdd(difference, difference, sum);
  }
};
struct AdditiveLanes {
  template <class D, class V>
  static HWY_INLINE V add_lanes(D d, V sum, V q, V k, V weight) {
    return hn::MulAdd(weight, hn::Tanh(d, hn::Add(q, k)), sum);
  }
};

template <typename T, typename S>
HWY_INLINE void row_scores(Score score, const T* q, const S* keys, std::size_t dk,
                           std::size_t count, const T* additive_v, T* scores) {
  switch (score) {
    case Score::kDot:
      for (std::size_t j = 0; j < count; ++j)
        scores[j] = row_score<DotLanes, T>(q, keys + j * dk, dk, nullptr);
      break;
    case Score::kGaussian:
      for (std::size_t j = 0; j < count; ++j)
        scores[j] = row_score<GaussianLanes, T>(q, keys + j * dk, dk, nullptr);
      break;
    case Score::kAdditive:
      for (std::size_t j = 0; j < count; ++j)
        scores[j] = row_score<AdditiveLanes, T>(q, keys + j * dk, dk, additive_v);
      break;
  }
}

// out[0 .. kWidth vectors) = weights x values / total
template <std::size_t kWidth, typename T, typename S>
HWY_INLINE void mix_columns(const T* weights, const S* values, std::size_t count, std::size_t d_v,
                            T total, T* out) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  hn::Vec<Tag<T>> sums[kWidth];
  for (std::size_t w = 0; w < kWidth; ++w) sums[w] = hn::Zero(d);
  for (std::size_t j = 0; j < count; ++j, values += d_v) {
    const auto weight = hn::Set(d, weights[j]);
    for (std::size_t w = 0; w < kWidth; ++w)
      sums[w] = hn::MulAdd(weight, load_stored(d, values + w * lanes), sums[w]);
  }
  for (std::size_t w = 0; w < kWidth; ++w)
    hn::StoreU(hn::Div(sums[w], hn::Set(d, total)), d, out + w * lanes);
}

template <typename T, typename S>
HWY_INLINE bool mix_rows(T* scores, const S* values, std::size_t count, std::size_t d_v, bool hard,
                         T* out) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  T top = scores[0];
  bool number = true;
  for (std::size_t j = 0; j < count; ++j) {
    number = number && std::abs(scores[j]) <= std::numeric_limits<T>::max();
    top = std::max(top, scores[j]);
  }
  if (!number) return false;
  T total = 0;
  const hn::CappedTag<T, 1> one;
  std::size_t j = 0;
  for (; !hard && j + lanes <= count; j += lanes) {
    const auto weight = exp_nonpositive(d, hn::Sub(hn::LoadU(d, scores + j), hn::Set(d, top)));
    hn::StoreU(weight, d, scores + j);
  }
  for (; j < count; ++j)
    scores[j] = hard ? (scores[j] == top ? T{1} : T{0})
                     : hn::GetLane(exp_nonpositive(one, hn::Set(one, scores[j] - top)));
  for (j = 0; j < count; ++j) total += scores[j];

  std::size_t c = 0;
  for (; c + kTile * lanes <= d_v; c += kTile * lanes)
    mix_columns<kTile>(scores, values + c, count, d_v, total, out + c);
  for (; c + lanes <= d_v; c += lanes)
    mix_columns<1>(scores, values + c, count, d_v, total, out + c);
  for (; c < d_v; ++c) {
    T sum = 0;
    for (j = 0; j < count; ++j) sum += scores[j] * static_cast<T>(values[j * d_v + c]);
    out[c] = sum / total;
  }
  return true;
}

void scores_f32(Score score, const float* q, const float* keys, std::size_t dk, std::size_t count,
                const float* additive_v, float* scores) {
  row_scores(score, q, keys, dk, count, additive_v, scores);
}
void scores_f64(Score score, const double* q, const double* keys, std::size_t dk, std::size_t count,
                const double* additive_v, double* scores) {
  row_scores(score, q, keys, dk, count, additive_v, scores);
}
void scores_bf16(Score score, const float* q, const BFloat16* keys, std::size_t dk,
                 std::size_t count, const float* additive_v, float* scores) {
  row_scores(score, q, keys, dk, count, additive_v, scores);
}
bool mix_bf16(float* scores, const BFloat16* values, std::size_t count, std::size_t d_v, bool hard,
              float* out) {
  return mix_rows(scores, values, count, d_v, hard, out);
}
bool mix_f32(float* scores, const float* values, std::size_t count, std::size_t d_v, bool hard,
             float* out) {
  return mix_rows(scores, values, count, d_v, hard, out);
}
bool mix_f64(double* scores, const double* values, std::size_t count, std::size_t d_v, bool hard,
             double* out) {
  return mix_rows(scores, values, count, d_v, hard, out);
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rasp::runtime
HWY_AFTER_NAMESPACE();

#endif
