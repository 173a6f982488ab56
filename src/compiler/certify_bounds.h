// Rounding errors of what heads write, bounded. u is the dtype's unit roundoff, gamma_k the
// relative error of k roundings in a row (Precision::gamma). Sums may run in any order, with or
// without fused multiplication; keys that are not selected have weight exactly 0 and count for
// nothing.
#pragma once

#include "compiler/certify_stream.h"

namespace rasp::compiler::checker {

// exp is within 4 ulp, an ulp being at most 2u of the value: 8 roundings.
inline constexpr double kExpRoundings = 8;

// One value column of a head. `magnitude` bounds |v|, `error` how far v is from the value meant.
struct ValueColumn {
  double magnitude = 0;
  double error = 0;
  bool exact_sum = false;  // n values add up without rounding
  bool constant = false;   // one value at every token, exactly
};

// How far the mean of up to n values is from the mean of the values meant. Weights are exactly 1:
// the sum of n values is off by gamma_(n-1) n |v|, or not at all where it is exact; then comes one
// division. One key divides by 1, equal keys give back their value: no error then.
[[nodiscard]] inline double mean_error(const Precision& precision, const ValueColumn& v, double n,
                                       bool one_key) {
  if (one_key || (v.constant && v.exact_sum)) return v.error;
  const double relative = v.exact_sum ? precision.roundoff : precision.gamma(n);
  return v.error + relative * (v.magnitude + v.error);
}

// How far a sink's output is from exp(-depth) times the sum of up to n values meant. The weights
// are w = exp(-depth)(1 + gamma_8), each product rounds once, the sum n - 1 times, the division
// once: gamma_(n+9). The denominator is 1 plus at most n w. Where that is at most 1 + u it rounds
// to 1 in every order, else it exceeds 1 by n w and is rounded n times more.
[[nodiscard]] inline double sink_error(const Precision& precision, const ValueColumn& v, double n,
                                       double depth) {
  const double weight = std::exp(-depth);
  double relative = precision.gamma(n + 1 + kExpRoundings);
  const double total = n * weight * (1 + relative);
  if (total > precision.roundoff) relative += (total + precision.gamma(n)) * (1 + relative);
  return n * weight * (v.error + relative * (v.magnitude + v.error));
}

}  // namespace rasp::compiler::checker
