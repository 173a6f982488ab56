// How expressions group (language.md section 3), and when the parser warns that Python would group
// them otherwise.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "parsed_text.h"
#include "random_text.h"

namespace rasp::syntax {
namespace {

using testing::Dice;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::joined;
using testing::Oracle;
using testing::ParsedText;
using testing::Words;

std::string grouped(const std::string& text) {
  const ParsedText parsed("(" + text + ");");
  EXPECT_TRUE(parsed.parsed().ok()) << text << ": " << parsed.errors().front();
  return parsed.printed();
}

TEST(Precedence, TableOfTheLanguage) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"-x[0]", "(- x[0]);"},
      {"not f(x)", "(not f(x));"},
      {"-f(x)[1](y)", "(- f(x)[1](y));"},
      {"not a == b", "((not a) == b);"},
      {"-2^2", "((- 2) ^ 2);"},
      {"2^-1", "(2 ^ (- 1));"},
      {"- - + not x", "(- (- (+ (not x))));"},
      {"2^3^2", "((2 ^ 3) ^ 2);"},
      {"2*3^2", "(2 * (3 ^ 2));"},
      {"a*b/c", "((a * b) / c);"},
      {"a/b*c", "((a / b) * c);"},
      {"2*3%4", "((2 * 3) % 4);"},
      {"7%3*2", "(7 % (3 * 2));"},
      {"a%b%c", "((a % b) % c);"},
      {"a+b%c", "(a + (b % c));"},
      {"10-3-2", "((10 - 3) - 2);"},
      {"a+b*c-d", "((a + (b * c)) - d);"},
      {"a+1==b-1", "((a + 1) == (b - 1));"},
      {"a<b<c", "((a < b) < c);"},
      {"a==b!=c", "((a == b) != c);"},
      {"a<b and c>=d", "((a < b) and (c >= d));"},
      {"a or b and c", "((a or b) and c);"},
      {"a and b or c", "((a and b) or c);"},
      {"x if a or b else y", "(x if (a or b) else y);"},
      {"x and y if a else z or w", "((x and y) if a else (z or w));"},
      {"x if a else y if b else z", "((x if a else y) if b else z);"},
      {"x if a if b else c else y", "(x if (a if b else c) else y);"},
      {"x if k in l else y", "(x if (k in l) else y);"},
      {"a and b in l", "((a and b) in l);"},
      {"x in l and y", "(x in (l and y));"},
      {"x if a else y in l", "((x if a else y) in l);"},
      {"not x in l", "((not x) in l);"},
      {"a in b in c", "((a in b) in c);"},
      {"a == b in l", "((a == b) in l);"},
  };
  for (const auto& [text, want] : table) EXPECT_EQ(grouped(text), want) << text;
}

TEST(Precedence, RandomChainsGroupAsRecursiveDescentDoes) {
  Dice dice(11);
  for (int round = 0; round < 3000; ++round) {
    const Words words = testing::random_flat(dice, 1 + dice.below(12), false);
    EXPECT_EQ(grouped(joined(words)), Oracle::rasp(words) + ";") << joined(words);
  }
}

TEST(Precedence, WarnsExactlyWherePythonGroupsOtherwise) {
  Dice dice(12);
  int surprises = 0;
  for (int round = 0; round < 4000; ++round) {
    const Words words = testing::random_flat(dice, 1 + dice.below(5), true);
    const std::string text = joined(words);
    const ParsedText parsed("v = " + text + ";");
    const bool differs = Oracle::rasp(words) != Oracle::python(words);
    EXPECT_EQ(parsed.warnings().size(), differs ? 1U : 0U)
        << text << "\n  " << Oracle::rasp(words) << "\n  " << Oracle::python(words);
    surprises += differs ? 1 : 0;
  }
  EXPECT_GT(surprises, 500);
  EXPECT_LT(surprises, 3500);
}

