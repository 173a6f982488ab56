// How a token is read: as Python's str, int, float and bool read it.
#include <algorithm>
#include <string>
#include <utility>

#include "value/integers.h"
#include "value/operators.h"

namespace rasp::value {
namespace {

constexpr std::string_view kSpace = " \t\n\r\f\v";

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(kSpace);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kSpace) - first + 1);
}

// Digits, with single underscores between them dropped; "" when it is anything else.
std::string digits_of(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool digit = text[i] >= '0' && text[i] <= '9';
    const bool inner = text[i] == '_' && i > 0 && text[i - 1] != '_' && i + 1 < text.size();
    if (!digit && !inner) return {};
    if (digit) out += text[i];
  }
  return out;
}

bool take_sign(std::string_view& text) {
  const bool negative = !text.empty() && text.front() == '-';
  if (negative || (!text.empty() && text.front() == '+')) text.remove_prefix(1);
  return negative;
}

std::optional<Number> read_int(std::string_view text) {
  const bool negative = take_sign(text);
  const std::string digits = digits_of(text);
  if (digits.empty()) return std::nullopt;
  const std::optional<Number> value = decimal(digits, 0);
  if (!value) return std::nullopt;
  return negative ? -value->as_int() : value->as_int();
}

// The exponent of "1e-5": bounded long before it could cost memory.
std::optional<std::int64_t> read_exponent(std::string_view text) {
  const bool negative = take_sign(text);
  const std::string digits = digits_of(text);
  if (digits.empty() || digits.size() > 9) return std::nullopt;
  const std::int64_t value = std::stoll(digits);
  return negative ? -value : value;
}

std::optional<Number> read_float(std::string_view text) {
  const bool negative = take_sign(text);
  std::int64_t exponent = 0;
  if (const std::size_t e = text.find_first_of("eE"); e != std::string_view::npos) {
    const std::optional<std::int64_t> written = read_exponent(text.substr(e + 1));
    if (!written) return std::nullopt;
    exponent = *written;
    text = text.substr(0, e);
  }
  const std::size_t point = std::min(text.find('.'), text.size());
  const std::string_view fraction =
      point < text.size() ? text.substr(point + 1) : text.substr(point);
  std::string digits = digits_of(text.substr(0, point));
  const std::string fraction_digits = digits_of(fraction);
  if (digits.empty() && point != 0) return std::nullopt;
  if (fraction_digits.empty() && !fraction.empty()) return std::nullopt;
  digits += fraction_digits;
  if (digits.empty()) return std::nullopt;
  const auto shift = static_cast<std::int64_t>(fraction_digits.size());
  const std::optional<Number> value = decimal(digits, exponent - shift);
  if (!value) return std::nullopt;
  return negative ? -*value : *value;
}

OpResult unreadable(TokenKind kind, const Atom& token) {
  return tl::make_unexpected(
      OpError{ErrorKind::kValue, std::string(name_of(kind)) + " cannot read " + describe(token) +
                                     (kind == TokenKind::kInt ? " as an int" : " as a float")});
}

}  // namespace

OpResult read_token(TokenKind kind, const Atom& token) {
  if (kind == TokenKind::kAsIs) return token;
  if (kind == TokenKind::kString) return Atom(to_text(token));
  if (kind == TokenKind::kBool) return Atom(truth(token));
  const bool to_int = kind == TokenKind::kInt;
  std::optional<Number> number = to_number(token);
  if (number) return Atom(to_int ? number->as_int() : number->as_float());
  const std::string_view text = trimmed(std::get<std::string>(token));
  number = to_int ? read_int(text) : read_float(text);
  if (!number) return unreadable(kind, token);
  return Atom(std::move(*number));
}

std::string_view name_of(TokenKind kind) {
  switch (kind) {
    case TokenKind::kAsIs:
      return "tokens_asis";
    case TokenKind::kString:
      return "tokens_str";
    case TokenKind::kInt:
      return "tokens_int";
    case TokenKind::kFloat:
      return "tokens_float";
    case TokenKind::kBool:
      return "tokens_bool";
  }
  return "";
}

TypeSet types_of(TokenKind kind) {
  switch (kind) {
    case TokenKind::kAsIs:
      return kAnyType;
    case TokenKind::kString:
      return bit(Type::kString);
    case TokenKind::kInt:
      return bit(Type::kInt);
    case TokenKind::kFloat:
      return bit(Type::kFloat);
    case TokenKind::kBool:
      return bit(Type::kBool);
  }
  return 0;
}

}  // namespace rasp::value
