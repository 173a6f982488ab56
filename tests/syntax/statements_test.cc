// Every form of statement and expression, as the tree has it; and that printing and parsing agree.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "parsed_text.h"
#include "random_text.h"

namespace rasp::syntax {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::ParsedText;
using testing::RandomText;

std::string printed(const std::string& text) {
  const ParsedText parsed(text);
  EXPECT_THAT(parsed.errors(), IsEmpty()) << text;
  return parsed.printed();
}

TEST(Statements, EveryFormIsRead) {
  const std::vector<std::string> same = {
      "x;",
      "x = 1;",
      "a, b = 1, 2;",
      "a, b = f(x);",
      "load \"dir/p\";",
      "draw(x);",
      "draw(x, \"abc\");",
      "def f() { return 1; }",
      "def f(x, y) { z = x; def g(w) { return w; } return g(z), y; }",
      "for i in l { }",
      "for i, j in zip(a, b) { x = i; for k in j { y = k; } }",
      "expect f(x) == \"cba\";",
      "puzzle p() { }",
      "puzzle shift(i, default) { \"Move.\" vocab \"abcd\"; length 1 to 6; expect shift(2, "
      "\"-\")(\"a\") "
      "== \"-\"; spec shift(1, \"-\") == x; limit layers 1; limit heads 2; hint \"Look left.\"; }",
      "[];",
      "[1, 2.5, \"a\"];",
      "{};",
      "{\"a\": 1, 2: x};",
      "[x for x in l];",
      "[f(x) for x, y in l];",
      "{k: v for k, v in l};",
      "f();",
      "f(1)(2)[3];",
      "select(a, b, !=);",
      "aggregate(s, x);",
      "aggregate(s, x, 0);",
      "\"it's # no; comment\";",
  };
  for (const std::string& text : same) EXPECT_EQ(printed(text), text);
}

TEST(Statements, SpaceAndCommentsAreFree) {
  EXPECT_EQ(printed("select\n(a,# key )\n b ,\t== ) ;"), "select(a, b, ==);");
  EXPECT_EQ(printed("\xEF\xBB\xBF  x\r\n;\f"), "x;");
  EXPECT_EQ(printed("# nothing"), "");
  EXPECT_EQ(printed(""), "");
  EXPECT_EQ(printed("a=1;b=2;"), "a = 1;\nb = 2;");
  EXPECT_EQ(printed(";; a; ; def f() { ; return 1;; };"), "a;\ndef f() { return 1; }");
}

TEST(Statements, OnlyTheKeywordsAreReserved) {
  for (const std::string word :
       {"load",     "draw", "expect", "puzzle", "spec",  "limit", "vocab",    "length",
        "hint",     "to",   "layers", "heads",  "show",  "set",   "examples", "full",
        "selector", "help", "exit",   "quit",   "round", "len"}) {
    EXPECT_EQ(printed(word + " = 3;"), word + " = 3;");
    EXPECT_EQ(printed(word + ";"), word + ";");
    EXPECT_EQ(printed("x = " + word + ";"), "x = " + word + ";");
    EXPECT_EQ(printed("f(" + word + ");"), "f(" + word + ");");
    EXPECT_EQ(printed(word + ", x = 1, 2;"), word + ", x = 1, 2;");
  }
  for (const std::string& word : keywords()) {
    EXPECT_FALSE(ParsedText(word + " = 3;").parsed().ok()) << word;
    EXPECT_FALSE(ParsedText("x = " + word + ";").parsed().ok()) << word;
  }
}

TEST(Statements, ExpectSplitsAtTheLastEquality) {
  const auto sides = [](const std::string& text) {
    const ParsedText parsed(text);
    EXPECT_EQ(parsed.statements().size(), 1U) << text;
    const Statement& statement = parsed.statements().front();
    EXPECT_EQ(statement.kind, StatementKind::kExpect);
    return to_text(parsed.program(), statement.exprs[0]) + " | " +
           to_text(parsed.program(), statement.exprs[1]);
  };
  EXPECT_EQ(sides("expect a == b;"), "a | b");
  EXPECT_EQ(sides("expect a == b == c;"), "(a == b) | c");
  EXPECT_EQ(sides("expect (a == b) == (c == d);"), "(a == b) | (c == d)");
  EXPECT_EQ(sides("expect f(a == b) == True;"), "f((a == b)) | True");
  EXPECT_EQ(sides("expect x if a == b else c == d;"), "(x if (a == b) else c) | d");
  EXPECT_EQ(sides("expect -x == y + 1;"), "(- x) | (y + 1)");
}

TEST(Statements, PuzzleFields) {
  const ParsedText parsed(
      "puzzle p(i) { \"Say it.\" vocab [1, 2]; length 2 to 5; expect p(1) == 2; expect a == b;\n"
      "spec p(1) == q; limit layers 3; hint \"Think.\"; }");
  ASSERT_EQ(parsed.statements().size(), 1U);
  const Puzzle& puzzle = parsed.statements()[0].puzzle.at(0);
  EXPECT_EQ(puzzle.name.text, "p");
  ASSERT_EQ(puzzle.parameters.size(), 1U);
  EXPECT_EQ(puzzle.parameters[0].text, "i");
  EXPECT_EQ(puzzle.description, "Say it.");
  EXPECT_EQ(parsed.sources().text(puzzle.description_span), "\"Say it.\"");
  EXPECT_EQ(to_text(parsed.program(), puzzle.vocabulary), "[1, 2]");
  EXPECT_EQ(puzzle.min_length, 2);
  EXPECT_EQ(puzzle.max_length, 5);
  ASSERT_EQ(puzzle.expects.size(), 2U);
  EXPECT_EQ(parsed.sources().text(puzzle.expects[1].span), "expect a == b;");
  ASSERT_EQ(puzzle.specs.size(), 1U);
  EXPECT_EQ(puzzle.max_layers, 3);
  EXPECT_EQ(puzzle.max_heads, -1);
  EXPECT_EQ(puzzle.hint, "Think.");
}

TEST(Statements, LiteralsKeepTheirValue) {
  const ParsedText parsed("[12, 007, 1.50, \"§ab\", 123456789012345678901234567890];");
  const Program& program = parsed.program();
  const Expr& list = program[parsed.statements().at(0).exprs[0]];
  std::vector<std::string> reprs;
  for (const ExprId id : list.children) reprs.push_back(value::repr(program[id].atom));
  EXPECT_THAT(reprs, ElementsAre("12", "7", "1.5", "'§ab'", "123456789012345678901234567890"));
}

TEST(Statements, RandomProgramsPrintToThemselves) {
  for (unsigned seed = 0; seed < 200; ++seed) {
    const std::string text = RandomText(seed).program(5);
    const ParsedText first(text);
    ASSERT_THAT(first.errors(), IsEmpty()) << text;
    const ParsedText second(first.printed());
    ASSERT_THAT(second.errors(), IsEmpty()) << first.printed();
    EXPECT_EQ(second.printed(), first.printed());
    EXPECT_THAT(second.warnings(), IsEmpty()) << first.printed();  // all is parenthesised
  }
}

// The text under an expression's span, taken alone, is that expression again.
TEST(Statements, SpansCoverExactlyTheirText) {
  std::size_t checked = 0;
  for (unsigned seed = 1000; seed < 1100; ++seed) {
    const ParsedText parsed(RandomText(seed).program(3));
    const Program& program = parsed.program();
    for (ExprId id = 0; id < program.exprs.size(); ++id) {
      const std::string covered(parsed.sources().text(program[id].span));
      ASSERT_FALSE(covered.empty());
      const ParsedText alone("v = (" + covered + ");");
      ASSERT_THAT(alone.errors(), IsEmpty()) << covered;
      EXPECT_EQ(alone.printed(), "v = " + to_text(program, id) + ";") << covered;
      if (program[id].parenthesised) {
        EXPECT_TRUE(covered.front() == '(' && covered.back() == ')') << covered;
      }
      ++checked;
    }
    for (const Statement& statement : program.statements) {
      const ParsedText alone{std::string(parsed.sources().text(statement.span))};
      ASSERT_EQ(alone.statements().size(), 1U);
      EXPECT_EQ(alone.printed(), to_text(program, statement));
    }
  }
  EXPECT_GT(checked, 1000U);
}

TEST(Statements, OperatorsAndNamesHaveTheirPlaces) {
  const ParsedText parsed("total, n = a <= b, x if c else y;\ndef foo(bar) { return not bar; }");
  const Program& program = parsed.program();
  const auto text = [&](const Span& span) { return std::string(parsed.sources().text(span)); };
  const Statement& assign = parsed.statements().at(0);
  EXPECT_EQ(text(assign.names[0].span), "total");
  EXPECT_EQ(text(assign.names[1].span), "n");
  EXPECT_EQ(text(program[assign.exprs[0]].op_span), "<=");
  EXPECT_EQ(text(program[assign.exprs[1]].op_span), "if");
  const Statement& def = parsed.statements().at(1);
  EXPECT_EQ(text(def.names[0].span), "foo");
  EXPECT_EQ(text(def.names[1].span), "bar");
  EXPECT_EQ(text(def.body.at(0).span), "return not bar;");
  EXPECT_EQ(text(program[def.body[0].exprs[0]].op_span), "not");
}

}  // namespace
}  // namespace rasp::syntax
