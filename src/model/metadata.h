// Everything of a model but its weights, as the JSON texts of `__metadata__` (their form is
// described in model/safetensors.h).
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "model/atom_json.h"
#include "model/model.h"

namespace rasp::model {

// Section name -> JSON text.
using Metadata = std::map<std::string, std::string>;

[[nodiscard]] Metadata write_metadata(const Model& model);

// A model with its configuration, with layers and heads in place and all matrices empty. `json` is
// the value of `__metadata__`; the number of heads, layers and slices is at most `max_tensors`.
[[nodiscard]] Result<Model> read_metadata(const Json& json, std::size_t max_tensors);

}  // namespace rasp::model
