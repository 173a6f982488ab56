// gpu_timing MODEL: times every backend that is here and prints one table. Run by run.sh, after the
// checks.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "model/safetensors.h"
#include "runtime/backends.h"
#include "runtime/gpu/kernel_sources.h"
#include "runtime/gpu/tuning.h"

namespace rasp::runtime {
namespace {

using Clock = std::chrono::steady_clock;

// The median of some runs, in seconds; 0 when one fails.
double median_seconds(int runs, const std::function<bool()>& run) {
  std::vector<double> seconds;
  for (int i = 0; i < runs; ++i) {
    const auto start = Clock::now();
    if (!run()) return 0;
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  std::sort(seconds.begin(), seconds.end());
  return seconds[seconds.size() / 2];
}

void print_row(const std::string& backend, const std::string& what, double figure,
               const std::string& unit, const std::string& note = {}) {
  std::printf("| %-7s | %-44s | %12.4g | %-12s | %-28s |\n", backend.c_str(), what.c_str(), figure,
              unit.c_str(), note.c_str());
}

std::string percent(double part, double whole) {
  if (!(whole > 0)) return {};
  char text[48];
  std::snprintf(text, sizeof text, "%.1f%% of the measured peak", 100 * part / whole);
  return text;
}

// Multiplications and additions a second, when there is nothing else.
double peak_of(gpu::Workshop& workshop) {
  gpu::Device& device = *workshop.device;
  const auto program = workshop.programs.get(gpu::kernel_source({"probe.cl"}, false));
  const bool fast = device.info().gpu;
  const std::size_t groups = fast ? 132 * 64 : 16;
  constexpr std::size_t kItems = 256;
  const auto out = device.allocate(groups * kItems * sizeof(float));
  if (!program || !out) return 0;
  const int rounds = fast ? 20'000 : 2'000;
  const gpu::Argument arguments[] = {*out, rounds, 0.5f, 1.0f};
  const auto run = [&] {
    return (*program)->launch("probe_peak", {groups}, kItems, 0, arguments).has_value() &&
           device.finish().has_value();
  };
  if (!run()) return 0;
  const double seconds = median_seconds(5, run);
  return 2.0 * 8 * rounds * static_cast<double>(groups * kItems) / seconds;
}

// The kernel alone, data on the device: every tile.
void time_kernels(const std::string& name, gpu::Workshop& workshop) {
  const bool fast = workshop.device->info().gpu;
  const double peak = peak_of(workshop);
  print_row(name, "float32 multiply-add, nothing else", peak * 1e-9, "GFLOP/s");
  const gpu::Trial trial{fast ? std::size_t{16} : 2, fast ? std::size_t{4096} : 512, false};
  const gpu::Widths widths{64, 64};
  double best = 1e300;
  gpu::Tile quickest;
  for (const gpu::Tile& tile : gpu::fitting_tiles(workshop.device->info(), widths, false)) {
    if (!fast && tile.queries > 64) continue;
    const auto seconds = gpu::time_attention(workshop, trial, tile, widths, false);
    char what[64];
    std::snprintf(what, sizeof what, "attention n=%zu, %zu heads of 64, %dx%d/%dx%d", trial.length,
                  trial.heads, tile.queries, tile.keys, tile.item_queries, tile.item_keys);
    if (!seconds) {
      print_row(name, what, 0, "", "failed");
      continue;
    }
    const auto n = static_cast<double>(trial.length);
    const double rate = 4 * n * n * 64 * static_cast<double>(trial.heads) / *seconds;
    print_row(name, what, rate * 1e-9, "GFLOP/s", percent(rate, peak));
    if (*seconds < best) quickest = tile;
    best = std::min(best, *seconds);
  }
  const auto causal =
      gpu::time_attention(workshop, {trial.heads, trial.length, true}, quickest, widths, false);
  if (causal)
    print_row(name, "the quickest of those, causal", best / *causal, "times", "at most 2");
}

// A whole call, from the host's memory and back.
void time_calls(const Backend& backend) {
  const bool fast = backend.device().gpu || backend.name() == "cpu";
  const std::size_t heads = fast ? 16 : 2, n = fast ? 4096 : 512;
  std::mt19937 random(1);
  std::normal_distribution<float> normal;
  std::vector<float> q(heads * n * 64), out(q.size());
  for (float& entry : q) entry = normal(random);
  const auto in = packed(std::as_const(q).data(), 1, heads, n, 64);
  const auto run = [&] {
    return backend.attention(in, in, in, AttentionSpec{}, packed(out.data(), 1, heads, n, 64))
        .has_value();
  };
  const double seconds = run() ? median_seconds(backend.device().gpu ? 5 : 1, run) : 0;
  print_row(std::string(backend.name()),
            "whole call, n=" + std::to_string(n) + ", " + std::to_string(heads) + " heads of 64",
            seconds * 1e3, "ms");
}

void time_decoding(const Backend& backend) {
  constexpr std::size_t kHeads = 16, kSteps = 600;
  auto session = backend.decode_floats({1, kHeads, kHeads, 1, 1, 64, 64}, {});
  if (!session) return;
  const std::vector<float> row(kHeads * 64, 0.25f);
  std::vector<float> out(row.size());
  const auto in = packed(row.data(), 1, kHeads, 1, 64);
  const double seconds = median_seconds(1, [&] {
    for (std::size_t i = 0; i < kSteps; ++i)
      if (!(*session)->step(in, in, in, packed(out.data(), 1, kHeads, 1, 64))) return false;
    return true;
  });
  print_row(std::string(backend.name()), "decoding, 16 heads of 64, 600 positions",
            seconds / kSteps * 1e6, "us a step");
}

// Rows of the residual stream a second; the CPU's come first.
void time_model(const Backend& backend, const model::Model& model, double& of_cpu) {
  const auto executable = backend.load(model);
  if (!executable) return;
  std::mt19937 random(2);
  std::vector<std::vector<TokenId>> batch(backend.device().gpu ? 20'000 : 4'000);
  double rows = 0;
  for (auto& tokens : batch) {
    tokens.resize(model.max_length);
    for (TokenId& token : tokens) token = static_cast<TokenId>(random() % model.vocabulary.size());
    rows += static_cast<double>(tokens.size() + 1);
  }
  const auto run = [&] { return (*executable)->run(batch).has_value(); };
  const double seconds = run() ? median_seconds(5, run) : 0;
  const double rate = rows / seconds;
  if (backend.name() == "cpu") of_cpu = rate;
  char note[48];
  std::snprintf(note, sizeof note, "%.2f times the CPU's rate", rate / of_cpu);
  print_row(std::string(backend.name()), "histogram over 24 tokens, batches", rate * 1e-6,
            "Mrows/s", note);
}

int time_all(const char* path) {
  const auto model = model::load(path);
  if (!model) {
    std::fprintf(stderr, "%s: %s\n", path, model.error().message.c_str());
    return 2;
  }
  double of_cpu = 0;
  std::printf(
      "| backend | what                                         |       figure | unit"
      "         | note                         |\n|---|---|---|---|---|\n");
  for (const char* name : {"cpu", "opencl", "cuda"}) {
    const auto backend = make_backend(name);
    if (!backend) {
      std::printf("| %-7s | not here: %s |\n", name, backend.error().message.c_str());
      continue;
    }
    const DeviceInfo& info = (*backend)->device();
    std::printf("| %-7s | %s %s |\n", name, info.name.c_str(), info.driver.c_str());
    if (std::string(name) != "cpu") {
      auto device = std::string(name) == "cuda" ? gpu::open_cuda() : gpu::open_opencl();
      if (device) {
        gpu::Workshop workshop(std::move(*device));
        time_kernels(name, workshop);
      }
    }
    time_calls(**backend);
    time_decoding(**backend);
    time_model(**backend, *model, of_cpu);
  }
  return 0;
}

}  // namespace
}  // namespace rasp::runtime

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: gpu_timing MODEL.safetensors\n");
    return 2;
  }
  return rasp::runtime::time_all(argv[1]);
}
