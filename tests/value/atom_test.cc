#include "value/atom.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "random_values.h"

namespace rasp::value {
namespace {

using namespace std::string_literals;

std::vector<Atom> pool(Random& random, std::size_t size) {
  std::vector<Atom> atoms = {true, false, make_int(0), make_int(1), Number::rational(1, 1),
                             ""s,  "1"s};
  while (atoms.size() < size) atoms.push_back(random_atom(random));
  return atoms;
}

TEST(Atom, EqualityIsAnEquivalenceThatHashesAgreeWith) {
  Random random(31);
  const std::vector<Atom> atoms = pool(random, 120);
  for (const Atom& a : atoms) {
    ASSERT_TRUE(equal(a, a));
    ASSERT_TRUE(identical(a, a));
    for (const Atom& b : atoms) {
      ASSERT_EQ(equal(a, b), equal(b, a));
      ASSERT_TRUE(!equal(a, b) || hash_value(a) == hash_value(b)) << repr(a) << " " << repr(b);
      ASSERT_EQ(identical(a, b), equal(a, b) && type_of(a) == type_of(b));
      ASSERT_TRUE(!identical(a, b) || AtomIdentityHash()(a) == AtomIdentityHash()(b));
      const bool text =
          std::holds_alternative<std::string>(a) || std::holds_alternative<std::string>(b);
      if (!text) {
        ASSERT_EQ(equal(a, b), *to_number(a) == *to_number(b));
      }
      for (const Atom& c : atoms) ASSERT_TRUE(!(equal(a, b) && equal(b, c)) || equal(a, c));
    }
  }
}

TEST(Atom, OneKeyThreeAtoms) {
  const Atom one = make_int(1);
  const Atom real = Number::rational(1, 1);
  EXPECT_TRUE(equal(one, real) && equal(real, true) && equal(true, one));
  EXPECT_FALSE(identical(one, real) || identical(real, true) || identical(true, one));
  EXPECT_FALSE(equal(one, "1"s));
  EXPECT_FALSE(equal(false, ""s));
}

TEST(Atom, CanonicalOrderIsTotalOnDistinctAtoms) {
  Random random(32);
  const std::vector<Atom> atoms = pool(random, 90);
  for (const Atom& a : atoms) {
    for (const Atom& b : atoms) {
      // Inexact and exact floats of one value are identical, and so unordered.
      ASSERT_EQ(canonical_less(a, b) || canonical_less(b, a), !identical(a, b))
          << repr(a) << repr(b);
      ASSERT_FALSE(canonical_less(a, b) && canonical_less(b, a));
      for (const Atom& c : atoms) {
        ASSERT_TRUE(!(canonical_less(a, b) && canonical_less(b, c)) || canonical_less(a, c));
      }
    }
  }
  EXPECT_TRUE(canonical_less(false, true));
  EXPECT_TRUE(canonical_less(true, make_int(-5)));
  EXPECT_TRUE(canonical_less(make_int(1), Number::rational(1, 1)));
  EXPECT_TRUE(canonical_less(Number::rational(1, 1), make_int(2)));
  EXPECT_TRUE(canonical_less(make_int(9), ""s));
  EXPECT_TRUE(canonical_less("Z"s, "a"s));
  EXPECT_TRUE(canonical_less("\uFFFD"s, "\U0001F600"s));  // by code point, not by UTF-16 unit
}

TEST(Atom, TruthIsPythons) {
  for (const Atom& atom : {Atom(false), make_int(0), Atom(Number::rational(0, 1)), Atom(""s)}) {
    EXPECT_FALSE(truth(atom)) << repr(atom);
  }
  for (const Atom& atom :
       {Atom(true), make_int(-1), Atom(Number::rational(1, 9)), Atom("False"s)}) {
    EXPECT_TRUE(truth(atom)) << repr(atom);
  }
}

TEST(Atom, Texts) {
  EXPECT_EQ(repr(Atom(true)), "True");
  EXPECT_EQ(brief(Atom(true)), "T");
  EXPECT_EQ(brief(Atom(false)), "F");
  EXPECT_EQ(to_text(Atom(false)), "False");
  EXPECT_EQ(repr(make_int(3)), "3");
  EXPECT_EQ(repr(Atom("two"s)), "'two'");
  EXPECT_EQ(repr(Atom("it's"s)), "\"it's\"");
  EXPECT_EQ(repr(Atom("\"it's\""s)), "'\"it\\'s\"'");
  EXPECT_EQ(repr(Atom("a\\b"s)), "'a\\\\b'");
  EXPECT_EQ(repr(Atom("a\n\t\r\x1b\x7f"s)), "'a\\n\\t\\r\\x1b\\x7f'");
  EXPECT_EQ(repr(Atom("\u202e\U000E0041é漢"s)), "'\\u202e\\U000e0041é漢'");
  EXPECT_EQ(repr(Atom("\xff"s)), "'\\xff'");
  EXPECT_EQ(brief(Atom("it's"s)), "it's");
  EXPECT_EQ(to_text(Atom(Number::rational(1, 3))), "0.3333333333333333");
  EXPECT_EQ(brief(Atom(Number::rational(1, 3))), "0.333");
}

TEST(Atom, DescriptionsAreShort) {
  EXPECT_EQ(describe(make_int(3)), "the int 3");
  EXPECT_EQ(describe(Atom("a"s)), "the string 'a'");
  EXPECT_EQ(describe(Atom(true)), "the bool True");
  EXPECT_EQ(describe(Atom(Number::rational(1, 2))), "the float 0.5");
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "漢";
  const std::string shown = describe(Atom(text));
  EXPECT_LT(shown.size(), 70u);
  EXPECT_TRUE(valid_utf8(shown));
  EXPECT_LT(describe(Number::integer(BigInt(1) << 100'000)).size(), 70u);
}

TEST(Atom, TypeSetsDescribeThemselves) {
  EXPECT_EQ(describe(Type::kInt | Type::kFloat), "int or float");
  EXPECT_EQ(describe(kAnyType), "bool or int or float or string");
  EXPECT_EQ(describe(TypeSet{0}), "nothing");
}

TEST(Text, CodePointsRebuildValidTexts) {
  Random random(33);
  for (int round = 0; round < 2000; ++round) {
    const std::string text = random_text(random);
    std::string joined;
    for (const std::string& point : code_points(text)) {
      joined += point;
      EXPECT_EQ(code_points(point).size(), 1u);
    }
    ASSERT_EQ(joined, text);
    ASSERT_EQ(characters(text).size(), code_points(text).size());
  }
  EXPECT_EQ(code_points("§ab").size(), 3u);
  EXPECT_EQ(code_points("a\xff").at(1), "\uFFFD");
  EXPECT_FALSE(valid_utf8("a\xff"));
  EXPECT_TRUE(valid_utf8("§"));
  EXPECT_TRUE(characters("").empty());
}

Table random_table(Random& random, Table::Kind kind, std::size_t size) {
  Table table;
  table.kind = kind;
  while (table.values.size() < size) {
    Atom atom = random_atom(random);
    if (kind == Table::Kind::kDict) {
      if (find(table, atom)) continue;
      table.keys.push_back(std::move(atom));
      atom = random_atom(random);
    }
    table.values.push_back(std::move(atom));
  }
  return table;
}

// The index finds what the walk finds: the first entry that is equal.
TEST(Table, IndexFindsWhatWalkingFinds) {
  Random random(34);
  for (int round = 0; round < 400; ++round) {
    const auto kind = round % 2 == 0 ? Table::Kind::kDict : Table::Kind::kList;
    const Table plain = random_table(random, kind, below(random, 60));
    Table indexed = plain;
    index_table(indexed);
    ASSERT_EQ(plain, indexed);
    ASSERT_EQ(hash_value(plain), hash_value(indexed));
    for (int probe = 0; probe < 60; ++probe) {
      const Atom atom = random_atom(random);
      ASSERT_EQ(find(plain, atom), find(indexed, atom));
    }
    for (const Atom& atom : plain.sought()) ASSERT_EQ(find(plain, atom), find(indexed, atom));
  }
}

TEST(Table, EqualityIsByIdentityEntryByEntry) {
  const Table ints{Table::Kind::kList, {}, {make_int(1)}};
  const Table floats{Table::Kind::kList, {}, {Number::rational(1, 1)}};
  const Table dict{Table::Kind::kDict, {make_int(1)}, {make_int(1)}};
  EXPECT_FALSE(ints == floats);
  EXPECT_FALSE(ints == dict);
  EXPECT_TRUE(dict == (Table{Table::Kind::kDict, {make_int(1)}, {make_int(1)}}));
}

TEST(Sequence, HasTheOneTypeOfItsElements) {
  const Atom i = make_int(1);
  const Atom f = Number::rational(1, 2);
  const Atom b = true;
  const Atom s = "a"s;
  const auto type = [](const Sequence& sequence) { return sequence_type(sequence); };
  EXPECT_EQ(type({i, i}), Type::kInt);
  EXPECT_EQ(type({i, f}), Type::kFloat);
  EXPECT_EQ(type({f, i, i}), Type::kFloat);
  EXPECT_EQ(type({b, b}), Type::kBool);
  EXPECT_EQ(type({s}), Type::kString);
  EXPECT_EQ(type({}), std::nullopt);
  EXPECT_EQ(type({b, i}), Type::kInt);
  EXPECT_EQ(type({s, i}), std::nullopt);
  EXPECT_EQ(type({s, b}), std::nullopt);
  EXPECT_EQ(type({b, f}), Type::kFloat);
  EXPECT_EQ(type({b, i, f}), Type::kFloat);
}

}  // namespace
}  // namespace rasp::value
