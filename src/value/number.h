// Exact numbers. An int is an unbounded integer, a float is an unbounded rational; only `^` with a
// fractional exponent leaves the rationals, and its value (a double, marked inexact) taints what is
// computed from it. Numerator and denominator in 64 bits is the common case: inline, no allocation.
#pragma once

#include <bit>
#include <boost/multiprecision/cpp_int.hpp>
#include <cassert>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

namespace rasp::value {

using BigInt = boost::multiprecision::cpp_int;
using BigRational = boost::multiprecision::cpp_rational;

// Numbers with a numerator or denominator of more bits are a limit error of the operator that would
// make them.
inline constexpr std::size_t kMaxNumberBits = std::size_t{1} << 17;

struct Ratio;

class Number {
 public:
  Number() = default;  // the int 0
  Number(const Number& other)
      : num_(other.num_), den_(other.den_), form_(other.form_), is_float_(other.is_float_) {
    if (form_ == Form::kBig) retain();
  }
  Number(Number&& other) noexcept
      : num_(other.num_), den_(other.den_), form_(other.form_), is_float_(other.is_float_) {
    other.form_ = Form::kSmall;  // some number; what is moved from is not read
    other.den_ = 1;
  }
  Number& operator=(const Number& other) { return *this = Number(other); }
  Number& operator=(Number&& other) noexcept {
    swap(other);
    return *this;
  }
  ~Number() {
    if (form_ == Form::kBig) release();
  }

  [[nodiscard]] static Number integer(std::int64_t value) { return {value, 1, false}; }
  [[nodiscard]] static Number integer(const BigInt& value);
  [[nodiscard]] static Number rational(std::int64_t numerator,
                                       std::int64_t denominator);  // a float; den != 0
  [[nodiscard]] static Number rational(const BigInt& numerator, const BigInt& denominator);
  [[nodiscard]] static Number rational(const BigRational& value);  // a float
  [[nodiscard]] static Number inexact(double value);               // a float; must be finite
  // "12" an int, "1.50" the float 3/2. Digits as the grammar has them, an optional sign in front.
  // nullopt for any other text and for numbers of more than kMaxNumberBits.
  [[nodiscard]] static std::optional<Number> parse(std::string_view text);

  [[nodiscard]] bool is_int() const { return !is_float_; }
  [[nodiscard]] bool is_float() const { return is_float_; }
  [[nodiscard]] bool is_exact() const { return form_ != Form::kInexact; }
  [[nodiscard]] bool is_small() const { return form_ == Form::kSmall; }
  [[nodiscard]] bool is_zero() const { return sign() == 0; }
  [[nodiscard]] bool is_integral() const;  // a whole number, of either type
  // False only for what arithmetic on inexact numbers overflows to; the operator table turns it
  // into an error, so no other room sees such a number.
  [[nodiscard]] bool is_finite() const;
  [[nodiscard]] int sign() const {
    return form_ == Form::kSmall ? (num_ > 0) - (num_ < 0) : sign_of_rest();
  }
  [[nodiscard]] std::size_t bits() const;  // of the larger of numerator and denominator

  // The value as int64 when it is a whole number that fits.
  [[nodiscard]] std::optional<std::int64_t> to_int64() const {
    if (form_ == Form::kSmall && den_ == 1) return num_;
    return form_ == Form::kInexact ? int64_of_inexact() : std::nullopt;
  }
  // Nearest double (ties to even); may overflow to infinity.
  [[nodiscard]] double to_double() const;
  // In lowest terms, the denominator positive; exact, also for inexact doubles. Prefer these two
  // and Number's own arithmetic to BigRational: reducing that takes 0.1 s at kMaxNumberBits.
  [[nodiscard]] BigInt numerator() const;
  [[nodiscard]] BigInt denominator() const;
  [[nodiscard]] BigRational to_rational() const;
  // Numerator and denominator when both fit 64 bits (lowest terms, den > 0): the common case.
  struct Fraction {
    std::int64_t num = 0;
    std::int64_t den = 1;
  };
  [[nodiscard]] std::optional<Fraction> to_fraction() const;
  [[nodiscard]] Number as_float() const {  // same value, type float
    Number result = *this;
    result.is_float_ = true;
    return result;
  }
  [[nodiscard]] Number as_int() const;  // truncated towards zero, type int

  // By value: 1 and 1.0 are equal here. `hash` agrees with it.
  friend bool operator==(const Number& a, const Number& b) {
    if (both_small(a, b)) return a.num_ == b.num_ && a.den_ == b.den_;
    return compare_slow(a, b) == 0;
  }
  friend std::strong_ordering operator<=>(const Number& a, const Number& b) {
    return compare(a, b) <=> 0;
  }
  [[nodiscard]] static int compare(const Number& a, const Number& b) {  // <0, 0, >0
    if (!both_small(a, b)) return compare_slow(a, b);
    const __int128 left = static_cast<__int128>(a.num_) * b.den_;
    const __int128 right = static_cast<__int128>(b.num_) * a.den_;
    return (left > right) - (left < right);
  }
  [[nodiscard]] std::size_t hash() const {
    return form_ == Form::kSmall ? hash_small(num_, den_) : hash_slow();
  }

