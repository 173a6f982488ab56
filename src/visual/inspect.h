// A model as text.
#pragma once

#include <string>
#include <vector>

#include "model/model.h"
#include "visual/model_view.h"

namespace rasp::visual {

struct InspectOptions {
  std::size_t max_values = SIZE_MAX;  // of an axis of a table, and of a slice's list
  // What the heads were found to do, such as "induction": [layer][head], "" for nothing in
  // particular; or empty.
  std::vector<std::vector<std::string>> roles = {};
};

// Sizes, the residual stream slice by slice, and every head with its tables.
[[nodiscard]] std::string inspect_text(const model::Model& model, const InspectOptions& options);

}  // namespace rasp::visual
