#include "syntax/parser.h"

#include <algorithm>
#include <optional>
#include <span>
#include <utility>

#include "base/utf8.h"
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
    const OutlineOptions outline_options{options_.commands, false};
    for (const Unit& unit : outline(source_, tokens_, 0, tokens_.size() - 1, outline_options)) {
      if (unit.command) {
        command(unit);
      } else if (errors_ < kMaxSyntaxErrors) {
        this->unit(unit);
      }
    }
    return std::move(parsed_);
  }

 private:
  void report(Diagnostic diagnostic) {
    if (++errors_ <= kMaxSyntaxErrors) parsed_.diagnostics.push_back(std::move(diagnostic));
  }

  void command(const Unit& unit) {
    Statement statement;
    statement.kind = StatementKind::kCommand;
    statement.span = {file_, tokens_[unit.first].begin, tokens_[unit.last - 1].end};
    statement.text =
        source_.substr(statement.span.begin, statement.span.end - statement.span.begin);
    parsed_.program.statements.push_back(std::move(statement));
  }

  void unit(const Unit& unit) {
    if (unit.too_deep) {
      const Token& token = tokens_[*unit.too_deep];
      report(error(ErrorKind::kLimit, {file_, token.begin, token.end},
                   "brackets, blocks, choices and prefix operators nest at most " +
                       std::to_string(kMaxNesting) + " deep",
                   "name a part of it first"));
      return;
    }
    parse_tokens(unit.first, unit.last);
    const TreeParser::Tree tree = parser_.parse(unit_tokens_, false);
    if (tree.failure) {
      report(error(
          ErrorKind::kSyntax,
          {file_, unit_tokens_[tree.failure->token].begin, unit_tokens_[tree.failure->token].end},
          "this statement is not of the form that was expected here"));
      return;
    }
    BuildContext context{source_,         file_,
                         unit_tokens_,    options_.warn_on_precedence,
                         parsed_.program, parsed_.diagnostics};
    auto statement = StatementBuilder(context).build(tree.statement);
    errors_ += context.errors;
    if (statement) parsed_.program.statements.push_back(std::move(*statement));
  }

  void parse_tokens(std::size_t first, std::size_t last) {
    unit_tokens_.assign(tokens_.begin() + static_cast<std::ptrdiff_t>(first),
                        tokens_.begin() + static_cast<std::ptrdiff_t>(last));
    const std::uint32_t end = tokens_[last - 1].end;
    unit_tokens_.push_back({kEndOfText, end, end, false, false});
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
