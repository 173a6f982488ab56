// A model's weights as the kernels read them: every number of inputs rounded up to whole tiles with
// zeros, the projections of all heads of a layer side by side.
#pragma once

#include <vector>

#include "model/model.h"
#include "runtime/gpu/device.h"
#include "runtime/gpu/params.h"

namespace rasp::runtime::gpu {

inline constexpr std::size_t kTileInputs = 8;  // TILE_INPUTS of model.cl

[[nodiscard]] constexpr std::size_t padded(std::size_t inputs) {
  return (inputs + kTileInputs - 1) / kTileInputs * kTileInputs;
}

struct LayerWeights {
  std::size_t head_count = 0;
  std::vector<ModelHead> heads;
  std::size_t width = 0;        // of a row of projections: every head's q, k and v
  std::size_t mixed_width = 0;  // of a row of mixed values
  std::size_t d_mlp = 0;        // padded; 0 where there is none
  Buffer head_list;
  Buffer w_project;  // [d_model, width]
  Buffer w_mix;      // [mixed_width, d_model]
  Buffer head_ends;  // [mixed_width / tile]: 1 where a head's part ends
  Buffer w_in, b_in, w_out;
  Buffer mlp_ends;
};

struct ModelWeights {
  std::size_t d_model = 0;  // padded
  std::size_t d_out = 0;
  Buffer token_embedding, position_embedding, unembedding;
  std::vector<LayerWeights> layers;
};

template <typename T>
[[nodiscard]] Result<ModelWeights> upload_weights(Device& device, const model::Model& model);

}  // namespace rasp::runtime::gpu
