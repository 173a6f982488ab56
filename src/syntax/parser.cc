#include "syntax/parser.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "base/utf8.h"
#include "syntax/messages.h"
#include "syntax/outline.h"
#include "syntax/statements.h"
#include "syntax/tree.h"

namespace rasp::syntax {
namespace {

// The first byte that no text may hold: NUL, or one that is not UTF-8.
std::optional<std::size_t> bad_byte(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const auto byte = static_cast<unsigned char>(text[at]);
    if (byte == 0) return at;
    if (byte < 0x80) {
      ++at;
      continue;
    }
    const CodePoint point = decode_utf8(text, at);
    if (!point.valid) return at;
    at += point.bytes;
  }
  return std::nullopt;
}

// A text that is not even read: what is wrong with it as a whole.
std::optional<Diagnostic> unreadable(std::string_view text, FileId file) {
  const Span begin{file, 0, 0};
  if (text.size() > kMaxSourceBytes) {
    return error(ErrorKind::kLimit, begin,
                 "a text has at most " + std::to_string(kMaxSourceBytes) + " bytes, this one has " +
                     std::to_string(text.size()));
  }
  if (const auto at = bad_byte(text)) {
    const auto offset = static_cast<std::uint32_t>(*at);
    return error(ErrorKind::kSyntax, {file, offset, offset + 1},
                 text[*at] == 0 ? "expected text, found a NUL byte"
                                : "expected UTF-8 text, found a byte that is not UTF-8",
                 text[*at] == 0 ? "" : "save the file as UTF-8");
  }
  return std::nullopt;
}

class Reading {
 public:
  Reading(const SourceMap& sources, FileId file, const ParseOptions& options)
      : sources_(sources), source_(sources.text(file)), file_(file), options_(options) {}

  Parsed run() {
    if (auto problem = unreadable(source_, file_)) {
      parsed_.diagnostics.push_back(std::move(*problem));
      return std::move(parsed_);
    }
    tokens_ = tokenise(source_, kMaxTokens + 1);
    if (tokens_.size() > kMaxTokens + 1) {
      const Token& token = tokens_[kMaxTokens];
      report(error(ErrorKind::kLimit, {file_, token.begin, token.end},
                   "a text has at most " + std::to_string(kMaxTokens) +
                       " words and signs, this one has more"));
      return std::move(parsed_);
    }
    parse_range(0, tokens_.size() - 1, {});
    return std::move(parsed_);
  }

 private:
  // Where a range of tokens stands: what its units are, and what becomes of them.
  struct Around {
    bool top = true;  // outside every block: what is parsed belongs to the program
    bool puzzle_items = false;
  };

  void report(Diagnostic diagnostic) {
    if (++errors_ <= kMaxSyntaxErrors) parsed_.diagnostics.push_back(std::move(diagnostic));
  }

  // Recurses only where a unit is in error, so at most kMaxSyntaxErrors deep.
  void parse_range(std::size_t first, std::size_t last, const Around& around) {
    const OutlineOptions options{options_.commands && around.top, around.puzzle_items};
    for (const Unit& unit : outline(source_, tokens_, first, last, options)) {
      if (errors_ >= kMaxSyntaxErrors) return;
      if (unit.command) {
        add_command(unit);
      } else if (unit.too_deep) {
        report_depth(tokens_[*unit.too_deep]);
      } else {
        parse_unit(unit, around);
      }
    }
  }

  void add_command(const Unit& unit) {
    Statement statement;
    statement.kind = StatementKind::kCommand;
    statement.span = {file_, tokens_[unit.first].begin, tokens_[unit.last - 1].end};
    statement.text =
        source_.substr(statement.span.begin, statement.span.end - statement.span.begin);
    parsed_.program.statements.push_back(std::move(statement));
  }

  void report_depth(const Token& token) {
    report(error(ErrorKind::kLimit, {file_, token.begin, token.end},
                 "brackets, blocks, choices and prefix operators nest at most " +
                     std::to_string(kMaxNesting) + " deep",
                 "give a name to a part first"));
  }

  void parse_unit(const Unit& unit, const Around& around) {
    unit_tokens_.assign(tokens_.begin() + static_cast<std::ptrdiff_t>(unit.first),
                        tokens_.begin() + static_cast<std::ptrdiff_t>(unit.last));
    const std::uint32_t end = tokens_[unit.last - 1].end;
    if (!unit.ended && unit.last + 1 < tokens_.size()) unit_tokens_.push_back(tokens_[unit.last]);
    unit_tokens_.push_back({kEndOfText, end, end, false, false});
    const TreeParser::Tree tree = parser_.parse(unit_tokens_, around.puzzle_items);
    if (tree.failure) {
      const Explanation explanation = explain(*tree.failure, unit_tokens_, sources_, file_);
      report(explanation.diagnostic);
      go_on_after(unit, unit.first + tree.failure->token, explanation.missing_end, around);
      return;
    }
    build(tree, around);
  }

