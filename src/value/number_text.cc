// From exact numbers to doubles and to text.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>

#include "value/integers.h"
#include "value/number.h"
#include "value/ratio.h"

namespace rasp::value {
namespace mp = boost::multiprecision;
namespace {

using Wide = unsigned __int128;

constexpr int kMantissaBits = 53;
constexpr int kLeastExponent = -1074;  // of the smallest positive double

int width_of(Wide value) {
  const auto high = static_cast<std::uint64_t>(value >> 64);
  const auto low = static_cast<std::uint64_t>(value);
  return high != 0 ? 128 - std::countl_zero(high) : 64 - std::countl_zero(low);
}

// quotient * 2^exponent rounded once to a double. The quotient has at least 55 bits, its last bit
// set when a remainder was cut off, so that no tie is a false one.
double round_to_double(Wide quotient, int exponent) {
  const int lowest = std::max(width_of(quotient) - kMantissaBits, kLeastExponent - exponent);
  if (lowest >= 128) return 0.0;
  const Wide kept = quotient >> lowest;
  const Wide cut = quotient - (kept << lowest);
  const Wide half = Wide{1} << (lowest - 1);
  const bool up = cut > half || (cut == half && (kept & 1) != 0);
  return std::ldexp(static_cast<double>(static_cast<std::uint64_t>(kept) + (up ? 1 : 0)),
                    exponent + lowest);
}

// A decimal number in scientific notation: d.ddd * 10^exponent.
struct Scientific {
  std::string digits;
  int exponent = 0;
};

Scientific shortest(double value) {
  char text[40];
  const auto [end, problem] =
      std::to_chars(text, text + sizeof text, value, std::chars_format::scientific);
  const std::string_view all(text, static_cast<std::size_t>(end - text));
  const std::size_t e = all.find('e');
  Scientific out;
  for (const char c : all.substr(0, e)) {
    if (c != '.') out.digits += c;
  }
  const std::size_t sign_and_digits = e + (all[e + 1] == '+' ? 2 : 1);
  std::from_chars(text + sign_and_digits, end, out.exponent);
  return out;
}

// For magnitudes that no double has: 17 digits, the last rounded half up.
Scientific beyond_double(const Ratio& value) {
  constexpr int kDigits = 17;
  const BigInt& den = value.den;
  const BigInt num = mp::abs(value.num);
  // Within one of the right exponent, as log10(2) is irrational enough; corrected below.
  const double log10_2 = 0.30102999566398120;
  int exponent = static_cast<int>(std::floor(
      (static_cast<double>(bit_length(num)) - static_cast<double>(bit_length(den))) * log10_2));
  const BigInt least = mp::pow(BigInt(10), kDigits - 1);
  for (exponent -= 1;; ++exponent) {
    const int shift = kDigits - 1 - exponent;
    const BigInt scale = mp::pow(BigInt(10), static_cast<unsigned>(std::abs(shift)));
    const BigInt top = shift > 0 ? BigInt(num * scale) : num;
    const BigInt bottom = shift > 0 ? den : BigInt(den * scale);
    const BigInt scaled = (2 * top + bottom) / (2 * bottom);
    if (scaled >= least * 10) continue;
    std::string digits = scaled.str();
    while (digits.size() > 1 && digits.back() == '0') digits.pop_back();
    return {digits, exponent};
  }
}

// Python's layout of repr(float): plain between 1e-4 and 1e16, else with an exponent.
std::string layout(const Scientific& number) {
  std::string out = number.digits;
  const int exponent = number.exponent;
  if (exponent < -4 || exponent >= 16) {
    if (out.size() > 1) out.insert(1, 1, '.');
    const std::string power = std::to_string(std::abs(exponent));
    out += exponent < 0 ? "e-" : "e+";
    if (power.size() < 2) out += '0';
    return out + power;
  }
  if (exponent < 0)
    return out.insert(0, static_cast<std::size_t>(-exponent), '0').insert(1, 1, '.');
  const auto whole = static_cast<std::size_t>(exponent) + 1;
  if (out.size() <= whole) out.append(whole + 1 - out.size(), '0');
  return out.insert(whole, 1, '.');
}

}  // namespace

double nearest_double(std::int64_t num, std::int64_t den) {
  if (den == 1) return static_cast<double>(num);
  constexpr std::int64_t kExact = std::int64_t{1} << kMantissaBits;
  if (num <= kExact && num >= -kExact && den <= kExact) {
    return static_cast<double>(num) / static_cast<double>(den);  // exact operands: rounded once
  }
  const Wide top = magnitude(num);
  const int shift = 127 - width_of(top);
  const Wide shifted = top << shift;
  const auto divisor = static_cast<Wide>(den);
  const Wide quotient = (shifted / divisor) | (shifted % divisor != 0 ? 1 : 0);
  const double result = round_to_double(quotient, -shift);
  return num < 0 ? -result : result;
}

double nearest_double(const BigInt& num, const BigInt& den) {
  if (num.is_zero()) return 0.0;
  BigInt top = mp::abs(num);
  BigInt bottom = den;
  const auto shift =
      66 - (static_cast<int>(bit_length(top)) - static_cast<int>(bit_length(bottom)));
  if (shift > 0) {
    top <<= shift;
  } else {
    bottom <<= -shift;
  }
  BigInt quotient;
  BigInt rest;
  mp::divide_qr(top, bottom, quotient, rest);
  const Wide bits = static_cast<Wide>(quotient) | (rest.is_zero() ? 0 : 1);
  const double result = round_to_double(bits, -shift);
  return num.sign() < 0 ? -result : result;
}

std::string Number::repr() const {
  if (!is_float_) {
    return form_ == Form::kSmall ? std::to_string(num_) : numerator().str();
  }
  const double nearest = to_double();
  const std::string sign_text = sign() < 0 ? "-" : "";
  if (std::isfinite(nearest) && (nearest != 0.0 || is_zero())) {
    return sign_text + layout(shortest(std::fabs(nearest)));
  }
  if (!is_finite()) return sign_text + "inf";
  return sign_text + layout(beyond_double(ratio_of(*this)));
}

std::string Number::brief() const {
  if (!is_float_ || is_integral()) return repr();
  constexpr std::int64_t kScale = 1000;
  if (form_ == Form::kSmall) {
    const __int128 scaled = rounded_half_even(static_cast<__int128>(num_) * kScale, den_);
    if (fits_int64(scaled)) return rational(static_cast<std::int64_t>(scaled), kScale).repr();
  }
  return rational(rounded_half_even(ratio_of(*this) * Ratio{kScale, 1}), BigInt(kScale)).repr();
}

}  // namespace rasp::value
