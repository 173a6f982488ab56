// Model files: safetensors with the configuration as JSON under `__metadata__`. Loading checks
// every size, offset and type before use: a wrong file is an error that names what is wrong, never
// a crash.
#pragma once

#include <string>

#include "base/result.h"
#include "model/model.h"

namespace rasp::model {

// The bytes are a function of the model alone. Fails only when `model` breaks its own invariants
// (`check`).
[[nodiscard]] Result<std::string> serialise(const Model& model);
[[nodiscard]] Result<Model> deserialise(const std::string& bytes);

// Writes to a temporary name beside `path` and renames it.
[[nodiscard]] Result<void> save(const Model& model, const std::string& path);
[[nodiscard]] Result<Model> load(const std::string& path);

// Every shape fits every other, every weight is finite, and exactly a float32 where the dtype says
// so.
[[nodiscard]] Result<void> check(const Model& model);

}  // namespace rasp::model
