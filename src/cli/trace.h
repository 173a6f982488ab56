// What went through a model: every head's attention and every named slice of the residual stream.
#pragma once

#include <string>

#include "cli/input.h"
#include "model/model.h"
#include "runtime/backend.h"

namespace rasp::cli {

[[nodiscard]] std::string trace_text(const model::Model& model, const Example& input,
                                     const runtime::Trace& trace);
// {"layers": [{"heads": [...], "slices": [...]}, ...]}; entry 0 is the embedding, without heads.
[[nodiscard]] std::string trace_json(const model::Model& model, const runtime::Trace& trace);

}  // namespace rasp::cli