  void build(const TreeParser::Tree& tree, const Around& around) {
    Program scratch;  // a statement out of a block that is in error: only its own errors count
    BuildContext context{source_,
                         file_,
                         unit_tokens_,
                         options_.warn_on_precedence,
                         around.top ? parsed_.program : scratch,
                         parsed_.diagnostics};
    StatementBuilder builder(context);
    if (tree.item != nullptr) {
      builder.check(tree.item);
    } else if (auto statement = builder.build(tree.statement, around.top);
               statement && around.top) {
      parsed_.program.statements.push_back(std::move(*statement));
    }
    errors_ += context.errors;
  }

  // The parser stopped at token `stop` of the unit. What follows the innermost statement around it
  // is read on its own, block by block, for its errors.
  void go_on_after(const Unit& unit, std::size_t stop, bool missing_end, const Around& around) {
    std::vector<bool> blocks;  // around `stop`, in this unit: whether each is a puzzle
    for (std::size_t at = unit.first; at < stop && at < unit.last; ++at) {
      if (!tokens_[at].block) continue;
      if (tokens_[at].kind == Kind::CLOSE_BRACE) {
        blocks.pop_back();
      } else {
        blocks.push_back(blocks.empty() && tokens_[unit.first].kind == Kind::PUZZLE);
      }
    }
    std::size_t next = stop;
    if (!missing_end || !tokens_[stop].first_on_line) {
      while (next < unit.last && tokens_[next].kind != Kind::SEMICOLON &&
             tokens_[next].kind != Kind::UNCLOSED && !tokens_[next].block) {
        ++next;
      }
      if (next < unit.last && tokens_[next].block && tokens_[next].kind == Kind::OPEN_BRACE) {
        blocks.push_back(blocks.empty() && tokens_[unit.first].kind == Kind::PUZZLE);
      }
      const bool closes =
          next < unit.last && tokens_[next].block && tokens_[next].kind == Kind::CLOSE_BRACE;
      if (!closes) ++next;
    }
    for (; !blocks.empty(); blocks.pop_back()) {
      const std::size_t end = end_of_block(next, unit.last);
      if (next < end) parse_range(next, end, {false, blocks.back()});
      next = end + 1;
    }
    if (next < unit.last) parse_range(next, unit.last, around);
  }

  // The brace that closes the block that `first` is in, or `last`.
  [[nodiscard]] std::size_t end_of_block(std::size_t first, std::size_t last) const {
    std::size_t depth = 0;
    for (std::size_t at = first; at < last; ++at) {
      if (!tokens_[at].block) continue;
      if (tokens_[at].kind == Kind::OPEN_BRACE) {
        ++depth;
      } else if (depth-- == 0) {
        return at;
      }
    }
    return last;
  }

  const SourceMap& sources_;
  std::string_view source_;
  FileId file_;
  ParseOptions options_;
  Parsed parsed_;
  std::vector<Token> tokens_;
  std::vector<Token> unit_tokens_;
  TreeParser parser_;
  std::size_t errors_ = 0;
};

}  // namespace

bool Parsed::ok() const {
  return std::none_of(diagnostics.begin(), diagnostics.end(), [](const Diagnostic& diagnostic) {
    return diagnostic.level == Level::kError;
  });
}

Parsed parse(const SourceMap& sources, FileId file, const ParseOptions& options) {
  return Reading(sources, file, options).run();
}

bool is_complete(std::string_view text, const ParseOptions& options) {
  if (unreadable(text, kNoFile)) return true;  // more text would not help
  std::vector<Token> tokens = tokenise(text, kMaxTokens + 1);
  if (tokens.size() > kMaxTokens + 1) return true;
  const auto units = outline(text, tokens, 0, tokens.size() - 1, {options.commands, false});
  return units.empty() || units.back().ended;
}

const std::vector<std::string>& keywords() {
  static const std::vector<std::string> words = {"aggregate", "and", "def", "else",   "for",   "if",
                                                 "in",        "not", "or",  "return", "select"};
  return words;
}

}  // namespace rasp::syntax
