// Sizes of the tiles of the attention kernel.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "runtime/gpu/kernel_sources.h"
#include "runtime/gpu/programs.h"

namespace rasp::runtime::gpu {

// A work-group takes `queries` x `keys` scores at a time, an item `item_queries` x `item_keys`.
struct Tile {
  int queries = 32, keys = 32;
  int item_queries = 4, item_keys = 4;

  [[nodiscard]] int items() const { return queries / item_queries * (keys / item_keys); }
  friend bool operator==(const Tile&, const Tile&) = default;
};

// What is chosen with the tile: how many numbers of a row of q and k, and how many columns of v, a
// work-group has in local memory at a time. Rows that are longer come piece by piece; further
// columns are other work-groups'.
struct Widths {
  int numbers = 16;
  int columns = 16;
};
[[nodiscard]] Widths widths_for(const DeviceInfo& device, std::size_t dk, std::size_t d_v);

[[nodiscard]] std::size_t local_bytes(const Tile& tile, const Widths& widths, bool doubles);
[[nodiscard]] Source attention_source(const Tile& tile, const Widths& widths, int score,
                                      bool doubles);

// The tiles that fit into the device's local memory, the safest first.
[[nodiscard]] std::vector<Tile> fitting_tiles(const DeviceInfo& device, const Widths& widths,
                                              bool doubles);

// Heads of one sequence, all of one length, over themselves.
struct Trial {
  std::size_t heads = 8, length = 1024;
  bool causal = false;
};
// Seconds of one forward of dot products by `tile` on data that is on the device already: the
// better of two, after one that does not count. The device's mutex is held.
[[nodiscard]] Result<double> time_attention(Workshop& workshop, const Trial& trial,
                                            const Tile& tile, const Widths& widths, bool doubles);

// The quickest of the fitting tiles for dot products: from the cache, or by trying each (a second
// or so) and noting it there. The device's mutex is held.
[[nodiscard]] Result<Tile> tuned_tile(Workshop& workshop, const Widths& widths, bool doubles);

}  // namespace rasp::runtime::gpu
