#include "verify/inputs.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

namespace rasp::verify {
namespace {

std::vector<Tokens> walk(const Inputs& inputs) {
  std::vector<Tokens> all;
  for (std::uint64_t block = 0; block < inputs.blocks(); ++block) {
    for (Inputs::Cursor cursor(inputs, block); !cursor.done();) {
      EXPECT_EQ(cursor.number(), all.size());
      cursor.read(all.emplace_back());
    }
  }
  return all;
}

TEST(CountInputs, AddsPowersAndStopsAtTheLimit) {
  EXPECT_EQ(count_inputs(4, 8, 1'000'000), 87'380u);
  EXPECT_EQ(count_inputs(1, 7, 1'000'000), 7u);
  EXPECT_EQ(count_inputs(2, 3, 14), 14u);
  EXPECT_EQ(count_inputs(2, 3, 13), 14u);
  EXPECT_EQ(count_inputs(10, 6, 1'000'000), 1'000'001u);
  EXPECT_EQ(count_inputs(256, 65'536, 1'000'000), 1'000'001u);
  EXPECT_EQ(count_inputs(1'000'000, 1, 1'000'000), 1'000'000u);
}

TEST(Inputs, AllAreThereOnceSmallestFirst) {
  for (const std::uint64_t vocabulary : {1u, 2u, 3u, 5u}) {
    const std::vector<Tokens> all = walk(Inputs::all(vocabulary, 1, 5));
    ASSERT_EQ(all.size(), count_inputs(vocabulary, 5, 1'000'000));
    for (std::size_t i = 0; i < all.size(); ++i) {
      ASSERT_GE(all[i].size(), 1u);
      ASSERT_LE(all[i].size(), 5u);
      for (const auto token : all[i]) ASSERT_LT(token, vocabulary);
      ASSERT_TRUE(i == 0 || smaller(all[i - 1], all[i]));
    }
  }
}

TEST(Inputs, RandomOnesHaveEveryLengthEquallyOftenAndFollowTheSeed) {
  const std::vector<Tokens> inputs = walk(Inputs::random(3, 1, 7, 7'000, 1));
  std::map<std::size_t, int> lengths;
  std::map<std::uint32_t, int> tokens;
  for (const Tokens& input : inputs) {
    ++lengths[input.size()];
    for (const auto token : input) ++tokens[token];
  }
  ASSERT_EQ(lengths.size(), 7u);
  for (const auto& [length, count] : lengths) EXPECT_EQ(count, 1'000) << length;
  ASSERT_EQ(tokens.size(), 3u);
  for (const auto& [token, count] : tokens) EXPECT_NEAR(count, 28'000 / 3, 500) << token;
  EXPECT_EQ(walk(Inputs::random(3, 1, 7, 7'000, 1)), inputs);
  EXPECT_NE(walk(Inputs::random(3, 1, 7, 7'000, 2)), inputs);
  EXPECT_GT(std::set<Tokens>(inputs.begin(), inputs.end()).size(), 1'600u)
      << "blocks do not repeat each other";
}

TEST(Inputs, ShorterOnesThanAskedForAreNotThere) {
  std::vector<Tokens> all = walk(Inputs::all(3, 1, 5));
  const std::vector<Tokens> long_ones = walk(Inputs::all(3, 3, 5));
  std::erase_if(all, [](const Tokens& tokens) { return tokens.size() < 3; });
  EXPECT_EQ(long_ones, all);
  std::map<std::size_t, int> lengths;
  for (const Tokens& input : walk(Inputs::random(3, 4, 6, 300, 1))) ++lengths[input.size()];
  EXPECT_EQ(lengths, (std::map<std::size_t, int>{{4, 100}, {5, 100}, {6, 100}}));
}

TEST(Inputs, FewRandomOnesReachTheLongestLength) {
  const std::vector<Tokens> inputs = walk(Inputs::random(2, 1, 100, 3, 9));
  ASSERT_EQ(inputs.size(), 3u);
  EXPECT_EQ(inputs[0].size(), 34u);
  EXPECT_EQ(inputs[2].size(), 100u);
}

}  // namespace
}  // namespace rasp::verify
