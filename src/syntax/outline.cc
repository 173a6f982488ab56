#include "syntax/outline.h"

#include "syntax/parser.h"

namespace rasp::syntax {
namespace {

bool begins_expression(int kind) {
  switch (kind) {
    case Kind::NAME:
    case Kind::INTEGER:
    case Kind::DECIMAL:
    case Kind::STRING:
    case Kind::OPEN_PAREN:
    case Kind::OPEN_BRACKET:
    case Kind::OPEN_BRACE:
    case Kind::SELECT:
    case Kind::AGGREGATE:
    case Kind::NOT:
    case Kind::MINUS:
    case Kind::PLUS:
      return true;
    default:
      return false;
  }
}

int statement_word(std::string_view word, int next) {
  if (word == "load" && next == Kind::STRING) return Kind::LOAD;
  if (word == "puzzle" && next == Kind::NAME) return Kind::PUZZLE;
  if (word == "expect" && begins_expression(next)) return Kind::EXPECT;
  return Kind::NAME;
}

int item_word(std::string_view word) {
  if (word == "vocab") return Kind::VOCAB;
  if (word == "length") return Kind::LENGTH;
  if (word == "expect") return Kind::EXPECT;
  if (word == "spec") return Kind::SPEC;
  if (word == "limit") return Kind::LIMIT;
  if (word == "hint") return Kind::HINT;
  return Kind::NAME;
}

class Outliner {
 public:
  Outliner(std::string_view source, std::vector<Token>& tokens, std::size_t last,
           const OutlineOptions& options)
      : source_(source), tokens_(tokens), last_(last), options_(options) {}

  std::vector<Unit> run(std::size_t first) {
    for (std::size_t at = first; at < last_;) at = step(at);
    if (!at_start_ || blocks_ > 0) end_unit(last_, false);
    return std::move(units_);
  }

 private:
  enum class Opened { kBracket, kIf, kBlock, kPuzzle };
  struct Open {
    Opened what;
    int closer;  // kBracket
  };

  [[nodiscard]] bool in_block() const {  // no bracket is open in this statement
    return open_.empty() || open_.back().what == Opened::kBlock ||
           open_.back().what == Opened::kPuzzle;
  }
  [[nodiscard]] bool in_puzzle() const {
    return open_.empty() ? options_.puzzle_items : open_.back().what == Opened::kPuzzle;
  }

  // Reads the token (or the command) at `at`; returns where to go on.
  std::size_t step(std::size_t at) {
    if (at_start_) {
      if (tokens_[at].kind == Kind::SEMICOLON) return skip_stray(at);
      if (const std::size_t end = begin_statement(at); end != at) return end;
    }
    Token& token = tokens_[at];
    prefixes_ = token.kind == Kind::NOT || token.kind == Kind::MINUS || token.kind == Kind::PLUS
                    ? prefixes_ + 1
                    : 0;
    switch (token.kind) {
      case Kind::OPEN_PAREN:
        open_.push_back({Opened::kBracket, Kind::CLOSE_PAREN});
        break;
      case Kind::OPEN_BRACKET:
        open_.push_back({Opened::kBracket, Kind::CLOSE_BRACKET});
        break;
      case Kind::OPEN_BRACE:
        open_brace(at);
        break;
      case Kind::IF:  // as the first word it is an error, and no ELSE will close it
        if (at != first_of_statement_) open_.push_back({Opened::kIf, 0});
        break;
      case Kind::ELSE:
        if (!open_.empty() && open_.back().what == Opened::kIf) open_.pop_back();
        break;
      case Kind::CLOSE_PAREN:
      case Kind::CLOSE_BRACKET:
        close_bracket(token.kind);
        break;
      case Kind::CLOSE_BRACE:
        if (!close_bracket(token.kind)) close_block(at);
        break;
      case Kind::SEMICOLON:
      case Kind::UNCLOSED:  // it swallowed the ';' of its line
        end_statement(at + 1);
        break;
      case Kind::STRING:  // a puzzle's description stands alone
        if (in_puzzle() && first_of_statement_ == at) end_statement(at + 1);
        break;
      case Kind::NAME:
        if (header_ == Kind::LENGTH && token.text(source_) == "to") token.kind = Kind::TO;
        break;
      default:
        break;
    }
    if (open_.size() + prefixes_ > kMaxNesting && !too_deep_) too_deep_ = at;
    return at + 1;
  }

