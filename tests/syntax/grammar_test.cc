// The grammar is settled by one token of look-ahead: the generated parser never predicts by
// simulating it. A rule that broke this would cost every text several times the time.
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <string>

namespace rasp::syntax {
namespace {

TEST(Grammar, NeedsOneTokenOfLookAhead) {
  std::ifstream in(RASP_GENERATED_PARSER);
  const std::string text(std::istreambuf_iterator<char>(in), {});
  ASSERT_NE(text.find("RaspParser::expression()"), std::string::npos);
  EXPECT_EQ(text.find("adaptivePredict"), std::string::npos);
}

}  // namespace
}  // namespace rasp::syntax
