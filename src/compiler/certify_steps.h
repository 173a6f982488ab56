// The hidden units that write one slice, as the checker sees them.
#pragma once

#include <string>
#include <vector>

#include "compiler/certify_stream.h"

namespace rasp::compiler::checker {

// What a unit, or two that belong together, puts out.
//   exact   its input is exact, at every value of what it reads: so is relu of it
//   step    two neighbours relu(t - b) and relu(t - b - 1), b a whole number from 0 up, with
//           opposite output weights: t <= b gives 0 and 0; t >= b + 1 gives two numbers whose
//           difference is 1. Both are exact: b and t are multiples of ulp(t) <= 1 (t < 1/u), and
//           so are t - b and t - b - 1, which are at most t. t itself has an error, the same one
//           in both: a projection's rounding does not depend on the column.
//   analog  anything else: relu passes an error of its input on, never enlarged
struct Unit {
  enum class Kind : std::uint8_t { kExact, kStep, kAnalog };
  Kind kind = Kind::kExact;
  Index column = 0;  // in the group's reading; of a step's first unit
  double bias = 0;   // b_in
  double error = 0;  // of the input
  double ulp = 0;    // kStep: of the largest t
};

struct Group {
  std::vector<Part> inputs;  // as they are; in `reading`, those of a bank are one
  Reading reading;           // x W_in, a column for each hidden unit of the group
  std::vector<Unit> units;   // in the order of the hidden units
  Matrix output;             // W_out [hidden units of the group, the slice's columns]
  std::string fault;         // a unit that BOS may switch on, a column that holds nothing yet
};

// The group of the hidden units that write columns [begin, end).
[[nodiscard]] Group group_of(const model::Mlp& mlp, const Stream& stream, std::uint32_t step,
                             Index begin, Index end);

// Sums hidden units into a slice's columns in ascending order from 0, as the forward pass does, and
// keeps track of whether each sum is exact.
class Accumulator {
 public:
  Accumulator(const Group& group, const Precision& precision);

  void clear();
  // A unit that puts out `value` > 0; a step puts out 1.
  void add(const Unit& unit, double value);

  [[nodiscard]] const Vector& sum() const { return sum_; }
  // Every sum so far was free of rounding; else why not.
  [[nodiscard]] bool exact() const { return rounded_.empty(); }
  [[nodiscard]] const std::string& rounded() const { return rounded_; }
  // A bound of how far a forward pass can be from `sum`, over all columns.
  [[nodiscard]] double error() const;

 private:
  struct Output {
    Index column = 0;
    double weight = 0;
  };
  void add_step(const Unit& unit, const Output& output);

  const Group& group_;
  const Precision& precision_;
  std::vector<std::vector<Output>> outputs_;  // by the group's hidden units, zeros left out
  Vector sum_;
  std::string rounded_;
  double error_ = 0;      // passed on from inputs
  double magnitude_ = 0;  // of the addends
  double addends_ = 0;
};

// Once the group is known to make rows of its slice: notes in the stream which, as a function of
// what it reads, unless that is too large.
void record_function(const model::Slice& slice, std::int32_t slice_index, const Group& group,
                     Stream& stream);

}  // namespace rasp::compiler::checker
