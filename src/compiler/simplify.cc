#include "compiler/simplify.h"

#include "compiler/unique.h"

namespace rasp::compiler {

using graph::Graph;
using graph::Kind;
using graph::Node;
using graph::NodeId;
using value::Atom;
using value::Op;

namespace {

std::uint8_t relation_of(Op op) {
  switch (op) {
    case Op::kEq:
      return kEqual;
    case Op::kNe:
      return kLess | kGreater;
    case Op::kLt:
      return kLess;
    case Op::kGt:
      return kGreater;
    case Op::kLe:
      return kLess | kEqual;
    default:
      return kGreater | kEqual;
  }
}

IrId translate(const Graph& graph, const Node& node, const std::vector<IrId>& done, Ir& ir) {
  std::vector<IrId> args;
  for (const NodeId arg : node.arguments()) args.push_back(done[arg]);
  IrNode made;
  switch (node.kind) {
    case Kind::kTokens:
      made.kind = IrKind::kRead;
      made.token_kind = node.token_kind;
      made.args = {make_leaf(ir, IrKind::kToken)};
      return make_elementwise(ir, std::move(made));
    case Kind::kIndices:
      return make_leaf(ir, IrKind::kPosition);
    case Kind::kConstant:
      return make_const(ir, graph.atom(node));
    case Kind::kMap:
      return make_map(ir, node.op, args);
    case Kind::kChoose:
      return make_choose(ir, args[0], args[1], args[2]);
    case Kind::kLookup:
    case Kind::kMember:
      made.kind = node.kind == Kind::kLookup ? IrKind::kLookup : IrKind::kMember;
      made.table = graph.table(node);
      made.args = args;
      return make_elementwise(ir, std::move(made));
    case Kind::kAggregate:
      return make_mean(ir, args[0], args[1], graph.atom(node));
    case Kind::kSelect:
      return make_select(ir, args[0], args[1], relation_of(node.op));
    case Kind::kSelectorAnd:
      return make_and(ir, args[0], args[1]);
    case Kind::kSelectorOr:
      return make_or(ir, args[0], args[1]);
    case Kind::kSelectorNot:
      return make_not(ir, args[0]);
  }
  return kNoIr;
}

// What the root needs, arguments first, in an order that the program's structure alone decides: not
// the order in which a session happened to make the nodes.
std::vector<NodeId> structural_order(const Graph& graph, NodeId root) {
  struct Visit {
    NodeId node;
    std::size_t next_argument;
  };
  std::vector<bool> seen(std::size_t{root} + 1, false);
  std::vector<NodeId> order;
  std::vector<Visit> open{{root, 0}};
  seen[root] = true;
  while (!open.empty()) {
    Visit& visit = open.back();
    const auto arguments = graph[visit.node].arguments();
    if (visit.next_argument == arguments.size()) {
      order.push_back(visit.node);
      open.pop_back();
      continue;
    }
    const NodeId argument = arguments[visit.next_argument++];
    if (seen[argument]) continue;
    seen[argument] = true;
    open.push_back({argument, 0});
  }
  return order;
}

// Whether the number a node gives is a float, as an s-op of bools. Needed because `aggregate` gives
// an int where it selects one int and a float where it takes the mean of several.
class FloatTest {
 public:
  FloatTest(const Graph& graph, const std::vector<IrId>& values,
            const std::vector<Atom>& vocabulary, Ir& ir)
      : graph_(graph),
        values_(values),
        vocabulary_(vocabulary),
        ir_(ir),
        tests_(values.size(), kNoIr) {}

  IrId of(NodeId root) {
    for (const NodeId id : structural_order(graph_, root)) {
      ir_.set_origin(id);
      const Node& node = graph_[id];
      if (!graph::is_selector(node.kind)) tests_[id] = test(node);
    }
    return tests_[root];
  }

 private:
  static bool is_float(const Atom& atom) { return value::type_of(atom) == value::Type::kFloat; }
  IrId constant(bool value) { return make_const(ir_, value); }
  IrId either(IrId a, IrId b) { return make_choose(ir_, a, constant(true), b); }
  IrId test(const Node& node);
  IrId test_map(const Node& node);
  IrId test_aggregate(const Node& node);
  IrId test_lookup(const Node& node);

