// One unit's tokens to ANTLR's tree. The contexts live until the next `parse`.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "syntax/antlr.h"
#include "syntax/lexer.h"

namespace rasp::syntax {

using Grammar = generated::RaspParser;

// A token as ANTLR asks for it; everything else of it is looked up in the unit.
class TreeToken final : public antlr4::Token {
 public:
  TreeToken(const syntax::Token& token, std::size_t index) : token_(token), index_(index) {}

  [[nodiscard]] const syntax::Token& token() const { return token_; }

  std::string getText() const override { return {}; }
  std::size_t getType() const override {
    return token_.kind == kEndOfText ? antlr4::Token::EOF : static_cast<std::size_t>(token_.kind);
  }
  std::size_t getLine() const override { return 0; }
  std::size_t getCharPositionInLine() const override { return 0; }
  std::size_t getChannel() const override { return antlr4::Token::DEFAULT_CHANNEL; }
  std::size_t getTokenIndex() const override { return index_; }
  std::size_t getStartIndex() const override { return token_.begin; }
  std::size_t getStopIndex() const override { return token_.end; }
  antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  antlr4::CharStream* getInputStream() const override { return nullptr; }
  std::string toString() const override { return {}; }

 private:
  syntax::Token token_;
  std::size_t index_;
};

[[nodiscard]] inline const syntax::Token& token_of(const antlr4::Token* token) {
  return static_cast<const TreeToken*>(token)->token();
}

// Where and in what the parser stopped.
struct Failure {
  std::size_t token = 0;  // index into the unit's tokens
  std::size_t rule = 0;   // Grammar::RuleExpression, ...
  antlr4::misc::IntervalSet expected;
};

class TreeParser {
 public:
  TreeParser();
  ~TreeParser();

  // `tokens` end with one of kind kEndOfText.
  // Exactly one of the two pointers of the result is set, or none when it failed.
  struct Tree {
    Grammar::StatementContext* statement = nullptr;
    Grammar::ItemContext* item = nullptr;
    std::optional<Failure> failure;
  };
  [[nodiscard]] Tree parse(std::span<const Token> tokens, bool puzzle_item);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rasp::syntax
