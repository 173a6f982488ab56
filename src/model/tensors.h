// The tensors of a model, by name, in the order in which files hold them.
#pragma once

#include <string>

#include "model/model.h"

namespace rasp::model {

// Calls `visit(name, tensor)` for every Matrix and Vector of weights of `model`, which may be
// const.
template <typename AnyModel, typename Visit>
void for_each_weight(AnyModel& model, Visit&& visit) {
  visit(std::string("embed.tokens"), model.token_embedding);
  visit(std::string("embed.positions"), model.position_embedding);
  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    auto& layer = model.layers[l];
    const std::string in_layer = "layers." + std::to_string(l) + ".";
    for (std::size_t h = 0; h < layer.heads.size(); ++h) {
      auto& head = layer.heads[h];
      const std::string in_head = in_layer + "heads." + std::to_string(h) + ".";
      visit(in_head + "wq", head.wq);
      visit(in_head + "wk", head.wk);
      visit(in_head + "wv", head.wv);
      visit(in_head + "wo", head.wo);
    }
    visit(in_layer + "mlp.w_in", layer.mlp.w_in);
    visit(in_layer + "mlp.b_in", layer.mlp.b_in);
    visit(in_layer + "mlp.w_out", layer.mlp.w_out);
  }
  visit(std::string("unembed"), model.unembedding);
}

// The weights, then what the slices say of the residual stream.
template <typename AnyModel, typename Visit>
void for_each_tensor(AnyModel& model, Visit&& visit) {
  for_each_weight(model, visit);
  for (std::size_t s = 0; s < model.slices.size(); ++s) {
    const std::string in_slice = "slices." + std::to_string(s) + ".";
    visit(in_slice + "features", model.slices[s].features);
    visit(in_slice + "bos", model.slices[s].bos_value);
  }
}

}  // namespace rasp::model
