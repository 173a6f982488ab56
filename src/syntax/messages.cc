#include "syntax/messages.h"

#include <string>
#include <utility>
#include <vector>

#include "syntax/slips.h"

namespace rasp::syntax {
namespace {

// What the stop is inside of. Everything before the stop was accepted, so it nests.
struct Inside {
  enum class What {
    kStatements,  // in no bracket of a statement: at the top, or in a block
    kItems,       // in a puzzle
    kParens,
    kCall,
    kSelect,
    kAggregate,
    kParameters,
    kList,
    kIndex,
    kDict,
    kChoice,  // between `if` and `else`
  } what = What::kStatements;
  std::size_t opener = 0;  // its token; for the first two, of the block, if any
  bool block = false;      // opener is the brace of a block
  std::size_t commas = 0;  // so far, on this level
};

class Explainer {
 public:
  Explainer(const Failure& failure, std::span<const Token> tokens, const SourceMap& sources,
            FileId file)
      : failure_(failure),
        stop_{tokens, failure.token, sources.text(file)},
        sources_(sources),
        file_(file) {
    find_inside();
  }

  Explanation run() {
    Explanation out;
    Problem problem = this->problem();
    if (problem.hint.empty()) problem.hint = hint_on_signs(stop_);
    if (problem.hint.empty()) problem.hint = hint_on_words(stop_, statement_);
    out.missing_end = missing_end_;
    out.diagnostic =
        error(ErrorKind::kSyntax, place(), std::move(problem.message), std::move(problem.hint));
    return out;
  }

 private:
  using What = Inside::What;

  [[nodiscard]] bool expects(int kind) const {
    return failure_.expected.contains(static_cast<std::size_t>(kind));
  }
  [[nodiscard]] int found() const { return stop_.kind(stop_.at); }
  [[nodiscard]] std::string found_text() const { return ", found " + shown(stop_, stop_.at); }
  [[nodiscard]] std::string before_text() const { return shown(stop_, stop_.at - 1); }
  [[nodiscard]] bool at_statement_start() const { return stop_.at == statement_; }

  // Where a ';' is missing before a new line, and where the text ends, the place is the end of what
  // stands before.
  [[nodiscard]] Span place() const {
    const Token& token = stop_.tokens[stop_.at];
    if (stop_.at > 0 && (token.kind == kEndOfText || (missing_end_ && token.first_on_line))) {
      const Token& last = stop_.tokens[stop_.at - 1];
      return {file_, last.begin, last.end};
    }
    return {file_, token.begin, token.end};
  }

  void find_inside();
  [[nodiscard]] Inside open(std::size_t at) const;
  [[nodiscard]] Inside open_paren(std::size_t at) const;

  [[nodiscard]] Problem problem();
  [[nodiscard]] Problem in_statements();
  [[nodiscard]] Problem in_header() const;
  [[nodiscard]] Problem in_item();
  [[nodiscard]] Problem in_select() const;
  [[nodiscard]] Problem in_aggregate() const;
  [[nodiscard]] Problem in_brackets() const;
  [[nodiscard]] Problem expected_expression() const;
  [[nodiscard]] Problem expected_name() const;
  [[nodiscard]] std::string opener_text() const;
  [[nodiscard]] bool gives_up_on_bracket() const;

