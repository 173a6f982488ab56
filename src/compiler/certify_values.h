// What the heads of a layer write into one slice.
#pragma once

#include <string>
#include <vector>

#include "compiler/certify_bounds.h"
#include "compiler/certify_outcomes.h"

namespace rasp::compiler::checker {

// A head that writes into the slice.
struct Writer {
  const Selection* selection = nullptr;
  const Reading* values = nullptr;  // x Wv
  Matrix output;                    // Wo, the slice's columns [d_v, width]
};

struct Written {
  std::string fault;   // why the slice is not what it claims; else empty
  std::string detail;  // what was relied on
  double bound = 0;    // of a scalar's error
};

// The rows that a categorical slice lists. Values that no reader tells apart share one.
[[nodiscard]] RowSet features_of(const model::Slice& slice);
// Gives each value the place of its row.
void set_row_places(const model::Slice& slice, std::int32_t slice_index, const RowSet& features,
                    const std::vector<Place>& places, Stream& stream);

// Checks that the slice's columns, the embedding's constant plus what the writers add, are what the
// slice claims, at tokens and at BOS.
[[nodiscard]] Written check_written(const model::Slice& slice, std::int32_t slice_index,
                                    const std::vector<Writer>& writers, Stream& stream);

// For a scalar: the possible exact values against the claim; those of a slice that lists none
// become the stream's. `bound` is how far the forward pass can be from them.
[[nodiscard]] Written check_scalar(const model::Slice& slice, std::int32_t slice_index,
                                   const Outcomes& outcomes, double bound, Stream& stream);

}  // namespace rasp::compiler::checker
