// What running a model costs, counted from the shapes of its weights.
//
// Of n tokens and BOS. Multiply-adds are counted as the field does: products of weights, scores,
// and weighted sums of values; additions alone, softmax and ReLU are left out. Projections have the
// sizes that were emitted, which differ from head to head.
#pragma once

#include <string>

#include "model/model.h"

namespace rasp::visual {

// squared * n^2 + linear * n + constant; coefficients are whole or halves.
struct Formula {
  double squared = 0, linear = 0, constant = 0;
  [[nodiscard]] double at(double n) const { return (squared * n + linear) * n + constant; }
};
[[nodiscard]] std::string formula_text(const Formula& formula);  // "2 n^2 + 10.5 n + 3"

struct Cost {
  Formula forward;          // multiply-adds of a pass, by the shapes: what dense products do
  Formula forward_nonzero;  // with weights that are 0 left out: what is done here at most
  Formula cache_bytes;      // keys and values of all heads
  Formula token;            // multiply-adds of decoding token n with the cache, by the shapes
  Formula token_nonzero;    // and without weights that are 0
};
[[nodiscard]] Cost cost_of(const model::Model& model);

// What a run took, in seconds and bytes; below 0 where it was not measured.
struct MeasuredCost {
  double forward_seconds = -1;
  double token_seconds = -1;
  double cache_bytes = -1;
};

// The lines about cost, with the numbers at n tokens.
[[nodiscard]] std::string cost_text(const model::Model& model, std::size_t n,
                                    const MeasuredCost& measured);

}  // namespace rasp::visual
