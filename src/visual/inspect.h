// A model as text.
#pragma once

#include <string>

#include "model/model.h"
#include "visual/model_view.h"

namespace rasp::visual {

struct InspectOptions {
  std::size_t max_values = SIZE_MAX;  // of an axis of a table, and of a slice's list
};

// Sizes, the residual stream slice by slice, and every head with its tables.
[[nodiscard]] std::string inspect_text(const model::Model& model, const InspectOptions& options);

}  // namespace rasp::visual
