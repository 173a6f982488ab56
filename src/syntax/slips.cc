#include "syntax/slips.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/utf8.h"
#include "syntax/outline.h"

namespace rasp::syntax {
namespace {

constexpr std::size_t kMaxShown = 30;  // code points of a token in a message

constexpr std::string_view kChoiceHint = "a choice is an expression: a if condition else b";
constexpr std::string_view kFunctionHint = "a function is defined with def name(x) { return ...; }";
constexpr std::string_view kNameHint = "a value gets a name with name = value;";
constexpr std::string_view kBracesHint = "a body stands in braces: { ... }";

using Entry = std::pair<std::string_view, std::string_view>;

std::string find(std::span<const Entry> table, std::string_view key) {
  const auto entry =
      std::find_if(table.begin(), table.end(), [&](const Entry& e) { return e.first == key; });
  return entry == table.end() ? std::string() : std::string(entry->second);
}

// Characters that no token holds, and what was meant.
constexpr std::array kCharacters = {
    Entry{"!", "write 'not', or '!=' to compare"},
    Entry{"&", "write 'and'"},
    Entry{"|", "write 'or'"},
    Entry{"~", "write 'not'"},
    Entry{"?", kChoiceHint},
    Entry{"'", "strings are written in double quotes"},
    Entry{"`", "strings are written in double quotes"},
    Entry{"\xE2\x80\x98", "strings are written in straight double quotes"},
    Entry{"\xE2\x80\x99", "strings are written in straight double quotes"},
    Entry{"\xE2\x80\x9C", "strings are written in straight double quotes"},
    Entry{"\xE2\x80\x9D", "strings are written in straight double quotes"},
    Entry{"\xE2\x89\xA4", "write '<='"},
    Entry{"\xE2\x89\xA5", "write '>='"},
    Entry{"\xE2\x89\xA0", "write '!='"},
    Entry{"\xC3\x97", "write '*'"},
    Entry{"\xC3\xB7", "write '/'"},
    Entry{"\xE2\x88\x92", "write '-'"},
    Entry{"\xE2\x80\x93", "write '-'"},
    Entry{"\xC2\xA0", "this is a space that only looks like one; type it again"},
};

// Words that begin a statement elsewhere.
constexpr std::array kStatementWords = {
    Entry{"while", "a loop is written for i in range(n) { ... }"},
    Entry{"elif", kChoiceHint},
    Entry{"else", kChoiceHint},
    Entry{"if", kChoiceHint},
    Entry{"print", "a value is shown by itself: x;"},
    Entry{"import", "another file is read with load \"name\";"},
    Entry{"from", "another file is read with load \"name\";"},
    Entry{"include", "another file is read with load \"name\";"},
    Entry{"function", kFunctionHint},
    Entry{"fn", kFunctionHint},
    Entry{"let", kNameHint},
    Entry{"var", kNameHint},
    Entry{"const", kNameHint},
    Entry{"assert", "a check is written expect a == b;"},
    Entry{"load", "a file is read with load \"name\";"},
    Entry{"draw", "a picture is asked for with draw(sop);"},
};

// Words in the middle of one.
constexpr std::array kInnerWords = {
    Entry{"is", "write '=='"},  Entry{"not", "write not (x in l)"}, Entry{"xor", "write (a != b)"},
    Entry{"then", kChoiceHint}, Entry{"lambda", kFunctionHint},
};

std::string first_character(std::string_view text) {
  const CodePoint point = decode_utf8(text, 0);
  return std::string(text.substr(0, point.bytes));
}

}  // namespace

std::string in_quotes(std::string_view text) {
  std::string out(1, '\'');
  out += text;
  out += '\'';
  return out;
}

std::string shown(const Stop& stop, std::size_t index) {
  if (stop.kind(index) == kEndOfText) return "the end of the text";
  const std::string_view text = stop.text(index);
  std::string out;
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); ++count) {
    if (count == kMaxShown) {
      out += "\xE2\x80\xA6";
      break;
    }
    const CodePoint point = decode_utf8(text, at);
    append_printable(out, text, at, point);
    at += point.bytes;
  }
  return stop.kind(index) == Kind::STRING ? out : in_quotes(out);
}

