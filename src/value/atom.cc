#include "value/atom.h"

#include <algorithm>

#include "base/utf8.h"

namespace rasp::value {
namespace {

// The order of kinds in `canonical_less`: bools, numbers, strings.
std::size_t rank(const Atom& atom) { return atom.index(); }

// As Python escapes in repr(); broken bytes as \xff.
void append_escaped(std::string& out, std::string_view text, std::size_t at,
                    const CodePoint& point) {
  if (point.valid && is_printable(point.value)) {
    out += text.substr(at, point.bytes);
    return;
  }
  const char32_t value = point.valid ? point.value : static_cast<unsigned char>(text[at]);
  if (value == U'\n' || value == U'\r' || value == U'\t') {
    out += value == U'\n' ? "\\n" : value == U'\r' ? "\\r" : "\\t";
    return;
  }
  constexpr std::string_view kHex = "0123456789abcdef";
  const int digits = value < 0x100 ? 2 : value < 0x10000 ? 4 : 8;
  out += digits == 2 ? "\\x" : digits == 4 ? "\\u" : "\\U";
  for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4) out += kHex[(value >> shift) & 15];
}

Number number_of(bool value) { return Number::integer(value ? 1 : 0); }

}  // namespace

std::string_view name_of(Type type) {
  switch (type) {
    case Type::kBool:
      return "bool";
    case Type::kInt:
      return "int";
    case Type::kFloat:
      return "float";
    case Type::kString:
      return "string";
  }
  return "";
}

std::string describe(TypeSet set) {
  std::string out;
  for (const Type type : {Type::kBool, Type::kInt, Type::kFloat, Type::kString}) {
    if (!contains(set, type)) continue;
    if (!out.empty()) out += " or ";
    out += name_of(type);
  }
  return out.empty() ? "nothing" : out;
}

bool truth(const Atom& atom) {
  if (const auto* flag = std::get_if<bool>(&atom)) return *flag;
  if (const auto* number = std::get_if<Number>(&atom)) return !number->is_zero();
  return !std::get<std::string>(atom).empty();
}

std::optional<Number> to_number(const Atom& atom) {
  if (const auto* number = std::get_if<Number>(&atom)) return *number;
  if (const auto* flag = std::get_if<bool>(&atom)) return number_of(*flag);
  return std::nullopt;
}

bool equal(const Atom& a, const Atom& b) {
  const auto* x = std::get_if<Number>(&a);
  const auto* y = std::get_if<Number>(&b);
  if (x != nullptr && y != nullptr) return *x == *y;
  if (a.index() == b.index()) return a == b;
  if (std::holds_alternative<std::string>(a) || std::holds_alternative<std::string>(b)) {
    return false;
  }
  const bool flag = std::get<bool>(x != nullptr ? b : a);
  return *(x != nullptr ? x : y) == number_of(flag);
}

std::size_t hash_value(const Atom& atom) {
  if (const auto* number = std::get_if<Number>(&atom)) return number->hash();
  if (const auto* flag = std::get_if<bool>(&atom)) return number_of(*flag).hash();
  return std::hash<std::string>()(std::get<std::string>(atom));
}

bool identical(const Atom& a, const Atom& b) { return type_of(a) == type_of(b) && equal(a, b); }

bool canonical_less(const Atom& a, const Atom& b) {
  if (rank(a) != rank(b)) return rank(a) < rank(b);
  if (const auto* number = std::get_if<Number>(&a)) {
    const auto& other = std::get<Number>(b);
    const int order = Number::compare(*number, other);
    return order != 0 ? order < 0 : number->is_int() && other.is_float();
  }
  return a < b;  // bools, or UTF-8, whose byte order is the order of code points
}

