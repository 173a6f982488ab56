// Statements: each may bind names in its scope and tell what it did.
#include <algorithm>
#include <string>

#include "lang/containers.h"
#include "lang/machine.h"

namespace rasp::lang {

namespace {

using syntax::ExprKind;
using syntax::Name;
using syntax::Statement;
using syntax::StatementKind;

[[nodiscard]] Result<void> check_names(Machine& m, const Context& c,
                                       const std::vector<Name>& names) {
  if (c.library) return {};
  for (const Name& name : names) RASP_CHECK_OK(check_assignable(m, name.text, name.span));
  return {};
}

// The bare name that an expression is, or "".
[[nodiscard]] std::string bare_name(const Context& c, syntax::ExprId id) {
  return c[id].kind == ExprKind::kName ? c[id].text : std::string();
}

[[nodiscard]] Result<void> tell(Machine& m, const Context& c, Event event) {
  event.span = c.place(event.span);
  RASP_CHECK_OK(m.meter.charge(10 + weight(event.value), event.span));
  m.events.push_back(std::move(event));
  return {};
}

[[nodiscard]] Result<Flow> run_expression(Machine& m, const Context& c, const Statement& s) {
  RASP_TRY(Value value, evaluate(m, c, s.exprs[0]));
  if (c.telling != Telling::kAll) return Flow::kNext;
  std::string name = bare_name(c, s.exprs[0]);
  if (name.empty()) name = "out";
  m.last = value;
  RASP_CHECK_OK(tell(m, c,
                     {.kind = Event::Kind::kValue,
                      .name = std::move(name),
                      .value = std::move(value),
                      .input = {},
                      .message = {},
                      .text = {},
                      .span = s.span}));
  return Flow::kNext;
}

// The values for the names on the left: one each, or the parts of a single list.
[[nodiscard]] Result<ListItems> assigned_values(Machine& m, const Context& c, const Statement& s) {
  ListItems values;
  for (const syntax::ExprId id : s.exprs) {
    RASP_TRY(Value value, evaluate(m, c, id));
    values.push_back(std::move(value));
  }
  const std::size_t wanted = s.names.size();
  if (wanted == values.size()) return values;
  if (values.size() > 1) {
    return fail(ErrorKind::kValue, c.place(s.span),
                count_of(wanted, "name") + " cannot take " + count_of(values.size(), "value"));
  }
  const Span& span = c.place(c[s.exprs[0]].span);
  const auto list = as_list(values[0]);
  if (!list) {
    return fail(ErrorKind::kType, span,
                count_of(wanted, "name") + " need a list of " + std::to_string(wanted) +
                    " to unpack, not " + describe(values[0]));
  }
  if (list->items->size() != wanted) {
    return fail(ErrorKind::kValue, span,
                count_of(wanted, "name") + " cannot take a list of " +
                    count_of(list->items->size(), "item"));
  }
  return *list->items;
}

[[nodiscard]] Result<Flow> run_assignment(Machine& m, const Context& c, const Statement& s) {
  RASP_CHECK_OK(check_names(m, c, s.names));
  RASP_TRY(ListItems values, assigned_values(m, c, s));
  if (c.telling == Telling::kAll) {
    m.last = values.size() == 1 ? values[0] : Value{make_list(values)};
  }
  for (std::size_t i = 0; i < s.names.size(); ++i) {
    if (c.telling == Telling::kAll) {
      RASP_CHECK_OK(tell(m, c,
                         {.kind = Event::Kind::kValue,
                          .name = s.names[i].text,
                          .value = values[i],
                          .input = {},
                          .message = {},
                          .text = {},
                          .span = s.span}));
    }
    assign(m, *c.scope, s.names[i].text, Binding{std::move(values[i]), s.span, 0, false});
  }
  return Flow::kNext;
}

[[nodiscard]] Result<void> check_parameters(Machine& m, const Context& c, const Statement& s) {
  for (std::size_t i = 1; i < s.names.size(); ++i) {
    const Name& name = s.names[i];
    if (!c.library) RASP_CHECK_OK(check_assignable(m, name.text, name.span, true));
    const auto same = [&](const Name& other) { return other.text == name.text; };
    if (std::any_of(s.names.begin() + 1, s.names.begin() + static_cast<std::ptrdiff_t>(i), same)) {
      return fail(
          ErrorKind::kName, name.span,
          "parameter " + in_quotes(name.text) + " occurs twice in " + in_quotes(s.names[0].text));
    }
  }
  return {};
}

[[nodiscard]] Result<Flow> run_def(Machine& m, const Context& c, const Statement& s) {
  if (!c.library) RASP_CHECK_OK(check_assignable(m, s.names[0].text, s.names[0].span));
  RASP_CHECK_OK(check_parameters(m, c, s));
  RASP_CHECK_OK(m.meter.charge(20, c.place(s.span)));
  auto function = std::make_shared<Function>();
  function->name = s.names[0].text;
  for (std::size_t i = 1; i < s.names.size(); ++i) function->parameters.push_back(s.names[i].text);
  function->library = c.library;
  function->span = s.span;
  function->program = *c.program;
  function->body = &s.body;
  function->closure = c.scope;
  c.scope->captured = true;
  const Value value{FunctionRef(std::move(function))};
  if (c.telling == Telling::kAll) {
    RASP_CHECK_OK(tell(m, c,
                       {.kind = Event::Kind::kDefined,
                        .name = s.names[0].text,
                        .value = value,
                        .input = {},
                        .message = {},
                        .text = {},
                        .span = s.span}));
  }
  assign(m, *c.scope, s.names[0].text, Binding{value, s.span, 0, false});
  return Flow::kNext;
}

[[nodiscard]] Result<Flow> run_return(Machine& m, Context& c, const Statement& s) {
  ListItems values;
  for (const syntax::ExprId id : s.exprs) {
    RASP_TRY(Value value, evaluate(m, c, id));
    values.push_back(std::move(value));
  }
  if (values.size() == 1) {
    c.result = std::move(values[0]);
  } else {
    RASP_TRY(c.result, bounded_list(std::move(values), c.place(s.span)));
  }
  return Flow::kReturn;
}

[[nodiscard]] Result<Flow> run_for(Machine& m, Context& c, const Statement& s) {
  RASP_CHECK_OK(check_names(m, c, s.names));
  const Span& over = c.place(c[s.exprs[0]].span);
  RASP_TRY(const Value source, evaluate(m, c, s.exprs[0]));
  RASP_TRY(const List items, iterable(m.meter, source, over, "what 'for' goes over"));
  std::vector<std::string_view> names;
  for (const Name& name : s.names) names.push_back(name.text);
  const Telling before = c.telling;
  if (c.telling == Telling::kAll) c.telling = Telling::kChecks;
  Result<Flow> flow = Flow::kNext;
  for (const Value& item : *items.items) {
    if (!m.meter.pay(2)) {
      flow = fail(m.meter.refusal(c.place(s.span)));
    } else if (auto bound = bind_item(m, *c.scope, names, item, over, s.span); !bound) {
      flow = fail(std::move(bound.error()));
    } else {
      flow = run_block(m, c, s.body);
    }
    if (!flow || *flow == Flow::kReturn) break;
  }
  c.telling = before;
  return flow;
}

[[nodiscard]] Result<Flow> run_draw(Machine& m, const Context& c, const Statement& s) {
  RASP_TRY(Value value, evaluate(m, c, s.exprs[0]));
  if (!std::holds_alternative<SOp>(value.data)) {
    return fail(ErrorKind::kType, c.place(c[s.exprs[0]].span),
                "'draw' needs an s-op, not " + describe(value));
  }
  std::optional<value::Sequence> input;
  if (s.exprs.size() > 1) {
    RASP_TRY(const Value given, evaluate(m, c, s.exprs[1]));
    RASP_TRY(input, to_input(given, c.place(c[s.exprs[1]].span)));
    RASP_CHECK_OK(m.meter.charge(3 * input->size(), c.place(s.span)));
  }
  if (c.telling == Telling::kNone) return Flow::kNext;
  RASP_CHECK_OK(tell(m, c,
                     {.kind = Event::Kind::kDraw,
                      .name = bare_name(c, s.exprs[0]),
                      .value = std::move(value),
                      .input = std::move(input),
                      .message = {},
                      .text = {},
                      .span = s.span}));
  return Flow::kNext;
}

[[nodiscard]] Result<Flow> run_expect(Machine& m, const Context& c, const Statement& s) {
  RASP_TRY(const Value found, evaluate(m, c, s.exprs[0]));
  RASP_TRY(const Value expected, evaluate(m, c, s.exprs[1]));
  const Places at{c.place(s.span), c.place(c[s.exprs[0]].span), c.place(c[s.exprs[1]].span)};
  RASP_TRY(Event event, check_expectation(m, found, expected, at));
  event.text = std::string(m.sources.text(s.span));
  if (c.telling != Telling::kNone) {
    RASP_CHECK_OK(tell(m, c, std::move(event)));
  } else if (!event.holds) {
    m.remarks.push_back(
        warning(ErrorKind::kValue, s.span, "an expectation does not hold: " + event.message));
  }
  return Flow::kNext;
}

[[nodiscard]] Result<void> check_puzzle(Machine& m, const Context& c, const Statement& s) {
  const syntax::Puzzle& puzzle = s.puzzle[0];
  std::vector<Diagnostic> unknown = unresolved_names(m, *c.scope, **c.program, s);
  if (!unknown.empty()) return fail(std::move(unknown[0]));
  if (puzzle.max_length != 0 && (puzzle.min_length < 1 || puzzle.max_length < puzzle.min_length)) {
    return fail(
        ErrorKind::kValue, puzzle.name.span,
        "the lengths of puzzle " + in_quotes(puzzle.name.text) + " must be at least 1 and ascend");
  }
  if (puzzle.vocabulary == syntax::kNoExpr) return {};
  const Span& span = c[puzzle.vocabulary].span;
  RASP_TRY(const Value vocabulary, evaluate(m, c, puzzle.vocabulary));
  RASP_TRY(const value::Sequence tokens, to_input(vocabulary, span));
  if (tokens.size() > kMaxVocabulary) {
    return fail(ErrorKind::kLimit, span,
                "a puzzle's vocabulary holds at most " + std::to_string(kMaxVocabulary) +
                    " tokens; this one has " + std::to_string(tokens.size()));
  }
  return {};
}

[[nodiscard]] Result<Flow> run_puzzle(Machine& m, const Context& c, const Statement& s) {
  RASP_CHECK_OK(check_puzzle(m, c, s));
  const syntax::Puzzle& puzzle = s.puzzle[0];
  if (!m.journal.puzzles) m.journal.puzzles = m.puzzles;
  const auto same = [&](const KnownPuzzle& other) {
    return other.puzzle.name.text == puzzle.name.text;
  };
  if (const auto old = std::ranges::find_if(m.puzzles, same); old != m.puzzles.end()) {
    *old = {puzzle, *c.program, c.scope};
  } else {
    m.puzzles.push_back({puzzle, *c.program, c.scope});
  }
  c.scope->captured = true;
  if (c.telling == Telling::kNone) return Flow::kNext;
  RASP_CHECK_OK(tell(m, c,
                     {.kind = Event::Kind::kPuzzle,
                      .name = puzzle.name.text,
                      .value = {},
                      .input = {},
                      .message = {},
                      .text = {},
                      .span = s.span}));
  return Flow::kNext;
}

[[nodiscard]] Result<Flow> run_command(Machine& m, const Context& c, const Statement& s) {
  RASP_CHECK_OK(tell(m, c,
                     {.kind = Event::Kind::kCommand,
                      .name = {},
                      .value = {},
                      .input = {},
                      .message = {},
                      .text = s.text,
                      .span = s.span}));
  return Flow::kNext;
}

}  // namespace

Result<void> bind_item(Machine& m, Scope& scope, std::span<const std::string_view> names,
                       const Value& item, const Span& item_span, const Span& statement) {
  RASP_CHECK_OK(m.meter.charge(weight(item), item_span));
  if (names.size() == 1) {
    assign(m, scope, names[0], Binding{item, statement, 0, false});
    return {};
  }
  const auto parts = as_list(item);
  if (!parts || parts->items->size() != names.size()) {
    return fail(parts ? ErrorKind::kValue : ErrorKind::kType, item_span,
                count_of(names.size(), "loop variable") + " need lists of " +
                    std::to_string(names.size()) + " here, but an item is " +
                    (parts ? "a list of " + std::to_string(parts->items->size()) : describe(item)));
  }
  for (std::size_t i = 0; i < names.size(); ++i) {
    assign(m, scope, names[i], Binding{(*parts->items)[i], statement, 0, false});
  }
  return {};
}

Result<Flow> run_statement(Machine& m, Context& c, const Statement& s) {
  if (!m.meter.pay()) return fail(m.meter.refusal(c.place(s.span)));
  if (!m.meter.has_stack()) return fail(Meter::too_deep(c.place(s.span)));
  switch (s.kind) {
    case StatementKind::kExpr:
      return run_expression(m, c, s);
    case StatementKind::kAssign:
      return run_assignment(m, c, s);
    case StatementKind::kLoad:
      RASP_CHECK_OK(load(m, c, s.text, s.span));
      return Flow::kNext;
    case StatementKind::kDraw:
      return run_draw(m, c, s);
    case StatementKind::kDef:
      return run_def(m, c, s);
    case StatementKind::kReturn:
      return run_return(m, c, s);
    case StatementKind::kFor:
      return run_for(m, c, s);
    case StatementKind::kExpect:
      return run_expect(m, c, s);
    case StatementKind::kPuzzle:
      return run_puzzle(m, c, s);
    case StatementKind::kCommand:
      return run_command(m, c, s);
  }
  return Flow::kNext;
}

Result<Flow> run_block(Machine& m, Context& c, const std::vector<Statement>& body) {
  for (const Statement& statement : body) {
    RASP_TRY(const Flow flow, run_statement(m, c, statement));
    if (flow == Flow::kReturn) return flow;
  }
  return Flow::kNext;
}

}  // namespace rasp::lang
