// The CUDA form of every kernel, compiled by NVRTC where that is found: no device is needed.
#include <gtest/gtest.h>

#include <cstdio>
#include <regex>
#include <sstream>

#include "runtime/gpu/cuda_api.h"
#include "runtime/gpu/kernel_sources.h"
#include "runtime/gpu/tuning.h"

namespace rasp::runtime::gpu {
namespace {

struct Figures {
  int registers = 0;
  int spilled = 0;  // bytes
  int kernels = 0;
};

// What ptxas says of each kernel; the largest of a program.
Figures figures_in(const std::string& log) {
  Figures figures;
  const auto each = [&log](const char* pattern, auto&& note) {
    const std::regex expression(pattern);
    for (std::sregex_iterator at(log.begin(), log.end(), expression), end; at != end; ++at)
      note(std::stoi((*at)[1]));
  };
  each("Used ([0-9]+) registers", [&](int count) {
    figures.registers = std::max(figures.registers, count);
    ++figures.kernels;
  });
  each("([0-9]+) bytes spill stores",
       [&](int bytes) { figures.spilled = std::max(figures.spilled, bytes); });
  return figures;
}

Figures compile_for(const std::string& architecture, const std::string& name,
                    const Source& source) {
  const auto nvrtc = cuda::load_nvrtc();
  std::string log;
  const auto code = cuda::compile(**nvrtc, full_text(source, "cuda.cl"), architecture, &log, true);
  EXPECT_TRUE(code.has_value()) << name << ": " << (code ? "" : code.error().message);
  const Figures figures = figures_in(log);
  std::printf("%s  %-34s %2d kernels, at most %3d registers, %4d bytes spilled\n",
              architecture.c_str(), (name + (source.doubles ? ", double" : ", float")).c_str(),
              figures.kernels, figures.registers, figures.spilled);
  EXPECT_GT(figures.kernels, 0) << log;
  return figures;
}

class Nvrtc : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (const auto nvrtc = cuda::load_nvrtc(); !nvrtc)
      GTEST_SKIP() << "the CUDA kernels are not compiled here: " << nvrtc.error().message;
  }
};
INSTANTIATE_TEST_SUITE_P(Architectures, Nvrtc, ::testing::Values("sm_80", "sm_90"));

TEST_P(Nvrtc, CompilesEveryProgram) {
  for (const bool doubles : {false, true})
    for (const char* file : {"prepare.cl", "linear.cl", "model.cl", "equal_keys.cl", "probe.cl"})
      static_cast<void>(compile_for(GetParam(), file, kernel_source({file}, doubles)));
  for (const bool doubles : {false, true})
    for (const int score : {0, 1, 2}) {
      const Source decode = kernel_source({"scores.cl", "decode.cl"}, doubles, {{"SCORE", score}});
      static_cast<void>(
          compile_for(GetParam(), "decode.cl, score " + std::to_string(score), decode));
    }
}

TEST_P(Nvrtc, CompilesAttentionForEveryTile) {
  const DeviceInfo kLarge;
  const Widths widths{64, 64};
  for (const bool doubles : {false, true})
    for (const Tile& tile : fitting_tiles(kLarge, widths, doubles)) {
      std::ostringstream name;
      name << "attend " << tile.queries << "x" << tile.keys << ", item " << tile.item_queries << "x"
           << tile.item_keys;
      const Figures figures =
          compile_for(GetParam(), name.str(), attention_source(tile, widths, 0, doubles));
      // The smallest must be good everywhere; larger ones are chosen by time.
      if (tile == Tile{}) {
        EXPECT_EQ(figures.spilled, 0);
      }
    }
  for (const int score : {1, 2})
    static_cast<void>(compile_for(GetParam(), "attend, score " + std::to_string(score),
                                  attention_source(Tile{}, widths, score, false)));
}

}  // namespace
}  // namespace rasp::runtime::gpu
