// The compiler as its callers see it.
#include <gtest/gtest.h>

#include <atomic>

#include "../support/compiled.h"
#include "../support/random_graph.h"
#include "compiler/compiler.h"
#include "model/safetensors.h"

namespace rasp::compiler {
namespace {

using test::Source;
using value::Atom;

Options options_of(const std::string& vocabulary, std::uint32_t max_length) {
  Options options;
  options.vocabulary = value::characters(vocabulary);
  options.max_length = max_length;
  return options;
}

model::Model compiled(const std::string& text, const Options& options,
                      const std::string& name = "ans") {
  const Source source(text, name);
  EXPECT_EQ(source.why(), "");
  const auto result = source.compile(options);
  EXPECT_TRUE(result) << result.error().message;
  return result ? result->model : model::Model{};
}

std::string bytes_of(const model::Model& model) {
  const auto bytes = model::serialise(model);
  EXPECT_TRUE(bytes);
  return bytes.value_or("");
}

TEST(Compile, LargeProgramsAreRefusedBeforeTheyTakeTheMemory) {
  const Source deep(
      "ans = tokens; for i in range(5000) { ans = aggregate(select(indices, length - 1 - indices, "
      "==), ans); }",
      "ans");
  const auto refused = deep.compile(options_of("ab", 3));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, ErrorKind::kCompile);
  EXPECT_NE(refused.error().message.find("too many layers"), std::string::npos);

  const Source small("ans = sort(tokens, tokens);", "ans");
  Options options = options_of("abc", 5);
  std::uint64_t weights = 0;
  for (const model::Layer& layer : compiled("ans = sort(tokens, tokens);", options).layers) {
    weights += static_cast<std::uint64_t>(layer.mlp.w_in.size() + layer.mlp.w_out.size());
    for (const model::Head& head : layer.heads) {
      weights += static_cast<std::uint64_t>(head.wq.size() + head.wk.size() + head.wv.size() +
                                            head.wo.size());
    }
  }
  options.max_weights = weights;
  EXPECT_TRUE(small.compile(options));
  options.max_weights = weights - 1;
  const auto heavy = small.compile(options);
  ASSERT_FALSE(heavy);
  EXPECT_NE(heavy.error().message.find("more than " + std::to_string(weights - 1) + " weights"),
            std::string::npos)
      << heavy.error().message;
}

TEST(Compile, EndsEarlyWhenTheCallerWantsIt) {
  const Source source("ans = sort(tokens, tokens);", "ans");
  std::atomic<bool> interrupted = true;
  Options options = options_of("abc", 5);
  options.halt.interrupted = &interrupted;
  const auto ended = source.compile(options);
  ASSERT_FALSE(ended);
  EXPECT_EQ(ended.error().kind, ErrorKind::kLimit);
  interrupted = false;
  EXPECT_TRUE(source.compile(options));
  options.halt.deadline = Halt::Clock::now();
  EXPECT_FALSE(source.compile(options));
}

TEST(Compile, TwiceGivesTheSameBytes) {
  for (std::uint64_t seed = 0; seed < 60; ++seed) {
    test::RandomGraph random(seed);
    const graph::NodeId root = random.sop(3);
    const SourceMap sources;
    const Options options = options_of("01234", 6);
    const auto first = compile(random.graph(), root, {}, sources, options);
    const auto second = compile(random.graph(), root, {}, sources, options);
    ASSERT_EQ(first.has_value(), second.has_value());
    if (!first) continue;
    const auto a = model::serialise(first->model);
    const auto b = model::serialise(second->model);
    ASSERT_TRUE(a && b);
    EXPECT_TRUE(*a == *b) << graph::expression(random.graph(), root, 200);
  }
}

TEST(Compile, NamesOfVariablesMakeNoDifference) {
  const std::string text =
      "same = select(tokens, tokens, ==); h = selector_width(same); "
      "new = not has_focus(same and select(indices, indices, <)); "
      "ans = selector_width(select(h, h, ==) and select(new, True, ==));";
  const std::string renamed =
      "z = select(tokens, tokens, ==); alpha = selector_width(z); "
      "b = not has_focus(z and select(indices, indices, <)); "
      "result = selector_width(select(alpha, alpha, ==) and select(b, True, ==));";
  const std::string unnamed =
      "ans = selector_width(select(selector_width(select(tokens, tokens, ==)), "
      "selector_width(select(tokens, tokens, ==)), ==) and select(not "
      "has_focus(select(tokens, tokens, ==) and select(indices, indices, <)), True, ==));";
  const Options options = options_of("abc", 6);
  const std::string bytes = bytes_of(compiled(text, options));
  EXPECT_TRUE(bytes == bytes_of(compiled(renamed, options, "result")));
  EXPECT_TRUE(bytes == bytes_of(compiled(unnamed, options)));
}

// What was defined before, in whatever order, makes no difference either.
TEST(Compile, OtherDefinitionsMakeNoDifference) {
  const std::string text = "ans = sort(tokens, tokens);";
  const std::string after =
      "w = selector_width(select(tokens, tokens, >)); x = length - indices; y = 3 * x + w; " + text;
  const Options options = options_of("abc", 6);
  EXPECT_TRUE(bytes_of(compiled(text, options)) == bytes_of(compiled(after, options)));
}

std::size_t slices_named(const model::Model& model, const std::string& name) {
  return static_cast<std::size_t>(
      std::count_if(model.slices.begin(), model.slices.end(),
                    [&](const model::Slice& slice) { return slice.name == name; }));
}

TEST(Compile, UnfusedKeepsEveryNamedSequenceReadable) {
  Options options = options_of("0123", 6);
  options.fuse = false;
  const model::Model model = compiled(
      "doubled = tokens_int * 2; more = doubled + 2; wide = selector_width(select(more, more, <)); "
      "mean = aggregate(select(indices, indices, <=), more); even = wide % 2 == 0; "
      "ans = wide if even else mean;",
      options);
  for (const char* name : {"doubled", "more", "wide", "mean", "even", "ans"}) {
    EXPECT_GE(slices_named(model, name), 1u) << name;
  }
}

TEST(Compile, HeadsSayWhereTheyComeFrom) {
  const model::Model model =
      compiled("h = select(tokens, tokens, ==);\nans = selector_width(h);\n", options_of("ab", 5));
  ASSERT_EQ(model.layers.size(), 1u);
  ASSERT_EQ(model.layers[0].heads.size(), 1u);
  EXPECT_EQ(model.layers[0].heads[0].name, "select(tokens_str, tokens_str, ==)");
  EXPECT_EQ(model.layers[0].heads[0].origin, "line 1");
}

TEST(Compile, EveryPassCanBeShownAndIsStable) {
  const Source source("ans = sort(tokens, tokens);", "ans");
  for (const std::string& pass : pass_names()) {
    Options options = options_of("abc", 5);
    options.dump = pass;
    const auto first = source.compile(options);
    ASSERT_TRUE(first) << pass;
    EXPECT_FALSE(first->dump.empty()) << pass;
    const Source again("other = length; ans = sort(tokens, tokens);", "ans");
    const auto second = again.compile(options);
    ASSERT_TRUE(second) << pass;
    EXPECT_EQ(first->dump, second->dump) << pass;
  }
}

void expect_refusal(const Result<Compiled>& result, ErrorKind kind, const std::string& words) {
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, kind);
  EXPECT_TRUE(result.error().span.valid());
  EXPECT_FALSE(result.error().hint.empty()) << result.error().message;
  EXPECT_NE(result.error().message.find(words), std::string::npos) << result.error().message;
}

