// ANTLR's statements to ours.
#pragma once

#include <optional>

#include "syntax/build_context.h"
#include "syntax/expressions.h"

namespace rasp::syntax {

class StatementBuilder {
 public:
  explicit StatementBuilder(BuildContext& context) : context_(context), expressions_(context) {}

  // Nothing when the statement is in error; then `context` has the diagnostics. `top`: it is in no
  // block. Recurses once a block, which the outline has bounded.
  [[nodiscard]] std::optional<Statement> build(const Grammar::StatementContext* tree, bool top);
  // One line of a puzzle, only to see whether it is in error.
  void check(const Grammar::ItemContext* tree);

 private:
  [[nodiscard]] Statement statement(const Grammar::StatementContext* tree);
  void assignment(const Grammar::StatementContext* tree, Statement& out);
  void expression(const Grammar::StatementContext* tree, Statement& out);
  [[nodiscard]] bool draw(const Grammar::ExpressionContext* tree, Statement& out);
  void definition(const Grammar::DefinitionContext* tree, Statement& out);
  void loop(const Grammar::LoopContext* tree, Statement& out);
  void puzzle(const Grammar::PuzzleContext* tree, Puzzle& out);
  void item(const Grammar::ItemContext* tree, Puzzle& out);
  void lengths(const Grammar::ItemContext* tree, Puzzle& out);
  void limit(const Grammar::ItemContext* tree, Puzzle& out);

  void body(const std::vector<Grammar::StatementContext*>& trees, Statement& out);
  void check_returns(const Statement& definition);
  void names(const Grammar::NamesContext* tree, bool distinct, std::vector<Name>& out);
  [[nodiscard]] Puzzle::Check claim(const Grammar::ExpressionContext* tree, const Span& whole);
  [[nodiscard]] std::optional<Name> target(const Grammar::ExpressionContext* tree);
  [[nodiscard]] std::int64_t count(const antlr4::Token* token);
  [[nodiscard]] std::string string(const antlr4::Token* token) const;

  BuildContext& context_;
  ExpressionBuilder expressions_;
};

}  // namespace rasp::syntax
