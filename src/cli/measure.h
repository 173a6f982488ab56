// What running a model takes on this machine.
#pragma once

#include "base/result.h"
#include "model/model.h"
#include "runtime/backend.h"
#include "visual/cost.h"

namespace rasp::cli {

// Medians of a few runs over n tokens, 1 to max_length; for a causal model also of decoding the
// last of them.
[[nodiscard]] Result<visual::MeasuredCost> measure_model(const model::Model& model,
                                                         const runtime::Executable& executable,
                                                         std::size_t n);

}  // namespace rasp::cli
