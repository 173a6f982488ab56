// Exact numbers. An int is an unbounded integer, a float is an unbounded rational; only `^` with a
// fractional exponent leaves the rationals, and its value (a double, marked inexact) taints what is
// computed from it. Numerator and denominator in 64 bits is the common case: inline, no allocation.
#pragma once

#include <boost/multiprecision/cpp_int.hpp>
#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

namespace rasp::value {

using BigInt = boost::multiprecision::cpp_int;
using BigRational = boost::multiprecision::cpp_rational;

// Numbers with a numerator or denominator of more bits are a limit error of the operator that would
// make them.
inline constexpr std::size_t kMaxNumberBits = std::size_t{1} << 17;

class Number {
 public:
  Number() = default;  // the int 0
  [[nodiscard]] static Number integer(std::int64_t value);
  [[nodiscard]] static Number integer(const BigInt& value);
  [[nodiscard]] static Number rational(std::int64_t numerator,
                                       std::int64_t denominator);  // a float; den != 0
  [[nodiscard]] static Number rational(const BigRational& value);  // a float
  [[nodiscard]] static Number inexact(double value);               // a float; must be finite
  // "12" an int, "1.50" the float 3/2. Digits as the grammar has them, an optional sign in front.
  [[nodiscard]] static std::optional<Number> parse(std::string_view text);

  [[nodiscard]] bool is_int() const { return !is_float_; }
  [[nodiscard]] bool is_float() const { return is_float_; }
  [[nodiscard]] bool is_exact() const { return !std::holds_alternative<double>(value_); }
  [[nodiscard]] bool is_zero() const;
  [[nodiscard]] bool is_integral() const;  // a whole number, of either type
  [[nodiscard]] int sign() const;
  [[nodiscard]] std::size_t bits() const;  // of the larger of numerator and denominator

  // The value as int64 when it is a whole number that fits.
  [[nodiscard]] std::optional<std::int64_t> to_int64() const;
  [[nodiscard]] double to_double()
      const;  // nearest double (ties to even); may overflow to infinity
  [[nodiscard]] BigRational to_rational() const;  // exact, also for inexact doubles
  [[nodiscard]] Number as_float() const;          // same value, type float
  [[nodiscard]] Number as_int() const;            // truncated towards zero, type int

  // By value: 1 and 1.0 are equal here. `hash` agrees with it.
  friend bool operator==(const Number& a, const Number& b) { return compare(a, b) == 0; }
  friend std::strong_ordering operator<=>(const Number& a, const Number& b) {
    return compare(a, b) <=> 0;
  }
  [[nodiscard]] static int compare(const Number& a, const Number& b);  // <0, 0, >0
  [[nodiscard]] std::size_t hash() const;

  // Shortest text that reads back as the nearest double, as Python prints it: "3",
  // "0.3333333333333333", "2.0".
  [[nodiscard]] std::string repr() const;
  // For sequences: ints in full, floats to 3 digits, at least one: "0.333", "1.0", "0.2".
  [[nodiscard]] std::string brief() const;

  // Arithmetic; the result is a float when either side is. Division always gives a float. The
  // caller has checked for zero divisors and bounds the size (value/operators.h does both).
  friend Number operator+(const Number& a, const Number& b);
  friend Number operator-(const Number& a, const Number& b);
  friend Number operator*(const Number& a, const Number& b);
  friend Number operator-(const Number& a);
  [[nodiscard]] static Number divide(const Number& a, const Number& b);
  [[nodiscard]] static Number modulo(const Number& a, const Number& b);  // sign of the divisor
  [[nodiscard]] static Number round_half_even(const Number& a);          // an int
  // Whole exponents stay exact (negative ones give a float); nullopt when the result is no real
  // number (0 to a negative power, a negative base with a fractional exponent, overflow of the
  // double).
  [[nodiscard]] static std::optional<Number> power(const Number& base, const Number& exponent);

 private:
  struct Small {  // den > 0, lowest terms
    std::int64_t num = 0;
    std::int64_t den = 1;
  };
  using Big = std::shared_ptr<const BigRational>;  // only what does not fit Small

  std::variant<Small, Big, double> value_;
  bool is_float_ = false;
};

}  // namespace rasp::value
