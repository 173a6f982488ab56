// Variables that are functions of others. A slice that units write is one of what they read;
// whoever reads it together with that, or with another such function, meets only the combinations
// in which they agree.
#pragma once

#include <span>

#include "compiler/certify_stream.h"

namespace rasp::compiler::checker {

// Counts through the rows that some variables can have, the last one fastest.
class Assignment {
 public:
  Assignment(const Stream& stream, std::vector<std::int32_t> variables);

  [[nodiscard]] double count() const;  // of all assignments
  [[nodiscard]] Place place() const;   // where the variables can have these rows together
  // The row of any variable that is one of these or a function of them; -1 when it has none.
  [[nodiscard]] Index row_of(std::int32_t variable) const;
  bool next();  // false after the last

 private:
  const Stream& stream_;
  std::vector<std::int32_t> variables_;
  std::vector<Index> rows_;
};

// The variables on which some variables depend, each of them a function of no other.
[[nodiscard]] std::vector<std::int32_t> roots_of(const Stream& stream,
                                                 std::span<const std::int32_t> variables);

// Makes parts whose variables depend on a common one a single part, where that is not too large.
void join_parts(const Stream& stream, Reading& reading);

// The row of a part under an assignment of what its variables depend on; -1 when there is none.
[[nodiscard]] Index row_of(const Part& part, const Assignment& assignment, const Stream& stream);

}  // namespace rasp::compiler::checker