TEST(Compile, OptionsThatMakeNoSenseAreErrors) {
  const Source source("ans = tokens + \"!\";", "ans");
  expect_refusal(source.compile(options_of("", 3)), ErrorKind::kInput, "vocabulary is empty");
  expect_refusal(source.compile(options_of("ab", 0)), ErrorKind::kInput, "at least 1");
  const auto twice = source.compile(options_of("aba", 3));
  ASSERT_FALSE(twice);
  EXPECT_EQ(twice.error().kind, ErrorKind::kInput);
  EXPECT_NE(twice.error().message.find("'a'"), std::string::npos) << twice.error().message;
  Options options = options_of("ab", 3);
  options.dump = "no such pass";
  expect_refusal(source.compile(options), ErrorKind::kInput, "no such pass");
}

TEST(Compile, RefusalsNameTheExpressionAndThePlace) {
  // Means of means of more than can be told apart in float32.
  const Source source(
      "m = aggregate(select(indices, indices, <=), tokens_int);\n"
      "p = aggregate(select(tokens, tokens, <=), m);\n"
      "ans = aggregate(select(p, p, <), indices);",
      "ans");
  ASSERT_EQ(source.why(), "");
  const auto result = source.compile(options_of("0123456789", 40));
  expect_refusal(result, ErrorKind::kCompile, "cannot compile p");
  EXPECT_EQ(source.sources().place(result.error().span.file, result.error().span.begin).line, 2u);
}

