// `expect`, puzzle blocks, and `check`.
#include "fixture.h"

namespace rasp::lang {
namespace {

class Expect : public LangTest {
 protected:
  // "" when the expectation holds, else what it says, or the error.
  std::string verdict(const std::string& comparison) {
    const Outcome outcome = run("expect " + comparison + ";");
    if (!outcome.ok()) return error_of(outcome);
    const Event& event = outcome.events.back();
    EXPECT_EQ(event.kind, Event::Kind::kExpect);
    EXPECT_EQ(event.holds, event.message.empty());
    return event.message;
  }
};

TEST_F(Expect, SequencesElementByElement) {
  ASSERT_TRUE(run("reverse = aggregate(select(indices,length-1-indices,==),tokens);").ok());
  EXPECT_EQ(verdict("reverse(\"abc\") == \"cba\""), "");
  EXPECT_EQ(verdict("\"cba\" == reverse(\"abc\")"), "");
  EXPECT_EQ(verdict("reverse(\"abc\") == [\"c\",\"b\",\"a\"]"), "");
  EXPECT_EQ(verdict("reverse(\"abc\") == \"cxa\""), "at position 1: expected 'x', found 'b'");
  EXPECT_EQ(verdict("reverse(\"abc\") == \"cb\""), "expected 2 elements, found 3");
  EXPECT_EQ(verdict("indices(\"abc\") == [0, 1.0, 2]"), "");
  EXPECT_EQ(verdict("indices(\"abc\") == \"012\""), "at position 0: expected '0', found 0");
  EXPECT_EQ(verdict("(indices/2)(\"abc\") == [0, 0.5, 1]"), "");
  EXPECT_EQ(verdict("tokens(\"abc\") == tokens(\"abc\")"), "");
}

TEST_F(Expect, SelectorsRowByRow) {
  EXPECT_EQ(verdict("select(indices,indices,<)(\"abc\") == [\"000\",\"100\",\"110\"]"), "");
  EXPECT_EQ(verdict("select(indices,indices,<)(\"ab\") == [[0,0],[True,False]]"), "");
  EXPECT_EQ(verdict("select(indices,indices,<)(\"ab\") == [\"00\",\"11\"]"),
            "at row 1: expected 11, found 10");
  EXPECT_EQ(verdict("full_s(\"ab\") == [\"11\"]"), "expected 1 rows, found 2");
  EXPECT_EQ(verdict("full_s(\"ab\") == full_s(\"xy\")"), "");
  EXPECT_EQ(verdict("full_s(\"ab\") == [\"1x\",\"11\"]"),
            "value: a selector's rows hold 0 and 1, not 'x' [[\"1x\",\"11\"]]");
}

TEST_F(Expect, ValuesAndContainers) {
  EXPECT_EQ(verdict("1+1 == 2"), "");
  EXPECT_EQ(verdict("1+1 == 3"), "expected 3, found 2");
  EXPECT_EQ(verdict("{1:[2]} == {1.0:[2]}"), "");
  EXPECT_EQ(verdict("{1:2, 3:4} == {3:4, 1:2}"), "");
  EXPECT_EQ(verdict("{1:[2,3]} == {1:[2,4]}"), "at key 1: at position 1: expected 4, found 3");
  EXPECT_EQ(verdict("{1:2} == {}"), "the key 1 is not expected");
  EXPECT_EQ(verdict("{} == {1:2}"), "the key 1 is missing");
  EXPECT_EQ(verdict("[[1],2] == [1,2]"), "at position 0: expected 1, found a list");
  EXPECT_EQ(verdict("indices == 1"),
            "type: 'expect' cannot compare an s-op [indices] | apply it to an input, as in "
            "s(\"abc\")");
}

TEST_F(Expect, PuzzlesAreKept) {
  const std::string puzzle =
      "puzzle shift(i, default) { \"Move.\" vocab \"abcd\"; length 1 to 6;"
      "expect shift(2, \"-\")(\"abcd\") == \"--ab\";"
      "spec shift(1, \"-\") == aggregate(select(indices, indices - 1, ==), tokens, \"-\");"
      "limit layers 1; limit heads 1; }";
  const Outcome outcome = run(puzzle);
  ASSERT_TRUE(outcome.ok()) << error_of(outcome);
  EXPECT_EQ(outcome.events[0].kind, Event::Kind::kPuzzle);
  EXPECT_EQ(outcome.events[0].name, "shift");
  ASSERT_TRUE(run(puzzle).ok());
  ASSERT_EQ(session.puzzles().size(), 1u);
  const KnownPuzzle& known = session.puzzles()[0];
  EXPECT_EQ(known.puzzle.expects.size(), 1u);
  EXPECT_EQ((*known.program)[known.puzzle.expects[0].right].kind, syntax::ExprKind::kAtom);
}

TEST_F(Expect, PuzzlesWithUnknownNamesAreRefused) {
  EXPECT_EQ(error("puzzle p(i) { \"Do.\" expect p(1)(\"a\") == q; }"),
            "name: unknown name 'q' [q]");
  EXPECT_EQ(error("a = 1; puzzle p(i) { \"Do.\" vocab 5; length 1 to 2; expect p(i) == 1; }"),
            "type: an input is a text or a list of atoms, not an int [5]");
  EXPECT_TRUE(session.puzzles().empty());
  EXPECT_EQ(look("a"), "1");
}

class Check : public LangTest {
 protected:
  std::vector<std::string> problems(const std::string& text) {
    std::vector<std::string> result;
    for (const Diagnostic& d : session.check(sources.add("<test>", text)).diagnostics) {
      if (d.level == Level::kError) {
        result.push_back(d.message + " [" + std::string(sources.text(d.span)) + "]");
      }
    }
    return result;
  }
  using Problems = std::vector<std::string>;
};

TEST_F(Check, FindsAllItCan) {
  EXPECT_EQ(problems("a = nosuch; b = a + 1; c = full_s + 1; d = tokens - a;\n"
                     "def f(x) { y = x; return y + zz + g(1) + [q for q in x]; }\n"
                     "def g(x) { for i in x { w = i; } return w + i; }"),
            (Problems{"unknown name 'nosuch' [nosuch]",
                      "'+' works on atoms and s-ops; this is a selector [full_s]",
                      "unknown name 'zz' [zz]"}));
}

TEST_F(Check, AppliesNothingToAnInput) {
  Options options;  // without an interpreter
  Session blind(sources, options);
  const std::string text =
      "a = indices(\"abc\"); b = a[0] + 1; c, d = a; e = [x for x in a]; def f(x) { return x; }"
      "g = f(a); expect a == [0,1,2]; for i in a { h = i; k = h; } l = k + 1; draw(tokens, "
      "\"ab\");"
      "m = {1: b}; tokens(\"xy\");";
  EXPECT_TRUE(blind.check(sources.add("<test>", text)).ok());
  EXPECT_EQ(problems(text + "n = k + full_s; o = full_s + k;"),
            (Problems{}));  // nothing is known of k
  EXPECT_EQ(problems(text + "n = nosuch(k);"), (Problems{"unknown name 'nosuch' [nosuch]"}));
}

TEST_F(Check, LeavesTheSessionAsItWas) {
  ASSERT_TRUE(run("a = 1;").ok());
  EXPECT_EQ(problems("a = 2; b = 3; puzzle p(i) { \"Do.\" expect p(1) == 1; }"), Problems{});
  EXPECT_EQ(look("a"), "1");
  EXPECT_EQ(look("b"), "undefined");
  EXPECT_EQ(look("out"), "1");
  EXPECT_TRUE(session.puzzles().empty());
  EXPECT_EQ(value("indices(\"ab\")"), "<0, 1>");
}

TEST_F(Check, SeesBranchesThatDoNotRun) {
  EXPECT_EQ(problems("a = 1 if True else nosuch; for i in [] { b = other; }"),
            (Problems{"unknown name 'nosuch' [nosuch]", "unknown name 'other' [other]"}));
}

}  // namespace
}  // namespace rasp::lang
