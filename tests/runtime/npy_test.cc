#include "runtime/npy.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <filesystem>
#include <random>

namespace rasp::runtime {
namespace {

// A file as NumPy writes one.
std::string npy(const std::string& header, const std::string& data, int version = 1) {
  std::string text = "\x93NUMPY";
  text += static_cast<char>(version);
  text += '\0';
  const std::string line = header + "\n";
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    text += static_cast<char>((line.size() >> (8 * i)) & 0xff);
  return text + line + data;
}

template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  std::string bytes(values.size() * sizeof(T), '\0');
  if (!bytes.empty()) std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

std::string header(const std::string& descr, const std::string& shape,
                   const std::string& fortran = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + fortran + ", 'shape': " + shape + ", }";
}

TEST(Npy, ReadsEveryVersionAndType) {
  for (const int version : {1, 2, 3}) {
    const auto array =
        parse_npy(npy(header("<f4", "(2, 3)"), bytes_of<float>({1, 2, 3, 4, 5, 6}), version));
    ASSERT_TRUE(array.has_value()) << array.error().message;
    EXPECT_EQ(array->type, NpyType::kFloat32);
    EXPECT_EQ(array->shape, (std::vector<std::size_t>{2, 3}));
    EXPECT_EQ(array->entries<float>()[5], 6.0F);
  }
  const auto doubles = parse_npy(npy(header("<f8", "(1,)"), bytes_of<double>({0.1})));
  ASSERT_TRUE(doubles.has_value());
  EXPECT_EQ(doubles->entries<double>()[0], 0.1);
  const auto scalar = parse_npy(npy(header("<f8", "()"), bytes_of<double>({7})));
  ASSERT_TRUE(scalar.has_value());
  EXPECT_EQ(scalar->size(), 1U);
  const auto flags = parse_npy(npy(header("|b1", "(3,)"), std::string("\1\0\1", 3)));
  ASSERT_TRUE(flags.has_value());
  EXPECT_EQ(flags->entries<std::uint8_t>()[1], 0);
  const auto none = parse_npy(npy(header("<f4", "(0, 99999)"), ""));
  ASSERT_TRUE(none.has_value());
  EXPECT_EQ(none->size(), 0U);
}

// The format allows keys in any order and either kind of quotes.
TEST(Npy, HeaderMayBeWrittenOtherwise) {
  const auto array = parse_npy(
      npy("{\"shape\":(2,),'fortran_order' : False,  'descr':\"<f4\"}", bytes_of<float>({1, 2})));
  ASSERT_TRUE(array.has_value()) << array.error().message;
  EXPECT_EQ(array->size(), 2U);
}

TEST(Npy, FortranOrderIsReordered) {
  std::mt19937 engine(1);
  for (int round = 0; round < 100; ++round) {
    std::vector<std::size_t> shape(std::uniform_int_distribution<std::size_t>(0, 4)(engine));
    std::size_t size = 1;
    std::string text = "(";
    for (std::size_t& axis : shape) {
      axis = std::uniform_int_distribution<std::size_t>(0, 4)(engine);
      size *= axis;
      text += std::to_string(axis) + ",";
    }
    std::vector<double> columns(size), rows(size);
    std::vector<std::size_t> index(shape.size(), 0);
    for (std::size_t at = 0; at < size; ++at) {
      std::size_t fortran = 0;
      std::size_t stride = 1;
      for (std::size_t axis = 0; axis < shape.size(); ++axis) {
        fortran += index[axis] * stride;
        stride *= shape[axis];
      }
      columns[fortran] = rows[at] = static_cast<double>(at);
      for (std::size_t axis = shape.size(); axis-- > 0;) {
        if (++index[axis] < shape[axis]) break;
        index[axis] = 0;
      }
    }
    const auto array = parse_npy(npy(header("<f8", text + ")", "True"), bytes_of(columns)));
    ASSERT_TRUE(array.has_value()) << array.error().message;
    EXPECT_EQ(array->data, bytes_of(rows)) << text;
  }
}

TEST(Npy, SaysWhatIsWrong) {
  const auto refused = [](const std::string& bytes, const std::string& why) {
    const auto array = parse_npy(bytes);
    ASSERT_FALSE(array.has_value()) << why;
    EXPECT_NE(array.error().message.find(why), std::string::npos) << array.error().message;
  };
  const std::string one = bytes_of<float>({1});
  refused("", "does not begin");
  refused("PK\3\4 and more of a zip file", "does not begin");
  refused(npy(header("<f4", "(1,)"), one, 4), "format version 4");
  refused(npy(header(">f4", "(1,)"), one), "'>f4'");
  refused(npy(header("<i8", "(1,)"), one), "'<i8'");
  refused(npy(header("|O", "(1,)"), one), "'|O'");
  refused(npy("{'descr': [('x', '<f4')], 'fortran_order': False, 'shape': (1,)}", one),
          "several fields");
  refused(npy(header("<f4", "(2,)"), one), "needs 8 bytes, but 4 follow");
  refused(npy(header("<f4", "(1,)"), one + one), "needs 4 bytes, but 8 follow");
  refused(npy(header("<f4", "(99999999999999999999,)"), one), "larger than any array");
  refused(npy(header("<f4", "(4294967296, 4294967296, 4294967296)"), one), "over 16 GiB");
  refused(npy(header("<f4", "(-1,)"), one), "a whole number");
  refused(npy(header("<f4", "(1,), 'shape': (1,)"), one), "there already");
  refused(npy(header("<f4", "(1,), 'colour': 1"), one), "'colour'");
  refused(npy("{'descr': '<f4', 'shape': (1,)}", one), "lacks");
  refused(npy(header("<f4", "(1,)") + "x", one), "the end of the header");
  refused(npy(header("<f4", "(1,)", "Maybe"), one), "True or False");
  refused(npy(header("<f4", "(1,)"), "").substr(0, 20), "longer than");
  std::string long_header = npy(header("<f4", "(1,)"), one, 2);
  long_header[11] = '\x7f';  // a header of 2 GiB
  refused(long_header, "longer than");
}

// Whatever a byte or a length is turned into, the reader answers, and never with more entries than
// there are bytes.
TEST(Npy, MutatedFilesAreHarmless) {
  std::mt19937 engine(2);
  const std::string good = npy(header("<f8", "(2, 1, 2)", "True"), bytes_of<double>({1, 2, 3, 4}));
  const auto any = [&](std::size_t below) {
    return std::uniform_int_distribution<std::size_t>(0, below - 1)(engine);
  };
  constexpr std::string_view kAlphabet = "0123456789(),:'{}<>|=fFbTrue \n";
  for (int round = 0; round < 200'000; ++round) {
    std::string bytes = good;
    for (std::size_t changes = 1 + any(4); changes > 0; --changes) {
      const std::size_t at = any(bytes.size());
      switch (any(5)) {
        case 0:
          bytes[at] = static_cast<char>(any(256));
          break;
        case 1:
          bytes[at] = kAlphabet[any(kAlphabet.size())];
          break;
        case 2:
          bytes.insert(at, 1, kAlphabet[any(kAlphabet.size())]);
          break;
        case 3:
          bytes.erase(at, 1 + any(3));
          break;
        default:
          bytes.resize(at);
      }
      if (bytes.empty()) break;
    }
    const std::size_t size = bytes.size();
    const auto array = parse_npy(std::move(bytes));
    if (!array) continue;
    EXPECT_LT(array->data.size(), size);
    std::size_t entries = 1;
    for (const std::size_t axis : array->shape) entries *= axis;
    EXPECT_EQ(entries, array->size());
  }
}

class NpyFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / ("npy_test_" + std::to_string(getpid()));
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ / name; }
  std::filesystem::path folder_;
};

