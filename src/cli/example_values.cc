#include "cli/example_values.h"

#include <algorithm>
#include <unordered_set>

namespace rasp::cli {
namespace {

constexpr std::size_t kMaxBytes = std::size_t{64} << 20;  // then everything is forgotten

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
  std::vector<graph::NodeId> needed{root};
  std::unordered_set<graph::NodeId> seen{root};
  bool found = false;
  for (std::size_t i = 0; i < needed.size(); ++i) {
    if (known_.contains(needed[i])) {
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
  const Result<graph::NodeId> position = shortcut.graph.indices({});
  if (!position) return false;
  for (const graph::NodeId id : needed) {
    const auto known = known_.find(id);
    Result<graph::NodeId> node;
    if (known != known_.end()) {
      node = shortcut.graph.lookup({value::Table::Kind::kList, {}, known->second}, *position,
                                   (*graph_)[id].span);
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

Result<value::Sequence> ExampleValues::sequence(graph::NodeId sop, const value::Sequence& input) {
  use_input(input);
  if (const auto known = known_.find(sop); known != known_.end()) return known->second;
  Shortcut shortcut;
  if (shorten(sop, shortcut)) {
    auto values = interpreter::evaluate(shortcut.graph, shortcut.root, input, options_);
    if (values) {
      remember(sop, *values);
      return values;
    }
  }
  auto values = interpreter::evaluate(*graph_, sop, input, options_);
  if (values) remember(sop, *values);
  return values;
}

Result<interpreter::Matrix> ExampleValues::matrix(graph::NodeId selector,
                                                  const value::Sequence& input) {
  use_input(input);
  Shortcut shortcut;
  if (shorten(selector, shortcut)) {
    auto rows = interpreter::evaluate_selector(shortcut.graph, shortcut.root, input, options_);
    if (rows) return rows;
  }
  return interpreter::evaluate_selector(*graph_, selector, input, options_);
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

void ExampleValues::remember(graph::NodeId sop, const value::Sequence& values) {
  if (is_leaf((*graph_)[sop].kind)) return;
  std::size_t bytes = 0;
  for (const value::Atom& atom : values) bytes += bytes_of(atom);
  if (bytes > kMaxBytes) return;
  if (bytes_ + bytes > kMaxBytes) clear();
  bytes_ += bytes;
  known_.emplace(sop, values);
}

}  // namespace rasp::cli
