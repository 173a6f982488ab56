// Every syntax error that the parser can word: place, sentence and hint, as errors.golden has them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "parsed_text.h"

namespace rasp::syntax {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::ParsedText;
using ::testing::SizeIs;

const std::string kGolden = RASP_TEST_DATA "/syntax/errors.golden";

// One text, "\n" for its line breaks, and its errors, one a line.
struct Case {
  std::string text;
  std::vector<std::string> errors;
};

std::vector<Case> read_cases() {
  std::vector<Case> cases;
  std::ifstream in(kGolden);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with("    ")) {
      cases.back().errors.push_back(line.substr(4));
    } else if (!line.empty()) {
      cases.push_back({line, {}});
    }
  }
  return cases;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size()) {
    text.replace(at, from.size(), to);
  }
  return text;
}

// Run with RASP_REBASE=1 to write what the parser says now; read the difference before committing.
TEST(SyntaxErrors, AreAsInTheGoldenFile) {
  std::vector<Case> cases = read_cases();
  ASSERT_GT(cases.size(), 180U);
  const bool rebase = std::getenv("RASP_REBASE") != nullptr;
  for (Case& one : cases) {
    std::vector<std::string> errors;
    for (const std::string& error : ParsedText(replaced(one.text, "\\n", "\n")).errors()) {
      errors.push_back(replaced(error, "\n", "\\n"));
    }
    ASSERT_THAT(errors, Not(IsEmpty())) << one.text;
    if (rebase) {
      one.errors = errors;
    } else {
      EXPECT_EQ(errors, one.errors) << one.text;
    }
  }
  if (!rebase) return;
  std::ofstream out(kGolden);
  for (const Case& one : cases) {
    out << one.text << '\n';
    for (const std::string& error : one.errors) out << "    " << error << '\n';
  }
}

TEST(SyntaxErrors, EachStatementReportsItsOwn) {
  const ParsedText parsed(
      "a = ;\nb = 2;\nc c;\ndef f(x) {\n  y = (1;\n  z = x;\n  return z z;\n}\nd = 4;\n]");
  EXPECT_THAT(
      parsed.errors(),
      ElementsAre(HasSubstr("1:5 [;] expected an expression after '='"),
                  HasSubstr("3:3 [c] expected ';'"), HasSubstr("5:9 [;] expected ')'"),
                  HasSubstr("7:12 [z] expected ';'"), HasSubstr("10:1 []] expected a statement")));
  EXPECT_EQ(parsed.printed(), "b = 2;\nd = 4;");
}

TEST(SyntaxErrors, BlocksInsideBlocksGoOnAfterAnError) {
  const ParsedText parsed(
      "for i in l {\n  for j in m { a a; b = 1 }\n  c = 2\n  d = ;\n}\n"
      "puzzle p() { \"d\" vocab ; length 1 to 2; expect a; limit layers x; }\ne = 1;");
  EXPECT_THAT(
      parsed.errors(),
      ElementsAre(HasSubstr("2:18 [a]"), HasSubstr("2:27 [}] expected ';'"),
                  HasSubstr("3:7 [2] expected ';'"), HasSubstr("4:7 [;] expected an expression"),
                  HasSubstr("6:24 [;]"), HasSubstr("6:48 [a] expected 'left == right'"),
                  HasSubstr("6:64 [x] expected a number")));
  EXPECT_EQ(parsed.printed(), "e = 1;");
}

TEST(SyntaxErrors, AreLimitedInNumber) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "a a;\n";
  EXPECT_THAT(ParsedText(text).errors(), SizeIs(kMaxSyntaxErrors));
  text = "def f() {\n" + text;
  EXPECT_THAT(ParsedText(text).errors(), SizeIs(kMaxSyntaxErrors));
}

TEST(SyntaxErrors, NameTheLineOfTheBracketThatIsOpen) {
  EXPECT_THAT(ParsedText("x = f(1,\n\n  2;").errors(),
              ElementsAre("3:4 [;] expected ')' to close '(' at line 1, found ';'"));
  EXPECT_THAT(
      ParsedText("x;\ndef f(x) {\n  y = x;\n").errors(),
      ElementsAre("3:8 [;] expected '}' to close '{' at line 2, found the end of the text"));
}

TEST(SyntaxErrors, LongAndStrangeTokensAreShownShort) {
  const std::string name(500, 'n');
  const auto errors = ParsedText("a " + name + ";").errors();
  ASSERT_THAT(errors, SizeIs(1));
  EXPECT_THAT(errors[0], HasSubstr("found '" + std::string(30, 'n') + "\xE2\x80\xA6'"));
  EXPECT_THAT(ParsedText("a \x1b;").errors(),
              ElementsAre(AllOf(HasSubstr("\\x1b'"), HasSubstr("1:3"))));
}

TEST(SyntaxErrors, TextThatIsNoText) {
  using std::string_literals::operator""s;
  EXPECT_THAT(ParsedText("a;\n\0b;"s).errors(),
              ElementsAre("2:1 ["s + '\0' + "] expected text, found a NUL byte"));
  EXPECT_THAT(
      ParsedText("a = \"\xFF\";").errors(),
      ElementsAre(HasSubstr("1:6 [\xFF] expected UTF-8 text, found a byte that is not UTF-8")));
  EXPECT_THAT(ParsedText("# \xC3").errors(), ElementsAre(HasSubstr("1:3")));
  EXPECT_THAT(ParsedText("a;\n\0b;"s).statements(), IsEmpty());
}

}  // namespace
}  // namespace rasp::syntax
