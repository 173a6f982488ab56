// Values as text.
#include "cli/format.h"

#include <gtest/gtest.h>

#include "base/utf8.h"
#include "cli/help.h"
#include "cli/line_editor.h"

namespace rasp::cli {
namespace {

using value::Number;

TEST(Format, SequencesFoldOnlyWhatIsOneValue) {
  EXPECT_EQ(format_sequence(value::characters("aaa")), "[a]*3 (strings)");
  EXPECT_EQ(format_sequence(value::characters("a")), "[a] (strings)");
  EXPECT_EQ(format_sequence(value::Sequence{Number::integer(1), Number::rational(1, 1)}),
            "[1, 1.0] (floats)");
  EXPECT_EQ(format_sequence(value::Sequence{true, false}), "[T, F] (bools)");
  EXPECT_EQ(format_sequence(value::characters("abcde"), 3), "[a, b, c, … (2 more)] (strings)");
}

TEST(Format, GridsAreAlignedForTokensOfAnyWidth) {
  const value::Sequence input{"a", "long", "日本", Number::rational(1, 3), "\n"};
  interpreter::Matrix matrix(input.size());
  for (std::size_t i = 0; i < input.size(); ++i) {
    for (std::size_t j = 0; j < input.size(); ++j) matrix.set(i, j);
  }
  const std::string grid = format_grid(input, matrix, "  ");
  std::size_t width = 0;
  std::size_t lines = 0;
  for (std::size_t at = 0; at < grid.size(); ++lines) {
    const std::size_t end = grid.find('\n', at);
    ASSERT_NE(end, std::string::npos);
    const std::size_t columns = display_width(std::string_view(grid).substr(at, end - at));
    if (width == 0) width = columns;
    EXPECT_EQ(columns, width) << grid;
    at = end + 1;
  }
  EXPECT_EQ(lines, input.size() + 1);
}

TEST(Format, LargeGridsAreCut) {
  const value::Sequence input(1000, std::string("x"));
  const std::string grid = format_grid(input, interpreter::Matrix(1000), "");
  EXPECT_NE(grid.find("… (744 more)"), std::string::npos);
  EXPECT_LT(grid.size(), 300'000u);
}

TEST(Format, FullDisplayHasTwoAlignedLines) {
  const value::Sequence output{Number::rational(1, 2), Number::rational(1, 1),
                               Number::rational(3, 2)};
  EXPECT_EQ(format_full_sequence(value::characters("abc"), output, ""),
            "input:     a   b   c \t (strings)\noutput:  0.5 1.0 1.5 \t (floats)\n");
}

TEST(Format, NestedListsAreCutWhereTheyAreTooDeep) {
  lang::Value value{value::Atom(true)};
  for (int i = 0; i < 190; ++i) {
    value = {lang::List{std::make_shared<const lang::ListItems>(lang::ListItems{value})}};
  }
  const std::string text = format_flat(value, graph::Graph());
  EXPECT_NE(text.find("[…]"), std::string::npos);
  EXPECT_EQ(text.find("True"), std::string::npos);
}

TEST(Help, EveryTopicOfTheOverviewIsThere) {
  const std::string overview(help_text(""));
  for (const std::string& topic : help_topics()) {
    EXPECT_NE(overview.find(topic), std::string::npos) << topic;
    EXPECT_FALSE(help_text(topic).empty());
  }
  EXPECT_EQ(help_text("=="), help_text("operators"));
  EXPECT_EQ(help_text("nothing of the kind"), "");
}

TEST(Completion, GoesAsFarAsAllAgree) {
  EXPECT_EQ(matching("so", {"sort", "so", "some", "sort", "as"}),
            (std::vector<std::string>{"so", "some", "sort"}));
  EXPECT_EQ(common_prefix({"mark_first", "mark_last"}), "mark_");
  EXPECT_EQ(common_prefix({"one"}), "one");
  EXPECT_EQ(common_prefix({}), "");
}

}  // namespace
}  // namespace rasp::cli
