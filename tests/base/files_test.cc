#include "base/files.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>

namespace rasp {
namespace {

class Files : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("files_test_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }
  [[nodiscard]] Result<void> write(const std::string& name, std::string_view a,
                                   std::string_view b = {}) const {
    const std::array<std::string_view, 2> pieces = {a, b};
    return write_whole_file(path(name), pieces);
  }
  [[nodiscard]] std::ptrdiff_t entries() const {
    return std::distance(std::filesystem::directory_iterator(folder_), {});
  }
  std::filesystem::path folder_;
};

TEST_F(Files, WhatIsWrittenIsRead) {
  const std::string large(3'000'000, 'x');
  ASSERT_TRUE(write("a", "old").has_value());
  ASSERT_TRUE(write("a", std::string_view("zero \0 byte", 11), large).has_value());
  const auto text = read_regular_file(path("a"), 10'000'000, "a text");
  ASSERT_TRUE(text.has_value()) << text.error().message;
  EXPECT_EQ(*text, std::string("zero \0 byte", 11) + large);
  EXPECT_EQ(entries(), 1);
}

TEST_F(Files, TheLimitIsExact) {
  ASSERT_TRUE(write("a", "12345").has_value());
  EXPECT_TRUE(read_regular_file(path("a"), 5, "a text").has_value());
  const auto larger = read_regular_file(path("a"), 4, "a text");
  ASSERT_FALSE(larger.has_value());
  EXPECT_NE(larger.error().message.find("larger than a text can be (4 bytes)"), std::string::npos)
      << larger.error().message;
}

TEST_F(Files, WhatIsNoFileIsAnError) {
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  for (const std::string& name : {path(""), path("none"), path("pipe"), std::string("/dev/zero")}) {
    const auto text = read_regular_file(name, 100, "a text");
    ASSERT_FALSE(text.has_value()) << name;
    EXPECT_NE(text.error().message.find(name), std::string::npos) << text.error().message;
  }
}

TEST_F(Files, AFailedWriteLeavesNothing) {
  EXPECT_FALSE(write("", "text").has_value());
  EXPECT_FALSE(write("none/a", "text").has_value());
  const std::array<std::string_view, 1> pieces = {"text"};
  EXPECT_FALSE(write_whole_file("/dev/full", pieces).has_value());
  EXPECT_TRUE(write_whole_file("/dev/null", pieces).has_value());
  EXPECT_EQ(entries(), 0);
}

TEST_F(Files, TheFileBehindALinkIsReplaced) {
  ASSERT_TRUE(write("real", "old").has_value());
  std::filesystem::create_symlink(path("real"), path("link"));
  ASSERT_TRUE(write("link", "new").has_value());
  EXPECT_TRUE(std::filesystem::is_symlink(path("link")));
  EXPECT_EQ(*read_regular_file(path("real"), 100, "a text"), "new");
}

}  // namespace
}  // namespace rasp