  std::size_t skip_stray(std::size_t at) {
    if (blocks_ == 0) start_ = at + 1;
    return at + 1;
  }

  // Returns one past the end of a command, or `at` when it is a statement that begins.
  std::size_t begin_statement(std::size_t at) {
    if (blocks_ == 0) start_ = at;
    if (options_.commands && blocks_ == 0) {
      if (std::size_t end = command_end(source_, tokens_, at); end != at) {
        units_.push_back({at, end, true, true, std::nullopt});
        if (end < last_ && tokens_[end].kind == Kind::SEMICOLON) ++end;
        return end;
      }
    }
    at_start_ = false;
    first_of_statement_ = at;
    Token& token = tokens_[at];
    if (token.kind == Kind::NAME) {
      token.kind = in_puzzle() ? item_word(token.text(source_))
                               : statement_word(token.text(source_), tokens_[at + 1].kind);
    }
    header_ = token.kind;
    return at;
  }

  void open_brace(std::size_t at) {
    if (!begins_body(at)) {
      open_.push_back({Opened::kBracket, Kind::CLOSE_BRACE});
      return;
    }
    drop_brackets();
    tokens_[at].block = true;
    open_.push_back({header_ == Kind::PUZZLE ? Opened::kPuzzle : Opened::kBlock, 0});
    ++blocks_;
    at_start_ = true;
  }

  // In `for k in {"a": 1} {` only the second brace has an operand before it, and no dict has. A
  // header in error begins its body all the same: `def f(x {`, `for i in l: {`, `if a == b {`.
  [[nodiscard]] bool begins_body(std::size_t at) const {
    if (header_ == Kind::DEF || header_ == Kind::PUZZLE) return true;
    if (at == first_of_statement_) return false;
    const int before = tokens_[at - 1].kind;
    if (header_ == Kind::FOR && ends_operand(before)) return true;
    if (!in_block()) return false;
    return ends_operand(before) || (header_ == Kind::FOR && before == Kind::COLON) ||
           (before == Kind::ELSE && first_of_statement_ + 1 == at);
  }

  // Closes the innermost bracket of this kind in this statement, with what is left open inside it;
  // false when there is none. Looks no further than nesting may go, or a text of '(' and ']' would
  // cost the square of its length.
  bool close_bracket(int closer) {
    const std::size_t lowest = open_.size() > kMaxNesting ? open_.size() - kMaxNesting : 0;
    for (std::size_t depth = open_.size(); depth > lowest; --depth) {
      const Open& open = open_[depth - 1];
      if (open.what == Opened::kBlock || open.what == Opened::kPuzzle) return false;
      if (open.what == Opened::kBracket && open.closer == closer) {
        open_.resize(depth - 1);
        return true;
      }
    }
    return false;
  }

  void close_block(std::size_t at) {
    drop_brackets();
    if (open_.empty()) {  // it closes nothing: a unit of its own, for the parser to report
      end_unit(at + 1, true);
      return;
    }
    tokens_[at].block = true;
    open_.pop_back();
    --blocks_;
    end_statement(at + 1);
  }

  void drop_brackets() {
    while (!in_block()) open_.pop_back();
  }

  void end_statement(std::size_t end) {
    drop_brackets();
    at_start_ = true;
    header_ = 0;
    if (blocks_ == 0) end_unit(end, true);
  }

  void end_unit(std::size_t end, bool ended) {
    if (end > start_) units_.push_back({start_, end, false, ended, too_deep_});
    too_deep_.reset();
    open_.clear();
    blocks_ = 0;
    at_start_ = true;
    start_ = end;
  }

  std::string_view source_;
  std::vector<Token>& tokens_;
  std::size_t last_;
  OutlineOptions options_;
  std::vector<Unit> units_;
  std::vector<Open> open_;
  std::size_t blocks_ = 0;              // blocks among `open_`
  std::size_t start_ = 0;               // first token of the unit
  std::size_t first_of_statement_ = 0;  // first token of the innermost statement
  std::size_t prefixes_ = 0;            // prefix operators up to here, without a break
  int header_ = 0;                      // kind of the statement's first token
  bool at_start_ = true;                // the next token begins a statement
  std::optional<std::size_t> too_deep_;
};

}  // namespace

std::vector<Unit> outline(std::string_view source, std::vector<Token>& tokens, std::size_t first,
                          std::size_t last, const OutlineOptions& options) {
  return Outliner(source, tokens, last, options).run(first);
}

}  // namespace rasp::syntax
