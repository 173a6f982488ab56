#include "interpreter/plan.h"

#include <algorithm>
#include <bit>

namespace rasp::interpreter {
namespace {

using graph::Kind;
using graph::Node;
using graph::NodeId;
using value::Type;

// More of them than this share slots like all others: kept results should stay small.
constexpr std::size_t kMaxFixedSteps = 256;
constexpr std::uint32_t kNeverLast = 0xFFFFFFFFu;

bool is_given(Kind kind) { return kind == Kind::kConstant || kind == Kind::kIndices; }

// Strings do not mix with anything else.
bool may_mix(value::TypeSet types) {
  return contains(types, Type::kString) && types != value::bit(Type::kString);
}

class Planner {
 public:
  Planner(const graph::Graph& graph, std::span<const NodeId> roots)
      : graph_(graph), roots_(roots), order_(graph::reachable(graph, roots)) {
    for (std::uint32_t i = 0; i < order_.size(); ++i) place_.emplace(order_[i], i);
    slots_.resize(order_.size());
    last_use_.resize(order_.size());
  }

  Plan make() {
    sort_steps();
    find_last_uses();
    for (NodeId id : order_) {
      if (is_given(graph_[id].kind)) give(id);
    }
    for (std::uint32_t s = 0; s < plan_.steps.size(); ++s) assign(s);
    for (NodeId root : roots_) plan_.roots.emplace(root, slots_[place_.at(root)]);
    return std::move(plan_);
  }

 private:
  void sort_steps() {
    std::vector<bool> fixed(order_.size());
    std::size_t count = 0;
    for (std::size_t i = 0; i < order_.size(); ++i) {
      const Node& node = graph_[order_[i]];
      fixed[i] =
          node.kind != Kind::kTokens &&
          std::ranges::all_of(node.arguments(), [&](NodeId arg) { return fixed[place_.at(arg)]; });
      count += fixed[i] && !is_given(node.kind) ? 1 : 0;
    }
    if (count > kMaxFixedSteps) fixed.assign(order_.size(), false);
    for (const bool now : {true, false}) {
      for (std::size_t i = 0; i < order_.size(); ++i) {
        if (fixed[i] == now && !is_given(graph_[order_[i]].kind)) add_step(order_[i]);
      }
      if (now) plan_.fixed_steps = plan_.steps.size();
    }
  }

  void add_step(NodeId id) {
    const Node& node = graph_[id];
    Step step;
    step.node = id;
    step.kind = node.kind;
    step.op = node.op;
    step.token_kind = node.token_kind;
    step.may_mix = may_mix(node.types);
    step.may_compact = (node.types & (Type::kBool | Type::kInt)) != 0;
    plan_.steps.push_back(step);
  }

  void find_last_uses() {
    for (std::uint32_t s = 0; s < plan_.steps.size(); ++s) {
      for (NodeId arg : graph_[plan_.steps[s].node].arguments()) last_use_[place_.at(arg)] = s;
    }
    for (NodeId root : roots_) last_use_[place_.at(root)] = kNeverLast;
  }

  void give(NodeId id) {
    const std::uint32_t column = plan_.columns++;
    slots_[place_.at(id)] = {column, false, true};
    if (graph_[id].kind == Kind::kIndices) {
      plan_.indices = column;
    } else {
      plan_.constants.emplace_back(id, column);
    }
  }

  void assign(std::uint32_t s) {
    Step& step = plan_.steps[s];
    const Node& node = graph_[step.node];
    for (std::size_t i = 0; i < node.arg_count; ++i) {
      step.args[i] = slots_[place_.at(node.args[i])].index;
    }
    const Slot out = take(graph::is_selector(step.kind), s < plan_.fixed_steps);
    slots_[place_.at(step.node)] = out;
    step.out = out.index;
    step.release_begin = static_cast<std::uint32_t>(plan_.released.size());
    for (std::size_t i = 0; i < node.arg_count; ++i) {
      const auto* repeated = std::find(node.args, node.args + i, node.args[i]);
      if (repeated == node.args + i) release(node.args[i], s);
    }
    step.release_end = static_cast<std::uint32_t>(plan_.released.size());
  }

  Slot take(bool is_rows, bool is_fixed) {
    std::vector<std::uint32_t>& free = is_rows ? free_rows_ : free_columns_;
    std::uint32_t& count = is_rows ? plan_.row_blocks : plan_.columns;
    if (is_fixed || free.empty()) return {count++, is_rows, is_fixed};
    const std::uint32_t index = free.back();
    free.pop_back();
    return {index, is_rows, false};
  }

  void release(NodeId id, std::uint32_t s) {
    if (last_use_[place_.at(id)] != s || is_given(graph_[id].kind)) return;
    const Slot slot = slots_[place_.at(id)];
    plan_.released.push_back(slot);
    if (!slot.is_fixed) (slot.is_rows ? free_rows_ : free_columns_).push_back(slot.index);
  }

  const graph::Graph& graph_;
  std::span<const NodeId> roots_;
  std::vector<NodeId> order_;
  std::unordered_map<NodeId, std::uint32_t> place_;  // in order_
  std::vector<Slot> slots_;                          // by place
  std::vector<std::uint32_t> last_use_;              // by place: a step
  std::vector<std::uint32_t> free_columns_;
  std::vector<std::uint32_t> free_rows_;
  Plan plan_;
};

}  // namespace

Plan make_plan(const graph::Graph& graph, std::span<const NodeId> roots) {
  return Planner(graph, roots).make();
}

}  // namespace rasp::interpreter
