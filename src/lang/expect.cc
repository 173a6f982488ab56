// `expect found == expected`: element by element, strings standing for lists of characters.
#include <string>

#include "lang/containers.h"
#include "lang/machine.h"

namespace rasp::lang {

namespace {

using value::Atom;

[[nodiscard]] const std::string* as_text(const Value& v) {
  const auto* atom = std::get_if<Atom>(&v.data);
  return atom != nullptr ? std::get_if<std::string>(atom) : nullptr;
}

// Short, for a sentence.
[[nodiscard]] std::string shown(const Value& v) {
  const auto* atom = std::get_if<Atom>(&v.data);
  if (atom == nullptr) return describe(v);
  const std::string text = value::repr(*atom);
  return text.size() <= 60 ? text : describe(v);
}

[[nodiscard]] std::string differ(const std::string& where, const Value& found,
                                 const Value& expected) {
  return where + "expected " + shown(expected) + ", found " + shown(found);
}

// The items of a list, a sequence, or a string's characters.
[[nodiscard]] std::optional<List> elements(const Value& v) {
  if (const std::string* text = as_text(v)) {
    ListItems items;
    for (Atom& character : value::characters(*text)) items.push_back(Value{std::move(character)});
    return make_list(std::move(items));
  }
  return as_list(v);
}

[[nodiscard]] Diagnostic incomparable(const Value& v, const Span& span) {
  const bool program =
      std::holds_alternative<SOp>(v.data) || std::holds_alternative<Selector>(v.data);
  return error(ErrorKind::kType, span, "'expect' cannot compare " + describe(v),
               program ? "apply it to an input, as in s(\"abc\")" : "");
}

// Where two values differ first, or ""; an error when they cannot be compared.
[[nodiscard]] Result<std::string> difference(const Value& found, const Value& expected,
                                             const std::string& where, const Places& at);

[[nodiscard]] Result<std::string> list_difference(const List& found, const List& expected,
                                                  const std::string& where, const Places& at) {
  const std::size_t n = found.items->size();
  if (n != expected.items->size()) {
    return where + "expected " + std::to_string(expected.items->size()) + " elements, found " +
           std::to_string(n);
  }
  for (std::size_t i = 0; i < n; ++i) {
    const std::string place = where + "at position " + std::to_string(i) + ": ";
    RASP_TRY(std::string first, difference((*found.items)[i], (*expected.items)[i], place, at));
    if (!first.empty()) return first;
  }
  return std::string();
}

[[nodiscard]] Result<std::string> dict_difference(const Dict& found, const Dict& expected,
                                                  const std::string& where, const Places& at) {
  for (const auto& [key, value] : *expected.items) {
    const Value* other = find(found, key);
    if (other == nullptr) return where + "the key " + value::repr(key) + " is missing";
    RASP_TRY(std::string first,
             difference(*other, value, where + "at key " + value::repr(key) + ": ", at));
    if (!first.empty()) return first;
  }
  for (const auto& entry : *found.items) {
    if (find(expected, entry.first) == nullptr) {
      return where + "the key " + value::repr(entry.first) + " is not expected";
    }
  }
  return std::string();
}

[[nodiscard]] Result<std::string> difference(const Value& found, const Value& expected,
                                             const std::string& where, const Places& at) {
  const auto* a = std::get_if<Atom>(&found.data);
  const auto* b = std::get_if<Atom>(&expected.data);
  if (a != nullptr && b != nullptr) {
    return value::equal(*a, *b) ? std::string() : differ(where, found, expected);
  }
  const auto* p = std::get_if<Dict>(&found.data);
  const auto* q = std::get_if<Dict>(&expected.data);
  if (p != nullptr && q != nullptr) return dict_difference(*p, *q, where, at);
  const auto s = elements(found);
  const auto t = elements(expected);
  if (s && t) return list_difference(*s, *t, where, at);
  if (a == nullptr && p == nullptr && !s) return fail(incomparable(found, at.left));
  if (b == nullptr && q == nullptr && !t) return fail(incomparable(expected, at.right));
  return differ(where, found, expected);
}

// A row of a selector as a literal gives it: "0101", or a list of 0, 1, True, False.
[[nodiscard]] Result<std::vector<bool>> row_of(const Value& row, const Span& span) {
  const auto cells = elements(row);
  if (!cells) {
    return fail(ErrorKind::kType, span,
                "a row of a selector is a string such as \"0101\" or a list, not " + describe(row));
  }
  std::vector<bool> bits;
  for (const Value& cell : *cells->items) {
    const auto* atom = std::get_if<Atom>(&cell.data);
    const bool one = atom != nullptr && (value::equal(*atom, value::make_int(1)) ||
                                         value::equal(*atom, Atom(std::string("1"))));
    const bool zero = atom != nullptr && (value::equal(*atom, value::make_int(0)) ||
                                          value::equal(*atom, Atom(std::string("0"))));
    if (!one && !zero) {
      return fail(ErrorKind::kValue, span, "a selector's rows hold 0 and 1, not " + shown(cell));
    }
    bits.push_back(one);
  }
  return bits;
}

[[nodiscard]] std::string row_text(const std::vector<bool>& row) {
  std::string text;
  for (const bool bit : row) text += bit ? '1' : '0';
  return text;
}

[[nodiscard]] Result<std::string> matrix_difference(const AppliedMatrix& found,
                                                    const Value& expected, const Span& span) {
  const auto rows = as_list(expected);
  if (!rows) {
    return fail(ErrorKind::kType, span,
                "a selector is compared with a list of its rows, not with " + describe(expected));
  }
  if (rows->items->size() != found.rows.size()) {
    return "expected " + std::to_string(rows->items->size()) + " rows, found " +
           std::to_string(found.rows.size());
  }
  for (std::size_t i = 0; i < found.rows.size(); ++i) {
    RASP_TRY(const std::vector<bool> row, row_of((*rows->items)[i], span));
    if (row != found.rows[i]) {
      return "at row " + std::to_string(i) + ": expected " + row_text(row) + ", found " +
             row_text(found.rows[i]);
    }
  }
  return std::string();
}

[[nodiscard]] const AppliedMatrix* as_matrix(const Value& v) {
  const auto* matrix = std::get_if<AppliedMatrixRef>(&v.data);
  return matrix != nullptr ? matrix->get() : nullptr;
}

[[nodiscard]] Result<std::string> matrices_differ(const AppliedMatrix& found,
                                                  const AppliedMatrix& expected) {
  ListItems rows;
  for (const auto& row : expected.rows) rows.push_back(Value{Atom(row_text(row))});
  return matrix_difference(found, Value{make_list(std::move(rows))}, {});
}

[[nodiscard]] std::size_t size_of(const Value& v) {
  if (const std::string* text = as_text(v)) return text->size();
  if (const auto* list = std::get_if<List>(&v.data)) return list->total;
  if (const auto* dict = std::get_if<Dict>(&v.data)) return dict->total;
  if (const auto* matrix = as_matrix(v)) return matrix->rows.size() * matrix->rows.size() / 4;
  if (const auto* sequence = std::get_if<AppliedSequenceRef>(&v.data)) {
    return (*sequence)->output.size();
  }
  return 0;
}

}  // namespace

Result<Event> check_expectation(Machine& m, const Value& found, const Value& expected,
                                const Places& at) {
  RASP_CHECK_OK(m.meter.charge(4 * (size_of(found) + size_of(expected)), at.whole));
  Result<std::string> first = std::string();
  const AppliedMatrix* a = as_matrix(found);
  const AppliedMatrix* b = as_matrix(expected);
  if (a != nullptr && b != nullptr) {
    first = matrices_differ(*a, *b);
  } else if (a != nullptr) {
    first = matrix_difference(*a, expected, at.right);
  } else if (b != nullptr) {
    first = matrix_difference(*b, found, at.left);
  } else {
    first = difference(found, expected, "", at);
  }
  if (!first) return fail(std::move(first.error()));
  Event event;
  event.kind = Event::Kind::kExpect;
  event.holds = first->empty();
  event.message = *std::move(first);
  event.span = at.whole;
  event.value = found;
  return event;
}

}  // namespace rasp::lang
