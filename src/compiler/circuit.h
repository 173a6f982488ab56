// Between the program and the weights: variables in the residual stream, and the heads and units
// that compute them.
//
// A variable is categorical (one of `values`; readers may read any function of it, linearly) or a
// scalar (one column that is close to its exact value: `error` bounds the distance). Steps count
// half-layers of the stream: 0 is the embedding, 2l + 1 is after the attention of layer l, 2l + 2
// after its MLP.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "compiler/domains.h"
#include "compiler/ir.h"
#include "model/model.h"

namespace rasp::compiler {

using VarId = std::uint32_t;
inline constexpr VarId kNoVar = 0xFFFFFFFFu;

struct Var {
  IrId node = kNoIr;
  std::uint32_t step = 0;  // it can be read from this step of the stream on
  bool scalar = false;
  // Categorical.
  std::vector<value::Atom> values;
  bool may_mix = false;                    // see Domain::may_mix
  std::optional<std::uint32_t> bos_value;  // what BOS holds: an index into `values`; nullopt: zeros
  // Scalar.
  value::Number minimum, maximum;
  double error = 0;
  double bos_scalar = 0;
};

// f(value of var) for a categorical variable, `weight` times a scalar.
struct Term {
  VarId var = kNoVar;
  std::vector<double> f;  // one number a value; empty for a scalar
  double weight = 0;
};

// A linear read of the stream: the sum of its terms plus `offset` at tokens, 0 at BOS.
struct Form {
  std::vector<Term> terms;  // one a variable
  double offset = 0;
};

// What a node is as a function of one variable (kNoVar: a constant, one value).
struct View {
  VarId var = kNoVar;
  std::vector<std::optional<value::Atom>>
      values;  // one a value of the variable; nullopt: undefined
};

// Logit(query, key) = sum over dims of query form * key form; the selector is where it is `level`.
struct Logits {
  struct Dim {
    Form key, query;
  };
  std::vector<Dim> dims;
  std::uint32_t predicates = 0;  // conjuncts: where all hold, the logit is predicates * C
  std::uint32_t step = 0;
};

struct HeadOutput {
  VarId target = kNoVar;
  View value;  // categorical target: what the key holds, as an index into the target's values by
               // value
  Form form;   // scalar target
  double bos = 0;  // scalar target: BOS's value, the default
};

enum class HeadKind : std::uint8_t {
  kMean,   // the average of what the selected keys hold; BOS takes the rows that select nothing
  kSum,    // a sink: BOS takes nearly all the weight at value 0, and the output is the sum over the
           // selected keys
  kShare,  // BOS is level with the selected keys
};

struct HeadOp {
  std::uint32_t step = 0;
  IrId selector = kNoIr;
  HeadKind kind = HeadKind::kMean;
  Logits logits;
  std::vector<HeadOutput> outputs;  // none: the pattern itself is the answer
};

// target = F(s): steps between the points where F changes.
struct BankOp {
  std::uint32_t step = 0;
  VarId target = kNoVar;
  Form form;  // s, within `error` of one of the points
  double error = 0;
  std::vector<double> points;         // ascending
  std::vector<std::uint32_t> result;  // index into the target's values, one a point
};

// target = table[inputs]: one unit a box of a disjoint cover.
struct TableOp {
  std::uint32_t step = 0;
  VarId target = kNoVar;
  std::vector<VarId>
      inputs;  // the first varies slowest; a variable that may mix has a last row for that
  std::vector<std::uint32_t> cells;  // index into the target's values, or kUndefined
};

using Op = std::variant<HeadOp, BankOp, TableOp>;

struct Output {
  model::Decoder decoder;
  std::vector<Form> columns;       // of y
  std::uint32_t pattern_step = 0;  // kPattern: the step of the head whose pattern is the answer
  std::vector<VarId> keep;         // variables that stay readable even if nothing reads them
};

struct Circuit {
  model::Dtype dtype = model::Dtype::kF32;
  std::uint32_t max_length = 0;
  std::vector<Var> vars;
  VarId position = kNoVar;  // the variable of the position; the other one of step 0 is the token's
  std::vector<Op> ops;      // an op's inputs are written by earlier ones
  Output output;

  // C of the logits: exp(-C/2) is exactly 0. Rounding unit of the dtype.
  [[nodiscard]] double logit_unit() const { return dtype == model::Dtype::kF32 ? 256.0 : 2048.0; }
  [[nodiscard]] double epsilon() const { return dtype == model::Dtype::kF32 ? 0x1p-24 : 0x1p-53; }
  // Whole numbers up to this are exact.
  [[nodiscard]] double exact_limit() const { return 1.0 / epsilon(); }
};

// How far BOS stands above a sink head's selected keys.
inline constexpr double kSinkDepth = 32.0;

[[nodiscard]] constexpr std::uint32_t head_step(std::uint32_t inputs) {
  return 2 * ((inputs + 1) / 2) + 1;
}
[[nodiscard]] constexpr std::uint32_t mlp_step(std::uint32_t inputs) {
  return 2 * (inputs / 2) + 2;
}

[[nodiscard]] std::uint32_t step_of(const Circuit& circuit, const Form& form);
// Adds `scale * other` to `form`.
void add(Form& form, const Form& other, double scale);
// The largest |value| the form can have, and how far the float sum can be from the exact value,
// rounding of the coefficients and of the sum included.
[[nodiscard]] double magnitude(const Circuit& circuit, const Form& form);
// The largest sum of the |addends| of the form as it will be read: features are stored relative to
// one another.
[[nodiscard]] double addends(const Circuit& circuit, const Form& form);
[[nodiscard]] double error_of(const Circuit& circuit, const Form& form);
// Every coefficient is a multiple of 2^-bits and every partial sum of `terms` such forms is exact.
[[nodiscard]] bool is_exact(const Circuit& circuit, const Form& form, double terms = 1);

[[nodiscard]] std::string print(const Circuit& circuit);

// The compiler's refusal, thrown inside this room and caught by its driver.
struct Refusal {
  IrId node = kNoIr;
  std::string reason;
  std::string hint;
};

}  // namespace rasp::compiler