  const Graph& graph_;
  const std::vector<IrId>& values_;
  const std::vector<Atom>& vocabulary_;
  Ir& ir_;
  std::vector<IrId> tests_;
};

IrId FloatTest::test(const Node& node) {
  constexpr auto kFloat = static_cast<value::TypeSet>(value::Type::kFloat);
  if ((node.types & kFloat) == 0) return constant(false);
  if ((node.types & value::kNumericTypes) == kFloat) return constant(true);
  switch (node.kind) {
    case Kind::kTokens: {  // `tokens_asis`, where the vocabulary has floats
      IrNode made;
      made.kind = IrKind::kClass;
      made.args = {make_leaf(ir_, IrKind::kToken)};
      for (const Atom& token : vocabulary_) {
        made.classes.emplace(std::vector<Atom>{token}, is_float(token));
      }
      return make_elementwise(ir_, std::move(made));
    }
    case Kind::kConstant:
      return constant(is_float(graph_.atom(node)));
    case Kind::kMap:
      return test_map(node);
    case Kind::kChoose:
      return make_choose(ir_, values_[node.args[0]], tests_[node.args[1]], tests_[node.args[2]]);
    case Kind::kLookup:
      return test_lookup(node);
    case Kind::kAggregate:
      return test_aggregate(node);
    default:
      return constant(false);
  }
}

IrId FloatTest::test_map(const Node& node) {
  switch (node.op) {
    case Op::kDiv:
      return constant(true);
    case Op::kPow: {
      const IrId zero = make_const(ir_, value::make_int(0));
      const IrId negative = make_map(ir_, Op::kLt, {values_[node.args[1]], zero});
      return either(either(tests_[node.args[0]], tests_[node.args[1]]), negative);
    }
    case Op::kNeg:
    case Op::kPos:
      return tests_[node.args[0]];
    case Op::kAdd:
    case Op::kSub:
    case Op::kMul:
    case Op::kMod:
      return either(tests_[node.args[0]], tests_[node.args[1]]);
    default:
      return constant(false);
  }
}

IrId FloatTest::test_lookup(const Node& node) {
  IrNode made;
  made.kind = IrKind::kLookup;
  made.table = graph_.table(node);
  for (Atom& entry : made.table.values) entry = is_float(entry);
  made.args = {values_[node.args[0]]};
  return make_elementwise(ir_, std::move(made));
}

IrId FloatTest::test_aggregate(const Node& node) {
  const IrId selector = values_[node.args[0]];
  const IrId width = make_width(ir_, selector);
  const IrId one = make_const(ir_, value::make_int(1));
  const IrId several =
      selects_at_most_one(ir_, selector) ? constant(false) : make_map(ir_, Op::kGt, {width, one});
  const IrId of_value = tests_[node.args[1]];
  const IrId selected_float =
      make_exists(ir_, make_and(ir_, selector, make_select(ir_, of_value, constant(true), kEqual)));
  const IrId some = make_exists(ir_, selector);
  const IrId otherwise = constant(is_float(graph_.atom(node)));
  return make_choose(ir_, several, constant(true),
                     make_choose(ir_, some, selected_float, otherwise));
}

}  // namespace

Simplified simplify(const Graph& graph, NodeId root, bool causal, std::uint32_t max_length,
                    const std::vector<Atom>& vocabulary) {
  Simplified result{Ir(causal, max_length), kNoIr, kNoIr,
                    std::vector<IrId>(std::size_t{root} + 1, kNoIr)};
  for (const NodeId id : structural_order(graph, root)) {
    result.ir.set_origin(id);
    result.of_node[id] = translate(graph, graph[id], result.of_node, result.ir);
  }
  result.root = result.of_node[root];
  if (!graph.is_selector(root)) {
    result.root_is_float = FloatTest(graph, result.of_node, vocabulary, result.ir).of(root);
  }
  return result;
}

}  // namespace rasp::compiler
