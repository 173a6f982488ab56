// Pass 5: a selector as logits. A conjunction is the sum of its predicates' bilinear forms: each
// adds C where it holds and at most 0 where it does not, so with m of them exactly the selected
// keys reach m * C.
#pragma once

#include "compiler/lower.h"

namespace rasp::compiler {

class SelectorLowering {
 public:
  explicit SelectorLowering(Lowering& lowering) : lowering_(lowering) {}

  Logits logits(IrId selector);

 private:
  // One comparison between two variables (kNoVar: a constant side, one row) as a truth table.
  struct Predicate {
    VarId key = kNoVar;
    VarId query = kNoVar;
    std::vector<std::vector<bool>> truth;  // [key value][query value]
    View key_view, query_view;             // of the only `==` in it, for the numeric form
    bool single_equality = false;
  };

  Predicate predicate(IrId part);
  // A part that is no comparison becomes one between classes of its key side and of its query side.
  IrId classify(IrId part);
  void merge(std::vector<Predicate>& predicates, Predicate next) const;
  void emit(const Predicate& predicate, Logits& logits);
  bool emit_equality(const Predicate& predicate, std::size_t budget, Logits& logits);
  [[nodiscard]] std::size_t values_of(VarId var) const;

  Lowering& lowering_;
};

}  // namespace rasp::compiler