// Found by the fuzzer: no combination of values is left on one side of the selector.
TEST(Compile, SelectorsThatNeverHaveAValueAreHarmless) {
  for (const char* text :
       {"ans = select(indices % indices, indices, <=) or select(tokens_int, length, >=);",
        "s = select(indices % indices, indices, <=) or select(tokens_int, length, >=); "
        "ans = 1 if indices == 0 else aggregate(s, indices);"}) {
    const Source source(text, "ans");
    ASSERT_EQ(source.why(), "");
    const auto result = source.compile(options_of("01", 1));
    ASSERT_TRUE(result) << result.error().message;
    const auto comparison = test::Comparer(source.graph(), source.node(), result->model)
                                .on(test::all_inputs(options_of("01", 1).vocabulary, 1));
    EXPECT_EQ(comparison.mismatch, "");
  }
}

// Widths of thousands leave as 1 / (width + 1): neighbours are as close as 6e-8 there, and only a
// rounding in proportion to the quotient tells them apart.
constexpr char kHistogram[] = "ans = selector_width(select(tokens, tokens, ==));";

TEST(Compile, CountsOfThousandsOfTokensAreExact) {
  const Options options = options_of("ab", 4096);
  const Source source(kHistogram, "ans");
  const auto result = source.compile(options);
  ASSERT_TRUE(result) << result.error().message;
  std::vector<value::Sequence> inputs;
  for (const std::size_t first : {0u, 1u, 2u, 63u, 2047u, 2048u, 2049u, 2896u, 4094u, 4095u, 4096u})
    inputs.push_back(value::characters(std::string(first, 'a') + std::string(4096 - first, 'b')));
  inputs.push_back(value::characters("abba"));
  const auto comparison = test::Comparer(source.graph(), source.node(), result->model).on(inputs);
  EXPECT_EQ(comparison.mismatch, "");
  EXPECT_EQ(comparison.answers, inputs.size());
}

TEST(Compile, NoValueAtAllIsARefusal) {
  const Source source("ans = tokens_int + 1;", "ans");
  expect_refusal(source.compile(options_of("ab", 3)), ErrorKind::kCompile, "no value");
}

std::vector<std::string> causal_notes(const std::string& expression, bool causal = true) {
  const Source source("ans = " + expression + ";", "ans");
  EXPECT_EQ(source.why(), "");
  Options options = options_of("ab", 4);
  options.causal = causal;
  const auto result = source.compile(options);
  EXPECT_TRUE(result) << expression;
  std::vector<std::string> named;
  for (const Diagnostic& note : result->notes) {
    EXPECT_EQ(note.level, Level::kNote);
    named.emplace_back(source.sources().text(note.span));
  }
  return named;
}

TEST(Compile, CausalNotesNameSelectorsThatLookAhead) {
  using Notes = std::vector<std::string>;
  const std::string ahead = "select(indices, indices + 1, ==)";
  EXPECT_EQ(causal_notes("aggregate(" + ahead + ", indices)"), Notes{ahead});
  EXPECT_EQ(causal_notes("aggregate(" + ahead + ", indices)", false), Notes{});
  EXPECT_EQ(causal_notes("aggregate(select(tokens, tokens, ==), indices)"),
            Notes{"select(tokens, tokens, ==)"});
  EXPECT_EQ(causal_notes(ahead), Notes{ahead});
}

TEST(Compile, CausalNotesSpareSelectorsThatStayBehind) {
  for (const char* selector :
       {"select(indices, indices, <)", "select(indices, indices - 2 + 1, ==)",
        "select(indices, 0, ==)", "select(indices + 3, 3, <=)",
        "select(tokens, tokens, ==) and select(indices, indices, <=)",
        "select(indices, indices, ==) or select(indices, 0, ==)", "not select(indices, indices, >)",
        "not (select(indices, indices, >=) or select(tokens, tokens, <))"}) {
    EXPECT_EQ(causal_notes("aggregate(" + std::string(selector) + ", indices)").size(), 0u)
        << selector;
  }
  // The library counts with the help of position 0.
  EXPECT_TRUE(causal_notes("selector_width(select(indices, indices, <))").empty());
}

TEST(Compile, LongChainsOfShiftsAreNoProblem) {
  const Source source(
      "b = indices; for i in range(20000) { b = b + 1; } "
      "ans = aggregate(select(indices, b - 20000, ==), tokens, \"-\");",
      "ans");
  ASSERT_EQ(source.why(), "");
  Options options = options_of("ab", 3);
  options.causal = true;
  const auto result = source.compile(options);
  ASSERT_TRUE(result);
  EXPECT_TRUE(result->notes.empty());
}

