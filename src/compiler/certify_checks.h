// The parts of the checker, each over one half-layer. All take shapes as checked.
#pragma once

#include <string>
#include <vector>

#include "compiler/certify_stream.h"

namespace rasp::compiler::checker {

// One line for each head of layer `l`. Scalars whose slices list no values get in the stream the
// values that the heads can give them.
[[nodiscard]] std::vector<model::CertificateLine> check_heads(const model::Model& model,
                                                              std::size_t l, Stream& stream);

// One line for each slice that the units of layer `l` write.
[[nodiscard]] std::vector<model::CertificateLine> check_units(const model::Model& model,
                                                              std::size_t l, Stream& stream);

[[nodiscard]] model::CertificateLine check_output(const model::Model& model, const Stream& stream);

// Slices that begin after step 0 and that nothing writes: what the embedding put there must be
// what they claim. The faults found.
[[nodiscard]] std::vector<std::string> check_unwritten(const model::Model& model, Stream& stream);

}  // namespace rasp::compiler::checker
