#include "value/number.h"

#include <atomic>
#include <cmath>
#include <limits>

#include "value/integers.h"
#include "value/ratio.h"

namespace rasp::value {
namespace mp = boost::multiprecision;
using Fraction = Number::Fraction;

// ---- making ----

struct Number::Big {
  Ratio value;
  mutable std::atomic<std::size_t> uses{1};  // copies live in several threads
};

void Number::retain() const { big()->uses.fetch_add(1, std::memory_order_relaxed); }

void Number::release() const {
  if (big()->uses.fetch_sub(1, std::memory_order_acq_rel) == 1) delete big();
}

// Results shrink back: a Big never holds what Small can.
Number Number::shrunk(Ratio value, bool is_float) {
  if (fits_int64(value.num) && fits_int64(value.den)) {
    return {static_cast<std::int64_t>(value.num), static_cast<std::int64_t>(value.den), is_float};
  }
  Number result;
  result.num_ = std::bit_cast<std::int64_t>(static_cast<const Big*>(new Big{std::move(value)}));
  result.form_ = Form::kBig;
  result.is_float_ = is_float;
  return result;
}

Ratio ratio_of(const Number& number) {
  if (number.form_ == Number::Form::kBig) return number.big()->value;
  if (number.form_ == Number::Form::kSmall) return {number.num_, number.den_};
  return ratio_of(number.real());
}

Number Number::from_double(double value) {
  Number result;
  result.num_ = std::bit_cast<std::int64_t>(value + 0.0);  // there is one zero
  result.form_ = Form::kInexact;
  result.is_float_ = true;
  return result;
}

Number Number::integer(const BigInt& value) { return shrunk({value, 1}, false); }

Number Number::rational(std::int64_t numerator, std::int64_t denominator) {
  assert(denominator != 0);
  if (denominator > 0) {
    const auto g = static_cast<std::int64_t>(
        gcd(magnitude(numerator), static_cast<std::uint64_t>(denominator)));
    return {numerator / g, denominator / g, true};
  }
  return shrunk(make_ratio(numerator, denominator), true);
}

Number Number::rational(const BigInt& numerator, const BigInt& denominator) {
  return shrunk(make_ratio(numerator, denominator), true);
}

Number Number::rational(const BigRational& value) {
  return shrunk({mp::numerator(value), mp::denominator(value)}, true);
}

Number Number::inexact(double value) {
  assert(std::isfinite(value));
  return from_double(value);
}

std::optional<Number> Number::parse(std::string_view text) {
  bool negative = false;
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) {
    negative = text[0] == '-';
    text.remove_prefix(1);
  }
  const std::size_t point = text.find('.');
  const bool is_float = point != std::string_view::npos;
  const std::string_view whole = text.substr(0, point);
  std::string_view fraction = is_float ? text.substr(point + 1) : std::string_view();
  if (!all_digits(whole) || (is_float && !all_digits(fraction))) return std::nullopt;
  while (!fraction.empty() && fraction.back() == '0') fraction.remove_suffix(1);
  const std::optional<Number> value = decimal(std::string(whole) + std::string(fraction),
                                              -static_cast<std::int64_t>(fraction.size()));
  if (!value) return std::nullopt;
  const Number typed = is_float ? value->as_float() : value->as_int();
  return negative ? -typed : typed;
}

std::optional<Number> decimal(std::string_view digits, std::int64_t exponent) {
  const std::size_t first = digits.find_first_not_of('0');
  if (first == std::string_view::npos) return Number::rational(0, 1);
  digits.remove_prefix(first);
  if (digits.size() > kMaxDigits || exponent > kMaxDigits || exponent < -kMaxDigits) {
    return std::nullopt;
  }
  if (exponent == 0 && digits.size() <= 18) {
    std::int64_t small = 0;
    for (const char digit : digits) small = small * 10 + (digit - '0');
    return Number::rational(small, 1);
  }
  const BigInt mantissa{std::string(digits)};
  const BigInt scale = mp::pow(BigInt(10), static_cast<unsigned>(std::abs(exponent)));
  const Number value = exponent < 0 ? Number::rational(mantissa, scale)
                                    : Number::rational(BigInt(mantissa * scale), BigInt(1));
  if (value.bits() > kMaxNumberBits) return std::nullopt;
  return value;
}

// ---- reading ----

bool Number::is_integral() const {
  if (form_ == Form::kSmall) return den_ == 1;
  if (form_ == Form::kInexact) return std::trunc(real()) == real();
  return big()->value.den == 1;
}

bool Number::is_finite() const { return form_ != Form::kInexact || std::isfinite(real()); }

int Number::sign_of_rest() const {
  if (form_ == Form::kInexact) return (real() > 0) - (real() < 0);
  return big()->value.num.sign();
}

