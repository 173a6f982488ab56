#include "value/operators.h"

#include <algorithm>
#include <array>
#include <string>
#include <utility>

namespace rasp::value {
namespace {

using Binary = OpResult (*)(const Atom&, const Atom&);

OpResult refuse(ErrorKind kind, std::string message) {
  return tl::make_unexpected(OpError{kind, std::move(message)});
}

std::string quoted(std::string_view symbol) {
  std::string out(1, '\'');
  out += symbol;
  out += '\'';
  return out;
}

// "'-' expects numbers, not the string 'a'", the first operand that is not a number.
OpResult expects_numbers(std::string_view symbol, const Atom& a, const Atom& b) {
  const Atom& culprit = std::holds_alternative<std::string>(a) ? a : b;
  return refuse(ErrorKind::kType, quoted(symbol) + " expects numbers, not " + describe(culprit));
}

OpResult too_large() {
  return refuse(ErrorKind::kLimit,
                "the number is larger than " + std::to_string(kMaxNumberBits) + " bits");
}

OpResult too_long() {
  return refuse(ErrorKind::kLimit,
                "the string is longer than " + std::to_string(kMaxStringLength) + " characters");
}

// Code points; of broken UTF-8 never less than a quarter of the bytes, so that it is bounded too.
std::size_t length_of(std::string_view text) {
  const auto starts =
      std::count_if(text.begin(), text.end(), [](char c) { return (c & '\xC0') != '\x80'; });
  return std::max(static_cast<std::size_t>(starts), (text.size() + 3) / 4);
}

// Every number that an operator makes passes here: size and range are bounded.
OpResult checked(Number number) {
  if (number.is_small()) return Atom(std::move(number));
  if (!number.is_finite()) {
    return refuse(ErrorKind::kArithmetic,
                  "the number is too large to be computed with an inexact one");
  }
  if (number.bits() > kMaxNumberBits) return too_large();
  return Atom(std::move(number));
}

// The numbers behind two operands without a copy in the common case.
struct Numbers {
  Number a_flag, b_flag;  // what a bool counts as
  const Number* a = nullptr;
  const Number* b = nullptr;

  Numbers(const Atom& x, const Atom& y) : a(read(x, a_flag)), b(read(y, b_flag)) {}
  [[nodiscard]] bool valid() const { return a != nullptr && b != nullptr; }

