// Arithmetic that every kernel shares. What is exact here, and tested on the device
// (tests/gpu/arithmetic_test.cc), is what the certificates of compiled models rest on:
//  - sums are formed in the order in which they are written, each product rounded before it is
//    added (the compilers are told not to contract; FMA is written where it is meant);
//  - exp is exactly 1 at 0 and exactly 0 from EXP_ZERO down, so keys that the compiler put far
//    below the maximum have no weight at all;
//  - values are summed with their weights first and divided once at the end, and that division is
//    correctly rounded, so the mean of small integers is;
//  - nothing is flushed to zero and NaN stays NaN.

#if REAL_IS_DOUBLE
#define LARGEST 0x1.fffffffffffffp+1023
#define EXP_ZERO (-746.0)
#define EXP_HUGE 710.0
#define EXP_ROUNDER 0x1.8p52
#define LOG2_E 0x1.71547652b82fep+0
#define LN2_HIGH 0x1.62e42fefap-1
#define LN2_LOW 0x1.cf79abc9e3b3ap-40
#define EXP_BIAS 1023
#define MANTISSA 52
#define EXP_LIFT 128
#define EXP_DROP 0x1p-128
#else
#define LARGEST 0x1.fffffep+127f
#define EXP_ZERO (-104.0f)
#define EXP_HUGE 89.0f
#define EXP_ROUNDER 0x1.8p23f
#define LOG2_E 0x1.715476p+0f
#define LN2_HIGH 0x1.62e4p-1f
#define LN2_LOW 0x1.7f7d1cp-20f
#define EXP_BIAS 127
#define MANTISSA 23
#define EXP_LIFT 64
#define EXP_DROP 0x1p-64f
#endif
#define ZERO ((REAL)0)
#define ONE ((REAL)1)
#if REAL_IS_DOUBLE
#define NOT_A_NUMBER FROM_BITS((BITS)0x7ff8000000000000)
#define NOTHING_SEEN FROM_BITS((BITS)0xfff0000000000000)
#else
#define NOT_A_NUMBER FROM_BITS((BITS)0x7fc00000)
#define NOTHING_SEEN FROM_BITS((BITS)0xff800000)
#endif

#define IS_FINITE(x) (ABS(x) <= LARGEST)
#define SMALLER(a, b) ((a) < (b) ? (a) : (b))
#define LARGER(a, b) ((a) > (b) ? (a) : (b))
#define LOAD4(at) (*(LOCAL const REAL4*)(at))

#if REAL_IS_DOUBLE
#define TERM(n) ((REAL)(1.0 / n))
#else
#define TERM(n) (1.0f / n)
#endif

// exp(x), operation by operation that of runtime/cpu/exp.h: the same bits on every device.
FUNCTION REAL exp_exact(REAL x) {
  REAL in_range = x < EXP_ZERO ? EXP_ZERO : x;
  in_range = in_range > EXP_HUGE ? EXP_HUGE : in_range;
  const REAL k = (in_range * LOG2_E + EXP_ROUNDER) - EXP_ROUNDER;
  const REAL r = (in_range - k * LN2_HIGH) - k * LN2_LOW;
#if REAL_IS_DOUBLE
  REAL series = TERM(6227020800.0);
  series = series * r + TERM(479001600.0);
  series = series * r + TERM(39916800.0);
  series = series * r + TERM(3628800.0);
  series = series * r + TERM(362880.0);
  series = series * r + TERM(40320.0);
  series = series * r + TERM(5040.0);
#else
  REAL series = TERM(5040);
#endif
  series = series * r + TERM(720);
  series = series * r + TERM(120);
  series = series * r + TERM(24);
  series = series * r + TERM(6);
  series = series * r + TERM(2);
  const REAL power = (series * (r * r) + r) + ONE;
  const REAL half_k = k * (REAL)0.5 + EXP_ROUNDER;
  const REAL rest_k = (k - (half_k - EXP_ROUNDER)) + EXP_ROUNDER;
  const REAL scale_half = FROM_BITS((AS_BITS(half_k) + EXP_BIAS) << MANTISSA);
  const REAL scale_rest = FROM_BITS((AS_BITS(rest_k) + EXP_BIAS) << MANTISSA);
  const REAL value = (power * scale_half) * scale_rest;
  return x <= EXP_ZERO ? ZERO : value;
}

// exp(x) for x <= 0, within 2 ulp, 1 at 0 and 0 from EXP_ZERO down; quicker than exp_exact.
FUNCTION REAL exp_nonpositive(REAL x) {
  const REAL in_range = x < EXP_ZERO ? EXP_ZERO : x;
  const REAL shifted = FMA(in_range, LOG2_E, EXP_ROUNDER);
  const REAL k = shifted - EXP_ROUNDER;
  REAL r = FMA(-k, LN2_HIGH, in_range);
  r = FMA(-k, LN2_LOW, r);
#if REAL_IS_DOUBLE
  REAL series = TERM(6227020800.0);
  series = FMA(series, r, TERM(479001600.0));
  series = FMA(series, r, TERM(39916800.0));
  series = FMA(series, r, TERM(3628800.0));
  series = FMA(series, r, TERM(362880.0));
  series = FMA(series, r, TERM(40320.0));
  series = FMA(series, r, TERM(5040.0));
#else
  REAL series = TERM(5040);
#endif
  series = FMA(series, r, TERM(720));
  series = FMA(series, r, TERM(120));
  series = FMA(series, r, TERM(24));
  series = FMA(series, r, TERM(6));
  series = FMA(series, r, TERM(2));
  const REAL power = FMA(series, r * r, r) + ONE;
  const BITS exponent = (AS_BITS(shifted) + EXP_LIFT) << MANTISSA;
  return FROM_BITS(AS_BITS(power) + exponent) * EXP_DROP;
}
