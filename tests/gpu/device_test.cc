// Devices: memory and its limits, errors, the cache of kernels, tiles, equal keys, batches that do
// not fit.
#include <gtest/gtest.h>
#include <stdlib.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include "../model/random_model.h"
#include "devices_here.h"
#include "random_attention.h"
#include "runtime/backends.h"
#include "runtime/gpu/attention.h"
#include "runtime/gpu/cache.h"
#include "runtime/gpu/kernel_sources.h"
#include "runtime/gpu/model.h"

namespace rasp::runtime::gpu {
namespace {

namespace fs = std::filesystem;
using testing::AttentionCase;
using testing::fetch;
using testing::RandomAttention;
using testing::Tensor;

class Devices : public testing::OnDevice {};
RASP_ON_EVERY_DEVICE(Devices);

TEST_P(Devices, SayWhatTheyAre) {
  const DeviceInfo& info = device().info();
  EXPECT_EQ(info.backend, GetParam());
  EXPECT_FALSE(info.name.empty());
  EXPECT_GT(info.memory, 0u);
  EXPECT_GT(info.local_memory, 0u);
  EXPECT_GT(info.units, 0u);
}

TEST_P(Devices, CountTheirMemory) {
  const std::size_t before = device().allocated();
  {
    const Buffer one = device().allocate(1000).value();
    const Buffer other = device().allocate(24).value();
    EXPECT_EQ(device().allocated(), before + 1024);
  }
  EXPECT_EQ(device().allocated(), before);
  EXPECT_GE(device().peak(), before + 1024);
  device().forget_peak();
  EXPECT_EQ(device().peak(), before);
}

TEST_P(Devices, MoreMemoryThanThereIsIsAnError) {
  const auto buffer = device().allocate(std::size_t{1} << 60);
  ASSERT_FALSE(buffer.has_value());
  EXPECT_EQ(buffer.error().kind, ErrorKind::kLimit);
  EXPECT_NE(buffer.error().message.find("1152921504606846976"), std::string::npos);
}

TEST_P(Devices, AKernelThatDoesNotBuildIsAnErrorWithItsLog) {
  Source source = kernel_source({"probe.cl"}, false);
  source.text += "\nKERNEL(1) broken(GLOBAL REAL* x) { x[0] = no_such_thing; }\n";
  const auto program = device().build(source);
  ASSERT_FALSE(program.has_value());
  EXPECT_EQ(program.error().kind, ErrorKind::kLimit);
  EXPECT_NE(program.error().message.find("no_such_thing"), std::string::npos)
      << program.error().message;
}

TEST_P(Devices, AKernelThatIsNotThereIsAnError) {
  const auto program = device().build(kernel_source({"probe.cl"}, false));
  ASSERT_TRUE(program.has_value());
  EXPECT_FALSE((*program)->launch("no_such_kernel", {1}, 64, 0, {}).has_value());
}

// A tiled forward: memory of q, k, v and out, and no more than 64 MiB beside.
TEST_P(Devices, MemoryOfLongAttentionIsThatOfItsInputs) {
  constexpr std::size_t kLength = 32'768;
  for (const bool linear : {false, true}) {
    AttentionCase<float> made;
    made.shape = {1, 2, 1, kLength, kLength, 64, 64};
    made.spec.rope = Rope{};
    made.spec.causal = true;
    if (linear) {
      made.spec.normaliser = Normaliser::kLinear;
    } else {
      made.spec.set_window(64);  // time that a CPU has, and the memory of any mask
    }
    RandomAttention(31).fill(made);
    Tensor<float> out(1, 2, kLength, 64);
    device().forget_peak();
    const auto status =
        attention<float>(workshop(), std::as_const(made.q).view(), std::as_const(made.k).view(),
                         std::as_const(made.v).view(), made.spec, out.view());
    ASSERT_TRUE(status.has_value()) << status.error().message;
    const std::size_t inputs =
        4 * (made.q.data.size() + made.k.data.size() + made.v.data.size() + out.data.size());
    EXPECT_LE(device().peak(), inputs + (std::size_t{64} << 20));
    EXPECT_EQ(device().allocated(), 0u);
  }
}

TEST_P(Devices, EveryTileAgreesWithTheReference) {
  RandomAttention random(32);
  for (const Widths& widths : {Widths{16, 16}, Widths{64, 64}}) {
    const auto tiles = fitting_tiles(device().info(), widths, false);
    ASSERT_FALSE(tiles.empty());
    for (std::size_t t = 0; t < tiles.size(); ++t) {
      if (!device().info().gpu && t != 3) continue;  // its compiler takes seconds for each
      AttentionCase<float> made;
      made.shape = {2, 4, 2, 150, 131, 70, 67};
      made.spec.causal = true;
      made.spec.left = 90;
      random.fill(made);
      Tensor<float> out(2, 4, 150, 67);
      const Tile tile = tiles[t];
      const auto status =
          attention<float>(workshop(), std::as_const(made.q).view(), std::as_const(made.k).view(),
                           std::as_const(made.v).view(), made.spec, out.view(), &tile, &widths);
      ASSERT_TRUE(status.has_value()) << status.error().message;
      EXPECT_LE(testing::error_in_units(out, made.reference(), 4, 131), 8.0)
          << tile.queries << " x " << tile.keys;
    }
  }
}

// The kinds of keys that the kernel finds, against those of a map.
TEST_P(Devices, EqualKeysAreFound) {
  std::mt19937_64 random(33);
  const auto program = workshop().programs.get(kernel_source({"equal_keys.cl"}, false));
  ASSERT_TRUE(program.has_value()) << program.error().message;
  for (const bool whole : {true, false}) {
    constexpr int kRows = 700, kHeads = 3, kKey = 2, kValue = 3;
    constexpr int kHeadWidth = 2 * kKey + kValue, kWidth = kHeads * kHeadWidth;
    const std::vector<std::int32_t> sequences{0, 300, 300, 400};
    std::vector<float> projected(kRows * kWidth);
    std::vector<ModelHead> heads;
    for (int h = 0; h < kHeads; ++h)
      heads.push_back(
          {h * kHeadWidth, h * kHeadWidth + kKey, h * kHeadWidth + 2 * kKey, kKey, kValue, 0, 8});
    for (float& entry : projected) {
      entry = static_cast<float>(random() % 5) - 2;
      if (entry == 0 && random() % 2 == 0) entry = -0.0f;
    }
    if (!whole) projected[static_cast<std::size_t>(heads[1].v)] = 0.5f;
    const auto ints = [&](std::size_t count) {
      return upload(device(), std::vector<std::int32_t>(count * kHeads * kRows)).value();
    };
    const auto numbers = [&](std::size_t count) {
      return upload(device(), std::vector<float>(count * kRows)).value();
    };
    const Buffer on_device = upload(device(), projected).value();
    const Buffer head_list = upload(device(), heads).value();
    const Buffer sequence_list = upload(device(), sequences).value();
    const Buffer table = ints(2), leaders = ints(1), distinct = ints(1), members = ints(1);
    const Buffer counts = numbers(kHeads), sums = numbers(kWidth);
    const Argument arguments[] = {on_device, head_list, sequence_list, table,  leaders, distinct,
                                  members,   counts,    sums,          kWidth, kHeads,  0x1p24f};
    ASSERT_TRUE((*program)->launch("equal_keys", {2, kHeads}, 128, 129 * sizeof(float), arguments));
    const auto got_distinct = fetch<std::int32_t>(device(), distinct);
    const auto got_members = fetch<std::int32_t>(device(), members);
    const auto got_counts = fetch<float>(device(), counts);
    const auto got_sums = fetch<float>(device(), sums);
    for (std::size_t s = 0; s < sequences.size(); s += 2)
      for (int h = 0; h < kHeads; ++h) {
        const int base = sequences[s], rows = sequences[s + 1];
        const ModelHead& head = heads[static_cast<std::size_t>(h)];
        std::map<std::pair<float, float>, int> kinds;  // +0 and -0 are one key of the map
        std::vector<int> first, count;
        std::vector<std::array<float, kValue>> sum;
        for (int row = 0; row < rows; ++row) {
          const float* key = projected.data() + (base + row) * kWidth + head.k;
          const float* value = projected.data() + (base + row) * kWidth + head.v;
          const auto [kind, fresh] =
              kinds.try_emplace({key[0], key[1]}, static_cast<int>(first.size()));
          if (fresh) {
            first.push_back(row);
            count.push_back(0);
            sum.push_back({});
          }
          const auto at = static_cast<std::size_t>(kind->second);
          ++count[at];
          for (int e = 0; e < kValue; ++e) sum[at][static_cast<std::size_t>(e)] += value[e];
        }
        const bool usable = whole || h != 1 || s != 0;
        ASSERT_EQ(got_distinct[static_cast<std::size_t>(base * kHeads + h)],
                  usable ? static_cast<int>(first.size()) : 0);
        for (std::size_t kind = 0; usable && kind < first.size(); ++kind) {
          const std::size_t at =
              (static_cast<std::size_t>(base) + kind) * kHeads + static_cast<std::size_t>(h);
          EXPECT_EQ(got_members[at], first[kind]);
          EXPECT_EQ(got_counts[at], static_cast<float>(count[kind]));
          for (std::size_t e = 0; e < kValue; ++e)
            EXPECT_EQ(got_sums[(static_cast<std::size_t>(base) + kind) * kWidth +
                               static_cast<std::size_t>(head.v) + e],
                      sum[kind][e]);
        }
      }
  }
}

// Batches that do not fit are worked on in parts, with the same bits.
TEST_P(Devices, BatchesAreSplit) {
  testing::RandomModel random(34);
  model::Model model = random();
  while (model.dtype != model::Dtype::kF32 || model.layers.empty()) model = random();
  std::vector<std::vector<TokenId>> batch(50);
  for (auto& tokens : batch) {
    tokens.resize(random.size(1, model.max_length));
    for (TokenId& token : tokens)
      token = static_cast<TokenId>(random.size(0, model.vocabulary.size() - 1));
  }
  const auto whole = load_model(shared(), model).value()->run(batch).value();
  for (const std::size_t rows : {1u, 20u, 100u}) {
    const auto parts = load_model(shared(), model, rows).value()->run(batch).value();
    for (std::size_t s = 0; s < batch.size(); ++s)
      ASSERT_EQ(0, std::memcmp(whole[s].data(), parts[s].data(),
                               static_cast<std::size_t>(whole[s].size()) * sizeof(double)));
  }
}

// A home for caches of its own.
class Cache : public testing::OnDevice {
 protected:
  void SetUp() override {
    const char* before = std::getenv("XDG_CACHE_HOME");
    if (before != nullptr) before_ = before;
    home_ = fs::path(::testing::TempDir()) / ("raspkit-cache-" + std::to_string(getpid()));
    setenv("XDG_CACHE_HOME", home_.c_str(), 1);
    testing::OnDevice::SetUp();
  }
  void TearDown() override {
    if (before_.empty()) {
      unsetenv("XDG_CACHE_HOME");
    } else {
      setenv("XDG_CACHE_HOME", before_.c_str(), 1);
    }
    fs::remove_all(home_);
  }
  [[nodiscard]] std::vector<fs::path> files() const {
    std::vector<fs::path> found;
    if (fs::exists(home_))
      for (const auto& entry : fs::recursive_directory_iterator(home_ / "raspkit"))
        found.push_back(entry.path());
    return found;
  }

