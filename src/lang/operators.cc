// What operators mean on values: atoms go to the table of operators, s-ops and selectors to the
// graph, lists are joined and repeated.
#include <string>

#include "lang/containers.h"
#include "lang/machine.h"

namespace rasp::lang {

namespace {

using graph::NodeId;
using value::Atom;
using value::Number;
using value::Op;

[[nodiscard]] const Atom* as_atom(const Value& v) { return std::get_if<Atom>(&v.data); }
[[nodiscard]] bool is_sop(const Value& v) { return std::holds_alternative<SOp>(v.data); }
[[nodiscard]] bool is_selector(const Value& v) { return std::holds_alternative<Selector>(v.data); }

[[nodiscard]] std::string in_quotes(Op op) { return lang::in_quotes(value::info(op).symbol); }

[[nodiscard]] bool is_logical(Op op) { return op == Op::kAnd || op == Op::kOr; }

// Steps for a number of more than 64 bits: multiplication and reduction are quadratic in the words.
[[nodiscard]] std::size_t cost(const Atom& atom) {
  const auto* number = std::get_if<Number>(&atom);
  if (number == nullptr) return 0;
  const std::size_t words = number->bits() / 64;
  return words + words * words / 16;
}

[[nodiscard]] Result<void> charge_text(Machine& m, std::size_t bytes, const Span& span) {
  if (bytes > kMaxStringBytes) {
    return fail(ErrorKind::kLimit, span,
                "a string holds at most " + std::to_string(kMaxStringBytes) +
                    " bytes; this one would have more");
  }
  return m.meter.charge(bytes / 16, span);
}

// The size of the string that an operator would make, checked before it is made.
[[nodiscard]] Result<void> charge_result(Machine& m, Op op, const Atom& a, const Atom& b,
                                         const Span& span) {
  const auto* s = std::get_if<std::string>(&a);
  const auto* t = std::get_if<std::string>(&b);
  if (s == nullptr && t == nullptr) return {};
  if (op == Op::kMul) {
    const std::string& text = s != nullptr ? *s : *t;
    const auto times = value::to_number(s != nullptr ? b : a);
    if (!times || !times->is_int() || times->sign() <= 0 || text.empty()) return {};
    const auto count = times->to_int64();
    const bool fits = count && static_cast<std::uint64_t>(*count) <= kMaxStringBytes / text.size();
    return charge_text(
        m, fits ? text.size() * static_cast<std::size_t>(*count) : kMaxStringBytes + 1, span);
  }
  const std::size_t sum = (s != nullptr ? s->size() : 0) + (t != nullptr ? t->size() : 0);
  return op == Op::kAdd ? charge_text(m, sum, span) : m.meter.charge(sum / 64, span);
}

[[nodiscard]] Result<Value> on_atoms(Machine& m, Op op, const Atom& a, const Atom& b,
                                     const Span& span) {
  if (op == Op::kAnd) return Value{value::truth(a) ? b : a};
  if (op == Op::kOr) return Value{value::truth(a) ? a : b};
  RASP_CHECK_OK(charge_result(m, op, a, b, span));
  RASP_CHECK_OK(m.meter.charge(cost(a) + cost(b), span));
  RASP_TRY(Value result, from_table(value::apply(op, a, b), span));
  RASP_CHECK_OK(m.meter.charge(cost(std::get<Atom>(result.data)), span));
  return result;
}

[[nodiscard]] Result<Value> on_sops(Machine& m, Op op, const Value& left, const Value& right,
                                    const Places& at) {
  RASP_TRY(const NodeId a, to_sop(m, left, at.left, "the left side of " + in_quotes(op)));
  RASP_TRY(const NodeId b, to_sop(m, right, at.right, "the right side of " + in_quotes(op)));
  const NodeId sides[] = {a, b};
  RASP_TRY(const NodeId node, m.graph.map(op, sides, at.whole));
  return Value{SOp{node}};
}

[[nodiscard]] Result<Value> on_selectors(Machine& m, Op op, const Value& left, const Value& right,
                                         const Places& at) {
  const bool both = is_selector(left) && is_selector(right);
  if (!is_logical(op)) {
    return fail(ErrorKind::kType, is_selector(left) ? at.left : at.right,
                in_quotes(op) + " works on atoms and s-ops; this is a selector",
                "selectors combine with 'and', 'or' and 'not' only");
  }
  if (!both) {
    const bool left_is_other = !is_selector(left);
    return fail(ErrorKind::kType, left_is_other ? at.left : at.right,
                in_quotes(op) + " needs selectors on both sides; this is " +
                    describe(left_is_other ? left : right));
  }
  const NodeId a = std::get<Selector>(left.data).node;
  const NodeId b = std::get<Selector>(right.data).node;
  RASP_TRY(const NodeId node, op == Op::kAnd ? m.graph.selector_and(a, b, at.whole)
                                             : m.graph.selector_or(a, b, at.whole));
  return Value{Selector{node}};
}

[[nodiscard]] Diagnostic bad_sides(Op op, const Value& left, const Value& right, const Places& at) {
  return error(ErrorKind::kType, at.whole,
               in_quotes(op) + " cannot combine " + describe(left) + " and " + describe(right));
}

// Steps of `as_list`.
[[nodiscard]] std::size_t copied(const Value& v) {
  const auto* sequence = std::get_if<AppliedSequenceRef>(&v.data);
  return sequence != nullptr ? 3 * (*sequence)->output.size() : 0;
}

// One side at least is neither atom nor s-op nor selector.
[[nodiscard]] Result<Value> on_containers(Machine& m, Op op, const Value& left, const Value& right,
                                          const Places& at) {
  RASP_CHECK_OK(m.meter.charge(copied(left) + copied(right), at.whole));
  const auto a = as_list(left);
  const auto b = as_list(right);
  if (op == Op::kAdd && a && b) return concatenate(m.meter, *a, *b, at.whole);
  if (op == Op::kMul && (a || b)) {
    const Atom* factor = as_atom(a ? right : left);
    const auto times = factor != nullptr ? value::to_number(*factor) : std::nullopt;
    if (times && times->is_int()) return repeat(m.meter, a ? *a : *b, *times, at.whole);
  }
  if ((op == Op::kEq || op == Op::kNe) && left.data.index() != 0 && right.data.index() != 0) {
    std::size_t items = 0;
    if (a) items = a->total;
    if (const auto* dict = std::get_if<Dict>(&left.data)) items = dict->total;
    RASP_CHECK_OK(m.meter.charge(items, at.whole));
    if (const auto equal = same(left, right)) return Value{Atom(*equal == (op == Op::kEq))};
  }
  return fail(bad_sides(op, left, right, at));
}

}  // namespace

Result<Value> from_table(value::OpResult result, const Span& span) {
  if (!result) return fail(result.error().kind, span, std::move(result.error().message));
  return Value{*std::move(result)};
}

Result<Value> unary(Machine& m, Op op, const Value& operand, const Span& span) {
  if (const Atom* atom = as_atom(operand)) {
    RASP_CHECK_OK(m.meter.charge(cost(*atom), span));
    return from_table(value::apply(op, *atom), span);
  }
  if (const auto* sop = std::get_if<SOp>(&operand.data)) {
    const NodeId sides[] = {sop->node};
    RASP_TRY(const NodeId node, m.graph.map(op, sides, span));
    return Value{SOp{node}};
  }
  if (const auto* selector = std::get_if<Selector>(&operand.data); selector && op == Op::kNot) {
    RASP_TRY(const NodeId node, m.graph.selector_not(selector->node, span));
    return Value{Selector{node}};
  }
  return fail(ErrorKind::kType, span,
              in_quotes(op) + " needs an atom or an s-op" +
                  (op == Op::kNot ? " or a selector, not " : ", not ") + describe(operand));
}

Result<Value> binary(Machine& m, Op op, const Value& left, const Value& right, const Places& at) {
  const Atom* a = as_atom(left);
  const Atom* b = as_atom(right);
  if (a != nullptr && b != nullptr) return on_atoms(m, op, *a, *b, at.whole);
  if (is_selector(left) || is_selector(right)) return on_selectors(m, op, left, right, at);
  const bool left_maps = a != nullptr || is_sop(left);
  const bool right_maps = b != nullptr || is_sop(right);
  if (left_maps && right_maps) return on_sops(m, op, left, right, at);
  return on_containers(m, op, left, right, at);
}

namespace {

// `element in sop`: whether the sequence holds it anywhere, at every position.
[[nodiscard]] Result<Value> occurs(Machine& m, NodeId element, NodeId sequence, const Span& span) {
  RASP_TRY(const NodeId places, m.graph.select(sequence, element, Op::kEq, span));
  RASP_TRY(const NodeId one, m.graph.constant(value::make_int(1), span));
  RASP_TRY(const NodeId some, m.graph.aggregate(places, one, value::make_int(0), span));
  RASP_TRY(const NodeId zero, m.graph.constant(value::make_int(0), span));
  const NodeId sides[] = {some, zero};
  RASP_TRY(const NodeId node, m.graph.map(Op::kGt, sides, span));
  return Value{SOp{node}};
}

[[nodiscard]] Result<Value> atom_in_list(Machine& m, const Atom& atom, const List& list,
                                         const Span& span) {
  RASP_CHECK_OK(m.meter.charge(list.items->size(), span));
  bool found = false;
  for (const Value& item : *list.items) {
    if (const Atom* other = as_atom(item)) {
      found = found || value::equal(atom, *other);
    } else if (is_sop(item) || is_selector(item) ||
               std::holds_alternative<FunctionRef>(item.data)) {
      return fail(ErrorKind::kType, span,
                  "the list of 'in' must hold atoms; this one holds " + describe(item));
    }
  }
  return Value{Atom(found)};
}

}  // namespace

Result<Value> contains(Machine& m, const Value& element, const Value& container, const Places& at) {
  const Atom* atom = as_atom(element);
  if (atom == nullptr && !is_sop(element)) {
    return fail(ErrorKind::kType, at.left,
                "the left side of 'in' must be an atom or an s-op, not " + describe(element));
  }
  if (const auto* sequence = std::get_if<SOp>(&container.data)) {
    RASP_TRY(const NodeId node, to_sop(m, element, at.left, "the left side of 'in'"));
    return occurs(m, node, sequence->node, at.whole);
  }
  if (const auto* dict = std::get_if<Dict>(&container.data); dict && atom) {
    return Value{Atom(find(*dict, *atom) != nullptr)};
  }
  if (!as_list(container) && !std::holds_alternative<Dict>(container.data)) {
    return fail(
        ErrorKind::kType, at.right,
        "the right side of 'in' must be a list, a dict or an s-op, not " + describe(container));
  }
  RASP_TRY(const List list, iterable(m.meter, container, at.right, "the right side of 'in'"));
  if (atom != nullptr) return atom_in_list(m, *atom, list, at.right);
  RASP_TRY(value::Table table,
           to_table(m.meter, Value{list}, at.right, "the list of 's-op in list'"));
  RASP_TRY(const NodeId node,
           m.graph.member(std::get<SOp>(element.data).node, std::move(table), at.whole));
  return Value{SOp{node}};
}

}  // namespace rasp::lang
