// Passes 3 to 5: which variables the stream holds and what computes them. Holds after: every op
// reads what earlier steps wrote, every variable's claim (values, error) follows from its op's
// inputs.
#pragma once

#include <map>
#include <vector>

#include "compiler/circuit.h"
#include "compiler/domains.h"
#include "compiler/ir.h"

namespace rasp::compiler {

class Lowering {
 public:
  // `keep`: s-ops that stay readable variables (--no-fuse).
  Lowering(Ir& ir, Domains& domains, model::Dtype dtype, std::vector<IrId> keep,
           const Halt& halt = {});

  // The circuit whose output is `root`; `root_is_float` tells ints from floats (kNoIr: nothing to
  // tell). Throws Refusal.
  Circuit run(IrId root, IrId root_is_float);

 private:
  friend class SelectorLowering;
  class Nested;

  // A node as a function of one categorical variable, made where it does not exist yet.
  View categorical(IrId id);
  View make_categorical(IrId id);
  View materialise(IrId id);
  // A numeric node as a linear read.
  Form linear(IrId id);
  Form sum_of_terms(IrId affine);
  Form scaled_view(const View& view, double scale);

  View leaf_variable(IrId id);
  VarId scalar_of_head(IrId id);
  View pick_of_head(IrId id);
  HeadOp& head(IrId selector, HeadKind kind, std::uint32_t value_step);

  // F(s) for a single numeric s below the node; kNoIr when there is none.
  IrId spine(IrId id) const;
  std::optional<BankOp> bank(IrId id, IrId spine);
  std::optional<TableOp> table(IrId id);
  VarId new_categorical(IrId id, std::uint32_t step);

  void output_value(IrId root);
  [[nodiscard]] std::optional<double> list_codes(IrId root, IrId source, model::Decoder& decoder);
  bool output_scalar(IrId root);
  bool output_reciprocal(IrId width, model::Decoder decoder);
  void output_categorical(IrId root);
  void output_type(IrId test);
  void output_pattern(IrId selector);

  Ir& ir_;
  Domains& domains_;
  Halt halt_;
  std::size_t depth_ = 0;  // of what is being lowered: what it reads is lowered by recursion
  Circuit circuit_;
  std::vector<bool> keep_;
  std::map<IrId, View> views_;
  std::map<IrId, VarId> scalars_;
  std::map<IrId, Logits> logits_;
  std::map<std::tuple<IrId, HeadKind, std::uint32_t>, std::size_t> heads_;  // -> index of the op
};

}  // namespace rasp::compiler
