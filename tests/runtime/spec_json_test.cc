#include "runtime/spec_json.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <random>

namespace rasp::runtime {
namespace {

AttentionSpec spec_of(const std::string& json) {
  const auto file = parse_spec(json, "");
  EXPECT_TRUE(file.has_value()) << json << ": " << (file ? "" : file.error().message);
  return file ? (*file)->spec : AttentionSpec{};
}

TEST(SpecJson, EmptyIsTheDefault) {
  const AttentionSpec spec = spec_of("{}");
  EXPECT_EQ(spec.score, Score::kDot);
  EXPECT_EQ(spec.normaliser, Normaliser::kSoftmax);
  EXPECT_FALSE(spec.scale || spec.rope || spec.alibi || spec.causal || spec.left || spec.right ||
               spec.mask || spec.bias || spec.feature != nullptr || !spec.lengths.empty());
}

TEST(SpecJson, EveryKeyReachesItsField) {
  EXPECT_EQ(spec_of(R"({"scale": 0.25})").scale, 0.25);
  const AttentionSpec gaussian = spec_of(R"({"score": "gaussian", "sigma": 3})");
  EXPECT_EQ(gaussian.score, Score::kGaussian);
  EXPECT_EQ(gaussian.sigma, 3);
  const AttentionSpec additive = spec_of(
      R"({"score": "additive", "additive": {"wq": [[1, 2, 3], [4, 5, 6]],
          "wk": [[0, 0, 1], [1, 0, 0]], "v": [7, 8]}})");
  EXPECT_EQ(additive.additive.hidden, 2U);
  EXPECT_EQ(additive.additive.wq, (std::vector<double>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(additive.additive.wk, (std::vector<double>{0, 0, 1, 1, 0, 0}));
  EXPECT_EQ(additive.additive.v, (std::vector<double>{7, 8}));
  EXPECT_EQ(spec_of(R"({"rope": true})").rope->base, 10'000);
  const AttentionSpec rope = spec_of(R"({"rope": {"base": 500, "interleaved": false}})");
  EXPECT_EQ(rope.rope->base, 500);
  EXPECT_FALSE(rope.rope->interleaved);
  EXPECT_FALSE(spec_of(R"({"rope": false, "alibi": false})").rope);
  EXPECT_TRUE(spec_of(R"({"alibi": true})").alibi->slopes.empty());
  EXPECT_EQ(spec_of(R"({"alibi": [0.5, 1]})").alibi->slopes, (std::vector<double>{0.5, 1}));
  EXPECT_TRUE(spec_of(R"({"mask": "causal"})").causal);
  EXPECT_TRUE(spec_of(R"({"mask": "causal", "causal": true})").causal);
  EXPECT_FALSE(spec_of(R"({"mask": "full"})").causal);
  EXPECT_TRUE(spec_of("{}").equal_keys);
  EXPECT_FALSE(spec_of(R"({"equal_keys": false})").equal_keys);
  EXPECT_EQ(spec_of(R"({"lengths": [0, 5]})").lengths, (std::vector<std::size_t>{0, 5}));
  const AttentionSpec sides = spec_of(R"({"left": 2, "right": 0})");
  EXPECT_EQ(sides.left, 2U);
  EXPECT_EQ(sides.right, 0U);
  EXPECT_EQ(spec_of(R"({"normaliser": "hard"})").normaliser, Normaliser::kHard);
  const AttentionSpec linear = spec_of(R"({"normaliser": "linear", "feature": "relu"})");
  EXPECT_EQ(linear.normaliser, Normaliser::kLinear);
  EXPECT_EQ(linear.feature(-2), 0);
  EXPECT_EQ(linear.feature(2), 2);
  EXPECT_EQ(spec_of(R"({"normaliser": "linear", "feature": "elu+1"})").feature, nullptr);
}

// W keys, the query's own the last of them, causal or not.
TEST(SpecJson, AWindowIsSoManyKeys) {
  for (const bool causal : {false, true}) {
    const AttentionSpec spec =
        spec_of(R"({"window": 3, "mask": ")" + std::string(causal ? "causal" : "full") + "\"}");
    AttentionShape shape;
    shape.q_len = shape.kv_len = 10;
    for (std::size_t i = 0; i < 10; ++i) {
      const KeyRange range = visible_keys(spec, shape, 0, i);
      EXPECT_EQ(range.end, i + 1);
      EXPECT_EQ(range.end - range.begin, std::min<std::size_t>(i + 1, 3));
    }
  }
}

TEST(SpecJson, FilesAreReadFromTheFolder) {
  const auto folder = std::filesystem::temp_directory_path() / "spec_json_test";
  std::filesystem::create_directories(folder);
  const std::vector<std::uint8_t> mask = {1, 0, 1, 1, 1, 1};
  const std::vector<float> bias = {0, 1, 2, 3, 4, 5};
  ASSERT_TRUE(save_npy(folder / "mask.npy", NpyType::kBool, {2, 3}, mask.data()).has_value());
  ASSERT_TRUE(save_npy(folder / "bias.npy", NpyType::kFloat32, {1, 2, 3}, bias.data()).has_value());
  const auto file =
      parse_spec(R"({"mask": "mask.npy", "bias": "bias.npy", "positions": "bias.npy"})", folder);
  EXPECT_FALSE(file.has_value());  // three dimensions are no table
  const auto two = parse_spec(R"({"mask": "mask.npy", "bias": "bias.npy"})", folder);
  ASSERT_TRUE(two.has_value()) << two.error().message;
  const AttentionSpec& spec = (*two)->spec;
  ASSERT_TRUE(spec.mask && spec.bias);
  EXPECT_EQ(spec.mask->length, 2U);
  EXPECT_EQ(spec.mask->dim, 3U);
  EXPECT_EQ(spec.mask->row(0, 0, 0)[1], 0);
  EXPECT_EQ(spec.bias->row(0, 0, 1)[2], 5.0);
  std::filesystem::remove_all(folder);
}

TEST(SpecJson, TablesOfPositions) {
  const auto none = parse_spec("{}", "");
  ASSERT_TRUE(none.has_value());
  EXPECT_FALSE(position_table_of(**none, 4, 4)->has_value());
  const auto sinusoidal = parse_spec(R"({"positions": "sinusoidal"})", "");
  ASSERT_TRUE(sinusoidal.has_value());
  EXPECT_EQ((*position_table_of(**sinusoidal, 4, 6))->values, sinusoidal_positions(4, 6).values);
  const auto one_hot = parse_spec(R"({"positions": "one-hot"})", "");
  ASSERT_TRUE(one_hot.has_value());
  EXPECT_TRUE(position_table_of(**one_hot, 4, 6).has_value());
  EXPECT_FALSE(position_table_of(**one_hot, 7, 6).has_value());
}

// Values of every wrong kind, under every key: an error or a spec, and nothing else.
TEST(SpecJson, WrongValuesAreErrors) {
  const std::vector<std::string> keys = {"score",   "scale",  "sigma",     "additive", "rope",
                                         "alibi",   "mask",   "positions", "causal",   "left",
                                         "right",   "window", "bias",      "lengths",  "normaliser",
                                         "feature", "colour"};
  const std::vector<std::string> values = {"null",
                                           "true",
                                           "-1",
                                           "1e400",
                                           "1.5",
                                           "99999999999999999999",
                                           "\"\"",
                                           "\"none\"",
                                           "[]",
                                           "[[]]",
                                           "[null]",
                                           "{}",
                                           "{\"wq\": 1}",
                                           "[1, [2]]",
                                           "\"\\u0000\"",
                                           "[-1]",
                                           "{\"wq\": [], \"wk\": [], \"v\": []}"};
  std::size_t accepted = 0;
  for (const std::string& key : keys)
    for (const std::string& value : values) {
      const std::string json = "{\"" + key + "\": " + value + "}";
      const auto file = parse_spec(json, "/nowhere");
      if (file) ++accepted;
      if (!file) {
        EXPECT_EQ(file.error().kind, ErrorKind::kInput) << json;
        EXPECT_NE(file.error().message, "") << json;
      }
    }
  // scale -1, 1.5 and 99999999999999999999; rope true and {}; alibi true and [-1]; causal true;
  // lengths []
  EXPECT_EQ(accepted, 9U);
}

}  // namespace
}  // namespace rasp::runtime
