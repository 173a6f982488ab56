// Compiled models on a device.
#pragma once

#include <memory>

#include "model/model.h"
#include "runtime/backend.h"
#include "runtime/gpu/programs.h"

namespace rasp::runtime::gpu {

// The model, which satisfies model::check, with its weights on the device. `most_rows` bounds the
// rows of a batch that are on the device at a time (0: what its memory is good for).
[[nodiscard]] Result<std::unique_ptr<Executable>> load_model(std::shared_ptr<Workshop> workshop,
                                                             const model::Model& model,
                                                             std::size_t most_rows = 0);

}  // namespace rasp::runtime::gpu