std::string repr(const Atom& atom) {
  if (!std::holds_alternative<std::string>(atom)) return to_text(atom);
  const auto& text = std::get<std::string>(atom);
  const bool has_single = text.find('\'') != std::string::npos;
  const char quote = has_single && text.find('"') == std::string::npos ? '"' : '\'';
  std::string out(1, quote);
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text, at);
    if (point.value == static_cast<unsigned char>(quote) || point.value == U'\\') out += '\\';
    append_escaped(out, text, at, point);
    at += point.bytes;
  }
  out += quote;
  return out;
}

std::string brief(const Atom& atom) {
  if (const auto* flag = std::get_if<bool>(&atom)) return *flag ? "T" : "F";
  if (const auto* number = std::get_if<Number>(&atom)) return number->brief();
  return std::get<std::string>(atom);
}

std::string to_text(const Atom& atom) {
  if (const auto* flag = std::get_if<bool>(&atom)) return *flag ? "True" : "False";
  if (const auto* number = std::get_if<Number>(&atom)) return number->repr();
  return std::get<std::string>(atom);
}

std::string short_repr(const Atom& atom) {
  constexpr std::size_t kLongest = 40;  // bytes; cut between code points
  std::string text = repr(atom);
  if (text.size() <= kLongest) return text;
  std::size_t end = 0;
  while (end + decode_utf8(text, end).bytes <= kLongest) end += decode_utf8(text, end).bytes;
  text.resize(end);
  return text + "…";
}

std::string describe(const Atom& atom) {
  return "the " + std::string(name_of(type_of(atom))) + " " + short_repr(atom);
}

std::vector<std::string> code_points(std::string_view text) {
  std::vector<std::string> out;
  out.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text, at);
    std::string& element = out.emplace_back();
    append_utf8(element, point.value);
    at += point.bytes;
  }
  return out;
}

bool valid_utf8(std::string_view text) {
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = decode_utf8(text, at);
    if (!point.valid) return false;
    at += point.bytes;
  }
  return true;
}

std::vector<Atom> characters(std::string_view text) {
  std::vector<Atom> out;
  for (std::string& element : code_points(text)) out.emplace_back(std::move(element));
  return out;
}

bool operator==(const Table& a, const Table& b) {
  const auto same = [](const std::vector<Atom>& x, const std::vector<Atom>& y) {
    return std::equal(x.begin(), x.end(), y.begin(), y.end(), AtomIdentical());
  };
  return a.kind == b.kind && same(a.keys, b.keys) && same(a.values, b.values);
}

std::size_t hash_value(const Table& table) {
  std::size_t h = static_cast<std::size_t>(table.kind) + table.values.size() * 31;
  for (const std::vector<Atom>* side : {&table.keys, &table.values}) {
    for (const Atom& atom : *side) h = h * 0x100000001B3u + AtomIdentityHash()(atom);
  }
  return h;
}

void index_table(Table& table) {
  constexpr std::size_t kWorthIt = 9;  // below, walking is as fast
  const std::vector<Atom>& sought = table.sought();
  if (sought.size() < kWorthIt) return;
  auto index = std::make_shared<TableIndex>();
  index->reserve(sought.size());
  for (std::size_t i = 0; i < sought.size(); ++i) index->emplace(sought[i], i);
  table.index = std::move(index);
}

std::optional<std::size_t> find(const Table& table, const Atom& atom) {
  if (table.index != nullptr) {
    const auto found = table.index->find(atom);
    if (found == table.index->end()) return std::nullopt;
    return found->second;
  }
  const std::vector<Atom>& sought = table.sought();
  for (std::size_t i = 0; i < sought.size(); ++i) {
    if (equal(sought[i], atom)) return i;
  }
  return std::nullopt;
}

std::optional<Type> sequence_type(std::span<const Atom> sequence) {
  TypeSet seen = 0;
  for (const Atom& atom : sequence) seen = static_cast<TypeSet>(seen | bit(type_of(atom)));
  if ((seen & ~kNumericTypes) == 0)
    seen = std::bit_floor(seen);  // bools and ints pass for the wider type
  if (!std::has_single_bit(seen)) return std::nullopt;
  return static_cast<Type>(seen);
}

}  // namespace rasp::value