  fs::path home_;
  std::string before_;
};
RASP_ON_EVERY_DEVICE(Cache);

TEST_P(Cache, KeepsKernelsAndSurvivesDamage) {
  const Source source = kernel_source({"probe.cl"}, false);
  ASSERT_TRUE(device().build(source).has_value());
  ASSERT_EQ(files().size(), 1u);
  const fs::path file = files().front();
  const auto size = fs::file_size(file);
  EXPECT_GT(size, 100u);
  ASSERT_TRUE(device().build(source).has_value());  // from the cache
  for (const std::uintmax_t left : {size / 2, std::uintmax_t{3}, std::uintmax_t{0}}) {
    fs::resize_file(file, left);
    ASSERT_TRUE(device().build(source).has_value());
    EXPECT_EQ(fs::file_size(file), size);  // written anew
  }
}

TEST(CacheFiles, GiveWhatWasPutOrNothing) {
  const fs::path home = fs::path(::testing::TempDir()) / "raspkit-cache-files";
  const char* before = std::getenv("XDG_CACHE_HOME");
  const std::string kept = before == nullptr ? "" : before;
  setenv("XDG_CACHE_HOME", home.c_str(), 1);
  EXPECT_FALSE(cached("key").has_value());
  cache("key", "value");
  cache("other", "");
  EXPECT_EQ(cached("key"), "value");
  EXPECT_EQ(cached("other"), "");
  // Any damaged byte is noticed.
  const std::string path = cache_path("key");
  std::ifstream in(path, std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 1);
    std::ofstream(path, std::ios::binary) << damaged;
    EXPECT_FALSE(cached("key").has_value()) << i;
  }
  fs::remove_all(home);
  if (kept.empty()) {
    unsetenv("XDG_CACHE_HOME");
  } else {
    setenv("XDG_CACHE_HOME", kept.c_str(), 1);
  }
}

TEST(ChoosingABackend, SaysWhatIsMissingOrUnknown) {
  const auto unknown = make_backend("abacus");
  ASSERT_FALSE(unknown.has_value());
  EXPECT_EQ(unknown.error().kind, ErrorKind::kInput);
  EXPECT_NE(unknown.error().hint.find("opencl"), std::string::npos);
  EXPECT_TRUE(make_backend("cpu").has_value());
  EXPECT_TRUE(make_backend("auto").has_value());
  const DeviceList list = list_devices();
  ASSERT_FALSE(list.devices.empty());
  EXPECT_EQ(list.devices.front().backend, "cpu");
  for (const auto& missing : list.missing) {
    const auto backend = make_backend(missing.backend);
    ASSERT_FALSE(backend.has_value());
    EXPECT_EQ(backend.error().kind, ErrorKind::kInput);
    EXPECT_FALSE(backend.error().hint.empty());
  }
}

}  // namespace
}  // namespace rasp::runtime::gpu
