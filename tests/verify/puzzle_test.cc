// Verdicts on solutions of puzzles made here.
#include "verify/puzzle.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <cmath>
#include <thread>

#include "puzzle_fixture.h"
#include "verify/answers.h"
#include "verify/search.h"

namespace rasp::verify {
namespace {

using testing::HasSubstr;

const std::string kHead = "puzzle p() { \"x\" vocab \"ab\"; length 1 to 3; spec p == tokens[0]; ";

struct Verdicts {
  std::string text;
  PuzzleVerdict verdict;
  std::string reason;
};

TEST(Puzzle, EverythingGetsAVerdict) {
  const std::string call =
      "puzzle p(n) { \"x\" vocab \"ab\"; length 1 to 3; spec p(1) == tokens; }";
  const Verdicts all[] = {
      {kHead + "} p = aggregate(select(indices, 0, ==), tokens);", PuzzleVerdict::kPassed, ""},
      {kHead + "} p = tokens;", PuzzleVerdict::kFailed, "wrong answer"},
      {kHead + "}", PuzzleVerdict::kUndefined, "does not define 'p'"},
      {kHead + "} p = 3;", PuzzleVerdict::kError, "expected an s-op"},
      {kHead + "} p = select(tokens, tokens, ==);", PuzzleVerdict::kError, "expected an s-op"},
      {kHead + "} def p() { return tokens; }", PuzzleVerdict::kError, "expected an s-op"},
      {kHead + "limit layers 0; } p = tokens[0];", PuzzleVerdict::kLimit,
       "takes 1 layer, the puzzle allows 0"},
      {kHead + "limit heads 0; } p = tokens[0];", PuzzleVerdict::kLimit, "the puzzle allows 0"},
      {kHead + "limit layers 1; limit heads 9; } p = tokens[0];", PuzzleVerdict::kPassed, ""},
      {"puzzle p() { \"x\" vocab \"ab\"; length 1 to 3; } p = tokens;", PuzzleVerdict::kFailed,
       "not one case"},
      {"puzzle p() { \"x\" vocab \"ab\"; length 1 to 3; spec p == 1 / (indices - indices); } p = "
       "tokens;",
       PuzzleVerdict::kFailed, "this spec has no value on any input"},
      {"puzzle p() { \"x\" spec p == tokens; } p = tokens;", PuzzleVerdict::kError,
       "needs a vocab and lengths"},
      {"puzzle p() { \"x\" expect p(\"ab\") == \"ab\"; } p = tokens;", PuzzleVerdict::kPassed, ""},
      {"puzzle p() { \"x\" expect p(\"ab\") == \"ba\"; } p = tokens;", PuzzleVerdict::kFailed,
       "wrong answer"},
      {"puzzle p() { \"x\" expect p == tokens; } p = tokens;", PuzzleVerdict::kError,
       "cannot be compared"},
      {call + "def p(n) { return p(n + 1); }", PuzzleVerdict::kLimit, "nested too deeply"},
      {call +
           "def p(n) { for i in range(99999) { for j in range(99999) { k = j; } } return tokens; "
           "}",
       PuzzleVerdict::kLimit, "steps of work"},
      {call + "def p(n) { l = [1]; for i in range(99) { l = l + l; } return tokens; }",
       PuzzleVerdict::kLimit, "1000000 items"},
      {call + "def p(n) { s = indices + 2; for i in range(99) { s = s * s; } return s; }",
       PuzzleVerdict::kLimit, "131072 bits"},
      {call + "def p(n) { s = indices; for i in range(15000) { s = s + i - i; } return tokens if s "
              "== indices else \"\"; }",
       PuzzleVerdict::kLimit, "too large to compile"},
      {call + "def p(n) { return tokens_int; }", PuzzleVerdict::kFailed, "no answer to an input"},
      {call + "def p(n) { return missing; } missing = 1;", PuzzleVerdict::kError, ""},
      {call + "def p() { return tokens; }", PuzzleVerdict::kError, "takes 0 arguments"},
  };
  for (const Verdicts& row : all) {
    const PuzzleReport report = verdict_on(row.text);
    EXPECT_EQ(name_of(report.verdict), name_of(row.verdict)) << row.text << "\n" << report.reason;
    EXPECT_THAT(report.reason, HasSubstr(row.reason)) << row.text;
    EXPECT_EQ(report.reason.empty(), report.verdict == PuzzleVerdict::kPassed) << row.text;
    EXPECT_EQ(report.exact, report.compiled) << row.text;
  }
}

TEST(Puzzle, APassedSolutionSaysWhatWasTried) {
  const PuzzleReport report =
      verdict_on(kHead +
                 "expect p(\"ba\") == \"bb\"; limit layers 2; limit heads 3; } p = "
                 "aggregate(select(indices, 0, ==), tokens);");
  EXPECT_EQ(report.verdict, PuzzleVerdict::kPassed);
  EXPECT_EQ(report.examples, 1u);
  EXPECT_EQ(report.inputs, 2u + 4u + 8u);
  EXPECT_EQ(report.weighed, 14u);
  EXPECT_TRUE(report.exhaustive);
  EXPECT_TRUE(report.exact);
  EXPECT_EQ(report.layers, 1u);
  EXPECT_GE(report.heads, 1u);
  EXPECT_EQ(report.max_layers, 2);
  EXPECT_EQ(report.max_heads, 3);
}

TEST(Puzzle, WithoutASpecTheExamplesSayWhatIsCompiled) {
  const PuzzleReport report = verdict_on(
      "puzzle p(x) { \"x\" expect p(1)(\"abc\") == \"bca\"; expect p(1)(\"b\") == \"b\"; }"
      "def p(x) { return aggregate(select(indices, (indices + x) % length, ==), tokens); }");
  EXPECT_EQ(report.verdict, PuzzleVerdict::kPassed) << report.reason;
  EXPECT_EQ(report.examples, 2u);
  EXPECT_EQ(report.inputs, 0u);
  EXPECT_EQ(report.weighed, 3u + 9u + 27u);  // of the examples' tokens, as long as the longest
  EXPECT_TRUE(report.exact);
}

TEST(Puzzle, LengthsBelowTheLeastAreNotAskedFor) {
  const std::string puzzle =
      "puzzle p() { \"x\" vocab \"ab\"; length 2 to 3; spec p == aggregate(select(indices, 1, ==), "
      "tokens); }";
  const PuzzleReport report = verdict_on(puzzle + "p = tokens[1] if length > 1 else \"?\";");
  EXPECT_EQ(report.verdict, PuzzleVerdict::kPassed) << report.reason;
  EXPECT_EQ(report.inputs, 4u + 8u);
}

// Every solution of a pool against every other as the spec: what is found first is what going
// through the inputs in order finds.
class Pairs : public testing::TestWithParam<std::size_t> {};

constexpr const char* kPool[] = {
    "tokens",
    "tokens[0]",
    "tokens[-1]",
    "tokens if indices < 3 else \"a\"",
    "tokens if not (tokens == \"c\" and tokens[0] == \"b\") else \"b\"",
    "aggregate(select(indices, indices - 1, ==), tokens, \"a\")",
    "aggregate(select(indices, length - indices - 1, ==), tokens)",
    "aggregate(select(indices, 3 - indices, ==), tokens, \"b\")",
    "\"a\" if selector_width(select(tokens, tokens, ==)) > 2 else tokens",
    "\"c\" if length == 4 and tokens[1] == \"b\" and tokens[2] == \"a\" else tokens",
};

TEST_P(Pairs, TheCounterexampleIsTheSmallest) {
  for (const std::string reference : kPool) {
    for (const std::string answer_text : kPool) {
      Solution solution;
      solution.run("s.rasp",
                   "puzzle p() { \"x\" vocab \"bca\"; length 1 to 4; spec p == " + reference +
                       "; } reference = " + reference + "; p = " + answer_text + ";");
      PuzzleOptions options;
      options.compile = false;
      options.threads = GetParam();
      const PuzzleReport report = solution.verify("p", options);
      const auto node = [&](const char* name) {
        return *node_of(*solution.session().lookup(name));
      };
      std::optional<value::Sequence> first;
      const Inputs inputs = Inputs::all(3, 1, 4);
      for (std::uint64_t block = 0; !first && block < inputs.blocks(); ++block) {
        for (Inputs::Cursor cursor(inputs, block); !first && !cursor.done();) {
          Tokens tokens;
          cursor.read(tokens);
          value::Sequence input;
          for (const auto token : tokens) input.push_back(value::characters("bca")[token]);
          const auto expected = answer(solution.session().graph(), node("reference"), input);
          const auto got = answer(solution.session().graph(), node("p"), input);
          ASSERT_TRUE(expected && got);
          if (!agree(*expected, *got)) first = input;
        }
      }
      ASSERT_EQ(report.counterexample.has_value(), first.has_value())
          << reference << " / " << answer_text;
      if (!first) continue;
      EXPECT_EQ(report.counterexample->input, *first) << reference << " / " << answer_text;
      EXPECT_FALSE(report.counterexample->differing.empty());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Threads, Pairs, testing::Values(1, 3));

TEST(Puzzle, TheSmallestOfAllChecksIsShown) {
  const PuzzleReport report = verdict_on(
      "puzzle p(x) { \"x\" vocab \"ab\"; length 1 to 4; expect p(3)(\"abab\") == \"bbbb\";"
      "spec p(1) == (tokens if length < 3 else \"a\"); spec p(2) == (tokens if length < 2 else "
      "\"a\"); }"
      "def p(x) { return tokens; }");
  ASSERT_TRUE(report.counterexample);
  EXPECT_EQ(report.counterexample->input, value::characters("ab"));
  EXPECT_THAT(report.counterexample->check, HasSubstr("p(2) =="));
  EXPECT_EQ(report.counterexample->expected, value::characters("aa"));
  EXPECT_EQ(report.counterexample->got, value::characters("ab"));
  EXPECT_EQ(report.counterexample->differing, std::vector<std::size_t>{1});
}

TEST(Puzzle, RandomInputsLeadToTheSmallestToo) {
  PuzzleOptions options;
  options.exhaustive_limit = 100;
  options.samples = 2000;
  options.seed = 5;
  const PuzzleReport report = verdict_on(
      "puzzle p() { \"x\" vocab \"abcdef\"; length 1 to 12; spec p == tokens; }"
      "p = tokens if selector_width(select(tokens, \"c\", ==)) < 3 else \"f\";",
      options);
  ASSERT_TRUE(report.counterexample);
  EXPECT_FALSE(report.exhaustive);
  EXPECT_EQ(report.counterexample->input, value::characters("ccc"));
}

TEST(Puzzle, ACtrlCStopsWithWhatIsKnown) {
  const std::string right = kHead + "} p = tokens[0];";
  std::atomic<bool> interrupted = true;
  PuzzleOptions options;
  options.interrupted = &interrupted;
  EXPECT_EQ(verdict_on(right, options).verdict, PuzzleVerdict::kInterrupted);

  // In the middle of the inputs: some were tried, and none was wrong.
  interrupted = false;
  options.threads = 1;
  options.progress = [&](std::string_view, const Progress&) { interrupted = true; };
  const PuzzleReport report = verdict_on(
      "puzzle p() { \"x\" vocab \"abcdefghi\"; length 1 to 6; spec p == sort(tokens, tokens); }"
      "p = sort(tokens, tokens);",
      options);
  EXPECT_EQ(report.verdict, PuzzleVerdict::kInterrupted) << report.reason;
  EXPECT_GT(report.inputs, 0u);
  EXPECT_LT(report.inputs, 597870u);
}

// Ctrl-C while a single input is evaluated: each of 3,000 steps adds up 20,000 rows.
TEST(Puzzle, ACtrlCEndsOneLongEvaluation) {
  std::atomic<bool> interrupted = false;
  PuzzleOptions options;
  options.interrupted = &interrupted;
  options.compile = false;
  options.samples = 1;
  std::thread control_c([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    interrupted = true;
  });
  const auto start = std::chrono::steady_clock::now();
  const PuzzleReport report = verdict_on(
      "puzzle p() { \"x\" vocab \"ab\"; length 20000 to 20000; spec p == 1; } p = indices;"
      "for i in range(3000) { p = aggregate(select(indices, indices, <=), p + i); }",
      options);
  control_c.join();
  EXPECT_EQ(report.verdict, PuzzleVerdict::kInterrupted) << report.reason;
  EXPECT_EQ(report.inputs, 0u);
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(20));
}

TEST(Puzzle, ACtrlCEndsTheCompiler) {
  std::atomic<bool> interrupted = false;
  PuzzleOptions options;
  options.interrupted = &interrupted;
  bool compiled = false;
  options.compiler = [&](const auto& graph, auto node, const auto& names, const auto& sources,
                         const compiler::Options& compiling) {
    interrupted = true;
    auto result = compiler::compile(graph, node, names, sources, compiling);
    compiled = result.has_value();
    return result;
  };
  const PuzzleReport report = verdict_on(kHead + "} p = tokens[0];", options);
  EXPECT_EQ(report.verdict, PuzzleVerdict::kInterrupted) << report.reason;
  EXPECT_EQ(report.inputs, 14u);
  EXPECT_FALSE(report.compiled);
  EXPECT_FALSE(compiled);
}

TEST(Puzzle, AnInputWithoutAValueInTheSpecIsLeftOutAndCounted) {
  const PuzzleReport report = verdict_on(
      "puzzle p() { \"x\" vocab \"ab\"; length 1 to 3; spec p == tokens if 1 / (length - 2) < 5 "
      "else \"\"; } p = tokens;");
  EXPECT_EQ(report.verdict, PuzzleVerdict::kPassed) << report.reason;
  EXPECT_EQ(report.inputs, 2u + 8u);
  EXPECT_EQ(report.undefined, 4u);
}

// A spec that says nothing does not hide behind one that does.
TEST(Puzzle, EverySpecHasToSaySomething) {
  const PuzzleReport report = verdict_on(
      kHead + "spec p == tokens[0] if 1 / (length - length) == 1 else \"\"; } p = tokens[0];");
  EXPECT_EQ(report.verdict, PuzzleVerdict::kFailed);
  EXPECT_THAT(report.reason, HasSubstr("this spec has no value on any input"));
}

TEST(Puzzle, WhatTheCompilerRefusesIsNotPassed) {
  PuzzleOptions options;
  options.compiler = [](const auto&, auto node, const auto&, const auto&,
                        const auto&) -> Result<compiler::Compiled> {
    return fail(ErrorKind::kCompile, {}, "cannot compile node " + std::to_string(node));
  };
  const PuzzleReport report = verdict_on(kHead + "} p = tokens[0];", options);
  EXPECT_EQ(report.verdict, PuzzleVerdict::kRefused);
  EXPECT_THAT(report.reason, HasSubstr("cannot compile node"));
  EXPECT_FALSE(report.compiled);
}

// Compiles, and then changes what it compiled.
template <typename Change>
Compile compiler_that(Change change) {
  return [change](const auto& graph, auto node, const auto& names, const auto& sources,
                  const compiler::Options& options) {
    auto compiled = compiler::compile(graph, node, names, sources, options);
    if (compiled) change(compiled->model);
    return compiled;
  };
}

TEST(Puzzle, ACertificateThatDoesNotHoldIsNotPassed) {
  PuzzleOptions options;
  options.compiler = compiler_that([](model::Model& model) { model.certificate.holds = false; });
  const PuzzleReport report = verdict_on(kHead + "} p = tokens[0];", options);
  EXPECT_EQ(report.verdict, PuzzleVerdict::kRefused);
  EXPECT_THAT(report.reason, HasSubstr("certificate"));
  EXPECT_FALSE(report.exact);
}

TEST(Puzzle, WeightsThatDisagreeAreFoundOnTheSmallestInput) {
  PuzzleOptions options;
  // What "b" writes at a position is lost, so only texts that begin with it go wrong.
  options.compiler = compiler_that(
      [](model::Model& model) { model.token_embedding.row(1) = model.token_embedding.row(0); });
  const PuzzleReport report = verdict_on(kHead + "} p = tokens[0];", options);
  EXPECT_EQ(report.verdict, PuzzleVerdict::kFailed);
  EXPECT_THAT(report.reason, HasSubstr("weights"));
  ASSERT_TRUE(report.counterexample);
  EXPECT_TRUE(report.counterexample->weights);
  EXPECT_EQ(report.counterexample->input, value::characters("b"));
  EXPECT_EQ(report.counterexample->expected, value::characters("b"));
  EXPECT_EQ(report.counterexample->got, value::characters("a"));
  EXPECT_EQ(report.counterexample->differing, std::vector<std::size_t>{0});
  EXPECT_TRUE(report.compiled);
  EXPECT_FALSE(report.exact);
}

TEST(Puzzle, WeightsThatGiveNoValueAreFound) {
  PuzzleOptions options;
  options.compiler =
      compiler_that([](model::Model& model) { model.unembedding(0, 0) = std::nan(""); });
  const PuzzleReport report = verdict_on(kHead + "} p = tokens[0];", options);
  EXPECT_NE(report.verdict, PuzzleVerdict::kPassed);
  EXPECT_FALSE(report.exact);
}

TEST(Puzzle, TimeIsLimited) {
  PuzzleOptions options;
  options.seconds = 0;
  const PuzzleReport report = verdict_on(kHead + "} p = tokens[0];", options);
  EXPECT_EQ(report.verdict, PuzzleVerdict::kLimit);
  EXPECT_THAT(report.reason, HasSubstr("longer than"));
}

TEST(Puzzle, ASolutionCannotChangeWhatItIsComparedWith) {
  Solution solution;
  solution.state("pack.rasp",
                 "_reference = tokens[0]; def helper(x) { return _reference; }"
                 "puzzle p() { \"x\" vocab \"ab\"; length 1 to 3; spec p == helper(1); }");
  solution.run("solution.rasp",
               "_reference = tokens; def helper(x) { return tokens; } p = tokens;");
  const PuzzleReport report = solution.verify("p");
  ASSERT_TRUE(report.counterexample);
  EXPECT_EQ(report.counterexample->input, value::characters("ab"));
}

TEST(Puzzle, TheLastSelectorIsShown) {
  const PuzzleReport report = verdict_on(
      kHead + "} second = select(indices, 1, ==); p = aggregate(second, tokens, \"b\");");
  ASSERT_TRUE(report.counterexample);
  EXPECT_EQ(report.counterexample->input, value::characters("a"));
  EXPECT_EQ(report.counterexample->selector, "second");
  ASSERT_TRUE(report.counterexample->pattern);
  EXPECT_EQ(report.counterexample->pattern->size(), 1u);
  EXPECT_FALSE(report.counterexample->pattern->at(0, 0));
}

// Not one that a function of the library made on the way.
TEST(Puzzle, TheLastSelectorIsTheSolversOwn) {
  const PuzzleReport report = verdict_on(
      "puzzle p() { \"x\" vocab \"ab\"; length 1 to 3; spec p == 1; }"
      "p = selector_width(select(tokens, tokens, ==));");
  ASSERT_TRUE(report.counterexample);
  EXPECT_EQ(report.counterexample->input, value::characters("aa"));
  EXPECT_EQ(report.counterexample->selector, "select(tokens, tokens, ==)");
  ASSERT_TRUE(report.counterexample->pattern);
  EXPECT_TRUE(report.counterexample->pattern->at(1, 1));
}

TEST(Puzzle, RowsOfSelectorsAreCompared) {
  const std::string puzzle =
      "puzzle p() { \"x\" vocab \"ab\"; length 1 to 3; expect p(\"aba\") == [\"101\", \"010\", [1, "
      "0, 1]]; spec p == select(tokens, tokens, ==); }";
  EXPECT_EQ(verdict_on(puzzle + "p = select(tokens, tokens, ==);").verdict, PuzzleVerdict::kPassed);
  const PuzzleReport report = verdict_on(puzzle + "p = select(indices, indices, ==);");
  ASSERT_TRUE(report.counterexample);
  EXPECT_EQ(report.counterexample->input, value::characters("aa"));
  EXPECT_TRUE(report.counterexample->is_selector);
  EXPECT_EQ(report.counterexample->query, 0u);
  EXPECT_EQ(report.counterexample->differing, std::vector<std::size_t>{1});
}

}  // namespace
}  // namespace rasp::verify