// The reading that a warning shows, put in place of the expression, is what the parser read, and
// warns no more.
TEST(Precedence, ReadingsMeanWhatTheySay) {
  Dice dice(13);
  int checked = 0;
  for (int round = 0; round < 2000; ++round) {
    const std::string text = joined(testing::random_flat(dice, 2 + dice.below(6), true));
    const ParsedText parsed(text + ";");
    if (parsed.diagnostics().empty()) continue;
    const Diagnostic& warning = parsed.diagnostics().front();
    const std::string::size_type from = warning.message.find('\'') + 1;
    const std::string reading =
        warning.message.substr(from, warning.message.find('\'', from) - from);
    std::string replaced = text;
    replaced.replace(warning.span.begin, warning.span.end - warning.span.begin, reading);
    const ParsedText again(replaced + ";");
    EXPECT_EQ(again.printed(), parsed.printed()) << text << " -> " << replaced;
    EXPECT_THAT(again.warnings(), IsEmpty()) << text << " -> " << replaced;
    ++checked;
  }
  EXPECT_GT(checked, 300);
}

TEST(Precedence, WarningsShowThePlaceAndBothReadings) {
  const std::vector<std::pair<std::string, std::string>> table = {
      {"x = not a == b;",
       "1:5 [not a == b] this reads as '(not a) == b', which is not how Python reads it | Python "
       "reads 'not (a == b)'; parentheses make it plain"},
      {"-x^2;",
       "1:1 [-x^2] this reads as '(-x)^2', which is not how Python reads it | Python reads "
       "'-(x^2)'; parentheses make it plain"},
      {"1 + 2^3^2 * 4;",
       "1:5 [2^3^2] this reads as '(2^3)^2', which is not how Python reads it | Python reads "
       "'2^(3^2)'; parentheses make it plain"},
      {"f(a%b*c);",
       "1:3 [a%b*c] this reads as 'a%(b*c)', which is not how Python reads it | Python reads "
       "'(a%b)*c'; parentheses make it plain"},
      {"a or b  and\n c;",
       "1:1 [a or b  and\n c] this reads as '(a or b) and c', which is not how Python reads it | "
       "Python reads 'a or (b and c)'; parentheses make it plain"},
      {"a and \"k\" in l;",
       "1:1 [a and \"k\" in l] this reads as '(a and \"k\") in l', which is not how Python reads "
       "it "
       "| Python reads 'a and (\"k\" in l)'; parentheses make it plain"},
      {"a < b < c;",
       "1:1 [a < b < c] this reads as '(a < b) < c', which is not how Python reads it | "
       "parentheses "
       "make it plain"},
      {"a if b else c if d # why\n else e;",
       "1:1 [a if b else c if d # why\n else e] this reads as '(a if b else c) if d else e', which "
       "is not how Python reads it | Python reads 'a if b else (c if d else e)'; parentheses make "
       "it "
       "plain"},
      {"f(x, 1)[2] in l or m;",
       "1:1 [f(x, 1)[2] in l or m] this reads as 'f(x, 1)[2] in (l or m)', which is not how Python "
       "reads it | Python reads '(f(x, 1)[2] in l) or m'; parentheses make it plain"},
  };
  for (const auto& [text, want] : table) {
    EXPECT_THAT(ParsedText(text).warnings(), ElementsAre(want)) << text;
  }
}

TEST(Precedence, NoWarningWithoutASurprise) {
  for (const std::string text : {"-2*3;",
                                 "2*3%4;",
                                 "a and b or c;",
                                 "(a or b) and c;",
                                 "(2^3)^2;",
                                 "2^(3^2);",
                                 "(not a) == b;",
                                 "not (a == b);",
                                 "not a and b;",
                                 "a + b in l;",
                                 "(a and b) in l;",
                                 "a == b and c == d;",
                                 "x if a == b else y;",
                                 "-a + b;",
                                 "2^-1;",
                                 "(a < b) < c;",
                                 "not not a;",
                                 "expect a == b == c;",
                                 "expect not a == b;",
                                 "select(a + 1, -b, ==);"}) {
    EXPECT_THAT(ParsedText(text).diagnostics(), IsEmpty()) << text;
  }
}

TEST(Precedence, NoWarningWhereNoneIsWanted) {
  ParseOptions options;
  options.warn_on_precedence = false;
  EXPECT_THAT(ParsedText("not a == b;", options).diagnostics(), IsEmpty());
}

// A reading too long to show is left out; the place still tells.
TEST(Precedence, LongReadingsAreLeftOut) {
  const std::string operand = "f(" + std::string(300, 'x') + ")";
  EXPECT_THAT(ParsedText("not " + operand + " == b;").warnings(),
              ElementsAre("1:1 [not " + operand +
                          " == b] this groups in another way than in Python "
                          "| parentheses make it plain"));
}

}  // namespace
}  // namespace rasp::syntax
