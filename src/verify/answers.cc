#include "verify/answers.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "lang/containers.h"

namespace rasp::verify {
namespace {

using interpreter::Matrix;
using lang::Value;
using value::Atom;

value::Sequence row_of(const Matrix& matrix, std::size_t query) {
  value::Sequence row;
  for (std::size_t key = 0; key < matrix.size(); ++key) {
    row.emplace_back(value::make_int(matrix.at(query, key) ? 1 : 0));
  }
  return row;
}

bool same_row(const Matrix& a, const Matrix& b, std::size_t query) {
  return std::ranges::equal(a.row(query), b.row(query));
}

Answer of(const std::vector<std::vector<bool>>& rows) {
  Answer result;
  result.rows.emplace(rows.size());
  for (std::size_t query = 0; query < rows.size(); ++query) {
    for (std::size_t key = 0; key < rows.size(); ++key) {
      if (rows[query][key]) result.rows->set(query, key);
    }
  }
  return result;
}

// The atoms of a text, a list or an applied s-op.
std::optional<value::Sequence> atoms_of(const Value& value) {
  if (const auto* atom = std::get_if<Atom>(&value.data)) {
    if (const auto* text = std::get_if<std::string>(atom)) return value::characters(*text);
    return value::Sequence{*atom};
  }
  const auto list = lang::as_list(value);
  if (!list) return std::nullopt;
  value::Sequence atoms;
  for (const Value& item : *list->items) {
    const auto* atom = std::get_if<Atom>(&item.data);
    if (atom == nullptr) return std::nullopt;
    atoms.push_back(*atom);
  }
  return atoms;
}

// One row of a selector as a literal gives it: "0101", or a list of 0, 1, True, False.
std::optional<std::vector<bool>> bits_of(const Value& row, std::size_t count) {
  const auto atoms = atoms_of(row);
  if (!atoms || atoms->size() != count) return std::nullopt;
  std::vector<bool> bits;
  for (const Atom& atom : *atoms) {
    const bool one = value::equal(atom, value::make_int(1)) || value::equal(atom, Atom("1"));
    const bool zero = value::equal(atom, value::make_int(0)) || value::equal(atom, Atom("0"));
    if (!one && !zero) return std::nullopt;
    bits.push_back(one);
  }
  return bits;
}

std::optional<Answer> rows_of(const Value& value) {
  const auto list = lang::as_list(value);
  if (!list) return std::nullopt;
  std::vector<std::vector<bool>> rows;
  for (const Value& item : *list->items) {
    auto bits = bits_of(item, list->items->size());
    if (!bits) return std::nullopt;
    rows.push_back(*std::move(bits));
  }
  return of(rows);
}

bool is_users(const Span& span, const SourceMap& sources) {
  return span.valid() && !sources.name(span.file).starts_with("stdlib/");
}

// Whether the text is one call of a function other than `select`: what the function selects inside
// stands under its call too.
bool is_call(std::string_view text) {
  const std::size_t open =
      text.find_first_not_of("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
  if (open == 0 || open == std::string_view::npos || text[open] != '(') return false;
  if (text.substr(0, open) == "select") return false;
  std::size_t depth = 0;
  bool quoted = false;
  for (std::size_t i = open; i < text.size(); ++i) {
    if (text[i] == '"') quoted = !quoted;
    if (quoted) continue;
    depth += text[i] == '(';
    depth -= text[i] == ')';
    if (depth == 0) return i + 1 == text.size();
  }
  return false;
}

using Names = std::map<graph::NodeId, std::string>;

// The user's, or all there are.
Names names_of_nodes(const lang::Session& session, bool users_alone) {
  Names names;
  for (lang::Session::Named& named : session.named_nodes()) {
    if (users_alone && !session.is_user_defined(named.name)) continue;
    names.emplace(named.node, std::move(named.name));
  }
  return names;
}

graph::NodeId last_selector(const lang::Session& session, graph::NodeId node,
                            const SourceMap& sources) {
  const Names names = names_of_nodes(session, true);
  const graph::Graph& graph = session.graph();
  if (graph.is_selector(node)) return node;
  graph::NodeId last = graph::kNoNode;
  graph::NodeId last_of_user = graph::kNoNode;
  const graph::NodeId roots[] = {node};
  for (const graph::NodeId id : graph::reachable(graph, roots)) {
    if (graph[id].kind == graph::Kind::kAggregate) last = graph[id].args[0];
    if (!graph.is_selector(id)) continue;
    const Span& span = graph[id].span;
    const bool written = is_users(span, sources) && !is_call(sources.text(span));
    if (written || names.contains(id)) last_of_user = id;
  }
  return last_of_user != graph::kNoNode ? last_of_user : last;
}

}  // namespace

std::optional<graph::NodeId> node_of(const Value& value) {
  if (const auto* sop = std::get_if<lang::SOp>(&value.data)) return sop->node;
  if (const auto* selector = std::get_if<lang::Selector>(&value.data)) return selector->node;
  return std::nullopt;
}

Result<Answer> answer(interpreter::Evaluator& evaluator, const graph::Graph& graph,
                      graph::NodeId node, std::span<const Atom> input) {
  RASP_CHECK_OK(evaluator.run(input));
  Answer result;
  if (graph.is_selector(node)) {
    RASP_TRY(result.rows, evaluator.matrix(node));
  } else {
    RASP_TRY(result.elements, evaluator.sequence(node));
  }
  return result;
}

interpreter::Options interpreter_options(const Halt& halt) {
  interpreter::Options options;
  options.memory_limit = kPuzzleMemory;
  options.interrupted = halt.interrupted;
  return options;
}

Result<Answer> answer(const graph::Graph& graph, graph::NodeId node, std::span<const Atom> input,
                      const Halt& halt) {
  interpreter::Evaluator evaluator(graph, {node}, interpreter_options(halt));
  return answer(evaluator, graph, node, input);
}

std::optional<Answer> to_answer(const Value& value, bool rows) {
  if (const auto* matrix = std::get_if<lang::AppliedMatrixRef>(&value.data)) {
    return of((*matrix)->rows);
  }
  if (rows) return rows_of(value);
  auto atoms = atoms_of(value);
  if (!atoms) return std::nullopt;
  return Answer{*std::move(atoms), std::nullopt};
}

bool agree(const Answer& expected, const Answer& got) {
  if (expected.rows.has_value() != got.rows.has_value()) return false;
  if (!expected.rows) return std::ranges::equal(expected.elements, got.elements, value::equal);
  if (expected.rows->size() != got.rows->size()) return false;
  for (std::size_t query = 0; query < got.rows->size(); ++query) {
    if (!same_row(*expected.rows, *got.rows, query)) return false;
  }
  return true;
}

void show_difference(const Answer& expected, const Answer& got, PuzzleCounterexample& into) {
  if (!expected.rows || !got.rows || expected.rows->size() != got.rows->size()) {
    into.expected = expected.elements;
    into.got = got.elements;
  } else {
    into.is_selector = true;
    while (same_row(*expected.rows, *got.rows, into.query)) ++into.query;
    into.expected = row_of(*expected.rows, into.query);
    into.got = row_of(*got.rows, into.query);
  }
  const std::size_t longer = std::max(into.expected.size(), into.got.size());
  for (std::size_t i = 0; i < longer; ++i) {
    const bool both = i < into.expected.size() && i < into.got.size();
    if (!both || !value::equal(into.expected[i], into.got[i])) into.differing.push_back(i);
  }
}

void show_expected(const Answer& expected, PuzzleCounterexample& into) {
  into.is_selector = expected.rows.has_value();
  into.expected = expected.rows ? row_of(*expected.rows, 0) : expected.elements;
}

void show_selector(const lang::Session& session, graph::NodeId node, const SourceMap& sources,
                   const Halt& halt, PuzzleCounterexample& into) {
  if (into.input.empty()) return;
  const graph::Graph& graph = session.graph();
  const graph::NodeId last = last_selector(session, node, sources);
  if (last == graph::kNoNode) return;
  const auto pattern = answer(graph, last, into.input, halt);
  if (!pattern) return;
  into.pattern = pattern->rows;
  const Span& span = graph[last].span;
  const Names names = names_of_nodes(session, false);
  const auto name = names.find(last);
  into.selector = name != names.end()       ? name->second
                  : is_users(span, sources) ? std::string(sources.text(span))
                                            : graph::expression(graph, last);
}

}  // namespace rasp::verify