bool is_foreign(int kind) {
  return kind == Kind::UNCLOSED || kind == Kind::QUOTED || kind == Kind::FOREIGN ||
         kind == Kind::OTHER;
}

Problem foreign_token(const Stop& stop) {
  const std::string_view text = stop.text(stop.at);
  switch (stop.kind(stop.at)) {
    case Kind::UNCLOSED:
      return {"expected '\"' at the end of the string, found the end of the line", ""};
    case Kind::QUOTED:
      return {"expected a string in double quotes, found single quotes",
              "write \"" + std::string(text.substr(1, text.size() - 2)) + "\""};
    default:
      break;
  }
  const std::string character = first_character(text);
  Problem problem{
      "expected a word or sign of the language, found " + in_quotes(printable(character)),
      find(kCharacters, character)};
  if (character == ".") {
    const bool number =
        stop.kind_before() == Kind::INTEGER || stop.kind(stop.at + 1) == Kind::INTEGER;
    problem.hint = number ? "a decimal has digits on both sides: 0.5" : "values have no members";
  } else if (problem.hint.empty() && stop.kind(stop.at) == Kind::FOREIGN) {
    problem.hint = "names are made of A-Z, a-z, 0-9 and _";
  }
  return problem;
}

std::string hint_on_signs(const Stop& stop) {
  const int found = stop.kind(stop.at);
  const int before = stop.kind_before();
  const bool touches = stop.at > 0 && stop.tokens[stop.at - 1].end == stop.tokens[stop.at].begin;
  if (before == Kind::TIMES && found == Kind::TIMES && touches) return "a power is written a ^ b";
  if (before == Kind::DIVIDE && found == Kind::DIVIDE && touches) {
    return "a comment begins with '#'; a whole quotient is (a - a % b) / b";
  }
  const bool number = before == Kind::INTEGER || before == Kind::DECIMAL;
  if (number && found == Kind::NAME && touches) return "a number is written 12 or 0.5";
  if (before == Kind::LESS && found == Kind::GREATER) return "write '!='";
  if (before == Kind::ASSIGN && found == Kind::GREATER) return "write '>='";
  if (before == Kind::ASSIGN && found == Kind::LESS) return "write '<='";
  if (found == Kind::ASSIGN) {
    switch (before) {
      case Kind::EQUAL:
      case Kind::NOT_EQUAL:
        return "write '==' or '!='";
      case Kind::PLUS:
      case Kind::MINUS:
      case Kind::TIMES:
      case Kind::DIVIDE:
      case Kind::MODULO:
      case Kind::POWER:
        return "write a = a " + std::string(stop.text(stop.at - 1)) + " b;";
      default:
        return "'==' compares; '=' gives a name to a value";
    }
  }
  const bool twice = before != 0 && before == stop.kind_before(2);
  if (twice && (before == Kind::PLUS || before == Kind::MINUS)) {
    return "write a = a " + std::string(stop.text(stop.at - 1)) + " 1;";
  }
  const bool closes = found == Kind::CLOSE_PAREN || found == Kind::CLOSE_BRACKET ||
                      found == Kind::CLOSE_BRACE || found == Kind::SEMICOLON;
  if (before == Kind::COMMA && closes) return "nothing follows the last ','; leave it out";
  return {};
}

std::string hint_on_words(const Stop& stop, std::size_t first) {
  if (command_end(stop.source, stop.tokens, first) > stop.at) {
    return "commands belong to the REPL; a program has none";
  }
  const std::string_view word = stop.text(first);
  if (stop.at <= first + 1) {
    if (std::string hint = find(kStatementWords, word); !hint.empty()) return hint;
  }
  if (std::string hint = find(kInnerWords, stop.text(stop.at)); !hint.empty()) return hint;
  if (stop.at > first && stop.kind_before() == Kind::NAME) {
    if (std::string hint = find(kInnerWords, stop.text(stop.at - 1)); !hint.empty()) return hint;
  }
  const bool header =
      stop.kind(first) == Kind::DEF || stop.kind(first) == Kind::FOR || word == "class";
  if (stop.kind(stop.at) == Kind::COLON && header) return std::string(kBracesHint);
  return {};
}

}  // namespace rasp::syntax
