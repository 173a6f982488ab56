#include "visual/model_view.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "../support/compiled.h"
#include "visual/inspect.h"

namespace rasp::visual {
namespace {

using test::Source;

constexpr std::size_t kAll = SIZE_MAX;

const std::string kReverse =
    "mirror = select(indices, length - indices - 1, ==); reverse = aggregate(mirror, tokens);";
const std::string kSort =
    "smaller = select(tokens, tokens, <) or (select(tokens, tokens, ==) and "
    "select(indices, indices, <)); place = selector_width(smaller);"
    "sorted = aggregate(select(place, indices, ==), tokens);";

model::Model compiled(const std::string& program, const std::string& name,
                      const std::string& vocabulary, std::uint32_t max_length,
                      model::Dtype dtype = model::Dtype::kF32) {
  const Source source(program, name);
  EXPECT_EQ(source.why(), "");
  compiler::Options options;
  options.vocabulary = value::characters(vocabulary);
  options.max_length = max_length;
  options.dtype = dtype;
  auto result = source.compile(options);
  EXPECT_TRUE(result) << result.error().message;
  return result ? result->model : model::Model{};
}

// The index of the value that a slice holds at a row of the stream; -1 for a scalar slice.
std::int32_t value_index(const model::Slice& slice, const model::Matrix& stream, Eigen::Index row) {
  const auto width = static_cast<Eigen::Index>(slice.end - slice.begin);
  for (Eigen::Index i = 0; i < slice.features.rows(); ++i) {
    if ((stream.row(row).segment(slice.begin, width) - slice.features.row(i)).isZero(1e-4)) {
      return static_cast<std::int32_t>(i);
    }
  }
  return -1;
}

// The sum of a head's tables is its logits: for every pair of positions of random inputs, against
// what the weights give on the trace.
void expect_tables_to_be_the_logits(const model::Model& model, std::mt19937_64& random) {
  const auto executable = runtime::make_cpu_backend(1)->load(model);
  ASSERT_TRUE(executable);
  std::size_t compared = 0;
  for (const value::Sequence& input :
       test::random_inputs(random, model.vocabulary, model.max_length, 10)) {
    const auto trace = (*executable)->trace(*runtime::encode(model, input));
    ASSERT_TRUE(trace);
    for (std::size_t l = 0; l < model.layers.size(); ++l) {
      const model::Matrix& stream = trace->residual[l];
      for (std::size_t h = 0; h < model.layers[l].heads.size(); ++h) {
        const model::Head& head = model.layers[l].heads[h];
        const HeadView view = view_head(model, l, h, kAll);
        const model::Matrix logits = (stream * head.wq) * (stream * head.wk).transpose() *
                                     (model.attention_scale / logit_unit(model));
        for (Eigen::Index q = 1; q < stream.rows(); ++q) {
          for (Eigen::Index k = 0; k < stream.rows(); ++k) {
            double sum = 0;
            bool known = true;
            for (const QkTable& table : view.qk) {
              const auto index = [&](std::int32_t slice, Eigen::Index row) {
                if (slice == kAny) return 0;
                const auto& of = model.slices[static_cast<std::size_t>(slice)];
                const std::int32_t value = value_index(of, stream, row);
                known = known && value >= 0;
                return std::max(value, 0);
              };
              const int query = index(table.query_slice, q);
              if (k > 0) {
                sum += table.logits(query, index(table.key_slice, k));
              } else if (!table.bos.empty()) {
                sum += table.bos[static_cast<std::size_t>(query)];
              }
            }
            if (!known) continue;
            ++compared;
            ASSERT_NEAR(sum, logits(q, k), 1e-6) << model.name << " " << l << "." << h;
          }
        }
      }
    }
  }
  EXPECT_GT(compared, 0u);
}

TEST(ModelView, TablesAddUpToTheLogits) {
  std::mt19937_64 random(3);
  expect_tables_to_be_the_logits(compiled(kReverse, "reverse", "abc", 6), random);
  expect_tables_to_be_the_logits(compiled(kReverse, "mirror", "abc", 6), random);
  expect_tables_to_be_the_logits(compiled(kSort, "sorted", "abcd", 5), random);
  expect_tables_to_be_the_logits(compiled(kSort, "sorted", "ab", 4, model::Dtype::kF64), random);
  expect_tables_to_be_the_logits(
      compiled("x = aggregate(select(indices, indices, <=), indicator(tokens == \"a\"));", "x",
               "ab", 8),
      random);
}

TEST(ModelView, TellsHeadsApart) {
  for (const model::Dtype dtype : {model::Dtype::kF32, model::Dtype::kF64}) {
    const model::Model sorted = compiled(kSort, "sorted", "abc", 4, dtype);
    EXPECT_EQ(view_head(sorted, 0, 0, kAll).kind, HeadKind::kSum);
    EXPECT_EQ(view_head(sorted, 0, 1, kAll).kind, HeadKind::kSum);
    EXPECT_EQ(view_head(sorted, 1, 0, kAll).kind, HeadKind::kMean);
    const model::Model mirror = compiled(kReverse, "mirror", "abc", 4, dtype);
    EXPECT_EQ(
        view_head(mirror, mirror.decoder.pattern_layer, mirror.decoder.pattern_head, kAll).kind,
        HeadKind::kPattern);
  }
}

TEST(ModelView, ReadsTheLastHeadOfReverse) {
  const model::Model model = compiled(kReverse, "reverse", "ab", 3);
  const HeadView view = view_head(model, 1, 0, kAll);
  ASSERT_EQ(view.qk.size(), 1u);
  EXPECT_TRUE(view.qk[0].logits.isApprox(model::Matrix::Identity(3, 3)));
  EXPECT_THAT(view.qk[0].bos, testing::ElementsAre(0.5, 0.5, 0.5));
  EXPECT_EQ(view.qk[0].keys.labels, (std::vector<std::string>{"0", "1", "2"}));
  ASSERT_EQ(view.ov.size(), 1u);
  EXPECT_EQ(view.ov[0].keys.labels, (std::vector<std::string>{"'a'", "'b'"}));
  EXPECT_EQ(view.ov[0].meaning, (std::vector<std::string>{"'a'", "'b'"}));
  EXPECT_EQ(view.ov[0].when_bos, "0") << "the default of aggregate";
}

TEST(ModelView, ShowsDefaults) {
  const model::Model model =
      compiled("x = aggregate(select(indices, indices - 1, ==), tokens, \"-\");", "x", "ab", 3);
  const HeadView view = view_head(model, 0, 0, kAll);
  ASSERT_EQ(view.ov.size(), 1u);
  EXPECT_EQ(view.ov[0].when_bos, "'-'");
}

TEST(ModelView, SumsCountEachSelectedKeyOnce) {
  const model::Model model =
      compiled("hist = selector_width(select(tokens, tokens, ==));", "hist", "abc", 5);
  const HeadView view = view_head(model, 0, 0, kAll);
  ASSERT_EQ(view.ov.size(), 1u);
  EXPECT_EQ(view.ov[0].key_slice, kAny);
  EXPECT_EQ(view.ov[0].meaning, std::vector<std::string>{"1"});
}

TEST(ModelView, CutsLongAxes) {
  const model::Model model = compiled(kReverse, "reverse", "abcde", 60);
  const HeadView view = view_head(model, 1, 0, 4);
  EXPECT_EQ(view.qk[0].logits.rows(), 4);
  EXPECT_EQ(view.qk[0].logits.cols(), 4);
  EXPECT_EQ(view.qk[0].queries.left_out, 56u);
  EXPECT_EQ(view.ov[0].meaning.size(), 4u);
  EXPECT_EQ(view.ov[0].keys.left_out, 1u);
  EXPECT_LT(inspect_text(model, {4}).size(), inspect_text(model, {}).size() / 3);
}

TEST(ModelView, NamesWhatUnitsReadAndWrite) {
  const model::Model model = compiled(kSort, "sorted", "abc", 4);
  const MlpView mlp = view_mlp(model, 0);
  EXPECT_EQ(mlp.units, static_cast<std::size_t>(model.layers[0].mlp.b_in.size()));
  EXPECT_EQ(mlp.reads.size(), 2u);
  ASSERT_EQ(mlp.writes.size(), 1u);
  EXPECT_EQ(model.slices[static_cast<std::size_t>(mlp.writes[0])].first_step, 2u);
}

TEST(Inspect, HistogramAsText) {
  EXPECT_EQ(
      inspect_text(compiled("hist = selector_width(select(tokens, tokens, ==));", "hist", "ab", 3),
                   {}),
      R"(
  vocabulary   'a', 'b'
  max length   3 tokens and BOS
  arithmetic   float32, C = 256
  size         1 layer, 1 head, d_model 4, 0 hidden units, 64 parameters
  certificate  holds (as the file says), smallest margin 0.5 in output
residual stream, 4 columns
  columns  encoding  written by         name
  0        flag      embedding          bos: 0
  1        flag      embedding          token: 1
  2        features  embedding          tokens_str: 'a', 'b'
  3        scalar    layer 0 attention  width of select(tokens_str, tokens_str, ==) (line 1): 1 to 3, within 2.71e-06
layer 0
  head 0: select(tokens_str, tokens_str, ==) (line 1), sum, d_qk 3, d_v 1
    QK, tokens_str (query, rows) with tokens_str (key), in units of C
           'a'  'b'   BOS
      'a'    1    .  1.12
      'b'    .    1  1.12
    OV, any token of a selected key gives width of select(tokens_str, tokens_str, ==)
      any token  1
      BOS alone  0
)");
}

}  // namespace
}  // namespace rasp::visual
