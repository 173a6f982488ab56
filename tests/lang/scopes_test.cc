// Scopes, closures, loops, what a failing statement leaves behind, events.
#include "fixture.h"

namespace rasp::lang {
namespace {

using Scopes = LangTest;

TEST_F(Scopes, FunctionsAssignToTheirOwn) {
  ASSERT_TRUE(run("c = 1; def g() { c = 2; return c; } d = g();").ok());
  EXPECT_EQ(look("c"), "1");
  EXPECT_EQ(look("d"), "2");
}

TEST_F(Scopes, ClosuresSeeWhatIsAroundThemWhenTheyRun) {
  ASSERT_TRUE(run("f = 3; def g(x) { return x + f; } a = g(1); f = 10; b = g(1);").ok());
  EXPECT_EQ(look("a"), "4");
  EXPECT_EQ(look("b"), "11");
}

TEST_F(Scopes, ClosuresOutliveTheCallThatMadeThem) {
  ASSERT_TRUE(run("def adder(n) { def add(x) { return x + n; } return add; }"
                  "one = adder(1); ten = adder(10); a = one(5); b = ten(5);"
                  "def nest(x) { def inner(y) { def innermost(z) { return [x, y, z]; } return "
                  "innermost; } return inner; } c = nest(1)(2)(3);")
                  .ok());
  EXPECT_EQ(look("a"), "6");
  EXPECT_EQ(look("b"), "15");
  EXPECT_EQ(look("c"), "[1, 2, 3]");
}

TEST_F(Scopes, LongChainsOfClosuresAreFreedWithoutRecursion) {
  ASSERT_TRUE(run("def compose(f) { def g(x) { return x; } return g; }"
                  "def id(x) { return x; } h = id;"
                  "for i in range(100000) { h = compose(h); }")
                  .ok());
  EXPECT_EQ(value("h(4)"), "4");
}

TEST_F(Scopes, RecursionOnAtoms) {
  ASSERT_TRUE(run("def fact(n) { return 1 if n <= 1 else n*fact(n-1); }"
                  "def even(n) { return True if n == 0 else odd(n-1); }"
                  "def odd(n) { return False if n == 0 else even(n-1); }")
                  .ok());
  EXPECT_EQ(value("fact(20)"), "2432902008176640000");
  EXPECT_EQ(value("even(101)"), "False");
}

TEST_F(Scopes, LoopsAssignAroundThem) {
  ASSERT_TRUE(run("t = 0; for x, y in zip([1,2],[10,20]) { t = t + x*y; last = x; }").ok());
  EXPECT_EQ(look("t"), "50");
  EXPECT_EQ(look("last"), "2");
  ASSERT_TRUE(run("def f(n) { r = 0; for i in range(n) { r = r + i; } return r, i; }").ok());
  EXPECT_EQ(value("f(5)"), "[10, 4]");
  EXPECT_EQ(look("r"), "undefined");
  ASSERT_TRUE(run("k = \"\"; for key in {\"a\":1, \"b\":2} { k = k + key; }").ok());
  EXPECT_EQ(look("k"), "'ab'");
}

TEST_F(Scopes, ReturnEndsALoop) {
  ASSERT_TRUE(run("def first(l, x) { i = 0; for e in l { for q in [1] { if_found = e == x; } "
                  "i = i + 1; } return i; }")
                  .ok());
  EXPECT_EQ(value("first([5,6,7], 6)"), "3");
}

TEST_F(Scopes, ComprehensionsHaveTheirOwn) {
  ASSERT_TRUE(run("i = 9; l = [i for i in range(3)]; m = {i: [j for j in range(i)] for i in "
                  "[1,2]};")
                  .ok());
  EXPECT_EQ(look("i"), "9");
  EXPECT_EQ(look("m"), "{1: [0], 2: [0, 1]}");
  EXPECT_EQ(look("j"), "undefined");
}

TEST_F(Scopes, ParametersMayBeNamedLikeTheLibrary) {
  ASSERT_TRUE(run("def f(count, max) { return count + max; }").ok());
  EXPECT_EQ(value("f(1, 2)"), "3");
  EXPECT_EQ(value("[length for length in [7]]"), "[7]");
  EXPECT_FALSE(run("def g(indices) { return indices; }").ok());
}

TEST_F(Scopes, AFailingStatementLeavesNothingBehind) {
  ASSERT_TRUE(run("a = 1; l = [1];").ok());
  EXPECT_FALSE(run("for i in range(5) { a = a + i; new = i; z = 1/(3-i); }").ok());
  EXPECT_EQ(look("a"), "1");
  EXPECT_EQ(look("new"), "undefined");
  EXPECT_EQ(look("i"), "undefined");
  EXPECT_FALSE(run("b = 5; a, c = 7, nosuch; d = 6;").ok());
  EXPECT_EQ(look("b"), "5");  // statements before it stay
  EXPECT_EQ(look("a"), "1");
  EXPECT_EQ(look("d"), "undefined");
}

TEST_F(Scopes, AnEventCanBeRefused) {
  const auto refuse = [&](const Event& event) -> std::optional<Diagnostic> {
    if (event.name != "b") return std::nullopt;
    return rasp::error(ErrorKind::kValue, event.span, "not this one");
  };
  ASSERT_TRUE(run("b = 0;").ok());
  const Outcome outcome = session.run(sources.add("<test>", "a = 1; b = 2; c = 3;"), refuse);
  EXPECT_EQ(error_of(outcome), "value: not this one [b = 2;]");
  EXPECT_EQ(outcome.events.size(), 1u);
  EXPECT_EQ(look("a"), "1");
  EXPECT_EQ(look("b"), "0");
  EXPECT_EQ(look("c"), "undefined");
  EXPECT_EQ(look("out"), "1");
}

TEST_F(Scopes, EventsTellWhatStatementsDid) {
  const Outcome outcome =
      run("3; x = indices; x; a, b = 1, [2]; def f(y) { q = 1; return y; } f(1);"
          "for i in [1,2] { i; w = i; draw(x, \"ab\"); expect i == 1; } draw(x + 1);");
  ASSERT_TRUE(outcome.ok());
  std::vector<std::string> told;
  for (const Event& event : outcome.events) {
    told.push_back(std::to_string(static_cast<int>(event.kind)) + event.name + " " +
                   repr(event.value));
  }
  EXPECT_EQ(told, (std::vector<std::string>{"0out 3", "0x an s-op", "0x an s-op", "0a 1", "0b [2]",
                                            "1f a function", "0out 1", "2x an s-op", "3 1",
                                            "2x an s-op", "3 2", "2 an s-op"}));
  EXPECT_TRUE(outcome.events[8].holds);
  EXPECT_FALSE(outcome.events[10].holds);
  EXPECT_EQ(outcome.events[10].text, "expect i == 1;");
}

TEST_F(Scopes, NamesBelongToScopesNotNodes) {
  ASSERT_TRUE(run("a = indices + 1; b = a; c = select(a, b, ==); l = [indices*7];").ok());
  std::vector<std::string> names;
  for (const auto& named : session.named_nodes()) names.push_back(named.name);
  EXPECT_NE(std::ranges::find(names, "b"), names.end());
  EXPECT_NE(std::ranges::find(names, "c"), names.end());
  EXPECT_EQ(std::ranges::find(names, "a"), names.end());  // `b` is the later name
  EXPECT_NE(std::ranges::find(names, "indices"), names.end());
  ASSERT_TRUE(run("b = 3;").ok());
  names.clear();
  for (const auto& named : session.named_nodes()) names.push_back(named.name);
  EXPECT_NE(std::ranges::find(names, "a"), names.end());
}

TEST_F(Scopes, LookingUpAndResetting) {
  ASSERT_TRUE(run("mine = 1; tokens = tokens_int;").ok());
  EXPECT_TRUE(session.is_user_defined("mine"));
  EXPECT_FALSE(session.is_user_defined("sort"));
  EXPECT_EQ(look("sort"), "a function");
  EXPECT_EQ(look("nothing"), "undefined");
  EXPECT_EQ(sources.text(*session.definition("mine")), "mine = 1;");
  EXPECT_TRUE(sources.text(*session.definition("sort")).starts_with("def sort(seq, key)"));
  EXPECT_FALSE(session.definition("indices").has_value());
  const std::vector<std::string> names = session.names();
  EXPECT_EQ(names[0], "mine");
  EXPECT_EQ(std::ranges::count(names, "tokens"), 1);
  session.reset();
  EXPECT_EQ(look("mine"), "undefined");
  EXPECT_EQ(value("tokens(\"12\")"), "<'1', '2'>");
}

}  // namespace
}  // namespace rasp::lang
