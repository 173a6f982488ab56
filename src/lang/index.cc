// base[index].
#include <string>

#include "base/utf8.h"
#include "lang/containers.h"
#include "lang/machine.h"

namespace rasp::lang {

namespace {

using graph::NodeId;
using value::Atom;
using value::Number;
using value::Op;

// A position in a list or string: an int or a bool.
[[nodiscard]] Result<Number> position(const Value& index, const Span& span, std::string_view base) {
  if (const auto* atom = std::get_if<Atom>(&index.data)) {
    const auto number = value::to_number(*atom);
    if (number && number->is_int()) return *number;
  }
  return fail(ErrorKind::kType, span,
              std::string(base) + " is indexed by an int or an s-op, not by " + describe(index));
}

[[nodiscard]] Result<std::size_t> place_in(std::size_t size, const Value& index, const Span& span,
                                           std::string_view base) {
  RASP_TRY(const Number number, position(index, span, base));
  const auto n = static_cast<std::int64_t>(size);
  const auto at = number.to_int64();
  if (!at || *at >= n || *at < -n) {
    return fail(ErrorKind::kValue, span,
                "index " + number.repr() + " is out of range; " + std::string(base) + " has " +
                    std::to_string(size) + (size == 1 ? " element" : " elements"));
  }
  return static_cast<std::size_t>(*at < 0 ? *at + n : *at);
}

[[nodiscard]] Result<Value> lookup_node(Machine& m, value::Table table, const Value& index,
                                        const Span& span) {
  RASP_TRY(const NodeId node,
           m.graph.lookup(std::move(table), std::get<SOp>(index.data).node, span));
  return Value{SOp{node}};
}

// Where each code point begins, without the text of any: strings can be long.
[[nodiscard]] std::size_t count_code_points(std::string_view text) {
  std::size_t count = 0;
  for (std::size_t at = 0; at < text.size(); at += decode_utf8(text, at).bytes) ++count;
  return count;
}

[[nodiscard]] std::string code_point(std::string_view text, std::size_t place) {
  std::size_t at = 0;
  for (; place > 0; --place) at += decode_utf8(text, at).bytes;
  return value::code_points(text.substr(at, decode_utf8(text, at).bytes)).front();
}

[[nodiscard]] Result<Value> in_string(Machine& m, const std::string& text, const Value& index,
                                      const Places& at) {
  RASP_CHECK_OK(m.meter.charge(text.size() / 8, at.whole));
  if (std::holds_alternative<SOp>(index.data)) {
    RASP_CHECK_OK(m.meter.charge(4 * text.size(), at.whole));
    return lookup_node(m, {value::Table::Kind::kList, {}, value::characters(text)}, index,
                       at.whole);
  }
  RASP_TRY(const std::size_t place,
           place_in(count_code_points(text), index, at.right, "this string"));
  return Value{Atom(code_point(text, place))};
}

[[nodiscard]] Result<Value> in_sequence(Machine& m, const AppliedSequenceRef& sequence,
                                        const Value& index, const Places& at) {
  if (std::holds_alternative<SOp>(index.data)) {
    RASP_CHECK_OK(m.meter.charge(4 * sequence->output.size(), at.whole));
    return lookup_node(m, {value::Table::Kind::kList, {}, sequence->output}, index, at.whole);
  }
  RASP_TRY(const std::size_t place,
           place_in(sequence->output.size(), index, at.right, "this list"));
  return Value{sequence->output[place]};
}

[[nodiscard]] Result<Value> in_list(Machine& m, const List& list, const Value& index,
                                    const Places& at) {
  if (std::holds_alternative<SOp>(index.data)) {
    RASP_TRY(value::Table table,
             to_table(m.meter, Value{list}, at.left, "a list indexed by an s-op"));
    return lookup_node(m, std::move(table), index, at.whole);
  }
  RASP_TRY(const std::size_t place, place_in(list.items->size(), index, at.right, "this list"));
  return (*list.items)[place];
}

[[nodiscard]] Result<Value> in_dict(Machine& m, const Dict& dict, const Value& index,
                                    const Places& at) {
  if (std::holds_alternative<SOp>(index.data)) {
    RASP_TRY(value::Table table,
             to_table(m.meter, Value{dict}, at.left, "a dict indexed by an s-op"));
    return lookup_node(m, std::move(table), index, at.whole);
  }
  const auto* key = std::get_if<Atom>(&index.data);
  if (key == nullptr) {
    return fail(ErrorKind::kType, at.right,
                "a dict is indexed by an atom or an s-op, not by " + describe(index));
  }
  if (const Value* found = find(dict, *key)) return *found;
  std::vector<std::string> keys;
  for (const auto& entry : *dict.items) {
    if (keys.size() < 100) keys.push_back(value::repr(entry.first));
  }
  const std::string meant = closest(value::repr(*key), keys);
  return fail(ErrorKind::kValue, at.right, "this dict has no key " + value::repr(*key),
              meant.empty() ? "" : "did you mean " + meant + "?");
}

// sop[i]: what stands at position i, at every position; 0 where there is no such position.
[[nodiscard]] Result<Value> in_sop(Machine& m, NodeId sop, const Value& index, const Places& at) {
  const auto* atom = std::get_if<Atom>(&index.data);
  const auto number = atom != nullptr ? value::to_number(*atom) : std::nullopt;
  if (!number || !number->is_int()) {
    return fail(ErrorKind::kType, at.right,
                "an s-op is indexed by an int, not by " + describe(index),
                std::holds_alternative<SOp>(index.data)
                    ? "to read at computed positions: aggregate(select(indices, i, ==), s)"
                    : "");
  }
  RASP_TRY(const NodeId indices, m.graph.indices(at.whole));
  RASP_TRY(NodeId place, m.graph.constant(*number, at.right));
  if (number->sign() < 0) {
    RASP_TRY(const Binding* length, find_base(m, "length"));
    const NodeId sides[] = {std::get<SOp>(length->value.data).node, place};
    RASP_TRY(place, m.graph.map(Op::kAdd, sides, at.whole));
  }
  RASP_TRY(const NodeId there, m.graph.select(indices, place, Op::kEq, at.whole));
  RASP_TRY(const NodeId node, m.graph.aggregate(there, sop, value::make_int(0), at.whole));
  return Value{SOp{node}};
}

}  // namespace

Result<Value> index_value(Machine& m, const Value& base, const Value& index, const Places& at) {
  if (const auto* atom = std::get_if<Atom>(&base.data)) {
    if (const auto* text = std::get_if<std::string>(atom)) return in_string(m, *text, index, at);
  }
  if (const auto* dict = std::get_if<Dict>(&base.data)) return in_dict(m, *dict, index, at);
  if (const auto* sop = std::get_if<SOp>(&base.data)) return in_sop(m, sop->node, index, at);
  if (const auto* list = std::get_if<List>(&base.data)) return in_list(m, *list, index, at);
  if (const auto* sequence = std::get_if<AppliedSequenceRef>(&base.data)) {
    return in_sequence(m, *sequence, index, at);
  }
  return fail(ErrorKind::kType, at.left,
              describe(base) + " cannot be indexed; a list, a dict, a string or an s-op can");
}

}  // namespace rasp::lang
