// Atoms: what one position of a sequence, one token or one entry of a table can be. And tables of
// atoms: the lists and dicts that an s-op can index.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "value/number.h"

namespace rasp::value {

using Atom = std::variant<bool, Number, std::string>;  // strings are UTF-8

enum class Type : std::uint8_t { kBool = 1, kInt = 2, kFloat = 4, kString = 8 };

// A set of types as a bit mask: what a node of the graph may be.
using TypeSet = std::uint8_t;
inline constexpr TypeSet kNumericTypes = 1 | 2 | 4;  // bool counts as 0 or 1
inline constexpr TypeSet kAnyType = 15;

[[nodiscard]] constexpr TypeSet operator|(Type a, Type b) {
  return static_cast<TypeSet>(static_cast<TypeSet>(a) | static_cast<TypeSet>(b));
}
[[nodiscard]] constexpr bool contains(TypeSet set, Type type) {
  return (set & static_cast<TypeSet>(type)) != 0;
}

[[nodiscard]] constexpr TypeSet bit(Type type) { return static_cast<TypeSet>(type); }

[[nodiscard]] inline Type type_of(const Atom& atom) {
  if (const auto* number = std::get_if<Number>(&atom)) {
    return number->is_float() ? Type::kFloat : Type::kInt;
  }
  return std::holds_alternative<bool>(atom) ? Type::kBool : Type::kString;
}
[[nodiscard]] std::string_view name_of(Type type);  // "bool", "int", "float", "string"
[[nodiscard]] std::string describe(TypeSet set);    // "int or float"

inline Atom make_int(std::int64_t value) { return Number::integer(value); }
[[nodiscard]] bool truth(const Atom& atom);  // False, 0, 0.0 and "" are false
// The numeric value of a bool or number; nullptr-free: nullopt for strings.
[[nodiscard]] std::optional<Number> to_number(const Atom& atom);

// Language equality: numbers and bools by value (1 == 1.0 == True), a string never equals a number.
[[nodiscard]] bool equal(const Atom& a, const Atom& b);
[[nodiscard]] std::size_t hash_value(const Atom& atom);  // agrees with `equal`
// Equal in value and in type: 1, 1.0 and True are three atoms.
[[nodiscard]] bool identical(const Atom& a, const Atom& b);
// A total order for canonical listings: bools, numbers by value (int before float), strings by code
// point.
[[nodiscard]] bool canonical_less(const Atom& a, const Atom& b);

// `1`, `2.5`, `True`, `'it'` quoted as in a list: with ' unless the text holds ' and no ".
[[nodiscard]] std::string repr(const Atom& atom);
// As in a sequence: `3`, `0.333`, `T`, bare strings.
[[nodiscard]] std::string brief(const Atom& atom);
// As Python's str(): what `tokens_str` makes of an atom.
[[nodiscard]] std::string to_text(const Atom& atom);
// For messages, long values cut: "3", "'abc'", and with the type "the int 3", "the string 'abc'".
[[nodiscard]] std::string short_repr(const Atom& atom);
[[nodiscard]] std::string describe(const Atom& atom);

struct AtomHash {  // with AtomEqual: 1, 1.0 and True are one key
  std::size_t operator()(const Atom& atom) const { return hash_value(atom); }
};
struct AtomEqual {
  bool operator()(const Atom& a, const Atom& b) const { return equal(a, b); }
};
struct AtomIdentityHash {  // with AtomIdentical: they are three
  std::size_t operator()(const Atom& atom) const {
    return hash_value(atom) * 4 + static_cast<std::size_t>(type_of(atom));
  }
};
struct AtomIdentical {
  bool operator()(const Atom& a, const Atom& b) const { return identical(a, b); }
};

// Code points of a UTF-8 text, each as its own UTF-8 string. Invalid bytes become U+FFFD.
[[nodiscard]] std::vector<std::string> code_points(std::string_view text);
[[nodiscard]] bool valid_utf8(std::string_view text);
// The same, as atoms: a text read as an input sequence.
[[nodiscard]] std::vector<Atom> characters(std::string_view text);

// What an s-op can index: a list or string by position (negative from the end), a dict by key.
using TableIndex = std::unordered_map<Atom, std::size_t, AtomHash, AtomEqual>;

struct Table {
  enum class Kind : std::uint8_t { kList, kDict } kind = Kind::kList;
  std::vector<Atom> keys;  // kDict only; insertion order, pairwise unequal
  std::vector<Atom> values;
  // Made by `index_table` once the table is complete: `find` is then one probe, not a walk.
  std::shared_ptr<const TableIndex> index = nullptr;

  // What `find` looks through: the keys of a dict, the values of a list.
  [[nodiscard]] const std::vector<Atom>& sought() const {
    return kind == Kind::kDict ? keys : values;
  }
  friend bool operator==(const Table& a, const Table& b);  // identical, entry by entry
};
[[nodiscard]] std::size_t hash_value(const Table& table);
// Call it once the table is complete and will be read often. Small tables stay without.
void index_table(Table& table);
// Position of the first key (of a dict) or value (of a list) that equals `atom`.
[[nodiscard]] std::optional<std::size_t> find(const Table& table, const Atom& atom);

// One evaluated s-op: one atom a position.
using Sequence = std::vector<Atom>;
// The one type of a sequence's elements (ints and floats mix to float), or nullopt when it has
// none.
[[nodiscard]] std::optional<Type> sequence_type(std::span<const Atom> sequence);

}  // namespace rasp::value
