// Expressions. Operands on the left of an operator are walked without recursion, since a chain of
// thousands of operators is one deep left spine; all else is as deep as the text is nested.
#include "lang/containers.h"
#include "lang/machine.h"

namespace rasp::lang {

namespace {

using graph::NodeId;
using syntax::Expr;
using syntax::ExprId;
using syntax::ExprKind;
using value::Atom;

[[nodiscard]] Result<Value> literal(Machine& m, const Atom& atom, const Span& span) {
  if (const auto* text = std::get_if<std::string>(&atom)) {
    if (text->size() > kMaxStringBytes) {
      return fail(ErrorKind::kLimit, span,
                  "a string holds at most " + std::to_string(kMaxStringBytes) +
                      " bytes; this one has " + std::to_string(text->size()));
    }
    RASP_CHECK_OK(m.meter.charge(text->size() / 16, span));
  }
  return Value{atom};
}

[[nodiscard]] Result<Value> named(Machine& m, const Context& c, const Expr& e) {
  RASP_TRY(Value value, look_up(m, c, e.text, e.span));
  RASP_CHECK_OK(m.meter.charge(weight(value) - 2, c.place(e.span)));
  return value;
}

[[nodiscard]] Result<Value> apply_operator(Machine& m, const Context& c, const Expr& e,
                                           const Value& left, const Value& right) {
  const Places at{c.place(e.span), c.place(c[e.children[0]].span), c.place(c[e.children[1]].span)};
  return e.kind == ExprKind::kIn ? contains(m, left, right, at) : binary(m, e.op, left, right, at);
}

[[nodiscard]] bool is_chain(const Expr& e) {
  return e.kind == ExprKind::kBinary || e.kind == ExprKind::kIn;
}

[[nodiscard]] Result<Value> chain(Machine& m, const Context& c, ExprId id) {
  std::vector<ExprId> spine;
  for (; is_chain(c[id]); id = c[id].children[0]) spine.push_back(id);
  RASP_TRY(Value left, evaluate(m, c, id));
  for (; !spine.empty(); spine.pop_back()) {
    const Expr& e = c[spine.back()];
    RASP_CHECK_OK(m.meter.charge(1, c.place(e.span)));
    RASP_TRY(const Value right, evaluate(m, c, e.children[1]));
    RASP_TRY(left, apply_operator(m, c, e, left, right));
  }
  return left;
}

[[nodiscard]] Result<Value> unary_expression(Machine& m, const Context& c, const Expr& e) {
  RASP_TRY(const Value operand, evaluate(m, c, e.children[0]));
  return unary(m, e.op, operand, c.place(e.span));
}

// An atom picks one branch, and the other is not looked at; an s-op chooses position by position.
[[nodiscard]] Result<Value> choose(Machine& m, const Context& c, const Expr& e) {
  const Span& condition_span = c.place(c[e.children[0]].span);
  RASP_TRY(const Value condition, evaluate(m, c, e.children[0]));
  if (const auto* atom = std::get_if<Atom>(&condition.data)) {
    return evaluate(m, c, e.children[value::truth(*atom) ? 1 : 2]);
  }
  const auto* sop = std::get_if<SOp>(&condition.data);
  if (sop == nullptr) {
    return fail(ErrorKind::kType, condition_span,
                "the condition of 'if' must be an atom or an s-op, not " + describe(condition));
  }
  RASP_TRY(const Value yes, evaluate(m, c, e.children[1]));
  RASP_TRY(const Value no, evaluate(m, c, e.children[2]));
  constexpr std::string_view kRole = "a branch of 'if' with an s-op as its condition";
  RASP_TRY(const NodeId a, to_sop(m, yes, c.place(c[e.children[1]].span), kRole));
  RASP_TRY(const NodeId b, to_sop(m, no, c.place(c[e.children[2]].span), kRole));
  RASP_TRY(const NodeId node, m.graph.choose(sop->node, a, b, c.place(e.span)));
  return Value{SOp{node}};
}

[[nodiscard]] Result<Value> select(Machine& m, const Context& c, const Expr& e) {
  RASP_TRY(const Value key, evaluate(m, c, e.children[0]));
  RASP_TRY(const Value query, evaluate(m, c, e.children[1]));
  RASP_TRY(const NodeId k, to_sop(m, key, c.place(c[e.children[0]].span), "the key of 'select'"));
  RASP_TRY(const NodeId q,
           to_sop(m, query, c.place(c[e.children[1]].span), "the query of 'select'"));
  RASP_TRY(const NodeId node, m.graph.select(k, q, e.op, c.place(e.span)));
  return Value{Selector{node}};
}

[[nodiscard]] Result<Value> aggregate(Machine& m, const Context& c, const Expr& e) {
  RASP_TRY(const Value selector, evaluate(m, c, e.children[0]));
  RASP_TRY(const Value values, evaluate(m, c, e.children[1]));
  Value otherwise{value::make_int(0)};
  if (e.children.size() > 2) {
    RASP_TRY(otherwise, evaluate(m, c, e.children[2]));
  }
  const auto* attention = std::get_if<Selector>(&selector.data);
  if (attention == nullptr) {
    return fail(ErrorKind::kType, c.place(c[e.children[0]].span),
                "'aggregate' needs a selector first, not " + describe(selector));
  }
  const auto* atom = std::get_if<Atom>(&otherwise.data);
  if (atom == nullptr) {
    return fail(ErrorKind::kType, c.place(c[e.children[2]].span),
                "the default of 'aggregate' must be an atom, not " + describe(otherwise));
  }
  RASP_TRY(const NodeId sop,
           to_sop(m, values, c.place(c[e.children[1]].span), "the value of 'aggregate'"));
  RASP_TRY(const NodeId node, m.graph.aggregate(attention->node, sop, *atom, c.place(e.span)));
  return Value{SOp{node}};
}

[[nodiscard]] Result<Value> list(Machine& m, const Context& c, const Expr& e) {
  ListItems items;
  items.reserve(e.children.size());
  for (const ExprId child : e.children) {
    RASP_TRY(Value item, evaluate(m, c, child));
    RASP_CHECK_OK(m.meter.charge(2, c.place(e.span)));
    items.push_back(std::move(item));
  }
  return bounded_list(std::move(items), c.place(e.span));
}

[[nodiscard]] Result<Atom> key(Value value, const Span& span) {
  if (auto* atom = std::get_if<Atom>(&value.data)) return std::move(*atom);
  return fail(ErrorKind::kType, span, "the key of a dict must be an atom, not " + describe(value));
}

[[nodiscard]] Result<Value> dict(Machine& m, const Context& c, const Expr& e) {
  DictItems items;
  items.reserve(e.children.size() / 2);
  for (std::size_t i = 0; i + 1 < e.children.size(); i += 2) {
    RASP_TRY(Value name, evaluate(m, c, e.children[i]));
    RASP_TRY(Atom atom, key(std::move(name), c.place(c[e.children[i]].span)));
    RASP_TRY(Value item, evaluate(m, c, e.children[i + 1]));
    RASP_CHECK_OK(m.meter.charge(4, c.place(e.span)));
    items.emplace_back(std::move(atom), std::move(item));
  }
  return bounded_dict(std::move(items), c.place(e.span));
}

// The loop of a comprehension: `element` is called for each item, with the variables bound in a
// scope of their own.
template <typename Element>
[[nodiscard]] Result<void> comprehend(Machine& m, const Context& c, const Expr& e, ExprId iterable,
                                      Element&& element) {
  const Span& over = c.place(c[iterable].span);
  RASP_TRY(const Value source, evaluate(m, c, iterable));
  RASP_TRY(const List items,
           rasp::lang::iterable(m.meter, source, over, "what a comprehension goes over"));
  const std::vector<std::string_view> names(e.names.begin(), e.names.end());
  for (const std::string_view name : names) {
    RASP_CHECK_OK(check_assignable(m, name, c.place(e.span), true));
  }
  Scope scope(c.scope);
  Context inner = c;
  inner.scope = &scope;
  for (const Value& item : *items.items) {
    RASP_CHECK_OK(m.meter.charge(2, c.place(e.span)));
    RASP_CHECK_OK(bind_item(m, scope, names, item, over, c.place(e.span)));
    RASP_CHECK_OK(element(inner));
  }
  return {};
}

[[nodiscard]] Result<Value> list_comprehension(Machine& m, const Context& c, const Expr& e) {
  ListItems items;
  const auto element = [&](const Context& inner) -> Result<void> {
    RASP_TRY(Value item, evaluate(m, inner, e.children[0]));
    items.push_back(std::move(item));
    return {};
  };
  RASP_CHECK_OK(comprehend(m, c, e, e.children[1], element));
  return bounded_list(std::move(items), c.place(e.span));
}

[[nodiscard]] Result<Value> dict_comprehension(Machine& m, const Context& c, const Expr& e) {
  DictItems items;
  const auto entry = [&](const Context& inner) -> Result<void> {
    RASP_TRY(Value name, evaluate(m, inner, e.children[0]));
    RASP_TRY(Atom atom, key(std::move(name), c.place(c[e.children[0]].span)));
    RASP_TRY(Value item, evaluate(m, inner, e.children[1]));
    items.emplace_back(std::move(atom), std::move(item));
    return {};
  };
  RASP_CHECK_OK(comprehend(m, c, e, e.children[2], entry));
  return bounded_dict(std::move(items), c.place(e.span));
}

[[nodiscard]] Result<Value> index(Machine& m, const Context& c, const Expr& e) {
  RASP_TRY(const Value base, evaluate(m, c, e.children[0]));
  RASP_TRY(const Value at, evaluate(m, c, e.children[1]));
  return index_value(
      m, base, at,
      {c.place(e.span), c.place(c[e.children[0]].span), c.place(c[e.children[1]].span)});
}

[[nodiscard]] Result<Value> call_expression(Machine& m, const Context& c, const Expr& e) {
  RASP_TRY(const Value callee, evaluate(m, c, e.children[0]));
  std::vector<Argument> arguments;
  arguments.reserve(e.children.size() - 1);
  for (std::size_t i = 1; i < e.children.size(); ++i) {
    RASP_TRY(Value argument, evaluate(m, c, e.children[i]));
    arguments.push_back({std::move(argument), c.place(c[e.children[i]].span)});
  }
  const Span& callee_span = c.place(c[e.children[0]].span);
  return call(m, c, callee, std::move(arguments), {c.place(e.span), callee_span, callee_span});
}

}  // namespace

Result<NodeId> to_sop(Machine& m, const Value& value, const Span& span, std::string_view role) {
  if (const auto* sop = std::get_if<SOp>(&value.data)) return sop->node;
  if (const auto* atom = std::get_if<Atom>(&value.data)) return m.graph.constant(*atom, span);
  return fail(ErrorKind::kType, span,
              std::string(role) + " must be an s-op or an atom, not " + describe(value));
}

Result<Value> evaluate(Machine& m, const Context& c, ExprId id) {
  const Expr& e = c[id];
  if (!m.meter.pay()) return fail(m.meter.refusal(c.place(e.span)));
  if (!m.meter.has_stack()) return fail(Meter::too_deep(c.place(e.span)));
  switch (e.kind) {
    case ExprKind::kAtom:
      return literal(m, e.atom, c.place(e.span));
    case ExprKind::kName:
      return named(m, c, e);
    case ExprKind::kUnary:
      return unary_expression(m, c, e);
    case ExprKind::kBinary:
    case ExprKind::kIn:
      return chain(m, c, id);
    case ExprKind::kChoose:
      return choose(m, c, e);
    case ExprKind::kIndex:
      return index(m, c, e);
    case ExprKind::kCall:
      return call_expression(m, c, e);
    case ExprKind::kSelect:
      return select(m, c, e);
    case ExprKind::kAggregate:
      return aggregate(m, c, e);
    case ExprKind::kList:
      return list(m, c, e);
    case ExprKind::kDict:
      return dict(m, c, e);
    case ExprKind::kListComp:
      return list_comprehension(m, c, e);
    case ExprKind::kDictComp:
      return dict_comprehension(m, c, e);
  }
  return fail(ErrorKind::kValue, e.span, "an expression of a kind that is not known");
}

}  // namespace rasp::lang