 private:
  static const Number* read(const Atom& atom, Number& flag) {
    if (const auto* number = std::get_if<Number>(&atom)) return number;
    const auto* truth_value = std::get_if<bool>(&atom);
    if (truth_value == nullptr) return nullptr;
    flag = Number::integer(*truth_value ? 1 : 0);
    return &flag;
  }
};

// ---- arithmetic ----

OpResult add(const Atom& a, const Atom& b) {
  const Numbers numbers(a, b);
  if (numbers.valid()) return checked(*numbers.a + *numbers.b);
  const auto* x = std::get_if<std::string>(&a);
  const auto* y = std::get_if<std::string>(&b);
  if (x == nullptr || y == nullptr) {
    return refuse(ErrorKind::kType, "'+' expects two numbers or two strings, not " + describe(a) +
                                        " and " + describe(b));
  }
  if (x->size() + y->size() > kMaxStringLength &&
      length_of(*x) + length_of(*y) > kMaxStringLength) {
    return too_long();
  }
  return Atom(*x + *y);
}

OpResult subtract(const Atom& a, const Atom& b) {
  const Numbers numbers(a, b);
  if (!numbers.valid()) return expects_numbers("-", a, b);
  return checked(*numbers.a - *numbers.b);
}

OpResult repeat(const std::string& text, const Atom& times) {
  const std::optional<Number> number = to_number(times);
  if (!number || !number->is_int()) {
    return refuse(ErrorKind::kType,
                  "'*' repeats a string an int number of times, not " + describe(times) + " times");
  }
  if (text.empty() || number->sign() <= 0) return Atom(std::string());
  const std::optional<std::int64_t> count = number->to_int64();
  if (!count || static_cast<std::uint64_t>(*count) > kMaxStringLength / length_of(text)) {
    return too_long();
  }
  std::string out;
  out.reserve(text.size() * static_cast<std::size_t>(*count));
  for (std::int64_t i = 0; i < *count; ++i) out += text;
  return Atom(std::move(out));
}

OpResult multiply(const Atom& a, const Atom& b) {
  const Numbers numbers(a, b);
  if (numbers.valid()) return checked(*numbers.a * *numbers.b);
  const auto* x = std::get_if<std::string>(&a);
  const auto* y = std::get_if<std::string>(&b);
  if (x != nullptr && y != nullptr) {
    return refuse(ErrorKind::kType,
                  "'*' expects two numbers, or a string and an int, not two strings");
  }
  return x != nullptr ? repeat(*x, b) : repeat(*y, a);
}

OpResult divide(const Atom& a, const Atom& b) {
  const Numbers numbers(a, b);
  if (!numbers.valid()) return expects_numbers("/", a, b);
  if (numbers.b->is_zero()) {
    return refuse(ErrorKind::kArithmetic, "division of " + describe(a) + " by zero");
  }
  return checked(Number::divide(*numbers.a, *numbers.b));
}

OpResult modulo(const Atom& a, const Atom& b) {
  const Numbers numbers(a, b);
  if (!numbers.valid()) return expects_numbers("%", a, b);
  if (numbers.b->is_zero()) {
    return refuse(ErrorKind::kArithmetic, "remainder of " + describe(a) + " by zero");
  }
  return checked(Number::modulo(*numbers.a, *numbers.b));
}

OpResult power(const Atom& a, const Atom& b) {
  const Numbers numbers(a, b);
  if (!numbers.valid()) return expects_numbers("^", a, b);
  if (Number::power_bits(*numbers.a, *numbers.b) > kMaxNumberBits) return too_large();
  std::optional<Number> result = Number::power(*numbers.a, *numbers.b);
  if (result) return checked(std::move(*result));
  std::string why = " is larger than any double";
  if (numbers.a->is_zero()) why = " would divide by zero";
  if (numbers.a->sign() < 0) why = " is no real number";
  return refuse(ErrorKind::kArithmetic, describe(a) + " to the power of " + describe(b) + why);
}

// ---- comparisons and truth ----

template <Op op>
OpResult ordered(const Atom& a, const Atom& b) {
  const std::optional<bool> holds = compare(op, a, b);
  if (holds) return Atom(*holds);
  return refuse(ErrorKind::kType,
                quoted(info(op).symbol) +
                    " compares numbers with numbers and strings with strings, not " + describe(a) +
                    " with " + describe(b));
}

OpResult equals(const Atom& a, const Atom& b) { return Atom(equal(a, b)); }
OpResult differs(const Atom& a, const Atom& b) { return Atom(!equal(a, b)); }
OpResult both(const Atom& a, const Atom& b) { return Atom(truth(a) && truth(b)); }
OpResult either(const Atom& a, const Atom& b) { return Atom(truth(a) || truth(b)); }

// ---- one operand; the second is not read, so that all operators share a signature ----

OpResult negation(const Atom& a, const Atom&) { return Atom(!truth(a)); }

OpResult expects_number(std::string_view name, const Atom& a) {
  return refuse(ErrorKind::kType, quoted(name) + " expects a number, not " + describe(a));
}

OpResult minus(const Atom& a, const Atom&) {
  const std::optional<Number> number = to_number(a);
  if (!number) return expects_number("-", a);
  return checked(-*number);
}

OpResult plus(const Atom& a, const Atom&) {
  std::optional<Number> number = to_number(a);
  if (!number) return expects_number("+", a);
  return Atom(std::move(*number));
}

OpResult round_off(const Atom& a, const Atom&) {
  const std::optional<Number> number = to_number(a);
  if (!number) return expects_number("round", a);
  return Atom(Number::round_half_even(*number));
}

OpResult indicate(const Atom& a, const Atom&) {
  const auto* flag = std::get_if<bool>(&a);
  if (flag == nullptr) {
    return refuse(ErrorKind::kType, "'indicator' expects a bool, not " + describe(a));
  }
  return make_int(*flag ? 1 : 0);
}

// ---- types ----

constexpr TypeSet kBool = bit(Type::kBool), kInt = bit(Type::kInt), kFloat = bit(Type::kFloat),
                  kString = bit(Type::kString);
constexpr std::array kTypes = {Type::kBool, Type::kInt, Type::kFloat, Type::kString};

constexpr bool numeric(Type type) { return type != Type::kString; }

// What an operator gives for operands of exactly these types; 0 when it always fails.
using PairTypes = TypeSet (*)(Type a, Type b);

TypeSet arithmetic_types(Type a, Type b) {
  if (!numeric(a) || !numeric(b)) return 0;
  return a == Type::kFloat || b == Type::kFloat ? kFloat : kInt;
}
TypeSet add_types(Type a, Type b) {
  return numeric(a) || numeric(b) ? arithmetic_types(a, b) : kString;
}
TypeSet multiply_types(Type a, Type b) {
  if (numeric(a) == numeric(b)) return arithmetic_types(a, b);
  return a == Type::kFloat || b == Type::kFloat ? TypeSet{0} : kString;
}
TypeSet divide_types(Type a, Type b) { return numeric(a) && numeric(b) ? kFloat : TypeSet{0}; }
TypeSet power_types(Type a, Type b) {
  const TypeSet types = arithmetic_types(a, b);
  return types == kInt && b == Type::kInt ? Type::kInt | Type::kFloat : types;
}
TypeSet order_types(Type a, Type b) { return numeric(a) == numeric(b) ? kBool : TypeSet{0}; }
TypeSet bool_types(Type, Type) { return kBool; }
TypeSet sign_types(Type a, Type) { return arithmetic_types(a, a); }
TypeSet round_types(Type a, Type) { return numeric(a) ? kInt : TypeSet{0}; }
TypeSet indicator_types(Type a, Type) { return a == Type::kBool ? kInt : TypeSet{0}; }

template <PairTypes pair_types>
TypeSet lift(std::span<const TypeSet> operands) {
  TypeSet result = 0;
  for (const Type a : kTypes) {
    if (!contains(operands.front(), a)) continue;
    for (const Type b : kTypes) {
      if (contains(operands.back(), b)) result = static_cast<TypeSet>(result | pair_types(a, b));
    }
  }
  return result;
}

template <Binary meaning>
OpResult spread(std::span<const Atom> operands) {
  return meaning(operands.front(), operands.back());
}

struct Row {
  OpInfo info;
  Binary meaning;
};

template <Op op, Binary meaning, PairTypes types>
constexpr Row row(std::string_view symbol, std::uint8_t arity, bool comparison = false) {
  return {{op, symbol, arity, comparison, spread<meaning>, lift<types>}, meaning};
}

constexpr std::array<Row, kOpCount> kTable = {
    row<Op::kAdd, add, add_types>("+", 2),
    row<Op::kSub, subtract, arithmetic_types>("-", 2),
    row<Op::kMul, multiply, multiply_types>("*", 2),
    row<Op::kDiv, divide, divide_types>("/", 2),
    row<Op::kMod, modulo, arithmetic_types>("%", 2),
    row<Op::kPow, power, power_types>("^", 2),
    row<Op::kEq, equals, bool_types>("==", 2, true),
    row<Op::kNe, differs, bool_types>("!=", 2, true),
    row<Op::kLt, ordered<Op::kLt>, order_types>("<", 2, true),
    row<Op::kGt, ordered<Op::kGt>, order_types>(">", 2, true),
    row<Op::kLe, ordered<Op::kLe>, order_types>("<=", 2, true),
    row<Op::kGe, ordered<Op::kGe>, order_types>(">=", 2, true),
    row<Op::kAnd, both, bool_types>("and", 2),
    row<Op::kOr, either, bool_types>("or", 2),
    row<Op::kNot, negation, bool_types>("not", 1),
    row<Op::kNeg, minus, sign_types>("-", 1),
    row<Op::kPos, plus, sign_types>("+", 1),
    row<Op::kRound, round_off, round_types>("round", 1),
    row<Op::kIndicator, indicate, indicator_types>("indicator", 1),
};

constexpr bool in_order() {
  for (std::size_t i = 0; i < kOpCount; ++i) {
    if (static_cast<std::size_t>(kTable[i].info.op) != i) return false;
  }
  return true;
}
static_assert(in_order());

}  // namespace

const OpInfo& info(Op op) { return kTable[static_cast<std::size_t>(op)].info; }
bool is_comparison(Op op) { return info(op).comparison; }

OpResult apply(Op op, std::span<const Atom> operands) { return info(op).apply(operands); }

OpResult apply(Op op, const Atom& a, const Atom& b) {
  return kTable[static_cast<std::size_t>(op)].meaning(a, b);
}

std::optional<bool> compare(Op op, const Atom& a, const Atom& b) {
  if (op == Op::kEq) return equal(a, b);
  if (op == Op::kNe) return !equal(a, b);
  int order = 0;
  const Numbers numbers(a, b);
  if (numbers.valid()) {
    order = Number::compare(*numbers.a, *numbers.b);
  } else {
    const auto* x = std::get_if<std::string>(&a);
    const auto* y = std::get_if<std::string>(&b);
    if (x == nullptr || y == nullptr) return std::nullopt;
    order = x->compare(*y);  // the byte order of UTF-8 is the order of code points
  }
  if (op == Op::kLt) return order < 0;
  if (op == Op::kGt) return order > 0;
  return op == Op::kLe ? order <= 0 : order >= 0;
}

OpResult lookup(const Table& table, const Atom& index) {
  if (table.kind == Table::Kind::kDict) {
    if (const std::optional<std::size_t> at = find(table, index)) return table.values[*at];
    return refuse(ErrorKind::kValue, "the dict has no key " + short_repr(index));
  }
  const std::optional<Number> number = to_number(index);
  if (!number || !number->is_int()) {
    return refuse(ErrorKind::kType, "an index into a list is an int, not " + describe(index));
  }
  const auto size = static_cast<std::int64_t>(table.values.size());
  const std::optional<std::int64_t> at = number->to_int64();
  if (!at || *at >= size || *at < -size) {
    return refuse(ErrorKind::kValue, "index " + short_repr(index) + " is out of range for " +
                                         std::to_string(size) +
                                         (size == 1 ? " element" : " elements"));
  }
  return table.values[static_cast<std::size_t>(*at < 0 ? *at + size : *at)];
}

bool member(const Table& list, const Atom& atom) { return find(list, atom).has_value(); }

OpResult aggregate(std::span<const Atom* const> values, const Atom& otherwise) {
  if (values.empty()) return otherwise;
  if (values.size() == 1) return *values.front();
  Number sum;
  for (const Atom* value : values) {
    const auto* number = std::get_if<Number>(value);
    if (number == nullptr) {
      return refuse(ErrorKind::kType, "the mean of " + std::to_string(values.size()) +
                                          " selected values needs numbers, and one is " +
                                          describe(*value));
    }
    sum = sum + *number;
    if (!sum.is_small() && sum.bits() > kMaxNumberBits) return too_large();
  }
  return checked(Number::divide(sum, Number::integer(static_cast<std::int64_t>(values.size()))));
}

}  // namespace rasp::value
