#include "verify/equivalence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <thread>

#include "../support/compiled.h"

namespace rasp::verify {
namespace {

using test::Source;

const std::string kHist = "hist = selector_width(select(tokens, tokens, ==));";
const std::string kReverse =
    "mirror = select(indices, length - indices - 1, ==); reverse = aggregate(mirror, tokens);";
const std::string kSort =
    "smaller = select(tokens, tokens, <) or (select(tokens, tokens, ==) and "
    "select(indices, indices, <)); place = selector_width(smaller);"
    "sorted = aggregate(select(place, indices, ==), tokens);";

model::Model compiled(const Source& source, const std::string& vocabulary, std::uint32_t max_length,
                      bool causal = false) {
  EXPECT_EQ(source.why(), "");
  compiler::Options options;
  options.vocabulary = value::characters(vocabulary);
  options.max_length = max_length;
  options.causal = causal;
  auto result = source.compile(options);
  EXPECT_TRUE(result) << result.error().message;
  return result ? result->model : model::Model{};
}

Report compare(const Source& source, const model::Model& model, const Options& options = {}) {
  const auto names = source.names();
  auto report =
      verify::compare({source.graph(), source.node(), model, names, source.sources()}, options);
  EXPECT_TRUE(report) << report.error().message;
  return report.value_or(Report{});
}

// The decoder of a count says no more than `most`.
void clamp_decoder(model::Model& model, std::int64_t most) {
  ASSERT_EQ(model.decoder.kind, model::Decoder::Kind::kScalar);
  ASSERT_FALSE(model.decoder.values.empty());
  const value::Atom limit = value::make_int(most);
  for (value::Atom& atom : model.decoder.values) {
    if (value::canonical_less(limit, atom)) atom = limit;
  }
}

std::string text(const value::Sequence& sequence) {
  std::string text;
  for (const value::Atom& atom : sequence) text += value::to_text(atom);
  return text;
}

// The first input, in the order that `compare` promises, on which they differ; "" when there is
// none. As plain as can be: one input at a time, by other means.
std::string first_mismatch(const Source& source, const model::Model& model) {
  for (const value::Sequence& input : test::all_inputs(model.vocabulary, model.max_length)) {
    test::Comparer comparer(source.graph(), source.node(), model);
    if (!comparer.on({input}).mismatch.empty()) return text(input);
  }
  return "";
}

TEST(Compare, AgreesOnAllInputs) {
  for (const auto& [program, name] :
       {std::pair(kHist, "hist"), std::pair(kReverse, "reverse"), std::pair(kSort, "sorted")}) {
    const Source source(program, name);
    const Report report = compare(source, compiled(source, "abc", 5));
    EXPECT_EQ(report.verdict, Verdict::kExact) << name;
    EXPECT_TRUE(report.exhaustive);
    EXPECT_EQ(report.total, 3u + 9 + 27 + 81 + 243);
    EXPECT_EQ(report.tried, report.total);
    EXPECT_EQ(report.skipped, 0u);
    EXPECT_FALSE(report.counterexample);
  }
}

TEST(Compare, LeavesOutInputsWithoutAValue) {
  const Source source("x = 6 / tokens_int;", "x");
  const Source defined("x = 6 / tokens_int if not (tokens == \"0\") else 0.0;", "x");
  const Report report = compare(source, compiled(defined, "012", 3));
  EXPECT_EQ(report.verdict, Verdict::kExact);
  EXPECT_EQ(report.tried, 3u + 9 + 27);
  EXPECT_EQ(report.skipped, 39u - (2 + 4 + 8)) << "all with a 0 in them";
}

TEST(Compare, NothingComparedIsNoSuccess) {
  const Source hist(kHist, "hist");
  const Source undefined("x = 1 / (tokens_int - tokens_int);", "x");
  const Report report = compare(undefined, compiled(hist, "12", 3));
  EXPECT_EQ(report.verdict, Verdict::kNothing);
  EXPECT_EQ(report.tried, 14u);
  EXPECT_EQ(report.skipped, 14u);
}

TEST(Compare, FindsAWrongDecoder) {
  const Source source(kHist, "hist");
  model::Model model = compiled(source, "abc", 4);
  clamp_decoder(model, 2);
  const Report report = compare(source, model);
  ASSERT_EQ(report.verdict, Verdict::kMismatch);
  const Counterexample& found = *report.counterexample;
  EXPECT_EQ(text(found.input), "aaa");
  EXPECT_EQ(found.position, 0u);
  EXPECT_EQ(text(found.expected), "333");
  EXPECT_EQ(text(found.got), "222");
  EXPECT_FALSE(found.divergence) << "the stream is right, the output is wrong";
  EXPECT_EQ(report.tried, 3u + 9 + 1);
}

TEST(Compare, CountsTypesAsDifferences) {
  const Source source("x = indices / 1;", "x");
  model::Model model = compiled(source, "a", 2);
  EXPECT_EQ(compare(source, model).verdict, Verdict::kExact);
  model.decoder.number_type = model::Decoder::NumberType::kAsListed;
  model.decoder.type_output = -1;
  for (value::Atom& atom : model.decoder.values) atom = std::get<value::Number>(atom).as_int();
  const Report report = compare(source, model);
  ASSERT_EQ(report.verdict, Verdict::kMismatch);
  EXPECT_EQ(text(report.counterexample->input), "a") << "0 is not 0.0";
}

TEST(Compare, NamesTheFirstWrongSlice) {
  const Source source(kSort, "sorted");
  const model::Model right = compiled(source, "ab", 4);

  model::Model model = right;  // the token b looks like a
  model.token_embedding.row(1) = model.token_embedding.row(0);
  Report report = compare(source, model);
  ASSERT_EQ(report.verdict, Verdict::kMismatch);
  ASSERT_TRUE(report.counterexample->divergence);
  EXPECT_EQ(report.counterexample->divergence->layer, -1);
  EXPECT_EQ(report.counterexample->divergence->slice, model.slices.at(2).name);
  EXPECT_EQ(report.counterexample->divergence->expected, "'b'");
  EXPECT_EQ(report.counterexample->divergence->got, "'a'");

  model = right;  // the last head copies nothing
  model.layers.back().heads.front().wv.setZero();
  report = compare(source, model);
  ASSERT_EQ(report.verdict, Verdict::kMismatch);
  ASSERT_TRUE(report.counterexample->divergence);
  EXPECT_EQ(text(report.counterexample->input), "a");
  EXPECT_EQ(report.counterexample->divergence->layer, 1);
  EXPECT_EQ(report.counterexample->divergence->slice, "sorted");
  EXPECT_EQ(report.counterexample->divergence->position, 0u);

  model = right;  // the units that turn the width into a place are dead
  model.layers[0].mlp.w_out.setZero();
  report = compare(source, model);
  ASSERT_EQ(report.verdict, Verdict::kMismatch);
  ASSERT_TRUE(report.counterexample->divergence);
  EXPECT_EQ(report.counterexample->divergence->layer, 0);
  EXPECT_EQ(report.counterexample->divergence->slice, "place");
}

TEST(Compare, FindsExchangedHeads) {
  const Source source(
      "before = aggregate(select(indices, indices - 1, ==), tokens, \"-\");"
      "after = aggregate(select(indices, indices + 1, ==), tokens, \"-\");"
      "x = indicator(before == \"a\") + 2 * indicator(after == \"a\");",
      "x");
  model::Model model = compiled(source, "ba", 4);
  ASSERT_EQ(model.layers[0].heads.size(), 2u);
  std::swap(model.layers[0].heads[0].wq, model.layers[0].heads[1].wq);
  std::swap(model.layers[0].heads[0].wk, model.layers[0].heads[1].wk);
  const Report report = compare(source, model);
  const std::string expected = first_mismatch(source, model);
  ASSERT_EQ(report.verdict, Verdict::kMismatch);
  EXPECT_EQ(expected, "ba");
  EXPECT_EQ(text(report.counterexample->input), "ba");
}

// All tensors of a model as one list of weights.
std::vector<double*> weights_of(model::Model& model) {
  std::vector<double*> weights;
  const auto add = [&](auto& tensor) {
    for (Eigen::Index i = 0; i < tensor.size(); ++i) weights.push_back(tensor.data() + i);
  };
  add(model.token_embedding);
  add(model.position_embedding);
  add(model.unembedding);
  for (model::Layer& layer : model.layers) {
    for (model::Head& head : layer.heads) {
      add(head.wq);
      add(head.wk);
      add(head.wv);
      add(head.wo);
    }
    add(layer.mlp.w_in);
    add(layer.mlp.b_in);
    add(layer.mlp.w_out);
  }
  return weights;
}

// One weight is changed: `compare` finds what trying one input after the other finds first, whether
// it tries all inputs or random ones, and on any number of threads.
TEST(Compare, FindsTheSmallestInputForAnyChangedWeight) {
  std::mt19937_64 random(20);
  int wrong = 0;
  for (const auto& [program, name] : {std::pair(kHist, "hist"), std::pair(kReverse, "reverse"),
                                      std::pair(kReverse, "mirror"), std::pair(kSort, "sorted")}) {
    const Source source(program, name);
    const model::Model right = compiled(source, "ab", 4);
    for (int round = 0; round < 40; ++round) {
      model::Model model = right;
      const auto weights = weights_of(model);
      double& weight = *weights[random() % weights.size()];
      weight += (random() % 2 == 0 ? 1.0 : -1.0) * (random() % 3 == 0 ? 0.5 : 300.0);
      weight = static_cast<float>(weight);
      const std::string expected = first_mismatch(source, model);
      wrong += !expected.empty();
      for (const std::uint64_t limit : {kExhaustiveLimit, std::uint64_t{0}}) {
        Options options;
        options.exhaustive_limit = limit;
        options.samples = 500;
        options.seed = random();
        options.threads = 1 + random() % 3;
        const Report report = compare(source, model, options);
        ASSERT_EQ(report.exhaustive, limit != 0);
        ASSERT_EQ(report.verdict, expected.empty() ? Verdict::kExact : Verdict::kMismatch)
            << name << " " << round << " " << expected;
        if (expected.empty()) continue;
        ASSERT_EQ(text(report.counterexample->input), expected) << name << " " << round;
        const Counterexample& found = *report.counterexample;
        ASSERT_TRUE(found.problem.empty() == !found.got.empty());
        if (found.got.empty()) continue;
        ASSERT_FALSE(
            value::identical(found.got.at(found.position), found.expected.at(found.position)) &&
            name != std::string("mirror"));
      }
    }
  }
  EXPECT_GT(wrong, 40) << "most changes must be felt";
}

TEST(Compare, ShrinksWhatRandomInputsFind) {
  const Source source(kHist, "hist");
  model::Model model = compiled(source, "abcdef", 40);
  clamp_decoder(model, 8);
  Options options;
  options.samples = 200;
  options.seed = 5;
  const Report report = compare(source, model, options);
  ASSERT_EQ(report.verdict, Verdict::kMismatch);
  EXPECT_FALSE(report.exhaustive);
  EXPECT_EQ(report.seed, 5u);
  EXPECT_EQ(text(report.counterexample->input), "aaaaaaaaa") << "too long to try all";
}

TEST(Compare, DoesNotDependOnThreads) {
  const Source source(kHist, "hist");
  model::Model model = compiled(source, "abcd", 6);
  clamp_decoder(model, 5);
  std::vector<Report> reports;
  for (const std::size_t threads : {1u, 2u, 5u}) {
    Options options;
    options.threads = threads;
    reports.push_back(compare(source, model, options));
  }
  for (const Report& report : reports) {
    EXPECT_EQ(report.tried, reports[0].tried);
    EXPECT_EQ(text(report.counterexample->input), "aaaaaa");
  }
}

TEST(Compare, KeepsToTheCausalMeaning) {
  const Source source(kHist, "hist");
  model::Model model = compiled(source, "ab", 5, true);
  EXPECT_EQ(compare(source, model).verdict, Verdict::kExact);
  clamp_decoder(model, 1);
  const Report report = compare(source, model);
  ASSERT_EQ(report.verdict, Verdict::kMismatch);
  EXPECT_EQ(text(report.counterexample->input), "aa");
  EXPECT_EQ(report.counterexample->position, 1u);
  EXPECT_EQ(text(report.counterexample->expected), "12");
}

TEST(Compare, ComparesSelectorsByTheirRows) {
  const Source source(kReverse, "mirror");
  model::Model model = compiled(source, "ab", 4);
  Report report = compare(source, model);
  EXPECT_EQ(report.verdict, Verdict::kExact);
  EXPECT_EQ(report.tried, 30u);
  model.layers[model.decoder.pattern_layer].heads[model.decoder.pattern_head].wk.setZero();
  report = compare(source, model);
  ASSERT_EQ(report.verdict, Verdict::kMismatch);
  const Counterexample& found = *report.counterexample;
  EXPECT_EQ(found.expected.size(), found.input.size());
  EXPECT_NE(text(found.expected), text(found.got));
}

TEST(Compare, RefusesAModelOfTheOtherSort) {
  const Source selector(kReverse, "mirror");
  const Source sop(kReverse, "reverse");
  const model::Model model = compiled(sop, "ab", 3);
  const auto names = selector.names();
  EXPECT_FALSE(verify::compare(
      {selector.graph(), selector.node(), model, names, selector.sources()}, Options{}));
}

TEST(Compare, TellsOutputsThatAreNoNumbers) {
  const Source source(kReverse, "reverse");
  model::Model model = compiled(source, "ab", 3);
  model.unembedding.setConstant(0x1.8p127);
  const Report report = compare(source, model);
  ASSERT_EQ(report.verdict, Verdict::kMismatch);
  EXPECT_EQ(text(report.counterexample->input), "a");
  EXPECT_THAT(report.counterexample->problem, testing::HasSubstr("finite"));
  EXPECT_TRUE(report.counterexample->got.empty());
}

TEST(Compare, StopsWhenInterrupted) {
  const Source source(kHist, "hist");
  const model::Model model = compiled(source, "abcd", 8);
  std::atomic<bool> interrupted = true;
  Options options;
  options.halt.interrupted = &interrupted;
  Report report = compare(source, model, options);
  EXPECT_EQ(report.verdict, Verdict::kInterrupted);
  EXPECT_EQ(report.tried, 0u);

  interrupted = false;
  options.threads = 1;
  options.exhaustive_limit = 0;
  options.samples = 10'000'000;
  std::uint64_t reported = 0;
  options.progress = [&](const Progress& progress) {
    EXPECT_LE(progress.done, progress.total);
    EXPECT_GE(progress.done, reported);
    reported = progress.done;
    interrupted = true;
  };
  report = compare(source, model, options);
  EXPECT_EQ(report.verdict, Verdict::kInterrupted);
  EXPECT_GT(reported, 0u);
  EXPECT_GE(report.tried, reported);
  EXPECT_LT(report.tried, report.total);
}

}  // namespace
}  // namespace rasp::verify
