// The residual stream as a model's slices claim it: what each column can hold at a token and what
// it holds at BOS, step by step (model.h counts the steps). The checker reads weights against this.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "compiler/certify_rows.h"
#include "model/model.h"

namespace rasp::compiler::checker {

// The arithmetic of the forward pass.
struct Precision {
  double roundoff = 0;    // u = 2^-24 or 2^-53: a rounded result is off by at most u times itself
  double largest = 0;     // 1/u: every integer up to it is exact
  double exp_zero = 0;    // exp(-x) is 0 from here on
  double sink_limit = 0;  // exp(-x) is a normal number up to here

  // Every value that is a multiple of `unit` (a power of two) and at most `magnitude` is exact, so
  // that a sum whose addends are such multiples and whose partial sums stay within it is exact
  // in every order, with and without fused multiplication.
  [[nodiscard]] bool exact(double magnitude, double unit) const {
    return magnitude == 0 || magnitude <= largest * unit;
  }
  // gamma_k = k u / (1 - k u): the relative error of k roundings in a row (Higham, Accuracy and
  // Stability of Numerical Algorithms, lemma 3.1). Infinite where the bound breaks down.
  [[nodiscard]] double gamma(double roundings) const;
  [[nodiscard]] double round(double value) const;  // to the nearest number of the dtype
  // The dtype holds a + b, or a b, as it is. Both are numbers of the dtype.
  [[nodiscard]] bool exact_sum(double a, double b) const;
  [[nodiscard]] bool exact_product(double a, double b) const;
  bool single = true;  // float32
};
[[nodiscard]] Precision precision_of(model::Dtype dtype);

// The largest power of two of which `value` is a multiple; infinite for 0.
[[nodiscard]] double unit_of(double value);

// Columns that depend on one thing: all that the embedding writes from the token, all that it
// writes from the position, or one later slice. Variables are taken to be independent of each other
// but for the places at which their values can stand: the checker allows every other combination.
struct Variable {
  std::string name;
  std::uint32_t first_step = 0;
  std::vector<Index> columns;
  Matrix rows;  // [values, columns]: what the columns can hold; of a scalar within `error`
  std::vector<Place> places;  // of the rows; or empty, when nothing is known
  double error = 0;           // of a scalar's one column
  double relative = 0;        // not 0: the error is at most this times the value as well
  // When it is a function of others: those, ascending, and by their rows, the last fastest, its own
  // row (-1 where they cannot be).
  std::vector<std::int32_t> roots;
  std::vector<Index> table;
  bool listed = true;  // `rows` lists every value; else it holds a scalar's lowest and highest
};

struct Column {
  static constexpr std::int32_t kNone = -1;      // no slice: holds nothing that may be read
  static constexpr std::int32_t kConstant = -2;  // one value at every token
  std::int32_t variable = kNone;                 // an index into Stream::variables, or the above
  std::uint32_t place = 0;                       // within the variable
  std::uint32_t first_step = 0;
  std::int32_t slice = -1;
};

struct Stream {
  Precision precision;
  std::uint32_t max_length = 0;
  bool causal = false;
  std::vector<Variable> variables;
  std::vector<Column> columns;            // [d_model]
  std::vector<std::int32_t> variable_of;  // by slice: its variable, kConstant or kNone
  Vector token_base;                      // [d_model]: what the embedding puts there at every token
  Vector bos_base;                        // [d_model]: and at BOS
  Vector bos;                             // [d_model]: at BOS once written
  std::vector<std::string> faults;        // of the layout and the embedding
};

// What is found out about where the values of a slice's variable can stand: one place a row. Of
// rows that can stand nowhere, readers need not think.
void set_places(Stream& stream, std::int32_t slice, std::vector<Place> places);

[[nodiscard]] bool is_scalar(const model::Slice& slice);
// The numbers that a scalar slice lists, ascending and distinct.
[[nodiscard]] std::vector<long double> listed_values(const model::Slice& slice);
// How far `value` is from the nearest of `values` (ascending, not empty).
[[nodiscard]] long double distance(const std::vector<long double>& values, long double value);

// Checks that the slices are well formed and do not overlap and that the embedding writes what
// those of step 0 claim. The shapes of the model's matrices have been checked.
[[nodiscard]] Stream build_stream(const model::Model& model);

// One variable's share in x W.
struct Part {
  std::vector<std::int32_t> variables;  // one, or several that are read as one
  RowSet rows{0};                       // its distinct contributions, [.., m]
  std::vector<Index> row_of;  // by the variables' rows, the last fastest; -1 where they cannot be
  Vector error;               // [m]: of a scalar's contribution
  Vector magnitude;           // [m]: the largest sum of its addends' magnitudes
  bool listed = true;
};

[[nodiscard]] std::string names_of(const Part& part, const Stream& stream);  // for messages

// What x W can be, x read at some step: constant + one row of every part, before rounding.
struct Reading {
  std::vector<Part> parts;
  Vector constant;       // [m]
  Vector bos;            // [m]: x W at BOS
  Vector unit;           // [m]: every addend at a token is a multiple of it (a power of two)
  Vector magnitude;      // [m]: bounds every sum of magnitudes of addends at a token
  Vector bos_unit;       // [m]
  Vector bos_magnitude;  // [m]
  Vector roundings;      // [m]: how many roundings an addend can go through, at a token
  Vector error;          // [m]: from the scalars' errors
  std::string fault;     // the matrix reads a column that holds nothing yet; else empty

  [[nodiscard]] Index width() const { return constant.size(); }
  // No rounding at all in column j, in any order of summation: at tokens, and at BOS.
  [[nodiscard]] bool exact(const Precision& precision, Index j) const;
  [[nodiscard]] bool exact_at_bos(const Precision& precision, Index j) const;
  // Bounds the distance in column j at tokens between the forward pass and the rows here, as far
  // as rounding makes it (theirs; with float64 also ours): 0 where there is none.
  [[nodiscard]] double rounding(const Precision& precision, Index j) const;
};

// `step` is the half-layer after which x is read; `weights` [d_model, m].
[[nodiscard]] Reading read(const Stream& stream, std::uint32_t step, const Matrix& weights);

}  // namespace rasp::compiler::checker