  // Shortest text that reads back as the nearest double, as Python prints it: "3",
  // "0.3333333333333333", "2.0". Floats beyond a double's range print 17 digits: "1.5e+400".
  [[nodiscard]] std::string repr() const;
  // For sequences: ints in full, floats to 3 digits, at least one: "0.333", "1.0", "0.2".
  [[nodiscard]] std::string brief() const;

  // Arithmetic; the result is a float when either side is. Division always gives a float. The
  // caller has checked for zero divisors and bounds the size (value/operators.h does both).
  friend Number operator+(const Number& a, const Number& b) {
    std::int64_t sum = 0;
    if (both_whole(a, b) && !__builtin_add_overflow(a.num_, b.num_, &sum)) {
      return {sum, 1, a.is_float_ || b.is_float_};
    }
    return add_slow(a, b);
  }
  friend Number operator-(const Number& a, const Number& b) {
    std::int64_t difference = 0;
    if (both_whole(a, b) && !__builtin_sub_overflow(a.num_, b.num_, &difference)) {
      return {difference, 1, a.is_float_ || b.is_float_};
    }
    return add_slow(a, -b);
  }
  friend Number operator*(const Number& a, const Number& b) {
    std::int64_t product = 0;
    if (both_whole(a, b) && !__builtin_mul_overflow(a.num_, b.num_, &product)) {
      return {product, 1, a.is_float_ || b.is_float_};
    }
    return multiply_slow(a, b);
  }
  friend Number operator-(const Number& a) {
    if (a.form_ == Form::kSmall && a.num_ != INT64_MIN) return {-a.num_, a.den_, a.is_float_};
    return negate_slow(a);
  }
  [[nodiscard]] static Number divide(const Number& a, const Number& b);
  [[nodiscard]] static Number modulo(const Number& a, const Number& b);  // sign of the divisor
  [[nodiscard]] static Number round_half_even(const Number& a);          // an int
  // Whole exponents stay exact (negative ones give a float); nullopt when the result is no real
  // number (0 to a negative power, a negative base with a fractional exponent, overflow of the
  // double). The caller bounds the size of base and exponent, see `power_bits`.
  [[nodiscard]] static std::optional<Number> power(const Number& base, const Number& exponent);
  // A lower bound, at least half, of the bits of an exact power; 0 when the power is inexact.
  [[nodiscard]] static std::size_t power_bits(const Number& base, const Number& exponent);

 private:
  enum class Form : std::uint8_t { kSmall, kBig, kInexact };
  struct Big;  // an unbounded ratio that does not fit 64 bits; shared between copies
  friend Ratio ratio_of(const Number& number);

  Number(std::int64_t num, std::int64_t den, bool is_float)
      : num_(num), den_(den), is_float_(is_float) {}
  static Number shrunk(Ratio value, bool is_float);
  static Number from_double(double value);

  static bool both_small(const Number& a, const Number& b) {
    return a.form_ == Form::kSmall && b.form_ == Form::kSmall;
  }
  static bool both_whole(const Number& a, const Number& b) {
    return both_small(a, b) && (a.den_ | b.den_) == 1;
  }
  static std::size_t hash_small(std::int64_t num, std::int64_t den) {
    std::uint64_t h = static_cast<std::uint64_t>(num) * 0x9E3779B97F4A7C15u;
    h = (h ^ (h >> 32) ^ static_cast<std::uint64_t>(den)) * 0xD6E8FEB86659FD93u;
    return static_cast<std::size_t>(h ^ (h >> 32));
  }
  static int compare_slow(const Number& a, const Number& b);
  static Number add_slow(const Number& a, const Number& b);
  static Number multiply_slow(const Number& a, const Number& b);
  static Number negate_slow(const Number& a);
  static Number whole_power(const Number& base, std::uint64_t exponent);
  [[nodiscard]] std::size_t hash_slow() const;
  [[nodiscard]] int sign_of_rest() const;
  [[nodiscard]] std::optional<std::int64_t> int64_of_inexact() const;

  [[nodiscard]] const Big* big() const { return std::bit_cast<const Big*>(num_); }
  [[nodiscard]] double real() const { return std::bit_cast<double>(num_); }
  void retain() const;
  void release() const;
  void swap(Number& other) noexcept {
    std::swap(num_, other.num_);
    std::swap(den_, other.den_);
    std::swap(form_, other.form_);
    std::swap(is_float_, other.is_float_);
  }

  // kSmall: the numerator, kBig: the address of a Big, kInexact: the bits of a double. One word
  // for the three keeps the copy of a small number two loads and a test.
  std::int64_t num_ = 0;
  std::int64_t den_ = 1;  // kSmall: > 0 and in lowest terms
  Form form_ = Form::kSmall;
  bool is_float_ = false;
};
static_assert(sizeof(Number) <= 24 && sizeof(void*) == sizeof(std::int64_t));

}  // namespace rasp::value
