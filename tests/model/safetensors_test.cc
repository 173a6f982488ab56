#include "model/safetensors.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <limits>

#include "model/tensors.h"
#include "random_model.h"

namespace rasp::model {
namespace {

using testing::RandomModel;
using testing::RandomModelOptions;
using value::Atom;
using value::Number;

std::string bytes_of(const Model& model) {
  auto bytes = serialise(model);
  EXPECT_TRUE(bytes.has_value()) << (bytes ? "" : bytes.error().message);
  return bytes.value_or("");
}

std::string failure(const std::string& bytes) {
  const auto model = deserialise(bytes);
  if (model) return "loaded";
  EXPECT_EQ(model.error().kind, ErrorKind::kModel);
  EXPECT_FALSE(model.error().hint.empty());
  return model.error().message;
}

// Also tells -0.0 from 0.0.
template <typename Tensor>
bool same_bits(const Tensor& a, const Tensor& b) {
  return a.rows() == b.rows() && a.cols() == b.cols() &&
         (a.size() == 0 || std::memcmp(a.data(), b.data(),
                                       static_cast<std::size_t>(a.size()) * sizeof(double)) == 0);
}

void expect_same_weights(const Model& a, const Model& b) {
  std::vector<std::pair<std::string, Matrix>> first;
  for_each_tensor(a, [&](const std::string& name, const auto& tensor) {
    first.emplace_back(name, Matrix(tensor));
  });
  std::size_t next = 0;
  for_each_tensor(b, [&](const std::string& name, const auto& tensor) {
    ASSERT_LT(next, first.size());
    EXPECT_EQ(first[next].first, name);
    EXPECT_TRUE(same_bits(first[next].second, Matrix(tensor))) << name;
    ++next;
  });
  EXPECT_EQ(next, first.size());
}

Model small_model(std::uint64_t seed = 3) {
  RandomModelOptions options;
  options.max_width = 3;
  options.max_layers = 1;
  options.max_heads = 1;
  options.max_length = 3;
  RandomModel random(seed);
  Model model = random(options);
  while (model.layers.empty() || model.layers[0].heads.empty()) model = random(options);
  return model;
}

std::uint64_t header_length(const std::string& bytes) {
  std::uint64_t length = 0;
  std::memcpy(&length, bytes.data(), sizeof(length));
  return length;
}

// The same file with `from` replaced by `to` in its header.
std::string edited(const std::string& bytes, const std::string& from, const std::string& to) {
  std::string header = bytes.substr(8, header_length(bytes));
  const std::size_t at = header.find(from);
  EXPECT_NE(at, std::string::npos) << from << " in " << header;
  if (at == std::string::npos) return bytes;
  header.replace(at, from.size(), to);
  const std::uint64_t length = header.size();
  std::string result(8, '\0');
  std::memcpy(result.data(), &length, sizeof(length));
  return result + header + bytes.substr(8 + header_length(bytes));
}

TEST(Safetensors, RandomModelsComeBackBitForBit) {
  RandomModel random(1);
  for (int round = 0; round < 300; ++round) {
    const Model model = random();
    const std::string bytes = bytes_of(model);
    EXPECT_EQ((8 + header_length(bytes)) % 8, 0u);
    const auto read = deserialise(bytes);
    ASSERT_TRUE(read.has_value()) << read.error().message;
    expect_same_weights(model, *read);
    EXPECT_EQ(read->parameters(), model.parameters());
    EXPECT_EQ(bytes_of(*read), bytes);  // the description too, since equal models give equal bytes
  }
}

TEST(Safetensors, NegativeZeroSurvives) {
  Model model = small_model();
  model.unembedding(0, 0) = -0.0;
  const auto read = deserialise(bytes_of(model));
  ASSERT_TRUE(read.has_value());
  EXPECT_TRUE(std::signbit(read->unembedding(0, 0)));
}

TEST(Safetensors, TheDescriptionSurvives) {
  Model model = small_model();
  model.name = "naïve \"quoted\"\n";
  model.program = "%0 = tokens\n%1 = indices\n";
  model.decoder.kind = Decoder::Kind::kScalar;
  model.decoder.values = {Atom(std::string("a")), value::make_int(2)};
  model.decoder.codes = {Number::rational(-1, 3), Number::integer(4)};
  model.decoder.minimum = Number::rational(-1, 3);
  model.decoder.maximum = Number::integer(7);
  model.decoder.max_denominator = 4096;
  model.decoder.type_output = 0;
  model.decoder.number_type = Decoder::NumberType::kFloat;
  model.decoder.multiples = true;
  Slice slice;
  slice.name = "x";
  slice.origin = "f:1:2";
  slice.encoding = Slice::Encoding::kScalar;
  slice.end = 1;
  slice.first_step = 2;
  slice.values = {Atom(true), Atom(std::string("b"))};
  slice.features = Matrix::Constant(2, 1, 0.5);
  slice.bos_value = Vector::Constant(1, -2.0);
  slice.minimum = -1.5;
  slice.maximum = std::numeric_limits<double>::infinity();
  slice.error = 0x1p-30;
  model.slices.push_back(slice);
  const std::size_t parameters = model.parameters();
  model.layers[0].heads[0].name = "hist@0";
  model.certificate.lines.push_back(
      {"layer 0 head 0", "hist@0", std::numeric_limits<double>::infinity(), 104.5, true, "fine"});
  model.certificate.lines.push_back({"output", "sop", std::nan(""), -0.125, false, ""});
  model.certificate.holds = true;
  const auto read = deserialise(bytes_of(model));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->name, model.name);
  EXPECT_EQ(read->program, model.program);
  EXPECT_EQ(read->decoder.kind, Decoder::Kind::kScalar);
  EXPECT_EQ(read->decoder.minimum, model.decoder.minimum);
  EXPECT_EQ(read->decoder.maximum, model.decoder.maximum);
  EXPECT_EQ(read->decoder.codes, model.decoder.codes);
  EXPECT_TRUE(value::identical(read->decoder.values.at(0), model.decoder.values[0]));
  EXPECT_EQ(read->decoder.max_denominator, 4096);
  EXPECT_EQ(read->decoder.type_output, 0);
  EXPECT_EQ(read->decoder.number_type, Decoder::NumberType::kFloat);
  EXPECT_TRUE(read->decoder.multiples);
  ASSERT_EQ(read->slices.size(), 1u);
  EXPECT_EQ(read->slices[0].origin, "f:1:2");
  EXPECT_EQ(read->slices[0].encoding, Slice::Encoding::kScalar);
  EXPECT_EQ(read->slices[0].first_step, 2u);
  EXPECT_EQ(read->slices[0].minimum, -1.5);
  EXPECT_EQ(read->slices[0].maximum, slice.maximum);
  EXPECT_EQ(read->slices[0].error, 0x1p-30);
  expect_same_weights(model, *read);
  EXPECT_EQ(read->parameters(), parameters);
  EXPECT_TRUE(value::identical(read->slices[0].values.at(0), Atom(true)));
  EXPECT_EQ(read->layers[0].heads[0].name, "hist@0");
  ASSERT_EQ(read->certificate.lines.size(), 2u);
  EXPECT_EQ(read->certificate.lines[0].margin, std::numeric_limits<double>::infinity());
  EXPECT_EQ(read->certificate.lines[0].bound, 104.5);
  EXPECT_TRUE(std::isnan(read->certificate.lines[1].margin));
  EXPECT_FALSE(read->certificate.lines[1].holds);
  EXPECT_TRUE(read->certificate.holds);
}

TEST(Safetensors, APatternNamesItsHead) {
  Model model = small_model();
  model.decoder.kind = Decoder::Kind::kPattern;
  const auto read = deserialise(bytes_of(model));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_EQ(read->decoder.kind, Decoder::Kind::kPattern);
  model.decoder.pattern_head = 1;
  EXPECT_FALSE(serialise(model).has_value());
  model.decoder.pattern_head = 0;
  model.decoder.pattern_layer = 1;
  EXPECT_FALSE(serialise(model).has_value());
}

TEST(Safetensors, AtomsKeepTypeAndValue) {
  const std::vector<Atom> atoms = {
      Atom(true),
      Atom(false),
      value::make_int(0),
      value::make_int(1),
      value::make_int(-1),
      Atom(Number::rational(1, 1)),
      Atom(std::string("1")),
      Atom(std::string("")),
      Atom(std::string("true")),
      Atom(std::string("€ \" \\ \n")),
      Atom(Number::rational(1, 3)),
      Atom(Number::rational(-7, 10)),
      Atom(Number::rational(1, 2)),
      Atom(Number::inexact(0.1)),
      Atom(Number::rational(1, 10)),
      value::make_int((std::int64_t{1} << 53) - 1),
      value::make_int(std::int64_t{1} << 53),
      value::make_int(-(std::int64_t{1} << 53)),
      value::make_int(std::numeric_limits<std::int64_t>::min()),
      Atom(Number::integer(value::BigInt("123456789012345678901234567890"))),
      Atom(Number::rational(value::BigRational(value::BigInt("-100000000000000000000000000007"),
                                               value::BigInt("10000000000000000000000000")))),
      Atom(Number::rational(value::BigRational(value::BigInt(1), value::BigInt(1) << 1100)))};
  RandomModel random(5);
  Model model = random();
  model.vocabulary = atoms;
  model.token_embedding = random.matrix(atoms.size() + 1, model.d_model);
  model.dtype = Dtype::kF64;
  const auto read = deserialise(bytes_of(model));
  ASSERT_TRUE(read.has_value()) << read.error().message;
  ASSERT_EQ(read->vocabulary.size(), atoms.size());
  for (std::size_t i = 0; i < atoms.size(); ++i) {
    EXPECT_TRUE(value::identical(read->vocabulary[i], atoms[i])) << value::repr(atoms[i]);
    const auto* number = std::get_if<Number>(&atoms[i]);
    if (number != nullptr) {
      EXPECT_EQ(std::get<Number>(read->vocabulary[i]).is_exact(), number->is_exact());
    }
  }
}

TEST(Safetensors, EveryTruncationIsAnError) {
  const std::string bytes = bytes_of(small_model());
  for (std::size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(deserialise(bytes.substr(0, length)).has_value()) << length;
}

TEST(Safetensors, EveryByteOfTheHeaderMayBeWrong) {
  const Model model = small_model();
  const std::string bytes = bytes_of(model);
  const std::size_t data_start = 8 + header_length(bytes);
  std::size_t refused = 0;
  for (std::size_t i = 0; i < data_start; ++i) {
    for (const int value :
         std::initializer_list<int>{0, 1, '"', '0', '9', '[', '{', '-', ',', '\\', 0x80, 0xFF}) {
      std::string mutated = bytes;
      mutated[i] = static_cast<char>(value);
      const auto read = deserialise(mutated);
      if (!read) {
        ++refused;
        EXPECT_EQ(read.error().kind, ErrorKind::kModel);
        continue;
      }
      EXPECT_TRUE(check(*read).has_value());
      EXPECT_EQ(read->parameters(), model.parameters());
    }
  }
  EXPECT_GT(refused, data_start * 4);
}

TEST(Safetensors, WrongFilesAreNamed) {
  Model model = small_model();
  model.dtype = Dtype::kF32;
  for_each_tensor(model, [](const std::string&, auto& tensor) { tensor.setZero(); });
  const std::string bytes = bytes_of(model);
  EXPECT_NE(failure("").find("too few"), std::string::npos);
  EXPECT_NE(failure(std::string(8, '\xff')).find("the limit"), std::string::npos);
  EXPECT_NE(failure(bytes + "x").find("no tensor claims"), std::string::npos);
  EXPECT_NE(failure(edited(bytes, "\"F32\"", "\"F16\"")).find("F16"), std::string::npos);
  EXPECT_NE(failure(edited(bytes, "\"embed.tokens\"", "\"embed.other\"")).find("embed.tokens"),
            std::string::npos);
  EXPECT_NE(failure(edited(bytes, "\"unembed\"",
                           "\"foreign\":{\"data_offsets\":[0,0],\"dtype\":\"F32\",\"shape\":[0]},"
                           "\"unembed\""))
                .find("asks for"),
            std::string::npos);
  EXPECT_NE(failure(edited(bytes, "\"unembed\"", "\"embed.tokens\":{},\"unembed\"")).find("twice"),
            std::string::npos);
  EXPECT_NE(
      failure(edited(bytes, "\"shape\":[", "\"shape\":[4294967296,4294967296,")).find("dimensions"),
      std::string::npos);
  EXPECT_NE(failure(edited(bytes, "\"shape\":[", "\"shape\":[99999999999999999999,"))
                .find("not a list of sizes"),
            std::string::npos);
  EXPECT_NE(
      failure(edited(bytes, "\"data_offsets\":[0,", "\"data_offsets\":[4,")).find("embed.tokens"),
      std::string::npos);
  EXPECT_NE(failure(edited(bytes, "\"format_version\":\"1\"", "\"format_version\":\"7\""))
                .find("version 7"),
            std::string::npos);
  EXPECT_NE(failure(edited(bytes, "\"d_model\\\":", "\"d_model\\\":9")).find("embed.tokens"),
            std::string::npos);
  EXPECT_NE(failure(edited(bytes, "\"causal\\\":", "\"causal\\\":0.5,\\\"x\\\":")).find("entries"),
            std::string::npos);
  EXPECT_NE(failure(edited(bytes, "\"shape\":",
                           "\"shape\":" + std::string(40, '[') + std::string(40, ']') + ",\"y\":"))
                .find("deeper"),
            std::string::npos);
  EXPECT_NE(failure(edited(bytes, "\"max_length\\\":", "\"max_length\\\":1e999,\\\"z\\\":"))
                .find("out of range"),
            std::string::npos);
}

TEST(Safetensors, ModelsThatBreakTheirInvariantsAreRefused) {
  const auto refuses = [](auto&& change) {
    Model model = small_model();
    change(model);
    const auto status = serialise(model);
    return !status.has_value() && status.error().kind == ErrorKind::kModel;
  };
  EXPECT_FALSE(refuses([](Model&) {}));
  EXPECT_TRUE(refuses([](Model& m) { m.unembedding(0, 0) = std::nan(""); }));
  EXPECT_TRUE(refuses([](Model& m) { m.unembedding(0, 0) = 1e300 * 1e300; }));
  EXPECT_TRUE(refuses([](Model& m) { m.dtype = Dtype::kF32, m.unembedding(0, 0) = 0.1; }));
  EXPECT_TRUE(refuses([](Model& m) { m.dtype = Dtype::kF32, m.unembedding(0, 0) = 1e39; }));
  EXPECT_TRUE(refuses([](Model& m) { m.d_model += 1; }));
  EXPECT_TRUE(refuses([](Model& m) { m.max_length += 1; }));
  EXPECT_TRUE(refuses([](Model& m) { m.vocabulary.push_back(m.vocabulary[0]); }));
  EXPECT_TRUE(refuses([](Model& m) { m.vocabulary[0] = std::string("\xff"); }));
  EXPECT_TRUE(refuses([](Model& m) { m.name = "\xc3"; }));
  EXPECT_TRUE(refuses([](Model& m) { m.layers[0].heads[0].wk.resize(m.d_model, 50); }));
  EXPECT_TRUE(refuses([](Model& m) { m.layers[0].heads[0].wo.resize(49, m.d_model); }));
  EXPECT_TRUE(refuses([](Model& m) { m.layers[0].mlp.b_in.resize(77); }));
  EXPECT_TRUE(refuses([](Model& m) { m.decoder.values.clear(); }));
  EXPECT_TRUE(refuses([](Model& m) { m.decoder.values.resize(60); }));
  EXPECT_TRUE(refuses([](Model& m) { m.attention_scale = std::nan(""); }));
  EXPECT_TRUE(refuses([](Model& m) { m.slices.emplace_back().end = 60; }));
  EXPECT_TRUE(refuses([](Model& m) { m.slices.emplace_back().first_step = 9; }));
  EXPECT_TRUE(refuses([](Model& m) {
    m.decoder.kind = Decoder::Kind::kScalar;
    m.decoder.type_output = 60;
  }));
  EXPECT_TRUE(refuses([](Model& m) {
    m.decoder.kind = Decoder::Kind::kScalar;
    m.decoder.values = {Atom(std::string("a"))};  // without a code
  }));
  EXPECT_TRUE(refuses([](Model& m) {
    m.decoder.kind = Decoder::Kind::kScalar;
    m.decoder.values = {Atom(true), Atom(false)};
    m.decoder.codes = {Number::integer(1), Number::rational(1, 1)};
  }));
}

class SaveTest : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = (std::filesystem::temp_directory_path() / "rasp-model-XXXXXX").string();
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  [[nodiscard]] std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(std::filesystem::directory_iterator(folder_), {}));
  }
  std::filesystem::path folder_;
};

