// The exponential function of the kernels; compiled by attention_kernels.cc once a target, before
// the other kernels.
#if defined(RASP_EXP_KERNELS_INL) == defined(HWY_TARGET_TOGGLE)
#ifdef RASP_EXP_KERNELS_INL
#undef RASP_EXP_KERNELS_INL
#else
#define RASP_EXP_KERNELS_INL
#endif

HWY_BEFORE_NAMESPACE();
namespace rasp::runtime {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// Constants of exp: the polynomial of 2^r is Remez's, of least relative error on [-1/2, 1/2] among
// those that are 1 at 0.
template <typename T>
struct VectorExp;
template <>
struct VectorExp<float> {
  static constexpr float kZero = -104.0f;
  static constexpr float kRounder = 0x1.8p23f;
  static constexpr float kLog2EHigh = 0x1.715476p+0f, kLog2ELow = 0x1.4ae0c0p-26f;
  static constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;
  static constexpr int kMantissa = 23, kLift = 64;
  static constexpr float kDrop = 0x1p-64f;
  static constexpr float kTerms[] = {0x1.470b4ap-13f, 0x1.5f7276p-10f, 0x1.3b270ep-7f,
                                     0x1.c6ae72p-5f,  0x1.ebfbe2p-3f,  0x1.62e432p-1f};
};
template <>
struct VectorExp<double> {
  static constexpr double kZero = -746.0;
  static constexpr double kRounder = 0x1.8p52;
  static constexpr double kLog2EHigh = 0x1.71547652b82fep+0, kLog2ELow = 0x1.777d0ffda0d24p-56;
  static constexpr double kLn2High = 0x1.62e42fefap-1, kLn2Low = 0x1.cf79abc9e3b3ap-40;
  static constexpr int kMantissa = 52, kLift = 128;
  static constexpr double kDrop = 0x1p-128;
  static constexpr double kTerms[] = {
      0x1.c0638527edf34p-32, 0x1.e605f979c7a5dp-28, 0x1.b54167a0b9061p-24, 0x1.62bfd49ed0adfp-20,
      0x1.ffcbee3b0af8cp-17, 0x1.4309130961163p-13, 0x1.5d87fe7bbbe07p-10, 0x1.3b2ab6fba1e1cp-7,
      0x1.c6b08d7048f31p-5,  0x1.ebfbdff82c598p-3,  0x1.62e42fefa39f3p-1};
};

// exp(x) for x <= 0, -infinity included: within 2 ulp, exactly 1 at 0 and exactly 0 from kZero
// down. x log2 e = k + r with |r| <= 1/2; 2^r is scaled by 2^(k + lift) first, then down, so that
// one rounding makes a subnormal or zero.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V exp_nonpositive(D d, V x) {
  using T = hn::TFromD<D>;
  using C = VectorExp<T>;
  const hn::RebindToUnsigned<D> bits;
  using Bits = hn::TFromD<decltype(bits)>;
  x = hn::Max(x, hn::Set(d, C::kZero));
  const V shifted = hn::MulAdd(x, hn::Set(d, C::kLog2EHigh), hn::Set(d, C::kRounder));
  const V k = hn::Sub(shifted, hn::Set(d, C::kRounder));
#if HWY_NATIVE_FMA
  V r = hn::MulSub(x, hn::Set(d, C::kLog2EHigh), k);
  r = hn::MulAdd(x, hn::Set(d, C::kLog2ELow), r);
#else  // the product would round: reduce by ln 2, of which k times the high part is exact
  V r = hn::Sub(x, hn::Mul(k, hn::Set(d, C::kLn2High)));
  r = hn::Sub(r, hn::Mul(k, hn::Set(d, C::kLn2Low)));
  r = hn::Mul(r, hn::Set(d, C::kLog2EHigh));
#endif
  V power = hn::Set(d, C::kTerms[0]);
  for (std::size_t i = 1; i < sizeof(C::kTerms) / sizeof(T); ++i)
    power = hn::MulAdd(power, r, hn::Set(d, C::kTerms[i]));
  power = hn::MulAdd(power, r, hn::Set(d, T{1}));
  const auto exponent = hn::ShiftLeft<C::kMantissa>(
      hn::Add(hn::BitCast(bits, shifted), hn::Set(bits, Bits{C::kLift})));
  const V lifted = hn::BitCast(d, hn::Add(hn::BitCast(bits, power), exponent));
  return hn::Mul(lifted, hn::Set(d, C::kDrop));
}

// NOLINTNEXTLINE(google-readability-namespace-comments)
}  // namespace HWY_NAMESPACE
}  // namespace rasp::runtime
HWY_AFTER_NAMESPACE();

#endif
