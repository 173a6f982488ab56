#include "lang/containers.h"

#include <algorithm>
#include <bit>
#include <string>
#include <utility>

namespace rasp::lang {

namespace {

constexpr std::size_t kIndexedFrom = 9;  // smaller dicts are searched through

struct Shape {
  std::uint32_t depth = 0;
  std::size_t total = 0;
};

[[nodiscard]] Shape shape_of(const Value& value) {
  if (const auto* list = std::get_if<List>(&value.data)) return {list->depth, list->total};
  if (const auto* dict = std::get_if<Dict>(&value.data)) return {dict->depth, dict->total};
  if (const auto* sequence = std::get_if<AppliedSequenceRef>(&value.data)) {
    return {1, (*sequence)->output.size()};
  }
  if (const auto* matrix = std::get_if<AppliedMatrixRef>(&value.data)) {
    const std::size_t n = (*matrix)->rows.size();
    return {2, n * n + n};
  }
  return {};
}

void add(Shape& whole, const Value& part) {
  const Shape shape = shape_of(part);
  whole.depth = std::max(whole.depth, shape.depth);
  whole.total += 1 + shape.total;
}

[[nodiscard]] Result<void> within_bounds(const Shape& whole, const Span& span) {
  if (whole.total > kMaxListSize) {
    return fail(ErrorKind::kLimit, span,
                "a list or dict holds at most " + std::to_string(kMaxListSize) +
                    " items, those of its parts included; this one has more");
  }
  if (whole.depth > kMaxValueDepth) {
    return fail(ErrorKind::kLimit, span,
                "lists and dicts can be nested " + std::to_string(kMaxValueDepth) +
                    " deep; this one is deeper");
  }
  return {};
}

[[nodiscard]] std::size_t weight(std::span<const Value> items) {
  std::size_t sum = 0;
  for (const Value& item : items) sum += weight(item);
  return sum;
}

}  // namespace

KeyIndex::KeyIndex(std::size_t expected) : slots_(std::bit_ceil(2 * expected + 2)) {}

std::optional<std::size_t> KeyIndex::find(const DictItems& items, const value::Atom& key) const {
  const std::size_t mask = slots_.size() - 1;
  for (std::size_t at = value::hash_value(key) * 0x9E3779B97F4A7C15u >> 7 & mask; slots_[at] != 0;
       at = (at + 1) & mask) {
    const std::size_t position = slots_[at] - 1;
    if (value::equal(items[position].first, key)) return position;
  }
  return std::nullopt;
}

void KeyIndex::add(const DictItems& items, std::size_t position) {
  const std::size_t mask = slots_.size() - 1;
  std::size_t at = value::hash_value(items[position].first) * 0x9E3779B97F4A7C15u >> 7 & mask;
  while (slots_[at] != 0) at = (at + 1) & mask;
  slots_[at] = static_cast<std::uint32_t>(position + 1);
}

const Value* find(const Dict& dict, const value::Atom& key) {
  const DictItems& items = *dict.items;
  if (dict.index != nullptr) {
    const auto position = dict.index->find(items, key);
    return position ? &items[*position].second : nullptr;
  }
  for (const auto& [name, value] : items) {
    if (value::equal(name, key)) return &value;
  }
  return nullptr;
}

List make_list(ListItems items) {
  Shape whole;
  for (const Value& item : items) add(whole, item);
  return {std::make_shared<const ListItems>(std::move(items)), whole.depth + 1, whole.total};
}

Dict make_dict(DictItems items) {
  auto kept = std::make_shared<DictItems>();
  auto index = std::make_shared<KeyIndex>(items.size());
  kept->reserve(items.size());
  for (auto& [key, value] : items) {
    if (const auto position = index->find(*kept, key)) {
      (*kept)[*position].second = std::move(value);
    } else {
      kept->emplace_back(std::move(key), std::move(value));
      index->add(*kept, kept->size() - 1);
    }
  }
  Shape whole;
  for (const auto& entry : *kept) add(whole, entry.second);
  if (kept->size() < kIndexedFrom) index = nullptr;
  return {std::move(kept), whole.depth + 1, whole.total, std::move(index)};
}

std::size_t weight(const Value& value) {
  if (const auto* atom = std::get_if<value::Atom>(&value.data)) {
    if (const auto* text = std::get_if<std::string>(atom)) return 3 + text->size() / 16;
  }
  return 3;
}

Result<Value> bounded_list(ListItems items, const Span& span) {
  List list = make_list(std::move(items));
  RASP_CHECK_OK(within_bounds({list.depth, list.total}, span));
  return Value{std::move(list)};
}

Result<Value> bounded_dict(DictItems items, const Span& span) {
  Dict dict = make_dict(std::move(items));
  RASP_CHECK_OK(within_bounds({dict.depth, dict.total}, span));
  return Value{std::move(dict)};
}

Result<Value> concatenate(Meter& meter, const List& a, const List& b, const Span& span) {
  RASP_CHECK_OK(within_bounds({std::max(a.depth, b.depth), a.total + b.total}, span));
  RASP_CHECK_OK(meter.charge(weight(*a.items) + weight(*b.items), span));
  ListItems items;
  items.reserve(a.items->size() + b.items->size());
  items.insert(items.end(), a.items->begin(), a.items->end());
  items.insert(items.end(), b.items->begin(), b.items->end());
  return bounded_list(std::move(items), span);
}

Result<Value> repeat(Meter& meter, const List& list, const value::Number& times, const Span& span) {
  if (times.sign() <= 0 || list.items->empty()) return Value{make_list({})};
  const auto count = times.to_int64();
  if (!count || static_cast<std::uint64_t>(*count) > kMaxListSize / list.total) {
    return tl::make_unexpected(within_bounds({list.depth, kMaxListSize + 1}, span).error());
  }
  const auto n = static_cast<std::size_t>(*count);
  RASP_CHECK_OK(meter.charge(weight(*list.items) * n, span));
  ListItems items;
  items.reserve(n * list.items->size());
  for (std::size_t i = 0; i < n; ++i) {
    items.insert(items.end(), list.items->begin(), list.items->end());
  }
  return bounded_list(std::move(items), span);
}

std::optional<List> as_list(const Value& value) {
  if (const auto* list = std::get_if<List>(&value.data)) return *list;
  if (const auto* sequence = std::get_if<AppliedSequenceRef>(&value.data)) {
    ListItems items;
    items.reserve((*sequence)->output.size());
    for (const value::Atom& atom : (*sequence)->output) items.push_back(Value{atom});
    return make_list(std::move(items));
  }
  return std::nullopt;
}

Result<List> iterable(Meter& meter, const Value& value, const Span& span, std::string_view role) {
  if (const auto* list = std::get_if<List>(&value.data)) return *list;
  RASP_CHECK_OK(meter.charge(3 * shape_of(value).total, span));
  if (const auto* dict = std::get_if<Dict>(&value.data)) {
    ListItems keys;
    keys.reserve(dict->items->size());
    for (const auto& entry : *dict->items) keys.push_back(Value{entry.first});
    RASP_CHECK_OK(meter.charge(weight(keys), span));
    return make_list(std::move(keys));
  }
  if (auto list = as_list(value)) return *std::move(list);
  return fail(ErrorKind::kType, span,
              std::string(role) + " must be a list or a dict, not " + describe(value));
}

namespace {

[[nodiscard]] Result<value::Atom> table_entry(const Value& value, const Span& span,
                                              std::string_view role) {
  if (const auto* atom = std::get_if<value::Atom>(&value.data)) return *atom;
  return fail(ErrorKind::kType, span,
              std::string(role) + " must hold atoms only; this one holds " + describe(value));
}

}  // namespace

Result<value::Table> to_table(Meter& meter, const Value& value, const Span& span,
                              std::string_view role) {
  value::Table table;
  if (const auto* dict = std::get_if<Dict>(&value.data)) {
    table.kind = value::Table::Kind::kDict;
    for (const auto& [key, entry] : *dict->items) {
      RASP_CHECK_OK(meter.charge(weight(entry) + weight(Value{key}), span));
      RASP_TRY(value::Atom atom, table_entry(entry, span, role));
      table.keys.push_back(key);
      table.values.push_back(std::move(atom));
    }
    return table;
  }
  if (const auto list = as_list(value)) {
    RASP_CHECK_OK(meter.charge(weight(*list->items), span));
    for (const Value& item : *list->items) {
      RASP_TRY(value::Atom atom, table_entry(item, span, role));
      table.values.push_back(std::move(atom));
    }
    return table;
  }
  return fail(ErrorKind::kType, span,
              std::string(role) + " must be a list or a dict, not " + describe(value));
}

namespace {

[[nodiscard]] std::optional<bool> same_items(const ListItems& a, const ListItems& b) {
  if (a.size() != b.size()) return false;
  bool all = true;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto equal = same(a[i], b[i]);
    if (!equal) return std::nullopt;
    all = all && *equal;
  }
  return all;
}

[[nodiscard]] std::optional<bool> same_entries(const Dict& a, const Dict& b) {
  if (a.items->size() != b.items->size()) return false;
  bool all = true;
  for (const auto& [key, value] : *a.items) {
    const Value* other = find(b, key);
    if (other == nullptr) return false;
    const auto equal = same(value, *other);
    if (!equal) return std::nullopt;
    all = all && *equal;
  }
  return all;
}

}  // namespace

std::optional<bool> same(const Value& a, const Value& b) {
  const auto* x = std::get_if<value::Atom>(&a.data);
  const auto* y = std::get_if<value::Atom>(&b.data);
  if (x != nullptr && y != nullptr) return value::equal(*x, *y);
  const auto* p = std::get_if<Dict>(&a.data);
  const auto* q = std::get_if<Dict>(&b.data);
  if (p != nullptr && q != nullptr) return same_entries(*p, *q);
  const auto s = as_list(a);
  const auto t = as_list(b);
  if (s && t) return same_items(*s->items, *t->items);
  const bool comparable_a = x != nullptr || p != nullptr || s;
  const bool comparable_b = y != nullptr || q != nullptr || t;
  if (comparable_a && comparable_b) return false;
  return std::nullopt;
}

}  // namespace rasp::lang
