// Calls: of functions, and of s-ops and selectors on an input.
#include <string>

#include "lang/containers.h"
#include "lang/machine.h"

namespace rasp::lang {

namespace {

using graph::NodeId;
using value::Atom;

constexpr std::size_t kTrail = 3;  // calls that an error tells of

[[nodiscard]] std::string signature(const Function& function) {
  std::string text = function.name + "(";
  for (const std::string& parameter : function.parameters) {
    if (text.back() != '(') text += ", ";
    text += parameter;
  }
  return text + ")";
}

[[nodiscard]] Result<void> check_count(const Function& function, std::size_t given,
                                       const Span& span) {
  if (given == function.parameters.size()) return {};
  return fail(ErrorKind::kType, span,
              signature(function) + " takes " + count_of(function.parameters.size(), "argument") +
                  ", but " + std::to_string(given) + (given == 1 ? " is given" : " are given"));
}

[[nodiscard]] Result<Value> run_body(Machine& m, const Context& c, const Function& function,
                                     Scope& scope, const Span& span) {
  Context inner{.program = &function.program, .scope = &scope, .directory = c.directory};
  inner.library = function.library;
  if (function.library) inner.call = span;
  RASP_TRY(const Flow flow, run_block(m, inner, *function.body));
  if (flow == Flow::kReturn) return std::move(inner.result);
  return fail(ErrorKind::kValue, span, in_quotes(function.name) + " ended without a 'return'");
}

// Adds to an error how it was reached.
[[nodiscard]] Diagnostic on_the_way(Machine& m, const Context& c, const Function& function,
                                    Diagnostic problem, const Span& span) {
  if (is_unknown(problem)) return problem;
  if (function.library) {
    if (!c.library) problem.message = "in " + in_quotes(function.name) + ": " + problem.message;
  } else if (m.trail.size() < kTrail) {
    m.trail.push_back(note(span, "in this call of " + in_quotes(function.name)));
  }
  return problem;
}

[[nodiscard]] Result<Value> call_function(Machine& m, const Context& c, const FunctionRef& function,
                                          std::vector<Argument> arguments, const Places& at) {
  RASP_CHECK_OK(check_count(*function, arguments.size(), at.whole));
  if (m.meter.call_depth >= kMaxCallDepth) return fail(Meter::too_deep(at.whole));
  RASP_CHECK_OK(m.meter.charge(10, at.whole));
  auto scope = std::make_unique<Scope>(function->closure);
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    scope->bind(function->parameters[i],
                Binding{std::move(arguments[i].value), function->span, 0, false});
  }
  arguments.clear();
  ++m.meter.call_depth;
  Result<Value> result = run_body(m, c, *function, *scope, at.whole);
  --m.meter.call_depth;
  if (scope->captured) m.kept.push_back(std::move(scope));
  if (!result) return fail(on_the_way(m, c, *function, std::move(result.error()), at.whole));
  return result;
}

// Rough work of evaluating a node on n tokens: so that a loop of applications ends in a limit.
[[nodiscard]] std::size_t application_cost(const graph::Graph& graph, NodeId root, std::size_t n) {
  const NodeId roots[] = {root};
  std::size_t cost = root / 64;
  for (const NodeId id : graph::reachable(graph, roots)) {
    const bool pairs = graph.is_selector(id) || graph[id].kind == graph::Kind::kAggregate;
    cost += 1 + n + (pairs ? n * n / 16 : 0);
  }
  return cost;
}

[[nodiscard]] Result<value::Sequence> input_of(Machine& m, const std::vector<Argument>& arguments,
                                               NodeId node, const Places& at) {
  if (arguments.size() != 1) {
    return fail(ErrorKind::kType, at.whole,
                "an s-op or selector is applied to one input, but " +
                    count_of(arguments.size(), "argument") +
                    (arguments.size() == 1 ? " is given" : " are given"));
  }
  RASP_TRY(value::Sequence input, to_input(arguments[0].value, arguments[0].span));
  RASP_CHECK_OK(m.meter.charge(application_cost(m.graph, node, input.size()), at.whole));
  if (m.checking) return fail(unknown_value(at.whole));
  return input;
}

[[nodiscard]] Diagnostic no_applier(const Span& span) {
  return error(ErrorKind::kValue, span, "nothing can be applied to an input here");
}

// What the application says, at the place of the application when it knows none.
[[nodiscard]] Diagnostic placed(Diagnostic problem, const Span& span) {
  if (!problem.span.valid()) problem.span = span;
  return problem;
}

[[nodiscard]] Result<Value> apply_sop(Machine& m, NodeId node,
                                      const std::vector<Argument>& arguments, const Places& at) {
  RASP_TRY(value::Sequence input, input_of(m, arguments, node, at));
  if (!m.options.applier.sop) return fail(no_applier(at.whole));
  auto output = m.options.applier.sop(m.graph, node, input);
  if (!output) return fail(placed(std::move(output.error()), at.whole));
  return Value{std::make_shared<const AppliedSequence>(
      AppliedSequence{std::move(input), std::move(*output)})};
}

[[nodiscard]] Result<Value> apply_selector(Machine& m, NodeId node,
                                           const std::vector<Argument>& arguments,
                                           const Places& at) {
  RASP_TRY(value::Sequence input, input_of(m, arguments, node, at));
  if (!m.options.applier.selector) return fail(no_applier(at.whole));
  auto rows = m.options.applier.selector(m.graph, node, input);
  if (!rows) return fail(placed(std::move(rows.error()), at.whole));
  return Value{
      std::make_shared<const AppliedMatrix>(AppliedMatrix{std::move(input), std::move(*rows)})};
}

}  // namespace

Result<Value> call(Machine& m, const Context& c, const Value& callee,
                   std::vector<Argument> arguments, const Places& at) {
  if (const auto* function = std::get_if<FunctionRef>(&callee.data)) {
    if ((*function)->builtin != Builtin::kNone) {
      return call_builtin(m, (*function)->builtin, arguments, at.whole);
    }
    return call_function(m, c, *function, std::move(arguments), at);
  }
  if (const auto* sop = std::get_if<SOp>(&callee.data)) {
    return apply_sop(m, sop->node, arguments, at);
  }
  if (const auto* selector = std::get_if<Selector>(&callee.data)) {
    return apply_selector(m, selector->node, arguments, at);
  }
  return fail(ErrorKind::kType, at.left,
              describe(callee) + " cannot be called; a function, an s-op or a selector can");
}

Result<value::Sequence> to_input(const Value& value, const Span& span) {
  value::Sequence input;
  if (const auto* atom = std::get_if<Atom>(&value.data)) {
    const auto* text = std::get_if<std::string>(atom);
    if (text == nullptr) {
      return fail(ErrorKind::kType, span,
                  "an input is a text or a list of atoms, not " + describe(value));
    }
    input = value::characters(*text);
  } else if (const auto list = as_list(value)) {
    for (const Value& item : *list->items) {
      const auto* element = std::get_if<Atom>(&item.data);
      if (element == nullptr) {
        return fail(ErrorKind::kType, span,
                    "an input is a text or a list of atoms; this list holds " + describe(item));
      }
      input.push_back(*element);
    }
  } else {
    return fail(ErrorKind::kType, span,
                "an input is a text or a list of atoms, not " + describe(value));
  }
  if (input.empty()) {
    return fail(ErrorKind::kValue, span, "an input has at least one token; this one is empty");
  }
  return input;
}

}  // namespace rasp::lang
