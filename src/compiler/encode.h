// Pass 6: encodings, decided from the output backwards, so that every reader of a variable has said
// what it reads before the variable's columns are chosen: one-hot over the values that anybody
// tells apart, or, when they are fewer, one column a function that is read. What nobody reads is
// dropped.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "compiler/circuit.h"
#include "compiler/cover.h"

namespace rasp::compiler {

struct Encoding {
  bool live = false;
  bool one_hot = false;
  // Categorical: one row a value, one column a residual dimension.
  std::vector<std::vector<double>> columns;  // [column][value]
  std::vector<std::size_t> representative;   // one-hot: a value of each column's class
  // What the embedding puts into each column at tokens, for a writer that adds to it.
  std::vector<double> base;
  [[nodiscard]] std::size_t width(const Var& var) const {
    return !live ? 0 : var.scalar ? 1 : columns.size();
  }
};

// A hidden unit: relu(scale * form + bias), and what it adds to the columns of its target.
struct Unit {
  Form form;
  double bias = 0;
  std::vector<double> out;
};

struct EncodedOp {
  std::uint32_t step = 0;
  const HeadOp* head = nullptr;  // a head, its live outputs by index
  std::vector<std::size_t> outputs;
  VarId target = kNoVar;  // units: whose columns they write
  std::vector<Unit> units;
};

struct Encoded {
  std::vector<Encoding> vars;
  std::vector<EncodedOp> ops;  // by step, then in the circuit's order
};

[[nodiscard]] Encoded encode(const Circuit& circuit, const Halt& halt = {});
[[nodiscard]] std::string print(const Circuit& circuit, const Encoded& encoded);

// What a head reads at its keys for one column of a categorical target.
[[nodiscard]] Form pick_form(const Circuit& circuit, const HeadOutput& output,
                             const std::vector<double>& column);

// f = scale * normal + offset. The normal form under which functions share a column: 0 at the first
// value, then smallest whole steps.
struct NormalFeature {
  std::vector<double> f;
  double scale = 1;
  double offset = 0;
};
[[nodiscard]] NormalFeature normalise(const std::vector<double>& f);

}  // namespace rasp::compiler
