#include "cli/input.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/utf8.h"

namespace rasp::cli {
namespace {

// Numbers with larger exponents have no use here and could eat memory.
constexpr int kMaxExponent = 1000;

// Reads the JSON of an input. It is our own because a general reader makes doubles of 0.1 and of
// integers beyond 64 bits.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<Example> input() {
    skip_space();
    if (peek() == '"') {
      RASP_TRY(const std::string text, string());
      RASP_CHECK_OK(end());
      return Example{value::characters(text), true};
    }
    ++at_;  // the caller saw a [
    Example example{{}, false};
    skip_space();
    if (peek() == ']') {
      ++at_;
      RASP_CHECK_OK(end());
      return example;
    }
    while (true) {
      skip_space();
      RASP_TRY(value::Atom atom, element());
      example.tokens.push_back(std::move(atom));
      skip_space();
      if (peek() == ',') {
        ++at_;
      } else if (peek() == ']') {
        ++at_;
        RASP_CHECK_OK(end());
        return example;
      } else {
        return problem("expected ',' or ']'");
      }
    }
  }

 private:
  [[nodiscard]] char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }

  void skip_space() {
    while (at_ < text_.size() && std::strchr(" \t\r\n", text_[at_]) != nullptr) ++at_;
  }

  [[nodiscard]] tl::unexpected<Diagnostic> problem(const std::string& message) const {
    std::string found =
        at_ < text_.size() ? "'" + printable(text_.substr(at_, 12)) + "'" : "its end";
    return fail(ErrorKind::kInput, {},
                "the input is no JSON list: " + message + " at character " +
                    std::to_string(at_ + 1) + ", found " + found,
                "a text that starts with [ or \" must be written as a JSON string: '\"[x]\"'");
  }

  Result<void> end() {
    skip_space();
    if (at_ != text_.size()) return problem("expected its end");
    return {};
  }

  Result<value::Atom> element() {
    const char c = peek();
    if (c == '"') {
      RASP_TRY(std::string text, string());
      return value::Atom(std::move(text));
    }
    if (take("true")) return value::Atom(true);
    if (take("false")) return value::Atom(false);
    if (c == '-' || (c >= '0' && c <= '9')) return number();
    if (c == '[' || c == '{') return problem("a token must be a number, a string or a boolean");
    return problem("expected a number, a string or a boolean");
  }

  bool take(std::string_view word) {
    if (!text_.substr(at_).starts_with(word)) return false;
    at_ += word.size();
    return true;
  }

  Result<std::string> string() {
    std::size_t close = at_ + 1;
    while (close < text_.size() && text_[close] != '"') close += text_[close] == '\\' ? 2u : 1u;
    if (close >= text_.size()) return problem("a string is not closed");
    const std::string_view literal = text_.substr(at_, close + 1 - at_);
    const nlohmann::json parsed = nlohmann::json::parse(literal, nullptr, false);
    if (!parsed.is_string()) return problem("a string has an escape or byte that JSON forbids");
    at_ = close + 1;
    return parsed.get<std::string>();
  }

  std::size_t digits() {
    const std::size_t start = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    return at_ - start;
  }

  Result<value::Atom> number() {
    const std::size_t start = at_;
    if (peek() == '-') ++at_;
    const bool zero = peek() == '0';
    const std::size_t whole = digits();
    bool well_formed = whole == 1 || (whole > 1 && !zero);
    bool is_float = false;
    if (peek() == '.') {
      ++at_;
      is_float = true;
      well_formed = digits() > 0 && well_formed;
    }
    const std::string_view mantissa = text_.substr(start, at_ - start);
    int exponent = 0;
    if (peek() == 'e' || peek() == 'E') {
      ++at_;
      is_float = true;
      const bool negative = peek() == '-';
      if (peek() == '-' || peek() == '+') ++at_;
      const std::size_t first = at_;
      well_formed = digits() > 0 && well_formed;
      for (std::size_t i = first; i < at_ && exponent <= kMaxExponent; ++i) {
        exponent = exponent * 10 + (text_[i] - '0');
      }
      if (negative) exponent = -exponent;
    }
    std::optional<value::Number> number;
    if (well_formed && std::abs(exponent) <= kMaxExponent) number = value::Number::parse(mantissa);
    if (number && exponent != 0) {
      const auto scale =
          value::Number::power(value::Number::integer(10), value::Number::integer(exponent));
      number = scale ? std::optional(*number * *scale) : std::nullopt;
    }
    if (!number || number->bits() > value::kMaxNumberBits) {
      at_ = start;
      return problem(well_formed ? "a number is too large" : "a number is not well formed");
    }
    return value::Atom(is_float ? number->as_float() : *number);
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::string describe(const Example& example) {
  if (!example.text) {
    std::string text = "[";
    for (const value::Atom& atom : example.tokens) {
      if (text.size() > 1) text += ", ";
      text += printable(value::repr(atom));
    }
    return text + "]";
  }
  std::string text = "\"";
  for (const value::Atom& atom : example.tokens) text += value::to_text(atom);
  return printable(text) + "\"";
}

Result<Example> parse_input(std::string_view text) {
  std::string file_text;
  if (text.starts_with('@')) {
    RASP_TRY(file_text, read_file(std::string(text.substr(1))));
    text = file_text;
    if (text.ends_with('\n')) text.remove_suffix(1);
    if (text.ends_with('\r')) text.remove_suffix(1);
  }
  if (!value::valid_utf8(text)) {
    return fail(ErrorKind::kInput, {}, "the input is not valid UTF-8");
  }
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  if (first != std::string_view::npos && (text[first] == '[' || text[first] == '"')) {
    return Reader(text).input();
  }
  return Example{value::characters(text), true};
}

Result<std::vector<Example>> parse_inputs(const std::vector<std::string>& texts) {
  std::vector<Example> examples;
  for (const std::string& text : texts) {
    RASP_TRY(Example example, parse_input(text));
    if (example.tokens.empty()) {
      return fail(ErrorKind::kInput, {},
                  "an input has at least one token, but '" + text + "' has none");
    }
    examples.push_back(std::move(example));
  }
  return examples;
}

Example as_example(value::Sequence tokens) {
  const bool text = std::all_of(tokens.begin(), tokens.end(), [](const value::Atom& atom) {
    const auto* token = std::get_if<std::string>(&atom);
    return token != nullptr && !token->empty() && decode_utf8(*token, 0).bytes == token->size();
  });
  return {std::move(tokens), text};
}

Result<std::string> read_file(const std::string& path, std::size_t limit) {
  const auto problem = [&path](const std::string& reason) {
    return fail(ErrorKind::kInput, {}, "cannot read '" + printable(path) + "': " + reason);
  };
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (descriptor < 0) return problem(std::strerror(errno));
  std::string text;
  ssize_t count = 0;
  char block[1 << 16];
  while (text.size() <= limit && (count = read(descriptor, block, sizeof block)) != 0) {
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) break;
    text.append(block, static_cast<std::size_t>(count));
  }
  const int reason = errno;
  close(descriptor);
  if (count < 0) return problem(std::strerror(reason));
  if (text.size() > limit) {
    return problem("it has more than " + std::to_string(limit) + " bytes");
  }
  return text;
}

}  // namespace rasp::cli
