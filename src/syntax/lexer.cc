#include "syntax/lexer.h"

#include <cstddef>
#include <string>

namespace rasp::syntax {
namespace {

// The text as ANTLR reads it: bytes, so that its indices are ours. Bytes above ASCII look alike,
// since the grammar treats them alike and ANTLR keeps no fast path for characters above 127.
class Bytes : public antlr4::CharStream {
 public:
  explicit Bytes(std::string_view text) : text_(text) {}

  void consume() override { ++position_; }
  std::size_t LA(ssize_t i) override {
    const std::size_t at = position_ + static_cast<std::size_t>(i > 0 ? i - 1 : i);
    if (at >= text_.size()) return antlr4::IntStream::EOF;
    const auto byte = static_cast<unsigned char>(text_[at]);
    return byte < 0x80 ? byte : 0x7F;
  }
  ssize_t mark() override { return 0; }
  void release(ssize_t /*marker*/) override {}
  std::size_t index() override { return position_; }
  void seek(std::size_t index) override { position_ = index; }
  std::size_t size() override { return text_.size(); }
  std::string getSourceName() const override { return {}; }
  std::string getText(const antlr4::misc::Interval& interval) override {
    const auto first = static_cast<std::size_t>(interval.a);
    return std::string(text_.substr(first, static_cast<std::size_t>(interval.b) + 1 - first));
  }
  std::string toString() const override { return std::string(text_); }

 private:
  std::string_view text_;
  std::size_t position_ = 0;
};

}  // namespace

std::vector<Token> tokenise(std::string_view source, std::size_t max_tokens) {
  Bytes bytes(source);
  if (source.starts_with("\xEF\xBB\xBF")) bytes.seek(3);  // a byte order mark
  generated::RaspLexer lexer(&bytes);
  std::vector<Token> tokens;
  tokens.reserve(source.size() / 4 + 1);
  std::size_t line = 0;
  while (tokens.size() < max_tokens) {
    const auto next = lexer.nextToken();
    if (next->getType() == antlr4::Token::EOF) break;
    Token token;
    token.kind = static_cast<int>(next->getType());
    token.begin = static_cast<std::uint32_t>(next->getStartIndex());
    token.end = static_cast<std::uint32_t>(next->getStopIndex() + 1);
    token.first_on_line = next->getLine() != line;
    line = next->getLine();
    tokens.push_back(token);
  }
  const auto end = static_cast<std::uint32_t>(source.size());
  tokens.push_back({kEndOfText, end, end, true, false});
  return tokens;
}

bool ends_operand(int kind) {
  switch (kind) {
    case Kind::NAME:
    case Kind::INTEGER:
    case Kind::DECIMAL:
    case Kind::STRING:
    case Kind::CLOSE_PAREN:
    case Kind::CLOSE_BRACKET:
    case Kind::CLOSE_BRACE:
      return true;
    default:
      return false;
  }
}

bool is_comparison_sign(int kind) {
  switch (kind) {
    case Kind::EQUAL:
    case Kind::NOT_EQUAL:
    case Kind::LESS:
    case Kind::GREATER:
    case Kind::LESS_EQUAL:
    case Kind::GREATER_EQUAL:
      return true;
    default:
      return false;
  }
}

}  // namespace rasp::syntax
