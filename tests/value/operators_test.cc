#include "value/operators.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "random_values.h"

namespace rasp::value {
namespace {

using namespace std::string_literals;

Atom number(std::string_view text) { return *Number::parse(text); }

std::string shown(const OpResult& result) {
  if (result) return std::string(name_of(type_of(*result))) + " " + repr(*result);
  return std::string(name_of(result.error().kind)) + " error: " + result.error().message;
}
std::string shown(Op op, const Atom& a, const Atom& b) { return shown(apply(op, a, b)); }
std::string shown(Op op, const Atom& a) { return shown(apply(op, a)); }

std::vector<Op> all_ops() {
  std::vector<Op> ops;
  for (std::size_t i = 0; i < kOpCount; ++i) ops.push_back(static_cast<Op>(i));
  return ops;
}

TEST(Operators, TheTableIsInOrder) {
  for (const Op op : all_ops()) {
    EXPECT_EQ(info(op).op, op);
    EXPECT_FALSE(info(op).symbol.empty());
    EXPECT_EQ(info(op).comparison, is_comparison(op));
  }
  EXPECT_EQ(info(Op::kMod).symbol, "%");
  EXPECT_EQ(info(Op::kNot).arity, 1);
}

TEST(Operators, ArithmeticOfTheLanguage) {
  EXPECT_EQ(shown(Op::kAdd, true, true), "int 2");
  EXPECT_EQ(shown(Op::kAdd, number("0.1"), number("0.2")), "float 0.3");
  EXPECT_EQ(shown(Op::kAdd, "a"s, "b"s), "string 'ab'");
  EXPECT_EQ(shown(Op::kSub, number("1"), number("1.0")), "float 0.0");
  EXPECT_EQ(shown(Op::kMul, "ab"s, number("3")), "string 'ababab'");
  EXPECT_EQ(shown(Op::kMul, number("3"), "ab"s), "string 'ababab'");
  EXPECT_EQ(shown(Op::kMul, "ab"s, true), "string 'ab'");
  EXPECT_EQ(shown(Op::kMul, "ab"s, number("-3")), "string ''");
  EXPECT_EQ(shown(Op::kDiv, number("6"), number("3")), "float 2.0");
  EXPECT_EQ(shown(Op::kDiv, number("-7"), number("2")), "float -3.5");
  EXPECT_EQ(shown(Op::kMod, number("-7"), number("3")), "int 2");
  EXPECT_EQ(shown(Op::kMod, number("7"), number("-3")), "int -2");
  EXPECT_EQ(shown(Op::kMod, number("7.5"), number("2")), "float 1.5");
  EXPECT_EQ(shown(Op::kPow, number("2"), number("10")), "int 1024");
  EXPECT_EQ(shown(Op::kPow, number("2"), number("-1")), "float 0.5");
  EXPECT_EQ(shown(Op::kPow, number("2"), number("0.5")), "float 1.4142135623730951");
  EXPECT_EQ(shown(Op::kPow, number("0"), number("0")), "int 1");
  EXPECT_EQ(shown(Op::kPow, true, false), "int 1");
  EXPECT_EQ(shown(Op::kNeg, true), "int -1");
  EXPECT_EQ(shown(Op::kPos, true), "int 1");
  EXPECT_EQ(shown(Op::kRound, number("2.5")), "int 2");
  EXPECT_EQ(shown(Op::kRound, number("3.5")), "int 4");
  EXPECT_EQ(shown(Op::kRound, -std::get<Number>(number("2.5"))), "int -2");
  EXPECT_EQ(shown(Op::kRound, true), "int 1");
  EXPECT_EQ(shown(Op::kIndicator, true), "int 1");
  EXPECT_EQ(shown(Op::kIndicator, false), "int 0");
  EXPECT_EQ(shown(Op::kNot, ""s), "bool True");
  EXPECT_EQ(shown(Op::kAnd, number("3"), ""s), "bool False");
  EXPECT_EQ(shown(Op::kOr, number("0"), "x"s), "bool True");
}

TEST(Operators, Comparisons) {
  EXPECT_EQ(shown(Op::kEq, number("1"), number("1.0")), "bool True");
  EXPECT_EQ(shown(Op::kEq, number("1"), "1"s), "bool False");
  EXPECT_EQ(shown(Op::kNe, number("1"), "1"s), "bool True");
  EXPECT_EQ(shown(Op::kLt, "Z"s, "a"s), "bool True");
  EXPECT_EQ(shown(Op::kLt, "abc"s, "abd"s), "bool True");
  EXPECT_EQ(shown(Op::kLt, "ab"s, "abc"s), "bool True");
  EXPECT_EQ(shown(Op::kLt, false, number("0.5")), "bool True");
  EXPECT_EQ(shown(Op::kGe, true, number("1")), "bool True");
}

TEST(Operators, EveryErrorNamesWhatIsWrong) {
  const std::map<std::string, std::string> cases = {
      {shown(Op::kAdd, number("1"), "a"s),
       "type error: '+' expects two numbers or two strings, not the int 1 and the string 'a'"},
      {shown(Op::kSub, "a"s, number("1")), "type error: '-' expects numbers, not the string 'a'"},
      {shown(Op::kDiv, number("1"), "b"s), "type error: '/' expects numbers, not the string 'b'"},
      {shown(Op::kMod, "a%d"s, number("1")),
       "type error: '%' expects numbers, not the string 'a%d'"},
      {shown(Op::kPow, "a"s, "b"s), "type error: '^' expects numbers, not the string 'a'"},
      {shown(Op::kMul, "a"s, "b"s),
       "type error: '*' expects two numbers, or a string and an int, not two strings"},
      {shown(Op::kMul, "a"s, number("2.0")),
       "type error: '*' repeats a string an int number of times, not the float 2.0 times"},
      {shown(Op::kLt, "a"s, number("1")),
       "type error: '<' compares numbers with numbers and strings with strings, not the string 'a' "
       "with the int 1"},
      {shown(Op::kDiv, number("1"), number("0")),
       "arithmetic error: division of the int 1 by zero"},
      {shown(Op::kMod, number("1"), number("0.0")),
       "arithmetic error: remainder of the int 1 by zero"},
      {shown(Op::kDiv, true, false), "arithmetic error: division of the bool True by zero"},
      {shown(Op::kPow, number("0"), number("-1")),
       "arithmetic error: the int 0 to the power of the int -1 would divide by zero"},
      {shown(Op::kPow, number("-8"), number("0.5")),
       "arithmetic error: the int -8 to the power of the float 0.5 is no real number"},
      {shown(Op::kPow, *apply(Op::kPow, number("10"), number("308")), number("1.5")),
       "arithmetic error: the int 1000000000000000000000000000000000000000… to the power of the "
       "float 1.5 is larger than any double"},
      {shown(Op::kNeg, "a"s), "type error: '-' expects a number, not the string 'a'"},
      {shown(Op::kPos, "a"s), "type error: '+' expects a number, not the string 'a'"},
      {shown(Op::kRound, "a"s), "type error: 'round' expects a number, not the string 'a'"},
      {shown(Op::kIndicator, number("1")), "type error: 'indicator' expects a bool, not the int 1"},
      {shown(Op::kPow, number("10"), number("400000")),
       "limit error: the number is larger than 131072 bits"},
      {shown(Op::kMul, "ab"s, number("500001")),
       "limit error: the string is longer than 1000000 characters"},
  };
  for (const auto& [found, expected] : cases) EXPECT_EQ(found, expected);
}

TEST(Operators, LimitsHoldAndAreReachable) {
  // A number of exactly kMaxNumberBits bits is made; one bit more is refused, by every operator.
  const Atom half = *apply(Op::kPow, number("2"), number(std::to_string(kMaxNumberBits - 2)));
  const Atom most = *apply(Op::kMul, half, number("2"));
  EXPECT_EQ(std::get<Number>(most).bits(), kMaxNumberBits);
  for (const OpResult& result :
       {apply(Op::kAdd, most, most), apply(Op::kMul, most, number("2")),
        apply(Op::kMul, most, most), apply(Op::kSub, *apply(Op::kNeg, most), most),
        apply(Op::kDiv, most, number("0.25")), apply(Op::kPow, most, number("2")),
        apply(Op::kPow, number("1.0001"), number("131072")),
        apply(Op::kPow, number("2"), number("-131073")),
        apply(Op::kPow, number("2"), number(std::string(1000, '9')))}) {
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().kind, ErrorKind::kLimit);
  }
  const Atom inexact = Number::inexact(1e308);
  EXPECT_EQ(apply(Op::kMul, inexact, number("100")).error().kind, ErrorKind::kArithmetic);
  EXPECT_EQ(apply(Op::kAdd, inexact, most).error().kind, ErrorKind::kArithmetic);
  const OpResult longest = apply(Op::kMul, "é"s, number("1000000"));
  ASSERT_TRUE(longest.has_value());
  EXPECT_EQ(apply(Op::kAdd, *longest, "x"s).error().kind, ErrorKind::kLimit);
  EXPECT_TRUE(apply(Op::kAdd, *longest, ""s).has_value());
  EXPECT_EQ(apply(Op::kMul, "x"s, number("1000001")).error().kind, ErrorKind::kLimit);
  EXPECT_EQ(apply(Op::kMul, "x"s, number(std::string(100, '9'))).error().kind, ErrorKind::kLimit);
  EXPECT_EQ(apply(Op::kMul, ""s, number(std::string(100, '9'))), Atom(""s));
  EXPECT_EQ(apply(Op::kMul, std::string(1000, '\xBF'), number("1000000")).error().kind,
            ErrorKind::kLimit);
}

// The three ways to apply an operator give the same.
TEST(Operators, SpanPairAndCompareAgree) {
  Random random(41);
  for (int round = 0; round < 20'000; ++round) {
    const std::vector<Atom> operands = {random_atom(random), random_atom(random)};
    const Op op = all_ops()[below(random, kOpCount)];
    if (op == Op::kPow) continue;  // random exponents are huge; powers have tests of their own
    const std::size_t arity = info(op).arity;
    const OpResult by_span = apply(op, std::span(operands).first(arity));
    const OpResult by_value =
        arity == 1 ? apply(op, operands[0]) : apply(op, operands[0], operands[1]);
    ASSERT_EQ(shown(by_span), shown(by_value));
    if (!is_comparison(op)) continue;
    const std::optional<bool> compared = compare(op, operands[0], operands[1]);
    ASSERT_EQ(compared.has_value(), by_value.has_value());
    if (compared) {
      ASSERT_EQ(Atom(*compared), *by_value);
    }
  }
}

TEST(Operators, ComparisonsAreConsistent) {
  Random random(42);
  const auto holds = [](Op op, const Atom& a, const Atom& b) { return compare(op, a, b); };
  for (int round = 0; round < 20'000; ++round) {
    const Atom a = random_atom(random);
    const Atom b = below(random, 4) == 0 ? a : random_atom(random);
    const std::optional<bool> less = holds(Op::kLt, a, b);
    ASSERT_EQ(holds(Op::kGt, b, a), less);
    ASSERT_EQ(*holds(Op::kEq, a, b), !*holds(Op::kNe, a, b));
    ASSERT_EQ(*holds(Op::kEq, a, b), equal(a, b));
    if (!less) continue;
    ASSERT_EQ(*holds(Op::kLe, a, b), *less || equal(a, b));
    ASSERT_EQ(*holds(Op::kGe, a, b), !*less);
    ASSERT_EQ(*less + *holds(Op::kGt, a, b) + equal(a, b), 1);
  }
}

// ---- types: sound (what comes out is announced) and tight (what is announced can come out) ----

// Every type that `op` was seen to give for operands of these types; small operands, so that
// limits and overflow do not hide a result.
TypeSet observed(Random& random, Op op, Type a, Type b) {
  TypeSet seen = 0;
  for (int round = 0; round < 60; ++round) {
    Atom x = random_atom(random, a);
    Atom y = random_atom(random, b);
    if (op == Op::kPow && std::holds_alternative<Number>(y)) {
      const std::int64_t exponent = static_cast<std::int64_t>(below(random, 7)) - 3;
      y = b == Type::kInt ? make_int(exponent) : Atom(Number::rational(exponent, 2));
    }
    const std::vector<Atom> operands = {x, y};
    const OpResult result = apply(op, std::span(operands).first(info(op).arity));
    if (result) seen = static_cast<TypeSet>(seen | bit(type_of(*result)));
  }
  return seen;
}

TEST(Types, AreSoundAndTightForEveryPair) {
  Random random(43);
  for (const Op op : all_ops()) {
    for (std::uint8_t a = 1; a <= 8; a = static_cast<std::uint8_t>(a * 2)) {
      for (std::uint8_t b = 1; b <= 8; b = static_cast<std::uint8_t>(b * 2)) {
        const std::vector<TypeSet> sets = {a, b};
        const TypeSet announced = info(op).result_types(std::span(sets).first(info(op).arity));
        EXPECT_EQ(announced, observed(random, op, static_cast<Type>(a), static_cast<Type>(b)))
            << info(op).symbol << "/" << int{info(op).arity} << " of " << describe(a) << ", "
            << describe(b);
      }
    }
  }
}

TEST(Types, OfSetsAreTheUnionOverPairs) {
  for (const Op op : all_ops()) {
    for (TypeSet a = 0; a <= kAnyType; ++a) {
      for (TypeSet b = 0; b <= kAnyType; ++b) {
        TypeSet expected = 0;
        for (TypeSet x = 1; x <= 8; x = static_cast<TypeSet>(x * 2)) {
          for (TypeSet y = 1; y <= 8; y = static_cast<TypeSet>(y * 2)) {
            if ((a & x) == 0 || (info(op).arity == 2 && (b & y) == 0)) continue;
            const std::vector<TypeSet> one = {x, y};
            const auto types = info(op).result_types(std::span(one).first(info(op).arity));
            expected = static_cast<TypeSet>(expected | types);
          }
        }
        const std::vector<TypeSet> sets = {a, b};
        ASSERT_EQ(info(op).result_types(std::span(sets).first(info(op).arity)), expected);
      }
    }
  }
  const std::vector<TypeSet> sets = {Type::kInt | Type::kString, bit(Type::kInt)};
  EXPECT_EQ(info(Op::kAdd).result_types(sets), bit(Type::kInt));
  EXPECT_EQ(info(Op::kPow).result_types(std::vector<TypeSet>{2, 2}), Type::kInt | Type::kFloat);
  EXPECT_EQ(info(Op::kPow).result_types(std::vector<TypeSet>{2, 1}), bit(Type::kInt));
}

// ---- tables ----

TEST(Lookup, ListsByPosition) {
  const Table list{Table::Kind::kList, {}, {make_int(5), "x"s, true}};
  EXPECT_EQ(shown(lookup(list, make_int(0))), "int 5");
  EXPECT_EQ(shown(lookup(list, make_int(-1))), "bool True");
  EXPECT_EQ(shown(lookup(list, make_int(-3))), "int 5");
  EXPECT_EQ(shown(lookup(list, true)), "string 'x'");
  EXPECT_EQ(shown(lookup(list, make_int(3))),
            "value error: index 3 is out of range for 3 elements");
  EXPECT_EQ(shown(lookup(list, make_int(-4))),
            "value error: index -4 is out of range for 3 elements");
  EXPECT_EQ(shown(lookup(list, number(std::string(50, '9')))),
            "value error: index 9999999999999999999999999999999999999999… is out of range for 3 "
            "elements");
  EXPECT_EQ(shown(lookup(list, number("1.0"))),
            "type error: an index into a list is an int, not the float 1.0");
  EXPECT_EQ(shown(lookup(list, "a"s)),
            "type error: an index into a list is an int, not the string 'a'");
  EXPECT_EQ(shown(lookup(Table{}, make_int(0))),
            "value error: index 0 is out of range for 0 elements");
}

TEST(Lookup, DictsByEquality) {
  Table dict{Table::Kind::kDict, {"a"s, make_int(1), number("0.5")}, {make_int(7), "one"s, false}};
  for (int indexed = 0; indexed < 2; ++indexed) {
    EXPECT_EQ(shown(lookup(dict, "a"s)), "int 7");
    EXPECT_EQ(shown(lookup(dict, true)), "string 'one'");
    EXPECT_EQ(shown(lookup(dict, number("1.0"))), "string 'one'");
    EXPECT_EQ(shown(lookup(dict, Number::inexact(0.5))), "bool False");
    EXPECT_EQ(shown(lookup(dict, "b"s)), "value error: the dict has no key 'b'");
    EXPECT_EQ(shown(lookup(dict, make_int(2))), "value error: the dict has no key 2");
    for (std::int64_t key = 10; key < 40; ++key) {
      dict.keys.push_back(make_int(key));
      dict.values.push_back(make_int(key));
    }
    index_table(dict);
    EXPECT_NE(dict.index, nullptr);
  }
}

TEST(Member, IsByEquality) {
  const Table list{Table::Kind::kList, {}, {make_int(1), "a"s}};
  EXPECT_TRUE(member(list, true));
  EXPECT_TRUE(member(list, "a"s));
  EXPECT_FALSE(member(list, "1"s));
  EXPECT_FALSE(member(Table{}, make_int(1)));
}

// ---- aggregate ----

std::string mean_of(const std::vector<Atom>& atoms, const Atom& otherwise = make_int(0)) {
  std::vector<const Atom*> selected;
  for (const Atom& atom : atoms) selected.push_back(&atom);
  return shown(aggregate(selected, otherwise));
}

TEST(Aggregate, NoneOneSeveral) {
  EXPECT_EQ(mean_of({}), "int 0");
  EXPECT_EQ(mean_of({}, "?"s), "string '?'");
  EXPECT_EQ(mean_of({make_int(3)}), "int 3");
  EXPECT_EQ(mean_of({"x"s}), "string 'x'");
  EXPECT_EQ(mean_of({true}), "bool True");
  EXPECT_EQ(mean_of({make_int(3), make_int(3)}), "float 3.0");
  EXPECT_EQ(mean_of({make_int(0), make_int(1), make_int(1)}), "float 0.6666666666666666");
  EXPECT_EQ(mean_of({make_int(1), number("0.5")}), "float 0.75");
  EXPECT_EQ(mean_of({"x"s, "x"s}),
            "type error: the mean of 2 selected values needs numbers, and one is the string 'x'");
  EXPECT_EQ(mean_of({make_int(1), true}),
            "type error: the mean of 2 selected values needs numbers, and one is the bool True");
}

TEST(Aggregate, TheMeanTimesTheWidthIsTheSumExactly) {
  Random random(44);
  for (int round = 0; round < 3000; ++round) {
    std::vector<Atom> atoms;
    Number sum;
    for (std::size_t i = 2 + below(random, 9); i > 0; --i) {
      const Number number = random_known(random).number;
      atoms.push_back(number);
      sum = sum + number;
    }
    std::vector<const Atom*> selected;
    for (const Atom& atom : atoms) selected.push_back(&atom);
    const OpResult mean = aggregate(selected, make_int(0));
    ASSERT_TRUE(mean.has_value());
    ASSERT_EQ(type_of(*mean), Type::kFloat);
    const Number width = Number::integer(static_cast<std::int64_t>(atoms.size()));
    ASSERT_EQ(std::get<Number>(*mean) * width, sum);
  }
}

TEST(Aggregate, SumsStayInsideTheLimit) {
  // Coprime denominators multiply up: the limit stops them.
  std::vector<Atom> atoms;
  for (std::int64_t i = 0; i < 4000; ++i) {
    atoms.push_back(Number::rational(1, INT64_MAX - 2 * i));
  }
  std::vector<const Atom*> selected;
  for (const Atom& atom : atoms) selected.push_back(&atom);
  const OpResult mean = aggregate(selected, make_int(0));
  ASSERT_FALSE(mean.has_value());
  EXPECT_EQ(mean.error().kind, ErrorKind::kLimit);
}

}  // namespace
}  // namespace rasp::value
