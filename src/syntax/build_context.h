// What the builders of expressions and statements share while they turn one unit's tree into ours.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "syntax/ast.h"
#include "syntax/tree.h"

namespace rasp::syntax {

struct BuildContext {
  std::string_view source;
  FileId file = kNoFile;
  std::span<const Token> tokens;  // of the unit
  bool warn = true;               // on surprising precedence
  Program& program;
  std::vector<Diagnostic>& diagnostics;
  std::size_t errors = 0;  // among `diagnostics`, by the builders

  [[nodiscard]] std::string_view text(const antlr4::Token* token) const {
    return token_of(token).text(source);
  }
  [[nodiscard]] Span span(const antlr4::Token* first, const antlr4::Token* last) const {
    return {file, token_of(first).begin, token_of(last).end};
  }
  [[nodiscard]] Span span(const antlr4::Token* token) const { return span(token, token); }
  [[nodiscard]] Span span(const antlr4::ParserRuleContext* rule) const {
    return span(rule->start, rule->stop);
  }
  [[nodiscard]] Name name(const antlr4::Token* token) const {
    return {std::string(text(token)), span(token)};
  }
  void report(ErrorKind kind, const Span& at, std::string message, std::string hint = {}) {
    ++errors;
    diagnostics.push_back(error(kind, at, std::move(message), std::move(hint)));
  }
};

}  // namespace rasp::syntax
