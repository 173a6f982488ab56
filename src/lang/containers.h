// Lists, dicts, and their use as tables that an s-op can index.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "lang/limits.h"
#include "lang/value.h"
#include "value/atom.h"

namespace rasp::lang {

// Positions of the entries of a dict by the hash of their keys: open addressing.
class KeyIndex {
 public:
  explicit KeyIndex(std::size_t expected);
  // The position of `key` among `items`, or nullopt.
  [[nodiscard]] std::optional<std::size_t> find(const DictItems& items,
                                                const value::Atom& key) const;
  void add(const DictItems& items, std::size_t position);

 private:
  std::vector<std::uint32_t> slots_;  // position + 1; 0 is free
};

[[nodiscard]] const Value* find(const Dict& dict, const value::Atom& key);

// Steps to copy a value into a container.
[[nodiscard]] std::size_t weight(const Value& value);

// A list within its bounds, or a limit error. The items have been paid for.
[[nodiscard]] Result<Value> bounded_list(ListItems items, const Span& span);
[[nodiscard]] Result<Value> bounded_dict(DictItems items, const Span& span);
// The same, paid for here before anything is copied.
[[nodiscard]] Result<Value> concatenate(Meter& meter, const List& a, const List& b,
                                        const Span& span);
[[nodiscard]] Result<Value> repeat(Meter& meter, const List& list, const value::Number& times,
                                   const Span& span);

// The list that a value is or can be used as (an applied sequence can); nullopt for other kinds.
[[nodiscard]] std::optional<List> as_list(const Value& value);
// What a loop goes over: the items of a list, the keys of a dict.
[[nodiscard]] Result<List> iterable(Meter& meter, const Value& value, const Span& span,
                                    std::string_view role);

// A list or dict of atoms, for an s-op to index or to be looked up in.
[[nodiscard]] Result<value::Table> to_table(Meter& meter, const Value& value, const Span& span,
                                            std::string_view role);

// Equality of lists, dicts and atoms, part by part; nullopt when a part cannot be compared (an
// s-op, a function).
[[nodiscard]] std::optional<bool> same(const Value& a, const Value& b);

}  // namespace rasp::lang
