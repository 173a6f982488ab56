#include "compiler/domains.h"

#include <gtest/gtest.h>

#include "../support/compiled.h"
#include "../support/random_graph.h"
#include "compiler/simplify.h"
#include "ir_evaluator.h"

namespace rasp::compiler {
namespace {

using test::RandomGraph;
using test::Source;
using value::Atom;
using value::Number;

const std::vector<Atom> kVocabulary = value::characters("01234");

std::optional<std::size_t> place_of(const Domain& domain, const Atom& atom) {
  for (std::size_t i = 0; i < domain.values.size(); ++i) {
    if (value::identical(domain.values[i], atom)) return i;
  }
  return std::nullopt;
}

void expect_within_bounds(const Domain& domain, const Atom& atom, const std::string& where) {
  const auto number = value::to_number(atom);
  if (!domain.numeric || !number) return;
  EXPECT_TRUE(domain.minimum <= *number && *number <= domain.maximum) << where;
  if (domain.denominator == 0 || !number->is_exact()) return;
  const Number denominator = Number::integer(number->denominator());
  if (domain.fractions) {
    EXPECT_TRUE(denominator <= Number::integer(domain.denominator)) << where;
  } else {
    EXPECT_TRUE((*number * Number::integer(domain.denominator)).is_integral()) << where;
  }
}

// The value that an input gives is in the domain, and the table finds it from the leaves' values.
void expect_sound(const Ir& ir, const Domains& domains, const IrEvaluator& values, std::size_t n,
                  const std::string& program) {
  for (IrId id = 0; id < ir.size(); ++id) {
    if (is_selector(ir[id].kind)) continue;
    const Domain& domain = domains[id];
    for (std::size_t i = 0; i < n; ++i) {
      const auto& value = values.elements(id)[i];
      if (!value) continue;
      const std::string where =
          program + "\n%" + std::to_string(id) + " is " + value::repr(*value) + "\n";
      expect_within_bounds(domain, *value, where);
      if (!domain.listed) continue;
      const auto place = place_of(domain, *value);
      ASSERT_TRUE(place) << where << print(ir, domains, {id});
      if (!domain.has_table()) continue;
      std::size_t cell = 0;
      bool known = true;
      for (const IrId leaf : domain.leaves) {
        const auto& leaf_value = values.elements(leaf)[i];
        const auto row = leaf_value ? place_of(domains[leaf], *leaf_value) : std::nullopt;
        known = known && row;
        cell = cell * domains.rows(leaf) + row.value_or(0);
      }
      if (known) {
        ASSERT_EQ(domain.cells[cell], *place) << where << print(ir, domains, {id});
      }
    }
  }
}

TEST(Domains, HoldEveryValueThatRandomGraphsTake) {
  std::size_t listed = 0, all = 0;
  for (std::uint64_t seed = 0; seed < 600; ++seed) {
    RandomGraph random(seed + 10'000);
    const graph::NodeId root = random.sop(static_cast<int>(random.pick(4)) + 1);
    const std::size_t longest = random.pick(7) + 1;
    const Simplified program = simplify(random.graph(), root, random.chance(0.3),
                                        static_cast<std::uint32_t>(longest), kVocabulary);
    const Domains domains(program.ir, kVocabulary);
    for (IrId id = 0; id < program.ir.size(); ++id) {
      if (is_selector(program.ir[id].kind)) continue;
      ++all;
      listed += domains[id].listed ? 1 : 0;
    }
    for (int repeat = 0; repeat < 6; ++repeat) {
      const value::Sequence input = random.input(random.pick(longest) + 1);
      const IrEvaluator values(program.ir, input);
      expect_sound(program.ir, domains, values, input.size(),
                   graph::expression(random.graph(), root, 400) + " on " + test::show(input));
      if (HasFatalFailure()) return;
    }
  }
  EXPECT_GT(listed * 10, all * 9);  // else the test says little
}

Domain domain_of(const std::string& expression, std::uint32_t max_length,
                 const std::vector<Atom>& vocabulary = kVocabulary) {
  const Source source("ans = " + expression + ";", "ans");
  EXPECT_EQ(source.why(), "");
  const Simplified program = simplify(source.graph(), source.node(), false, max_length, vocabulary);
  return Domains(program.ir, vocabulary)[program.root];
}

std::string values_of(const std::string& expression, std::uint32_t max_length,
                      const std::vector<Atom>& vocabulary = kVocabulary) {
  return test::show(domain_of(expression, max_length, vocabulary).values);
}

TEST(Domains, ListWhatCanOccurAndNothingElse) {
  EXPECT_EQ(values_of("indices", 4), "[0, 1, 2, 3]");
  EXPECT_EQ(values_of("length", 4), "[1, 2, 3, 4]");
  EXPECT_EQ(values_of("tokens_int - 3", 4), "[-3, -2, -1, 0, 1]");
  EXPECT_EQ(values_of("selector_width(select(tokens, tokens, ==))", 3), "[1, 2, 3]");
  EXPECT_EQ(values_of("selector_width(select(tokens, tokens, <))", 3), "[0, 1, 2, 3]");
  EXPECT_EQ(values_of("has_focus(select(tokens, tokens, <))", 3), "[False, True]");
  EXPECT_EQ(values_of("aggregate(select(indices, indices - 1, ==), tokens, \"-\")", 3),
            "['-', '0', '1', '2', '3', '4']");
  // Leaves are shared: a position is below the length, x - x is 0.
  EXPECT_EQ(values_of("length - indices", 3), "[1, 2, 3]");
  EXPECT_EQ(values_of("(indices * 2) % 2", 5), "[0]");
  // All j/k, not only 1/k.
  EXPECT_EQ(values_of("aggregate(select(tokens, tokens, <=), indicator(tokens == \"1\"))", 4),
            "[0, 0.25, 0.3333333333333333, 0.5, 0.6666666666666666, 0.75, 1]");
  // A failing combination is no value.
  EXPECT_EQ(values_of("6 / tokens_int", 2), "[1.5, 2, 3, 6]");
}

TEST(Domains, BoundWhatTheyDoNotList) {
  const Domain domain = domain_of("aggregate(full_s, aggregate(full_s, tokens_int) * indices)", 40);
  EXPECT_FALSE(domain.listed);
  EXPECT_TRUE(domain.numeric);
  EXPECT_TRUE(domain.minimum == Number::integer(0));
  EXPECT_TRUE(domain.maximum >= Number::integer(4 * 39 / 2));
}

}  // namespace
}  // namespace rasp::compiler
