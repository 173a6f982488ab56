// Which lines of the REPL are commands (language.md section 5). Their words are names everywhere
// else, so a line is a command only when nothing else could be meant.
#include <array>
#include <span>
#include <string_view>

#include "syntax/outline.h"

namespace rasp::syntax {
namespace {

constexpr std::size_t kMaxWords = 6;

// The first words of a line, parentheses and commas left out: `examples(off)` is `examples off`.
struct Line {
  std::array<std::string_view, kMaxWords> words;
  std::size_t count = 0;

  [[nodiscard]] std::string_view word(std::size_t at) const {
    return at < count ? words[at] : std::string_view();
  }
};

bool is_switch(std::string_view word) { return word == "on" || word == "off"; }

// How many words from `at` on say which kind of thing is meant: `selector`, `s-op`.
std::size_t kind_words(const Line& line, std::size_t at) {
  if (line.word(at) == "selector" || line.word(at) == "sop") return 1;
  const bool hyphened =
      line.word(at) == "s" && line.word(at + 1) == "-" && line.word(at + 2) == "op";
  return hyphened ? 3 : 0;
}

bool is_example_command(const Line& line) {
  const std::string_view first = line.word(0);
  if (first == "set" || first == "show") return line.word(1 + kind_words(line, 1)) == "example";
  if (first == "full") {
    return line.word(1) == "seq" && line.word(2) == "display" && is_switch(line.word(3));
  }
  const std::size_t kinds = kind_words(line, 0);
  return line.word(kinds) == "examples" && is_switch(line.word(kinds + 1));
}

bool is_bracket_or_comma(int kind) {
  return kind == Kind::OPEN_PAREN || kind == Kind::CLOSE_PAREN || kind == Kind::COMMA;
}

// `exit`, `exit()`, and no more.
bool is_exit(std::string_view first, std::span<const Token> rest) {
  if (first != "exit" && first != "quit") return false;
  return rest.empty() || (rest.size() == 2 && rest[0].kind == Kind::OPEN_PAREN &&
                          rest[1].kind == Kind::CLOSE_PAREN);
}

// `help`, `help select`, `help ==`, `help(sort)`, but not `help = 3` nor `help + 1`.
bool is_help(std::string_view first, std::span<const Token> rest) {
  if (first != "help") return false;
  if (rest.empty()) return true;
  if (rest[0].kind == Kind::OPEN_PAREN) {
    return rest.size() <= 3 && rest.back().kind == Kind::CLOSE_PAREN;
  }
  if (rest.size() == 1) return rest[0].kind != Kind::ASSIGN;
  return rest[0].kind == Kind::NAME || rest[0].kind == Kind::COLON;
}

}  // namespace

std::size_t command_end(std::string_view source, std::span<const Token> tokens, std::size_t first) {
  if (tokens[first].kind != Kind::COLON && tokens[first].kind != Kind::NAME) return first;
  std::size_t end = first + 1;
  while (tokens[end].kind != kEndOfText && tokens[end].kind != Kind::SEMICOLON &&
         !tokens[end].first_on_line) {
    ++end;
  }
  if (tokens[first].kind == Kind::COLON) return end;

  Line line;
  for (std::size_t at = first; at < end && line.count < kMaxWords; ++at) {
    if (!is_bracket_or_comma(tokens[at].kind)) line.words[line.count++] = tokens[at].text(source);
  }
  const std::span<const Token> rest = tokens.subspan(first + 1, end - first - 1);
  const bool command =
      is_example_command(line) || is_exit(line.word(0), rest) || is_help(line.word(0), rest);
  return command ? end : first;
}

}  // namespace rasp::syntax
