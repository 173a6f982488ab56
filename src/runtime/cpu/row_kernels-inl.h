// Kernels over one row; compiled by attention_kernels.cc once a target, after
// attention_kernels-inl.h.
#if defined(RASP_ROW_KERNELS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef RASP_ROW_KERNELS_INL
#undef RASP_ROW_KERNELS_INL
#else
#define RASP_ROW_KERNELS_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace rasp::runtime {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

template <typename T>
HWY_INLINE void exp_all(const T* x, T* y, std::size_t count) {
  const Tag<T> d;
  for (std::size_t i = 0; i < count; ++i) y[i] = hn::GetLane(exp_nonpositive(d, hn::Set(d, x[i])));
}

template <typename T>
HWY_INLINE T largest_magnitude(const T* x, std::size_t count) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  // x - x is 0 where x is finite, else NaN, which stays.
  constexpr std::size_t kChains = 4;
  hn::Vec<Tag<T>> largest[kChains], nothing[kChains];
  for (std::size_t w = 0; w < kChains; ++w) largest[w] = nothing[w] = hn::Zero(d);
  std::size_t i = 0;
  const auto take = [&](std::size_t w) HWY_ATTR {
    const auto size = hn::Abs(hn::LoadU(d, x + i + w * lanes));
    nothing[w] = hn::Add(nothing[w], hn::Sub(size, size));
    largest[w] = hn::Max(largest[w], size);
  };
  for (; i + kChains * lanes <= count; i += kChains * lanes)
    for (std::size_t w = 0; w < kChains; ++w) take(w);
  for (; i + lanes <= count; i += lanes) take(0);
  for (std::size_t w = 1; w < kChains; ++w) {
    largest[0] = hn::Max(largest[0], largest[w]);
    nothing[0] = hn::Add(nothing[0], nothing[w]);
  }
  T result = hn::GetLane(hn::MaxOfLanes(d, largest[0]));
  bool all = hn::AllTrue(d, hn::Eq(nothing[0], hn::Zero(d)));
  for (; i < count; ++i) {
    const T size = std::abs(x[i]);
    all = all && size <= std::numeric_limits<T>::max();
    result = std::max(result, size);
  }
  return all ? result : std::numeric_limits<T>::infinity();
}

template <typename T>
HWY_INLINE void multiply(const T* x, T factor, T* y, std::size_t count) {
  const Tag<T> d;
  const std::size_t lanes = hn::Lanes(d);
  std::size_t i = 0;
  for (; i + lanes <= count; i += lanes)
    hn::StoreU(hn::Mul(hn::LoadU(d, x + i), hn::Set(d, factor)), d, y + i);
  for (; i < count; ++i) y[i] = x[i] * factor;
}

void scale_f32(const float* x, float factor, float* y, std::size_t count) {
  multiply(x, factor, y, count);
}
void scale_f64(const double* x, double factor, double* y, std::size_t count) {
  multiply(x, factor, y, count);
}

float magnitude_f32(const float* x, std::size_t count) { return largest_magnitude(x, count); }
double magnitude_f64(const double* x, std::size_t count) { return largest_magnitude(x, count); }

void exp_f32(const float* x, float* y, std::size_t count) { exp_all(x, y, count); }
void exp_f64(const double* x, double* y, std::size_t count) { exp_all(x, y, count); }

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rasp::runtime
HWY_AFTER_NAMESPACE();

#endif
