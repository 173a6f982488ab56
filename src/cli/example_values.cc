#include "cli/example_values.h"

#include <algorithm>
#include <unordered_set>

namespace rasp::cli {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{64} << 20;  // then everything is forgotten
constexpr std::size_t kMaxMatrix =
    64;  // a larger selector is dearer to stand in for than to compute

bool is_leaf(graph::Kind kind) {
  return kind == graph::Kind::kTokens || kind == graph::Kind::kIndices ||
         kind == graph::Kind::kConstant;
}

std::size_t bytes_of(const value::Atom& atom) {
  std::size_t bytes = sizeof(value::Atom);
  if (const auto* number = std::get_if<value::Number>(&atom)) bytes += number->bits() / 4;
  if (const auto* text = std::get_if<std::string>(&atom)) bytes += text->size();
  return bytes;
}

// The node `id` of `from`, built again in `to`, where `args` are its arguments.
Result<graph::NodeId> rebuild(const graph::Graph& from, graph::NodeId id, graph::Graph& to,
                              const graph::NodeId (&args)[3]) {
  const graph::Node& node = from[id];
  switch (node.kind) {
    case graph::Kind::kTokens:
      return to.tokens(node.token_kind, node.span);
    case graph::Kind::kIndices:
      return to.indices(node.span);
    case graph::Kind::kConstant:
      return to.constant(from.atom(node), node.span);
    case graph::Kind::kMap:
      return to.map(node.op, std::span(args, node.arg_count), node.span);
    case graph::Kind::kChoose:
      return to.choose(args[0], args[1], args[2], node.span);
    case graph::Kind::kLookup:
      return to.lookup(from.table(node), args[0], node.span);
    case graph::Kind::kMember:
      return to.member(args[0], from.table(node), node.span);
    case graph::Kind::kAggregate:
      return to.aggregate(args[0], args[1], from.atom(node), node.span);
    case graph::Kind::kSelect:
      return to.select(args[0], args[1], node.op, node.span);
    case graph::Kind::kSelectorAnd:
      return to.selector_and(args[0], args[1], node.span);
    case graph::Kind::kSelectorOr:
      return to.selector_or(args[0], args[1], node.span);
    case graph::Kind::kSelectorNot:
      return to.selector_not(args[0], node.span);
  }
  return fail(ErrorKind::kValue, node.span, "unknown node");
}

}  // namespace

bool ExampleValues::shorten(graph::NodeId root, Shortcut& shortcut) const {
  const auto usable = [this](graph::NodeId id) {
    const auto known = known_.find(id);
    return known != known_.end() && !known->second.problem;
  };
  std::vector<graph::NodeId> needed{root};
  std::unordered_set<graph::NodeId> seen{root};
  bool found = false;
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (usable(needed[i])) {
      found = true;
      continue;
    }
    for (const graph::NodeId argument : (*graph_)[needed[i]].arguments()) {
      if (seen.insert(argument).second) needed.push_back(argument);
    }
  }
  if (!found) return false;
  std::sort(needed.begin(), needed.end());

  std::unordered_map<graph::NodeId, graph::NodeId> built;
  for (const graph::NodeId id : needed) {
    Result<graph::NodeId> node;
    if (usable(id)) {
      node = stand_in(id, shortcut);
    } else {
      graph::NodeId args[3] = {graph::kNoNode, graph::kNoNode, graph::kNoNode};
      const auto arguments = (*graph_)[id].arguments();
      for (std::size_t i = 0; i < arguments.size(); ++i) args[i] = built.at(arguments[i]);
      node = rebuild(*graph_, id, shortcut.graph, args);
    }
    if (!node) return false;  // what these values make wrong is told better by the whole program
    built.emplace(id, *node);
  }
  shortcut.root = built.at(root);
  return true;
}

Result<graph::NodeId> ExampleValues::stand_in(graph::NodeId id, Shortcut& shortcut) const {
  const Known& known = known_.at(id);
  graph::Graph& graph = shortcut.graph;
  RASP_TRY(const graph::NodeId position, graph.indices({}));
  if (!graph_->is_selector(id)) {
    return graph.lookup({value::Table::Kind::kList, {}, known.values}, position, {});
  }
  // The union of its columns: key j, and the queries that select it.
  RASP_TRY(const graph::NodeId yes, graph.constant(true, {}));
  RASP_TRY(const graph::NodeId nowhere, graph.constant(value::make_int(-1), {}));
  RASP_TRY(graph::NodeId all, graph.select(position, nowhere, value::Op::kEq, {}));
  for (std::size_t key = 0; key < known.matrix.size(); ++key) {
    value::Table queries;
    for (std::size_t query = 0; query < known.matrix.size(); ++query) {
      queries.values.emplace_back(known.matrix.at(query, key));
    }
    RASP_TRY(const graph::NodeId number,
             graph.constant(value::make_int(static_cast<std::int64_t>(key)), {}));
    RASP_TRY(const graph::NodeId chosen, graph.lookup(std::move(queries), position, {}));
    RASP_TRY(const graph::NodeId column, graph.select(position, number, value::Op::kEq, {}));
    RASP_TRY(const graph::NodeId rows, graph.select(yes, chosen, value::Op::kEq, {}));
    RASP_TRY(const graph::NodeId part, graph.selector_and(column, rows, {}));
    RASP_TRY(all, graph.selector_or(all, part, {}));
  }
  return all;
}