TEST_F(NpyFiles, WhatIsSavedLoads) {
  const std::vector<float> values = {1, -2.5F, 3e-9F, 4, 5, 6};
  const std::vector<std::vector<std::size_t>> shapes = {{6}, {2, 3}, {1, 2, 3, 1}};
  for (const auto& shape : shapes) {
    ASSERT_TRUE(save_npy(path("x.npy"), NpyType::kFloat32, shape, values.data()).has_value());
    const auto array = load_npy(path("x.npy"));
    ASSERT_TRUE(array.has_value()) << array.error().message;
    EXPECT_EQ(array->shape, shape);
    EXPECT_EQ(array->data, bytes_of(values));
    EXPECT_EQ(std::filesystem::file_size(path("x.npy")), 128 + 24U);  // as NumPy aligns it
  }
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_), {}), 1);
}

TEST_F(NpyFiles, ErrorsNameTheFile) {
  for (const std::string name : {"missing.npy", ""}) {
    const auto array = load_npy(path(name));  // the second is the folder
    ASSERT_FALSE(array.has_value());
    EXPECT_NE(array.error().message.find(path(name)), std::string::npos) << array.error().message;
  }
  const auto saved = save_npy(path("no/such/folder.npy"), NpyType::kFloat32, {}, "1234");
  EXPECT_FALSE(saved.has_value());
}

}  // namespace
}  // namespace rasp::runtime