TEST_F(SaveTest, SavesAndLoads) {
  const Model model = small_model();
  const std::string path = (folder_ / "m.safetensors").string();
  ASSERT_TRUE(save(model, path).has_value());
  ASSERT_TRUE(save(model, path).has_value());  // over the old one
  EXPECT_EQ(files(), 1u);
  const auto read = load(path);
  ASSERT_TRUE(read.has_value());
  expect_same_weights(model, *read);
}

TEST_F(SaveTest, AFailedSaveLeavesTheOldFileAndNothingElse) {
  const std::string path = (folder_ / "m.safetensors").string();
  ASSERT_TRUE(save(small_model(), path).has_value());
  Model broken = small_model();
  broken.d_model += 1;
  EXPECT_FALSE(save(broken, path).has_value());
  EXPECT_FALSE(save(small_model(), folder_.string()).has_value());
  EXPECT_FALSE(save(small_model(), (folder_ / "none" / "m").string()).has_value());
  EXPECT_EQ(files(), 1u);
  EXPECT_TRUE(load(path).has_value());
}

TEST_F(SaveTest, ASymbolicLinkStays) {
  const auto path = folder_ / "m.safetensors";
  const auto link = folder_ / "link";
  ASSERT_TRUE(save(small_model(1), path.string()).has_value());
  std::filesystem::create_symlink(path, link);
  ASSERT_TRUE(save(small_model(2), link.string()).has_value());
  EXPECT_TRUE(std::filesystem::is_symlink(link));
  EXPECT_EQ(bytes_of(load(path.string()).value()), bytes_of(small_model(2)));
}

TEST_F(SaveTest, WhatIsNoModelFileIsAnError) {
  EXPECT_NE(load(folder_.string()).error().message.find("directory"), std::string::npos);
  EXPECT_EQ(load((folder_ / "none").string()).error().kind, ErrorKind::kInput);
  const auto path = folder_ / "text";
  std::ofstream(path) << "not a model";
  const auto read = load(path.string());
  EXPECT_EQ(read.error().kind, ErrorKind::kModel);
  EXPECT_NE(read.error().message.find(path.string()), std::string::npos);
  EXPECT_FALSE(load("/dev/null").has_value());
  EXPECT_TRUE(save(small_model(), "/dev/null").has_value());
  EXPECT_TRUE(std::filesystem::is_character_file("/dev/null"));
}

}  // namespace
}  // namespace rasp::model