// A map of something undefined at position 0 is undefined there, for the same reason.
const Diagnostic* ExampleValues::inherited_problem(graph::NodeId sop) const {
  const graph::Node& node = (*graph_)[sop];
  if (node.kind != graph::Kind::kMap) return nullptr;
  const Diagnostic* problem = nullptr;
  for (const graph::NodeId argument : node.arguments()) {
    const auto known = known_.find(argument);
    const bool undefined = known != known_.end() && known->second.problem;
    if (!undefined && known == known_.end() && !is_leaf((*graph_)[argument].kind)) return nullptr;
    if (undefined && problem != nullptr && argument != node.args[0]) return nullptr;
    if (undefined) problem = &*known->second.problem;
  }
  return problem;
}

Result<value::Sequence> ExampleValues::compute(graph::NodeId sop) {
  interpreter::Evaluator evaluator(*graph_, {sop}, options_);
  RASP_CHECK_OK(evaluator.run(input_));
  auto values = evaluator.sequence(sop);
  if (!values && !evaluator.elements(sop).front()) {
    remember(sop, {.values = {}, .matrix = {}, .problem = values.error()}, sizeof(Known));
  }
  return values;
}

Result<value::Sequence> ExampleValues::sequence(graph::NodeId sop, const value::Sequence& input) {
  use_input(input);
  if (const auto known = known_.find(sop); known != known_.end()) {
    if (known->second.problem) return fail(*known->second.problem);
    return known->second.values;
  }
  if (const Diagnostic* problem = inherited_problem(sop)) {
    Diagnostic copy = *problem;
    remember(sop, {.values = {}, .matrix = {}, .problem = copy}, sizeof(Known));
    return fail(std::move(copy));
  }
  Result<value::Sequence> values = fail(ErrorKind::kValue, {}, "");
  if (Shortcut shortcut; shorten(sop, shortcut)) {
    values = interpreter::evaluate(shortcut.graph, shortcut.root, input, options_);
  }
  if (!values) values = compute(sop);
  if (values) {
    std::size_t bytes = sizeof(Known);
    for (const value::Atom& atom : *values) bytes += bytes_of(atom);
    remember(sop, {.values = *values, .matrix = {}, .problem = std::nullopt}, bytes);
  }
  return values;
}

Result<interpreter::Matrix> ExampleValues::matrix(graph::NodeId selector,
                                                  const value::Sequence& input) {
  use_input(input);
  if (const auto known = known_.find(selector); known != known_.end()) return known->second.matrix;
  Result<interpreter::Matrix> rows = fail(ErrorKind::kValue, {}, "");
  if (Shortcut shortcut; shorten(selector, shortcut)) {
    rows = interpreter::evaluate_selector(shortcut.graph, shortcut.root, input, options_);
  }
  if (!rows) rows = interpreter::evaluate_selector(*graph_, selector, input, options_);
  if (rows && rows->size() <= kMaxMatrix) {
    remember(selector, {.values = {}, .matrix = *rows, .problem = std::nullopt},
             sizeof(Known) + rows->size() * sizeof(std::uint64_t));
  }
  return rows;
}

void ExampleValues::clear() {
  known_.clear();
  bytes_ = 0;
}

void ExampleValues::use_input(const value::Sequence& input) {
  if (input.size() == input_.size() &&
      std::equal(input.begin(), input.end(), input_.begin(), value::identical)) {
    return;
  }
  clear();
  input_ = input;
}

void ExampleValues::remember(graph::NodeId node, Known known, std::size_t bytes) {
  const bool leaf = is_leaf((*graph_)[node].kind) && !known.problem;
  if (leaf || bytes > kMaxBytes) return;
  if (bytes_ + bytes > kMaxBytes) clear();
  bytes_ += bytes;
  known_.emplace(node, std::move(known));
}

}  // namespace rasp::cli
