#include "base/source.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

#include "base/utf8.h"

namespace rasp {
namespace {

TEST(Span, JoinCoversBothAndKeepsTheFileOfTheFirst) {
  const Span a{0, 4, 6};
  const Span b{0, 1, 5};
  EXPECT_EQ(join(a, b), (Span{0, 1, 6}));
  EXPECT_EQ(join(b, a), (Span{0, 1, 6}));
  EXPECT_EQ(join(a, Span{1, 0, 9}), a);
  EXPECT_EQ(join(Span{}, a), a);
  EXPECT_EQ(join(a, Span{}), a);
}

TEST(SourceMap, LinesLoseTheirBreaks) {
  SourceMap sources;
  const FileId file = sources.add("f.rasp", "one\r\ntwo\n\nlast");
  EXPECT_EQ(sources.line(file, 1), "one");
  EXPECT_EQ(sources.line(file, 2), "two");
  EXPECT_EQ(sources.line(file, 3), "");
  EXPECT_EQ(sources.line(file, 4), "last");
  EXPECT_EQ(sources.line(file, 0), "");
  EXPECT_EQ(sources.line(file, 5), "");
  const FileId ended = sources.add("g.rasp", "a\n");
  EXPECT_EQ(sources.line(ended, 1), "a");
  EXPECT_EQ(sources.line(ended, 2), "");
}

TEST(SourceMap, ColumnsCountCodePoints) {
  SourceMap sources;
  const std::string text = "x = \"§漢\";\ny";
  const FileId file = sources.add("f.rasp", text);
  const auto at = [&](std::string_view what) {
    return sources.place(file, static_cast<std::uint32_t>(text.find(what)));
  };
  EXPECT_EQ(at("\"§").column, 5u);
  EXPECT_EQ(at("漢").column, 7u);
  EXPECT_EQ(at(";").column, 9u);
  EXPECT_EQ(at("y").line, 2u);
  EXPECT_EQ(at("y").column, 1u);
  EXPECT_EQ(sources.describe({file, 4, 5}), "f.rasp:1:5");
  EXPECT_EQ(sources.describe({}), "");
  EXPECT_EQ(sources.describe({77, 0, 1}), "");
}

// Against counting the slow way, on random bytes, broken UTF-8 included.
TEST(SourceMap, PlacesAgreeWithCounting) {
  std::mt19937_64 random(2);
  const std::string_view pieces[] = {"a", "\n", "\r\n", "é", "漢", "\xff", "\xe2\x82", "\t", "bc"};
  for (int round = 0; round < 300; ++round) {
    std::string text;
    for (std::size_t i = random() % 40; i > 0; --i) text += pieces[random() % std::size(pieces)];
    SourceMap sources;
    const FileId file = sources.add("r", text);
    std::size_t line = 1;
    std::size_t column = 1;
    for (std::size_t offset = 0; offset < text.size();) {
      const Place place = sources.place(file, static_cast<std::uint32_t>(offset));
      ASSERT_EQ(place.line, line) << printable(text) << " at " << offset;
      ASSERT_EQ(place.column, column) << printable(text) << " at " << offset;
      const CodePoint point = decode_utf8(text, offset);
      offset += point.bytes;
      ++column;
      if (point.value == U'\n') ++line, column = 1;
    }
    const Place end = sources.place(file, static_cast<std::uint32_t>(text.size()));
    ASSERT_EQ(end.line, line);
    ASSERT_EQ(end.column, column);
    ASSERT_EQ(sources.place(file, 0xFFFFFFFF).column, column);
  }
}

TEST(SourceMap, TextOfASpanIsClamped) {
  SourceMap sources;
  const FileId file = sources.add("f", "hello");
  EXPECT_EQ(sources.text(Span{file, 1, 3}), "el");
  EXPECT_EQ(sources.text(Span{file, 3, 99}), "lo");
  EXPECT_EQ(sources.text(Span{file, 9, 99}), "");
  EXPECT_EQ(sources.text(Span{}), "");
}

TEST(SourceMap, ViewsStayGoodWhileSourcesAreAdded) {
  SourceMap sources;
  const FileId file = sources.add("first", "abc");
  const std::string_view view = sources.text({file, 0, 3});
  for (int i = 0; i < 1000; ++i) (void)sources.add("more", "xyz");
  EXPECT_EQ(view, "abc");
  EXPECT_EQ(view.data(), sources.text({file, 0, 3}).data());
}

}  // namespace
}  // namespace rasp
