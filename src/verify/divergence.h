// Where a trace leaves the interpreter's values: every slice of the residual stream that stands for
// something in the source, against what the interpreter says that it is.
#pragma once

#include <optional>

#include "runtime/backend.h"
#include "verify/equivalence.h"

namespace rasp::verify {

// The earliest slice of the stream that is wrong on the input, at its first wrong position.
[[nodiscard]] std::optional<Divergence> find_divergence(const Subject& subject,
                                                        const value::Sequence& input,
                                                        const runtime::Trace& trace);

}  // namespace rasp::verify