std::size_t Number::bits() const {
  if (form_ == Form::kInexact) return 53;
  if (form_ == Form::kSmall) {
    return static_cast<std::size_t>(64 - std::countl_zero(magnitude(num_) | magnitude(den_)));
  }
  return std::max(bit_length(big()->value.num), bit_length(big()->value.den));
}

std::optional<std::int64_t> Number::int64_of_inexact() const {
  const double value = real();
  if (std::trunc(value) != value || value < -0x1p63 || value >= 0x1p63) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

std::optional<Fraction> Number::to_fraction() const {
  if (form_ == Form::kSmall) return Fraction{num_, den_};
  if (form_ == Form::kBig) return std::nullopt;
  const Number exact = shrunk(ratio_of(*this), true);
  return exact.is_small() ? exact.to_fraction() : std::nullopt;
}

double Number::to_double() const {
  if (form_ == Form::kInexact) return real();
  if (form_ == Form::kSmall) return nearest_double(num_, den_);
  return nearest_double(big()->value.num, big()->value.den);
}

BigInt Number::numerator() const { return ratio_of(*this).num; }
BigInt Number::denominator() const { return ratio_of(*this).den; }

BigRational Number::to_rational() const {
  const Ratio value = ratio_of(*this);
  return {value.num, value.den};
}

Number Number::as_int() const {
  if (form_ == Form::kSmall) return {num_ / den_, 1, false};
  const Ratio value = ratio_of(*this);
  return integer(BigInt(value.num / value.den));
}

// ---- order ----

int Number::compare_slow(const Number& a, const Number& b) {
  if (!a.is_exact() && !b.is_exact()) return (a.real() > b.real()) - (a.real() < b.real());
  return value::compare(ratio_of(a), ratio_of(b));
}

std::size_t Number::hash_slow() const {
  if (form_ == Form::kInexact) {
    return shrunk(ratio_of(*this), true).hash();
  }
  std::uint64_t h = big()->value.num.sign() < 0 ? 0x5851F42D4C957F2Du : 0x14057B7EF767814Fu;
  for (const BigInt* part : {&big()->value.num, &big()->value.den}) {
    const auto& limbs = part->backend();
    for (unsigned i = 0; i < limbs.size(); ++i) {
      h = (h ^ static_cast<std::uint64_t>(limbs.limbs()[i])) * 0xD6E8FEB86659FD93u;
      h ^= h >> 32;
    }
    h = h * 31 + limbs.size();
  }
  return static_cast<std::size_t>(h);
}

// ---- arithmetic ----

// Knuth, The Art of Computer Programming 4.5.1: with g = gcd of the denominators the only common
// factor left is one of g, so every gcd is of 64-bit words.
Number Number::add_slow(const Number& a, const Number& b) {
  const bool is_float = a.is_float_ || b.is_float_;
  if (!a.is_exact() || !b.is_exact()) return from_double(a.to_double() + b.to_double());
  if (both_small(a, b)) {
    const auto g = static_cast<std::int64_t>(
        a.den_ == 1 || b.den_ == 1
            ? 1
            : gcd(static_cast<std::uint64_t>(a.den_), static_cast<std::uint64_t>(b.den_)));
    const __int128 sum =
        static_cast<__int128>(a.num_) * (b.den_ / g) + static_cast<__int128>(b.num_) * (a.den_ / g);
    const auto rest = static_cast<std::uint64_t>(static_cast<std::int64_t>(sum % g) < 0
                                                     ? -static_cast<std::int64_t>(sum % g)
                                                     : static_cast<std::int64_t>(sum % g));
    const auto g2 =
        static_cast<std::int64_t>(g == 1 ? 1 : gcd(rest, static_cast<std::uint64_t>(g)));
    const __int128 num = sum / g2;
    std::int64_t den = 0;
    if (!__builtin_mul_overflow(a.den_ / g, b.den_ / g2, &den) && fits_int64(num)) {
      return {static_cast<std::int64_t>(num), den, is_float};
    }
  }
  return shrunk(ratio_of(a) + ratio_of(b), is_float);
}

Number Number::multiply_slow(const Number& a, const Number& b) {
  const bool is_float = a.is_float_ || b.is_float_;
  if (!a.is_exact() || !b.is_exact()) return from_double(a.to_double() * b.to_double());
  if (both_small(a, b)) {
    // Taking common factors out crosswise first leaves the product in lowest terms.
    const std::uint64_t g1 = gcd(magnitude(a.num_), static_cast<std::uint64_t>(b.den_));
    const std::uint64_t g2 = gcd(magnitude(b.num_), static_cast<std::uint64_t>(a.den_));
    const auto f1 = static_cast<std::int64_t>(g1);
    const auto f2 = static_cast<std::int64_t>(g2);
    std::int64_t num = 0;
    std::int64_t den = 0;
    if (!__builtin_mul_overflow(a.num_ / f1, b.num_ / f2, &num) &&
        !__builtin_mul_overflow(a.den_ / f2, b.den_ / f1, &den)) {
      return {num, den, is_float};
    }
  }
  return shrunk(ratio_of(a) * ratio_of(b), is_float);
}

Number Number::negate_slow(const Number& a) {
  if (!a.is_exact()) return from_double(-a.real());
  return shrunk(-ratio_of(a), a.is_float_);
}

Number Number::divide(const Number& a, const Number& b) {
  assert(!b.is_zero());
  if (!a.is_exact() || !b.is_exact()) return from_double(a.to_double() / b.to_double());
  if (both_small(a, b) && b.num_ != INT64_MIN) {
    const bool negative = b.num_ < 0;
    const Number inverse{negative ? -b.den_ : b.den_, negative ? -b.num_ : b.num_, true};
    return multiply_slow(a, inverse);
  }
  return shrunk(ratio_of(a) * inverse(ratio_of(b)), true);
}

Number Number::modulo(const Number& a, const Number& b) {
  assert(!b.is_zero());
  const bool is_float = a.is_float_ || b.is_float_;
  if (both_whole(a, b)) {
    if (b.num_ == -1) return {0, 1, is_float};  // INT64_MIN % -1 traps
    const std::int64_t rest = a.num_ % b.num_;
    const bool other_side = rest != 0 && (rest < 0) != (b.num_ < 0);
    return {other_side ? rest + b.num_ : rest, 1, is_float};
  }
  if (both_small(a, b)) {
    // Over the common denominator the remainder is one of whole numbers.
    std::int64_t top = 0;
    std::int64_t bottom = 0;
    std::int64_t den = 0;
    if (!__builtin_mul_overflow(a.num_, b.den_, &top) &&
        !__builtin_mul_overflow(b.num_, a.den_, &bottom) && bottom != -1 &&
        !__builtin_mul_overflow(a.den_, b.den_, &den)) {
      const std::int64_t rest = top % bottom;
      const bool other_side = rest != 0 && (rest < 0) != (bottom < 0);
      Number result = rational(other_side ? rest + bottom : rest, den);
      result.is_float_ = is_float;
      return result;
    }
  }
  if (!a.is_exact() || !b.is_exact()) {
    const double divisor = b.to_double();
    const double rest = std::fmod(a.to_double(), divisor);
    return from_double(rest != 0 && (rest < 0) != (divisor < 0) ? rest + divisor : rest);
  }
  return shrunk(value::modulo(ratio_of(a), ratio_of(b)), is_float);
}

Number Number::round_half_even(const Number& a) {
  if (a.form_ == Form::kSmall) {
    return {static_cast<std::int64_t>(rounded_half_even(a.num_, a.den_)), 1, false};
  }
  return integer(value::rounded_half_even(ratio_of(a)));
}

Number Number::whole_power(const Number& base, std::uint64_t exponent) {
  Number result{1, 1, base.is_float_};
  Number square = base;
  for (; exponent != 0; exponent >>= 1) {
    if ((exponent & 1) != 0) result = result * square;
    if (exponent > 1) square = square * square;
  }
  return result;
}

std::size_t Number::power_bits(const Number& base, const Number& exponent) {
  if (!base.is_exact() || !exponent.is_exact() || !exponent.is_integral()) return 0;
  const std::size_t each = base.bits() - 1;
  if (each == 0) return 1;  // 0, 1 and -1
  const std::optional<std::int64_t> times = exponent.to_int64();
  if (!times || magnitude(*times) > kMaxNumberBits) return std::numeric_limits<std::size_t>::max();
  return each * magnitude(*times);
}

std::optional<Number> Number::power(const Number& base, const Number& exponent) {
  if (base.is_zero() && exponent.sign() < 0) return std::nullopt;
  const bool is_float = base.is_float_ || exponent.is_float_ || exponent.sign() < 0;
  if (base.is_exact() && exponent.is_exact() && exponent.is_integral()) {
    Number result;
    if (base.bits() == 1) {  // 0, 1, -1: any exponent
      const bool odd = mp::bit_test(mp::abs(exponent.numerator()), 0);
      const bool one = exponent.is_zero() || (!odd && !base.is_zero());
      result = one ? integer(1) : base;
    } else {
      const std::optional<std::int64_t> times = exponent.to_int64();
      assert(times);
      result = whole_power(base, magnitude(*times));
      if (exponent.sign() < 0) result = divide(integer(1), result);
    }
    result.is_float_ = is_float;
    return result;
  }
  const double value = std::pow(base.to_double(), exponent.to_double());
  if (!std::isfinite(value)) return std::nullopt;
  return from_double(value);
}

}  // namespace rasp::value