TEST(Compile, EqualLookingTokensAreDifferentTokens) {
  Options options;
  options.vocabulary = {value::make_int(1), Atom(std::string("1")), value::Number::rational(1, 1)};
  options.max_length = 4;
  const Source source("ans = aggregate(select(indices, 0, ==), tokens_asis == 1);", "ans");
  const auto result = source.compile(options);
  ASSERT_TRUE(result) << result.error().message;
  const auto comparison = test::Comparer(source.graph(), source.node(), result->model)
                              .on(test::all_inputs(options.vocabulary, 4));
  EXPECT_EQ(comparison.mismatch, "");
  EXPECT_GT(comparison.answers, 20u);
}

// ------------------------------------------------------------------- the guards of the weights

// A compiled model with something wrong in it has no certificate.
void expect_uncertified(const std::string& text, const Options& options,
                        const std::function<void(model::Model&)>& harm, const std::string& what) {
  model::Model model = compiled(text, options);
  ASSERT_TRUE(certify(model).holds) << what;
  harm(model);
  EXPECT_FALSE(certify(model).holds) << what;
}

TEST(Guards, SelectorsThatLeakAreFound) {
  const std::string text = "ans = aggregate(select(tokens, tokens, ==), indices);";
  for (const double factor : {0.25, 0.01, -1.0}) {
    expect_uncertified(
        text, options_of("abc", 5),
        [&](model::Model& model) { model.layers[0].heads[0].wq *= factor; }, "scaled logits");
  }
}

// The quotient's own rounding is small only while BOS's value is whole, alone, and scaled by a
// power of two; and codes must stand where quotients do.
TEST(Guards, QuotientsOffTheirPlaceAreFound) {
  const Options options = options_of("ab", 4096);
  const auto harmed = [&](const std::string& what, const auto& harm) {
    expect_uncertified(kHistogram, options, harm, what);
  };
  harmed("another factor", [](model::Model& model) { model.layers[0].heads[0].wo *= 0.75; });
  harmed("another value", [](model::Model& model) { model.layers[0].heads[0].wv *= 3.0; });
  harmed("another reading", [](model::Model& model) { model.unembedding *= 1.0009765625; });
  harmed("a token's value", [](model::Model& model) {
    model::Matrix& wv = model.layers[0].heads[0].wv;
    wv.array() += 0x1p-12;
  });
  harmed("a code", [](model::Model& model) {
    auto& codes = model.decoder.codes;
    codes[0] = value::Number::divide(codes[0] + codes[1], value::Number::integer(2));
  });
  harmed("a missing code", [](model::Model& model) {
    model.decoder.codes.erase(model.decoder.codes.begin() + 7);
    model.decoder.values.erase(model.decoder.values.begin() + 7);
  });
}

TEST(Guards, AMissingClearOfBosIsFound) {
  expect_uncertified(
      "ans = sort(tokens, tokens);", options_of("abc", 5),
      [](model::Model& model) {
        // BOS as a query attends to tokens.
        for (model::Layer& layer : model.layers) {
          for (model::Head& head : layer.heads) head.wq.row(0).setZero();
        }
      },
      "BOS attends to tokens");
}

TEST(Guards, StepsOffTheirPlaceAreFound) {
  expect_uncertified(
      "ans = aggregate(select(selector_width(select(tokens, tokens, <)), indices, ==), tokens, "
      "\"-\");",
      options_of("abc", 7),
      [](model::Model& model) {
        for (model::Layer& layer : model.layers) {
          ASSERT_GT(model.layers[0].mlp.b_in.size(), 0);
          layer.mlp.b_in.setZero();
        }
      },
      "biases");
}

TEST(Guards, OutputsThatMeetAreFound) {
  expect_uncertified(
      "ans = selector_width(select(tokens, tokens, ==));", options_of("abc", 7),
      [](model::Model& model) { model.unembedding *= 1.1; }, "a scaled scalar");
  expect_uncertified(
      "ans = tokens == \"a\";", options_of("abc", 7),
      [](model::Model& model) { model.unembedding.setZero(); }, "outputs that are all equal");
}

TEST(Guards, ClaimsThatAreTooStrongAreFound) {
  expect_uncertified(
      "ans = aggregate(select(indices, indices, <=), tokens_int);", options_of("01234", 9),
      [](model::Model& model) {
        for (model::Slice& slice : model.slices) {
          if (slice.encoding == model::Slice::Encoding::kScalar) slice.error = 0;
        }
      },
      "no error");
  expect_uncertified(
      "ans = aggregate(select(indices, indices, <=), tokens_int);", options_of("01234", 9),
      [](model::Model& model) { model.max_length = 2; }, "fewer positions than embeddings");
}

}  // namespace
}  // namespace rasp::compiler
