// Whatever a program does, it ends: in bounded time, memory and stack, with a limit error.
#include <chrono>
#include <thread>

#include "fixture.h"

namespace rasp::lang {
namespace {

class Limits : public LangTest {
 protected:
  void expect_limit(const std::string& text) {
    const auto start = std::chrono::steady_clock::now();
    const std::string what = error(text);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    EXPECT_TRUE(what.starts_with("limit: ")) << text << "\n" << what;
    EXPECT_LT(seconds.count(), 30.0) << text;  // a hang, even under the sanitizers
  }
};

TEST_F(Limits, Ranges) {
  expect_limit("range(10^12);");
  expect_limit("range(0-10^40, 10^40);");
  expect_limit("[x for x in range(1000001)];");
  EXPECT_EQ(value("len(range(1000000))"), "1000000");
}

TEST_F(Limits, Recursion) {
  expect_limit("def f(n) { return f(n+1); } f(0);");
  expect_limit("def g(n) { return [g(n)]; } g(0);");
  expect_limit("def a(n) { return b(n) + 1; } def b(n) { return {1: [a(x) for x in [n]]}; } a(0);");
  expect_limit("def h(n) { for i in [1] { for j in [1] { x = h(n); } } return 1; } h(0);");
}

TEST_F(Limits, RecursionThroughDeepExpressions) {
  std::string deep = "r(n)";
  for (int i = 0; i < 60; ++i) deep = "-(1+" + deep + ")";
  expect_limit("def r(n) { return " + deep + "; } r(0);");
  std::string lists = "s(n)";
  for (int i = 0; i < 90; ++i) lists = "[" + lists + "][0]";
  expect_limit("def s(n) { return " + lists + "; } s(0);");
  EXPECT_EQ(error("def t(n) { return " + deep + "; } r = 5;"), "");  // the depth itself is allowed
}

TEST_F(Limits, Loops) {
  expect_limit("l = range(100000); [[[x for x in l] for y in l] for z in l];");
  expect_limit("for i in range(1000000) { for j in range(1000000) { x = 1; } }");
  expect_limit("for i in range(100000) { for j in range(1000) { indices; } }");
  expect_limit("def f(x) { return x; } for i in range(1000000) { for j in range(1000) { f(i); } }");
}

TEST_F(Limits, GrowingLists) {
  expect_limit("l = [1]; for i in range(100) { l = l + l; }");
  expect_limit("l = [1]; for i in range(100) { l = l * 10; }");
  expect_limit("[1] * 10^30;");
  expect_limit("l = [1]; for i in range(1000000) { l = [l]; }");
  expect_limit("l = [1]; for i in range(100) { l = [l, l]; }");
  expect_limit("d = {0: 1}; for i in range(100) { d = {1: d, 2: d}; }");
  expect_limit("l = []; for i in range(1000) { l = l + range(100000); }");
}

TEST_F(Limits, GrowingStrings) {
  expect_limit("s = \"ab\"; for i in range(100) { s = s + s; }");
  expect_limit("\"ab\" * 10^9;");
  expect_limit("10^30 * \"ab\";");
  expect_limit("s = \"a\"*1000000; l = [s]*1000000;");
  expect_limit("s = \"a\"*1000000; l = [s for i in range(1000000)];");
  expect_limit("s = \"a\"*1000000; for i in range(1000000) { t = s; }");
  expect_limit("s = \"a\"*1000000; for i in range(1000000) { t = s == s; }");
  expect_limit("s = \"a\"*1000000; for i in range(1000000) { t = s[0]; }");
  EXPECT_EQ(value("len([\"\"*1000000])"), "1");
}

TEST_F(Limits, GrowingNumbers) {
  expect_limit("x = 2; for i in range(100) { x = x * x; }");
  expect_limit("2^(10^12);");
  expect_limit("x = 3^50000; for i in range(1000000) { y = x * x; }");
  expect_limit("x = 1/3^40000; for i in range(1000000) { y = x + i/7^20000; }");
  expect_limit("x = 0; for i in range(1000000) { x = x + 1/(i+1); }");
}

TEST_F(Limits, GrowingGraphs) {
  expect_limit("x = indices; for i in range(1000000) { for j in range(10) { x = x + i*j; } }");
  EXPECT_EQ(value("indices(\"ab\")"), "<0, 1>");  // the session goes on
}

TEST_F(Limits, Applications) {
  expect_limit("for i in range(1000000) { x = length(\"hello\"); }");
  expect_limit("l = range(30000); sort(tokens_int, tokens_int)(l);");
}

TEST_F(Limits, DeepSharingCostsNothing) {
  ASSERT_TRUE(run("x = indices; for i in range(10000) { x = x + x; } y = x > 0;").ok());
  EXPECT_EQ(value("y(\"ab\")"), "<False, True>");
}

// Under 0.3 s in a release build (tests/bench/loops.rasp is also what `rasp run` is timed on); ten
// times that leaves room for the sanitizers.
TEST_F(Limits, NestedLoopsOverDictionariesLoadQuickly) {
  const auto start = std::chrono::steady_clock::now();
  const Outcome outcome = session.load(RASP_TEST_DATA "/bench/loops.rasp");
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_EQ(error_of(outcome), "");
  EXPECT_LT(seconds.count(), 3.0);
  EXPECT_EQ(value("len(best(\"abcab\"))"), "5");
}

TEST_F(Limits, StepsAreOfOneRun) {
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(run("t = 0; for i in range(500000) { t = t + i; }").ok());
  }
}

TEST_F(Limits, InterruptsEndARun) {
  std::atomic<bool> interrupted = false;
  Options options = LangTest::options();
  options.interrupted = &interrupted;
  options.max_steps = std::size_t{1} << 60;
  Session endless(sources, options);
  ASSERT_TRUE(endless.run(sources.add("<test>", "a = 1;")).ok());
  std::thread user([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    interrupted = true;
  });
  const Outcome outcome = endless.run(
      sources.add("<test>", "for i in range(1000000) { for j in range(1000000) { a = i; } }"));
  user.join();
  EXPECT_TRUE(error_of(outcome).starts_with("limit: interrupted here"));
  interrupted = false;
  EXPECT_EQ(repr(*endless.lookup("a")), "1");
}

}  // namespace
}  // namespace rasp::lang
