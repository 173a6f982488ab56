// A text, parsed, with what the tests ask of it.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "syntax/parser.h"
#include "syntax/print.h"

namespace rasp::syntax::testing {

class ParsedText {
 public:
  explicit ParsedText(const std::string& text, const ParseOptions& options = {})
      : file_(sources_.add("t.rasp", text)), parsed_(parse(sources_, file_, options)) {}

  [[nodiscard]] const SourceMap& sources() const { return sources_; }
  [[nodiscard]] const Parsed& parsed() const { return parsed_; }
  [[nodiscard]] const Program& program() const { return parsed_.program; }
  [[nodiscard]] const std::vector<Statement>& statements() const {
    return parsed_.program.statements;
  }
  [[nodiscard]] const std::vector<Diagnostic>& diagnostics() const { return parsed_.diagnostics; }

  // Every statement, fully parenthesised, one a line.
  [[nodiscard]] std::string printed() const {
    std::string out;
    for (const Statement& statement : statements()) {
      if (!out.empty()) out += '\n';
      out += to_text(program(), statement);
    }
    return out;
  }

  // "1:5 [covered text] message" and, when there is one, " | hint".
  [[nodiscard]] std::string shown(const Diagnostic& diagnostic) const {
    const Place place = sources_.place(file_, diagnostic.span.begin);
    std::string out = std::to_string(place.line) + ':' + std::to_string(place.column) + " [";
    out += sources_.text(diagnostic.span);
    out += "] " + diagnostic.message;
    if (!diagnostic.hint.empty()) out += " | " + diagnostic.hint;
    return out;
  }
  [[nodiscard]] std::vector<std::string> errors() const { return all(Level::kError); }
  [[nodiscard]] std::vector<std::string> warnings() const { return all(Level::kWarning); }

 private:
  [[nodiscard]] std::vector<std::string> all(Level level) const {
    std::vector<std::string> out;
    for (const Diagnostic& diagnostic : diagnostics()) {
      if (diagnostic.level == level) out.push_back(shown(diagnostic));
    }
    return out;
  }

  SourceMap sources_;
  FileId file_;
  Parsed parsed_;
};

}  // namespace rasp::syntax::testing