  const Failure& failure_;
  Stop stop_;
  const SourceMap& sources_;
  FileId file_;
  Inside inside_;
  std::size_t statement_ = 0;  // first token of the innermost statement or item
  bool missing_end_ = false;
  bool inside_comprehension_ = false;
};

Inside Explainer::open_paren(std::size_t at) const {
  const int before = at > 0 ? stop_.kind(at - 1) : 0;
  const int earlier = at > 1 ? stop_.kind(at - 2) : 0;
  if (before == Kind::SELECT) return {What::kSelect, at, false, 0};
  if (before == Kind::AGGREGATE) return {What::kAggregate, at, false, 0};
  if (earlier == Kind::DEF || earlier == Kind::PUZZLE) return {What::kParameters, at, false, 0};
  return {ends_operand(before) ? What::kCall : What::kParens, at, false, 0};
}

Inside Explainer::open(std::size_t at) const {
  const bool after_operand = at > 0 && ends_operand(stop_.kind(at - 1));
  switch (stop_.kind(at)) {
    case Kind::OPEN_PAREN:
      return open_paren(at);
    case Kind::OPEN_BRACKET:
      return {after_operand ? What::kIndex : What::kList, at, false, 0};
    case Kind::IF:
      return {What::kChoice, at, false, 0};
    default:
      break;
  }
  if (!stop_.tokens[at].block) return {What::kDict, at, false, 0};
  const bool puzzle = stop_.kind(statement_) == Kind::PUZZLE;
  return {puzzle ? What::kItems : What::kStatements, at, true, 0};
}

void Explainer::find_inside() {
  std::vector<Inside> open_levels{Inside{}};
  if (stop_.kind(0) != Kind::PUZZLE && failure_.rule == Grammar::RuleItem) {
    open_levels.back().what = What::kItems;  // one line of a puzzle, by itself
  }
  for (std::size_t at = 0; at < stop_.at; ++at) {
    switch (stop_.kind(at)) {
      case Kind::OPEN_PAREN:
      case Kind::OPEN_BRACKET:
      case Kind::OPEN_BRACE:
      case Kind::IF:
        open_levels.push_back(open(at));
        if (open_levels.back().block) statement_ = at + 1;
        break;
      case Kind::CLOSE_PAREN:
      case Kind::CLOSE_BRACKET:
      case Kind::CLOSE_BRACE:
      case Kind::ELSE:
        if (open_levels.back().block) statement_ = at + 1;
        if (open_levels.size() > 1) open_levels.pop_back();
        break;
      case Kind::COMMA:
        ++open_levels.back().commas;
        break;
      case Kind::FOR:
        inside_comprehension_ = statement_ != at;
        break;
      case Kind::SEMICOLON:
        statement_ = at + 1;
        break;
      case Kind::STRING:
        if (open_levels.back().what == What::kItems && statement_ == at) statement_ = at + 1;
        break;
      default:
        break;
    }
  }
  inside_ = open_levels.back();
}

Problem Explainer::problem() {
  if (is_foreign(found())) return foreign_token(stop_);
  if (failure_.rule == Grammar::RuleOperand) return expected_expression();
  if (failure_.rule == Grammar::RuleNames) return expected_name();
  if (failure_.rule == Grammar::RulePrimary && expects(Kind::IN)) {
    return {"expected 'in' after " + before_text() + found_text(),
            "a comprehension is written [x + 1 for x in list]"};
  }
  if (failure_.rule == Grammar::RulePrimary && expects(Kind::OPEN_PAREN)) {
    return {"expected '(' after " + before_text() + found_text(),
            before_text() + " is a word of the language"};
  }
  switch (inside_.what) {
    case What::kStatements:
      return in_statements();
    case What::kItems:
      return in_item();
    case What::kSelect:
      return in_select();
    case What::kAggregate:
      return in_aggregate();
    default:
      return in_brackets();
  }
}

Problem Explainer::expected_expression() const {
  if (at_statement_start()) return {"expected a statement" + found_text(), ""};
  return {"expected an expression after " + before_text() + found_text(), ""};
}

Problem Explainer::expected_name() const {
  Problem problem{"expected a name after " + before_text() + found_text(), ""};
  const std::string_view text = stop_.text(stop_.at);
  const bool word = !text.empty() && text[0] >= 'a' && text[0] <= 'z';
  if (word && found() != kEndOfText) {
    problem.hint = in_quotes(text) + " is a word of the language";
  }
  return problem;
}

// "'(' at line 3", or without the line when it is the line of the stop.
std::string Explainer::opener_text() const {
  const Token& opener = stop_.tokens[inside_.opener];
  const auto line = sources_.place(file_, opener.begin).line;
  std::string text = in_quotes(opener.text(stop_.source));
  if (line != sources_.place(file_, stop_.tokens[stop_.at].begin).line) {
    text += " at line " + std::to_string(line);
  }
  return text;
}

Problem Explainer::in_statements() {
  const int first = stop_.kind(statement_);
  const bool header = first == Kind::DEF || first == Kind::FOR || first == Kind::PUZZLE;
  if (at_statement_start()) {
    if (found() == Kind::CLOSE_BRACE && !inside_.block) {
      return {"expected a statement, found '}' that closes nothing", ""};
    }
    if (inside_.block && found() == kEndOfText) {
      return {"expected '}' to close " + opener_text() + found_text(), ""};
    }
    return {"expected a statement" + found_text(), ""};
  }
  if (header) return in_header();
  if (found() == Kind::ELSE) {
    return {"expected ';' after the statement, found 'else' without an 'if'",
            "a choice is an expression: a if condition else b"};
  }
  if (first == Kind::LOAD || expects(Kind::SEMICOLON)) {
    missing_end_ = found() != Kind::ASSIGN;
    return {"expected ';' after the statement" + found_text(), ""};
  }
  return {"expected the end of the statement" + found_text(), ""};
}

Problem Explainer::in_header() const {
  const int first = stop_.kind(statement_);
  if (expects(Kind::NAME)) return expected_name();
  if (expects(Kind::IN)) {
    return {"expected 'in' after " + before_text() + found_text(),
            "a loop is written for i in range(n) { ... }"};
  }
  if (expects(Kind::OPEN_PAREN)) {
    return {"expected '(' after the name " + before_text() + found_text(),
            first == Kind::DEF ? "a function is defined with def name(x) { return ...; }"
                               : "a puzzle is written puzzle name(x) { ... }"};
  }
  Problem problem{"expected '{' before the body" + found_text(), ""};
  if (found() == Kind::COLON) problem.hint = "a body stands in braces: { ... }";
  return problem;
}

Problem Explainer::in_item() {
  constexpr const char* kItems =
      "a puzzle has a description, vocab, length, expect, spec, limit and hint";
  if (at_statement_start()) {
    if (found() == kEndOfText && inside_.block) {
      return {"expected '}' to close " + opener_text() + found_text(), ""};
    }
    return {"expected a line of a puzzle" + found_text(), kItems};
  }
  if (expects(Kind::SEMICOLON)) {
    missing_end_ = true;
    return {"expected ';' after " + before_text() + found_text(), ""};
  }
  if (expects(Kind::TO) || expects(Kind::INTEGER)) {
    const char* hint = stop_.kind(statement_) == Kind::LENGTH
                           ? "lengths are written length 1 to 6;"
                           : "limits are written limit layers 2; or limit heads 1;";
    const char* what = expects(Kind::TO) ? "expected 'to' after " : "expected a number after ";
    return {what + before_text() + found_text(), hint};
  }
  if (expects(Kind::STRING)) {
    return {"expected a string after " + before_text() + found_text(), ""};
  }
  return {"expected 'layers' or 'heads' after " + before_text() + found_text(), ""};
}

Problem Explainer::in_select() const {
  constexpr const char* kForm = "select takes three parts: select(keys, queries, ==)";
  if (gives_up_on_bracket() && found() != Kind::CLOSE_PAREN) return in_brackets();
  if (inside_.commas == 2 && expects(Kind::EQUAL)) {
    return {"expected one of ==, !=, <, >, <=, >= as the third part of 'select'" + found_text(),
            kForm};
  }
  if (inside_.commas < 2) {
    return {"expected ',' and a " + std::string(inside_.commas == 0 ? "second" : "third") +
                " part of 'select'" + found_text(),
            found() == Kind::ASSIGN ? "" : kForm};
  }
  return {"expected ')' after the comparison of 'select'" + found_text(), kForm};
}

Problem Explainer::in_aggregate() const {
  constexpr const char* kForm =
      "aggregate takes a selector, a value and maybe a default: aggregate(s, x, 0)";
  const bool over = gives_up_on_bracket() && found() != Kind::CLOSE_PAREN;
  if (over || found() == Kind::ASSIGN) return in_brackets();
  if (inside_.commas == 0) {
    return {"expected ',' and a second part of 'aggregate'" + found_text(), kForm};
  }
  if (inside_.commas == 2) {
    return {"expected ')' after the third part of 'aggregate'" + found_text(), kForm};
  }
  return in_brackets();
}

// The statement is over, or another bracket closes: what is missing is the closing one.
bool Explainer::gives_up_on_bracket() const {
  switch (found()) {
    case kEndOfText:
    case Kind::SEMICOLON:
    case Kind::CLOSE_PAREN:
    case Kind::CLOSE_BRACKET:
    case Kind::CLOSE_BRACE:
    case Kind::OPEN_BRACE:
    case Kind::DEF:
    case Kind::RETURN:
      return true;
    default:
      return false;
  }
}

Problem Explainer::in_brackets() const {
  const bool over = gives_up_on_bracket();
  if (stop_.at == inside_.opener + 1 && !over) {
    return {inside_.what == What::kParameters
                ? "expected a name or ')' after '('" + found_text()
                : "expected an expression after " + before_text() + found_text(),
            ""};
  }
  const std::string close_it = " to close " + opener_text() + found_text();
  switch (inside_.what) {
    case What::kChoice:
      return {"expected 'else' after the condition of " + opener_text() + found_text(),
              inside_comprehension_ ? "a comprehension takes every element; it has no condition"
                                    : "a choice has both sides: a if condition else b"};
    case What::kIndex:
      return {"expected ']'" + close_it,
              found() == Kind::COLON ? "there are no slices; an index picks one element" : ""};
    case What::kDict:
      if (expects(Kind::COLON)) {
        return {"expected ':' and a value after the key" + found_text(),
                "a dict is written {key: value}, a list [a, b]"};
      }
      return {(over ? "expected '}'" : "expected ',' or '}'") + close_it, ""};
    case What::kList:
      return {(over ? "expected ']'" : "expected ',' or ']'") + close_it, ""};
    case What::kParens:
      return {"expected ')'" + close_it, found() == Kind::COMMA ? "a list is written [a, b]" : ""};
    case What::kParameters:
      if (over) break;
      return {"expected ',' or ')' after the parameter " + before_text() + found_text(),
              "a parameter is a name alone, without a type or a default"};
    default:
      break;
  }
  return {(over ? "expected ')'" : "expected ',' or ')'") + close_it, ""};
}

}  // namespace

Explanation explain(const Failure& failure, std::span<const Token> tokens, const SourceMap& sources,
                    FileId file) {
  return Explainer(failure, tokens, sources, file).run();
}

}  // namespace rasp::syntax
