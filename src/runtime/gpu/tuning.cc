#include "runtime/gpu/tuning.h"

#include <algorithm>
#include <chrono>
#include <cstring>

#include "runtime/gpu/cache.h"
#include "runtime/gpu/params.h"

namespace rasp::runtime::gpu {
namespace {

constexpr std::array<Tile, 7> kTiles{{{32, 32, 4, 4},
                                      {64, 32, 4, 4},
                                      {64, 64, 4, 4},
                                      {64, 64, 8, 4},
                                      {128, 64, 8, 4},
                                      {128, 64, 8, 8},
                                      {128, 128, 8, 8}}};

int piece_for(std::size_t size) {
  if (size <= 16) return 16;
  if (size <= 32) return 32;
  return 64;
}

// What a trial reads and writes.
struct TrialBuffers {
  Buffer q, k, v, out, bad, any_bad;
};

Result<TrialBuffers> make_buffers(Workshop& workshop, const Trial& trial, const Widths& widths,
                                  std::size_t number) {
  Device& device = *workshop.device;
  const std::size_t rows = trial.heads * trial.length;
  const auto zeros = [&](std::size_t bytes) {
    return upload(device, std::vector<std::uint8_t>(bytes));
  };
  TrialBuffers buffers;
  const std::size_t key = rows * static_cast<std::size_t>(widths.numbers) * number;
  const std::size_t value = rows * static_cast<std::size_t>(widths.columns) * number;
  RASP_TRY(buffers.q, zeros(key));
  RASP_TRY(buffers.k, zeros(key));
  RASP_TRY(buffers.v, zeros(value));
  RASP_TRY(buffers.out, zeros(value));
  RASP_TRY(buffers.bad, zeros(rows));
  RASP_TRY(buffers.any_bad, zeros(sizeof(int)));
  return buffers;
}

}  // namespace

Widths widths_for(const DeviceInfo& device, std::size_t dk, std::size_t d_v) {
  // A CPU's compiler takes seconds for what a narrower kernel would save.
  if (!device.gpu) return {32, 32};
  return {piece_for(dk), piece_for(d_v)};
}

std::size_t local_bytes(const Tile& tile, const Widths& widths, bool doubles) {
  const int keys = std::max(tile.keys * (widths.numbers + 4), tile.queries * (tile.keys + 4));
  const int numbers = tile.queries * (widths.numbers + 4) + keys + tile.keys * widths.columns +
                      tile.queries * (tile.keys / tile.item_keys);
  return static_cast<std::size_t>(numbers) * (doubles ? sizeof(double) : sizeof(float));
}

Source attention_source(const Tile& tile, const Widths& widths, int score, bool doubles) {
  return kernel_source({"scores.cl", "attention.cl"}, doubles,
                       {{"BQ", tile.queries},
                        {"BK", tile.keys},
                        {"TQ", tile.item_queries},
                        {"TK", tile.item_keys},
                        {"DC", widths.numbers},
                        {"DV", widths.columns},
                        {"SCORE", score}});
}

std::vector<Tile> fitting_tiles(const DeviceInfo& device, const Widths& widths, bool doubles) {
  std::vector<Tile> tiles;
  for (const Tile& tile : kTiles)
    if (device.local_memory == 0 || local_bytes(tile, widths, doubles) <= device.local_memory)
      if (widths.columns >= tile.keys / tile.item_keys) tiles.push_back(tile);
  if (tiles.empty()) tiles.push_back(kTiles.front());
  return tiles;
}

Result<double> time_attention(Workshop& workshop, const Trial& trial, const Tile& tile,
                              const Widths& widths, bool doubles) {
  RASP_TRY(const TrialBuffers buffers, make_buffers(workshop, trial, widths, doubles ? 8 : 4));
  RASP_TRY(Program * program, workshop.programs.get(attention_source(tile, widths, 0, doubles)));
  AttentionParams params{};
  params.q_heads = params.kv_heads = static_cast<int>(trial.heads);
  params.q_len = params.kv_len = static_cast<int>(trial.length);
  params.dk = widths.numbers;
  params.d_v = widths.columns;
  params.causal = trial.causal ? 1 : 0;
  params.left = params.right = -1;
  const Buffer none;
  const Argument scale = doubles ? Argument(1.0) : Argument(1.0f);
  const Argument arguments[] = {
      buffers.q, buffers.k, buffers.v, buffers.out, buffers.bad, buffers.any_bad, none, none,
      none,      none,      none,      params,      scale};
  const Groups groups{groups_of(trial.length, static_cast<std::size_t>(tile.queries)) *
                      trial.heads};
  double best = 1e300;
  for (int round = 0; round < 3; ++round) {
    RASP_CHECK_OK(workshop.device->finish());
    const auto start = std::chrono::steady_clock::now();
    RASP_CHECK_OK(program->launch("attend", groups, static_cast<std::size_t>(tile.items()),
                                  local_bytes(tile, widths, doubles), arguments));
    RASP_CHECK_OK(workshop.device->finish());
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    // The first warms up: drivers put off work until then. On a slow device one look is enough.
    constexpr double kLong = 0.5;  // seconds
    if (round == 0) continue;
    best = std::min(best, taken.count());
    if (taken.count() > kLong) break;
  }
  return best;
}

Result<Tile> tuned_tile(Workshop& workshop, const Widths& widths, bool doubles) {
  const DeviceInfo& device = workshop.device->info();
  const std::vector<Tile> tiles = fitting_tiles(device, widths, doubles);
  std::string key = "tile\n" + device.backend + "\n" + device.name + "\n" + device.driver + "\n";
  key += attention_source(tiles.front(), widths, 0, doubles).text;
  key += "\n" + std::to_string(widths.numbers) + " " + std::to_string(widths.columns) +
         (doubles ? " double" : " float");
  if (const auto known = cached(key); known && known->size() == sizeof(Tile)) {
    Tile tile;
    std::memcpy(&tile, known->data(), sizeof tile);
    if (std::find(tiles.begin(), tiles.end(), tile) != tiles.end()) return tile;
  }
  std::optional<Tile> best;
  double quickest = 0;
  Diagnostic last;
  for (const Tile& tile : tiles) {
    // A tile that the device cannot run is one to leave out.
    const auto seconds = time_attention(workshop, Trial{}, tile, widths, doubles);
    if (!seconds) last = seconds.error();
    if (!seconds || (best && *seconds >= quickest)) continue;
    best = tile;
    quickest = *seconds;
  }
  if (!best) return fail(std::move(last));
  cache(key, std::string_view(reinterpret_cast<const char*>(&*best), sizeof(Tile)));
  return *best;
}

}  // namespace rasp::runtime::gpu
