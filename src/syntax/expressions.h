// ANTLR's expressions to ours.
#pragma once

#include <cstddef>
#include <vector>

#include "syntax/build_context.h"
#include "syntax/precedence.h"

namespace rasp::syntax {

class ExpressionBuilder {
 public:
  explicit ExpressionBuilder(BuildContext& context) : context_(context) {}

  // Recurses once a level of brackets, which the outline has bounded.
  [[nodiscard]] ExprId build(const Grammar::ExpressionContext* tree);
  // The part of a flat expression between two of its operands, [first, last).
  [[nodiscard]] ExprId build(const Grammar::ExpressionContext* tree, std::size_t first,
                             std::size_t last);
  [[nodiscard]] std::vector<ExprId> build_all(
      const std::vector<Grammar::ExpressionContext*>& trees);

 private:
  // An expression as a flat list; the vectors run in parallel.
  struct Flat {
    std::vector<Item> items;
    std::vector<const antlr4::Token*> first;  // tokens of each item
    std::vector<const antlr4::Token*> last;
    std::vector<ExprId> exprs;  // operands: themselves; IF: its condition
  };

  [[nodiscard]] Flat flatten(const Grammar::ExpressionContext* tree, std::size_t first,
                             std::size_t last);
  [[nodiscard]] ExprId assemble(const Flat& flat, const Grouping& grouping);
  void warn_about_precedence(const Flat& flat, const Grouping& grouping);
  [[nodiscard]] ExprId operand(const Grammar::OperandContext* tree);
  [[nodiscard]] ExprId simple(const antlr4::Token* token);
  [[nodiscard]] ExprId number(const antlr4::Token* token);
  [[nodiscard]] ExprId primary(const Grammar::PrimaryContext* tree);
  [[nodiscard]] ExprId list(const Grammar::PrimaryContext* tree);
  [[nodiscard]] ExprId dict(const Grammar::PrimaryContext* tree);
  [[nodiscard]] ExprId suffix(ExprId base, const antlr4::Token* first,
                              const Grammar::SuffixContext* tree);
  [[nodiscard]] ExprId add(Expr expr);

  BuildContext& context_;
};

}  // namespace rasp::syntax
