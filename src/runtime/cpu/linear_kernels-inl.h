// Kernels of linear attention; compiled by attention_kernels.cc once a target, after
// attention_kernels-inl.h.
#if defined(RASP_LINEAR_KERNELS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef RASP_LINEAR_KERNELS_INL
#undef RASP_LINEAR_KERNELS_INL
#else
#define RASP_LINEAR_KERNELS_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace rasp::runtime {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
HWY_INLINE void elu_plus_one(const T* x, T* y, std::size_t count) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i < count; i += lanes) {
    const auto value = hn::Load(d, x + i);
    const auto below = exp_nonpositive(d, hn::Min(value, hn::Zero(d)));
    const auto above = hn::Add(value, hn::Set(d, T{1}));
    hn::Store(hn::IfThenElse(hn::Gt(value, hn::Zero(d)), above, below), d, y + i);
  }
}

// kWidth vectors of columns from `column` on: adds k v^T to the sums where kAdds, and gives q times
// the sums, divided, where kReads.
template <bool kAdds, bool kReads, std::size_t kWidth, typename T>
HWY_INLINE void step_columns(const LinearStep<T>& step, std::size_t column, T total) {
  const Tag<T> d;
  using V = hn::Vec<Tag<T>>;
  const std::size_t lanes = hn::Lanes(d);
  V v[kWidth], out[kWidth];
  for (std::size_t w = 0; w < kWidth; ++w) {
    v[w] = kAdds ? hn::Load(d, step.v + column + w * lanes) : hn::Zero(d);
    out[w] = hn::Zero(d);
  }
  T* row = step.sums + column;
  for (std::size_t c = 0; c < step.d; ++c, row += step.d_v)
    for (std::size_t w = 0; w < kWidth; ++w) {
      V sum = hn::Load(d, row + w * lanes);
      if constexpr (kAdds) {
        sum = hn::MulAdd(hn::Set(d, step.k[c]), v[w], sum);
        hn::Store(sum, d, row + w * lanes);
      }
      if constexpr (kReads) out[w] = hn::MulAdd(hn::Set(d, step.q[c]), sum, out[w]);
    }
  if constexpr (kReads)
    for (std::size_t w = 0; w < kWidth; ++w)
      hn::Store(hn::Div(out[w], hn::Set(d, total)), d, step.out + column + w * lanes);
}

template <bool kAdds, bool kReads, typename T>
HWY_INLINE void step_state(const LinearStep<T>& step) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  auto sum = hn::Zero(d);
  for (std::size_t c = 0; c < step.d; c += lanes) {  // padded with zeros
    auto totals = hn::Load(d, step.totals + c);
    if constexpr (kAdds) {
      totals = hn::Add(totals, hn::Load(d, step.k + c));
      hn::Store(totals, d, step.totals + c);
    }
    if constexpr (kReads) sum = hn::MulAdd(hn::Load(d, step.q + c), totals, sum);
  }
  T total = kReads ? hn::GetLane(hn::SumOfLanes(d, sum)) : T{1};
  if (total == T{0}) total = std::numeric_limits<T>::infinity();  // zeros then
  std::size_t column = 0;
  for (; column + 4 * lanes <= step.d_v; column += 4 * lanes)
    step_columns<kAdds, kReads, 4>(step, column, total);
  for (; column < step.d_v; column += lanes) step_columns<kAdds, kReads, 1>(step, column, total);
}

template <typename T>
HWY_INLINE void step_any(const LinearStep<T>& step) {
  if (step.k != nullptr && step.q != nullptr) return step_state<true, true>(step);
  if (step.k != nullptr) return step_state<true, false>(step);
  step_state<false, true>(step);
}

void linear_f32(const LinearStep<float>& step) { step_any(step); }
void linear_f64(const LinearStep<double>& step) { step_any(step); }
void elu_f32(const float* x, float* y, std::size_t count) { elu_plus_one(x, y, count); }
void elu_f64(const double* x, double* y, std::size_t count) { elu_plus_one(x, y, count); }

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rasp::runtime
HWY_AFTER_NAMESPACE();

#endif
