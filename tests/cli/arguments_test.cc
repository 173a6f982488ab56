// Options and positional arguments.
#include "cli/arguments.h"

#include <gtest/gtest.h>

namespace rasp::cli {
namespace {

using Words = std::vector<std::string>;

class Arguments : public testing::Test {
 protected:
  Arguments() : syntax_("run FILE [options]", "Runs.", "rasp run x") {
    syntax_.positional("FILE", 1, 2)
        .values("input", "INPUT", "an input")
        .value("output,o", "MODEL", "a file")
        .flag("json", "JSON");
  }
  Syntax syntax_;
};

TEST_F(Arguments, ValuesAreWhateverFollows) {
  const auto parsed = syntax_.parse(
      {"f", "--input", "-5", "--input=", "--input", "", "--input", "--json", "-o", "-o"});
  ASSERT_TRUE(parsed) << parsed.error().message;
  EXPECT_EQ(parsed->all("input"), (Words{"-5", "", "", "--json"}));
  EXPECT_EQ(parsed->get("output"), "-o");
  EXPECT_FALSE(parsed->has("json"));
  EXPECT_EQ(parsed->all("FILE"), Words{"f"});
  EXPECT_EQ(parsed->get("absent", "otherwise"), "otherwise");
}

TEST_F(Arguments, PositionalArgumentsMayLookLikeNumbersOrStandBehindDashes) {
  EXPECT_EQ(syntax_.parse({"-1+2", "--json"})->all("FILE"), Words{"-1+2"});
  EXPECT_EQ(syntax_.parse({"--json", "--", "--json"})->all("FILE"), Words{"--json"});
  EXPECT_EQ(syntax_.parse({"-", "(1)"})->all("FILE"), (Words{"-", "(1)"}));
}

TEST_F(Arguments, ErrorsNameTheOptionAndSuggest) {
  const auto message = [this](const Words& words) {
    const auto parsed = syntax_.parse(words);
    return parsed ? std::string("accepted") : parsed.error().message + "|" + parsed.error().hint;
  };
  EXPECT_EQ(message({"f", "--ouput", "x"}), "unknown option '--ouput'|did you mean '--output'?");
  EXPECT_EQ(message({"f", "--inp"}), "unknown option '--inp'|did you mean '--input'?");
  EXPECT_EQ(message({"f", "--zzzzzz"}), "unknown option '--zzzzzz'|see `rasp run --help`");
  EXPECT_EQ(message({"f", "--input"}),
            "option '--input' needs a value: --input INPUT|see `rasp run --help`");
  EXPECT_EQ(message({"f", "-o", "a", "--output", "b"}),
            "option '--output' was given more than once|see `rasp run --help`");
  EXPECT_EQ(message({"f", "--json=1"}), "option '--json' takes no value|see `rasp run --help`");
  EXPECT_EQ(message({}), "expected FILE, but none was given|see `rasp run --help`");
  EXPECT_EQ(message({"a", "b", "c"}), "unexpected argument 'c'|see `rasp run --help`");
  EXPECT_EQ(message({"--help"}), "accepted");
}

TEST_F(Arguments, HelpNamesEveryOption) {
  const std::string help = syntax_.help();
  for (const char* word : {"Usage: rasp run FILE", "--input INPUT", "-o, --output MODEL", "--json",
                           "--help", "Examples:", "rasp run x"}) {
    EXPECT_NE(help.find(word), std::string::npos) << word << " in " << help;
  }
}

TEST(Count, HasBounds) {
  EXPECT_EQ(*parse_count("--n", "1", 1, 10), 1u);
  EXPECT_EQ(*parse_count("--n", "10", 1, 10), 10u);
  for (const char* text : {"", "0", "11", "1.5", "a", "-1", " 1", "1 ", "99999999999999999999"}) {
    EXPECT_FALSE(parse_count("--n", text, 1, 10)) << text;
  }
}

}  // namespace
}  // namespace rasp::cli
