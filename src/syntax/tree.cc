#include "syntax/tree.h"

#include <exception>
#include <string>

namespace rasp::syntax {
namespace {

class Stream final : public antlr4::TokenStream {
 public:
  void assign(std::span<const Token> tokens) {
    tokens_.clear();
    tokens_.reserve(tokens.size());
    for (const Token& token : tokens) tokens_.emplace_back(token, tokens_.size());
    position_ = 0;
  }

  antlr4::Token* LT(ssize_t k) override {
    if (k < 0) {
      const auto back = static_cast<std::size_t>(-k);
      return back > position_ ? nullptr : &tokens_[position_ - back];
    }
    const std::size_t at = position_ + static_cast<std::size_t>(k) - 1;
    return at < tokens_.size() ? &tokens_[at] : &tokens_.back();
  }
  std::size_t LA(ssize_t k) override { return LT(k)->getType(); }
  void consume() override { ++position_; }
  ssize_t mark() override { return 0; }
  void release(ssize_t /*marker*/) override {}
  std::size_t index() override { return position_; }
  void seek(std::size_t index) override { position_ = index; }
  std::size_t size() override { return tokens_.size(); }
  std::string getSourceName() const override { return {}; }

  antlr4::Token* get(std::size_t index) const override {
    return const_cast<TreeToken*>(&tokens_[index]);
  }
  antlr4::TokenSource* getTokenSource() const override { return nullptr; }
  std::string getText(const antlr4::misc::Interval& /*interval*/) override { return {}; }
  std::string getText() override { return {}; }
  std::string getText(antlr4::RuleContext* /*context*/) override { return {}; }
  std::string getText(antlr4::Token* /*start*/, antlr4::Token* /*stop*/) override { return {}; }

 private:
  std::vector<TreeToken> tokens_;
  std::size_t position_ = 0;
};

struct Stopped {};  // unwinds the generated parser; caught in TreeParser::parse

// Stops at the first error and keeps where it was: the statement is the unit of recovery, and the
// words of the message are ours.
class StopAtError final : public antlr4::ANTLRErrorStrategy {
 public:
  std::optional<Failure> failure;

  void reset(antlr4::Parser* /*parser*/) override { failure.reset(); }
  antlr4::Token* recoverInline(antlr4::Parser* parser) override { stop(parser); }
  void recover(antlr4::Parser* parser, std::exception_ptr /*exception*/) override { stop(parser); }
  void sync(antlr4::Parser* /*parser*/) override {}
  bool inErrorRecoveryMode(antlr4::Parser* /*parser*/) override { return false; }
  void reportMatch(antlr4::Parser* /*parser*/) override {}
  void reportError(antlr4::Parser* /*parser*/,
                   const antlr4::RecognitionException& /*exception*/) override {}

 private:
  [[noreturn]] void stop(antlr4::Parser* parser) {
    Failure found;
    found.token = parser->getTokenStream()->index();
    found.rule = parser->getContext()->getRuleIndex();
    found.expected = parser->getExpectedTokens();
    failure = std::move(found);
    throw Stopped{};
  }
};

}  // namespace

struct TreeParser::State {
  Stream stream;
  std::shared_ptr<StopAtError> errors = std::make_shared<StopAtError>();
  Grammar parser{&stream};
};

TreeParser::TreeParser() : state_(std::make_unique<State>()) {
  state_->parser.setErrorHandler(state_->errors);
  state_->parser.removeErrorListeners();
  // The labels of the grammar are all that the builder reads; a full tree is twice the work.
  state_->parser.setBuildParseTree(false);
}

TreeParser::~TreeParser() = default;

TreeParser::Tree TreeParser::parse(std::span<const Token> tokens, bool puzzle_item) {
  state_->stream.assign(tokens);
  state_->parser.reset();
  Tree tree;
  try {
    if (puzzle_item) {
      tree.item = state_->parser.itemUnit()->whole;
    } else {
      tree.statement = state_->parser.unit()->whole;
    }
  } catch (const Stopped&) {
    tree = {nullptr, nullptr, std::move(state_->errors->failure)};
  }
  return tree;
}

}  // namespace rasp::syntax
