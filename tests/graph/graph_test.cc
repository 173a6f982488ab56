#include "graph/graph.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <map>

#include "../support/random_graph.h"

namespace rasp::graph {

// The door through which tests break graphs.
struct GraphAccess {
  static Node& node(Graph& graph, NodeId id) { return graph.nodes_[id]; }
  static void append(Graph& graph, const Node& node) { graph.nodes_.push_back(node); }
  static void append_atom(Graph& graph, value::Atom atom) {
    graph.atoms_.push_back(std::move(atom));
  }
};

namespace {

using test::RandomGraph;
using value::Atom;
using value::make_int;
using value::Number;
using value::Op;
using value::TokenKind;
using value::Type;

// Node constructors that must succeed.
struct Maker {
  Graph graph;

  NodeId tokens() { return graph.tokens(TokenKind::kString, {}).value(); }
  NodeId ints() { return graph.tokens(TokenKind::kInt, {}).value(); }
  NodeId indices() { return graph.indices({}).value(); }
  NodeId constant(Atom atom) { return graph.constant(std::move(atom), {}).value(); }
  NodeId map(Op op, NodeId a) { return graph.map(op, std::array{a}, {}).value(); }
  NodeId map(Op op, NodeId a, NodeId b) { return graph.map(op, std::array{a, b}, {}).value(); }
  NodeId select(NodeId key, NodeId query, Op op) {
    return graph.select(key, query, op, {}).value();
  }
  NodeId mean(NodeId selector, NodeId value) {
    return graph.aggregate(selector, value, make_int(0), {}).value();
  }
};

value::Table list(std::initializer_list<Atom> values) {
  return {value::Table::Kind::kList, {}, values};
}

// The nodes that `root` needs, made anew in another graph and in another order.
NodeId rebuild(const Graph& from, NodeId root, Graph& to, std::map<NodeId, NodeId>& made) {
  if (const auto found = made.find(root); found != made.end()) return found->second;
  const Node& node = from[root];
  std::array<NodeId, 3> args{};
  for (std::size_t i = node.arg_count; i-- > 0;) args[i] = rebuild(from, node.args[i], to, made);
  const auto make = [&]() -> Result<NodeId> {
    switch (node.kind) {
      case Kind::kTokens:
        return to.tokens(node.token_kind, {});
      case Kind::kIndices:
        return to.indices({});
      case Kind::kConstant:
        return to.constant(from.atom(node), {});
      case Kind::kMap:
        return to.map(node.op, std::span(args.data(), node.arg_count), {});
      case Kind::kChoose:
        return to.choose(args[0], args[1], args[2], {});
      case Kind::kLookup:
        return to.lookup(from.table(node), args[0], {});
      case Kind::kMember:
        return to.member(args[0], from.table(node), {});
      case Kind::kAggregate:
        return to.aggregate(args[0], args[1], from.atom(node), {});
      case Kind::kSelect:
        return to.select(args[0], args[1], node.op, {});
      case Kind::kSelectorAnd:
        return to.selector_and(args[0], args[1], {});
      case Kind::kSelectorOr:
        return to.selector_or(args[0], args[1], {});
      default:
        return to.selector_not(args[0], {});
    }
  };
  return made[root] = make().value();
}

NodeId random_root(RandomGraph& random, std::uint64_t seed) {
  return seed % 4 == 0 ? random.selector(5) : random.sop(5);
}

TEST(Graph, RandomGraphsKeepTheirInvariants) {
  for (std::uint64_t seed = 0; seed < 500; ++seed) {
    RandomGraph random(seed);
    random_root(random, seed);
    ASSERT_EQ(verify(random.graph()), "") << seed;
  }
}

TEST(Graph, EqualExpressionsAreOneNode) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    RandomGraph random(seed);
    const NodeId root = random_root(random, seed);
    const std::size_t size = random.graph().size();
    std::map<NodeId, NodeId> made;
    ASSERT_EQ(rebuild(random.graph(), root, random.graph(), made), root);
    ASSERT_EQ(random.graph().size(), size);
  }
}

TEST(Graph, ValuesOfSeveralTypesAreSeveralConstants) {
  Maker m;
  const std::array nodes = {m.constant(make_int(1)), m.constant(true),
                            m.constant(Number::rational(1, 1)), m.constant(std::string("1")),
                            m.constant(Number::inexact(1))};
  for (std::size_t a = 0; a < nodes.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) EXPECT_NE(nodes[a], nodes[b]) << a << b;
  }
  EXPECT_EQ(m.constant(make_int(1)), nodes[0]);
}

TEST(Graph, PrintDependsOnStructureAlone) {
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    RandomGraph random(seed);
    const NodeId root = random_root(random, seed);
    RandomGraph other(seed + 1000);  // a graph with other nodes in it already
    other.sop(3);
    std::map<NodeId, NodeId> made;
    const NodeId copy = rebuild(random.graph(), root, other.graph(), made);
    ASSERT_EQ(print(random.graph(), std::array{root}), print(other.graph(), std::array{copy}));
    ASSERT_EQ(verify(other.graph()), "");
  }
}

TEST(Graph, PrintsOneLineANode) {
  Maker m;
  const NodeId selector = m.select(m.indices(), m.tokens() /* any */, Op::kEq);
  const NodeId both =
      m.graph.selector_and(selector, m.graph.selector_not(selector, {}).value(), {}).value();
  const NodeId mean = m.graph.aggregate(both, m.indices(), Atom("-"), {}).value();
  const NodeId root = m.graph.choose(m.map(Op::kLt, m.indices(), m.ints()), mean, mean, {}).value();
  const NodeId entry = m.graph.lookup(list({make_int(1), Atom("a")}), m.indices(), {}).value();
  EXPECT_EQ(print(m.graph, std::array{root, entry}),
            "%0 = indices\n"
            "%1 = tokens_int\n"
            "%2 = %0 < %1\n"
            "%3 = tokens_str\n"
            "%4 = select(%0, %3, ==)\n"
            "%5 = not %4\n"
            "%6 = %4 and %5\n"
            "%7 = aggregate(%6, %0, \"-\")\n"
            "%8 = %7 if %2 else %7\n"
            "%9 = [1, \"a\"][%0]\n");
}

TEST(Graph, ReachableIsAnEvaluationOrder) {
  for (std::uint64_t seed = 0; seed < 100; ++seed) {
    RandomGraph random(seed);
    const std::array roots = {random.sop(4), random.selector(4), random.sop(2)};
    const std::vector<NodeId> order = reachable(random.graph(), roots);
    ASSERT_TRUE(std::ranges::is_sorted(order));
    ASSERT_EQ(std::ranges::adjacent_find(order), order.end());
    const auto has = [&](NodeId id) { return std::ranges::binary_search(order, id); };
    std::vector<bool> used(random.graph().size());
    for (NodeId root : roots) used[root] = true;
    for (NodeId id : order) {
      for (NodeId arg : random.graph()[id].arguments()) {
        ASSERT_TRUE(has(arg));
        used[arg] = true;
      }
    }
    for (NodeId id : order) ASSERT_TRUE(used[id]);
  }
  EXPECT_TRUE(reachable(Graph(), {}).empty());
}

TEST(Graph, DepthCountsLayersAndHeads) {
  Maker m;
  const NodeId all = m.select(m.constant(make_int(1)), m.constant(make_int(1)), Op::kEq);
  const NodeId same = m.select(m.tokens(), m.tokens(), Op::kEq);
  EXPECT_EQ(depth(m.graph, m.indices()).layers, 0u);
  const NodeId a = m.mean(all, m.indices());
  const NodeId b = m.mean(same, m.indices());
  const NodeId c = m.mean(all, m.ints());  // shares the head of a
  const NodeId sum = m.map(Op::kAdd, m.map(Op::kAdd, a, b), c);
  const Depth one = depth(m.graph, sum);
  EXPECT_EQ(one.layers, 1u);
  EXPECT_EQ(one.heads, std::vector<std::size_t>{2});
  const NodeId ranked = m.select(m.indices(), sum, Op::kLt);
  const Depth two = depth(m.graph, m.map(Op::kMul, m.mean(ranked, sum), a));
  EXPECT_EQ(two.layers, 2u);
  EXPECT_EQ(two.heads, (std::vector<std::size_t>{2, 1}));
  EXPECT_EQ(depth(m.graph, ranked).layers, 1u);
}

// ---- sizes ----

TEST(Graph, TenThousandDoublingsStayLinear) {
  Maker m;
  NodeId x = m.indices();
  for (int i = 0; i < 10000; ++i) x = m.map(Op::kAdd, x, x);
  EXPECT_EQ(m.graph.size(), 10001u);
  EXPECT_EQ(verify(m.graph), "");
  const std::string text = print(m.graph, std::array{x});
  EXPECT_EQ(std::ranges::count(text, '\n'), 10001);
  EXPECT_TRUE(text.ends_with("%10000 = %9999 + %9999\n"));
  EXPECT_EQ(expression(m.graph, x, 30), "… + … + (… + …) + (… + … + …)");
  EXPECT_EQ(depth(m.graph, x).layers, 0u);
}

TEST(Graph, DeepChainsTakeNoStack) {
  Maker m;
  const NodeId one = m.constant(make_int(1));
  NodeId left = m.ints();
  NodeId right = m.ints();
  NodeId selector = m.select(m.ints(), m.ints(), Op::kEq);
  NodeId mean = m.ints();
  for (int i = 0; i < 100000; ++i) {
    left = m.map(Op::kAdd, left, one);
    right = m.map(Op::kSub, one, right);
    selector = m.graph.selector_not(selector, {}).value();
    mean = m.mean(selector, mean);
  }
  const std::array roots = {left, right, selector, mean};
  EXPECT_EQ(reachable(m.graph, roots).size(), m.graph.size());
  EXPECT_EQ(verify(m.graph), "");
  EXPECT_GT(print(m.graph, roots).size(), m.graph.size());
  EXPECT_EQ(depth(m.graph, mean).layers, 100000u);
  for (NodeId root : roots) EXPECT_LE(expression(m.graph, root, 5000).size(), 5100u);
}

TEST(Graph, NodesAreLimited) {
  Maker m;
  NodeId x = m.ints();
  Result<NodeId> last = x;
  while (last) {
    x = *last;
    last = m.graph.map(Op::kNeg, std::array{x}, Span{1, 2, 3});
  }
  EXPECT_EQ(m.graph.size(), kMaxNodes);
  EXPECT_EQ(last.error().kind, ErrorKind::kLimit);
  EXPECT_EQ(last.error().span, (Span{1, 2, 3}));
  EXPECT_TRUE(m.graph.tokens(TokenKind::kInt, {}).has_value());  // what is there stays usable
}

// ---- folding ----

TEST(Graph, ConstantsFold) {
  Maker m;
  const NodeId two = m.constant(make_int(2));
  const NodeId three = m.constant(make_int(3));
  EXPECT_EQ(m.map(Op::kAdd, two, three), m.constant(make_int(5)));
  EXPECT_EQ(m.map(Op::kDiv, two, three), m.constant(Number::rational(2, 3)));
  EXPECT_EQ(m.map(Op::kNot, two), m.constant(false));
  EXPECT_EQ(m.graph.lookup(list({Atom("a"), Atom("b"), Atom("c")}), two, {}).value(),
            m.constant(std::string("c")));
  EXPECT_EQ(m.graph.member(two, list({make_int(3)}), {}).value(), m.constant(false));
  EXPECT_EQ(m.graph.choose(two, m.indices(), m.tokens(), {}).value(), m.indices());
  EXPECT_EQ(m.graph.choose(m.constant(std::string()), m.indices(), m.tokens(), {}).value(),
            m.tokens());
  const auto failing =
      m.graph.map(Op::kPow, std::array{two, m.constant(make_int(10'000'000))}, Span{0, 1, 2});
  ASSERT_FALSE(failing.has_value());
  EXPECT_EQ(failing.error().kind, ErrorKind::kLimit);
  EXPECT_EQ(failing.error().span, (Span{0, 1, 2}));
}

// ---- types ----

TEST(Graph, TypesFollowTheArguments) {
  Maker m;
  const auto types = [&](NodeId id) { return m.graph[id].types; };
  const NodeId same = m.select(m.tokens(), m.tokens(), Op::kEq);
  const NodeId flags = m.map(Op::kEq, m.tokens(), m.tokens());
  EXPECT_EQ(types(same), 0);
  EXPECT_EQ(types(m.mean(same, m.indices())), Type::kInt | Type::kFloat);
  EXPECT_EQ(types(m.mean(same, m.tokens())), Type::kString | Type::kInt);
  EXPECT_EQ(types(m.graph.aggregate(same, flags, Atom(false), {}).value()),
            value::bit(Type::kBool));
  EXPECT_EQ(types(m.graph.aggregate(same, m.tokens(), Atom("-"), {}).value()),
            value::bit(Type::kString));
  EXPECT_EQ(types(m.graph.choose(flags, m.tokens(), m.indices(), {}).value()),
            Type::kString | Type::kInt);
  EXPECT_EQ(types(m.graph.lookup(list({Atom(true), Atom("a")}), m.indices(), {}).value()),
            Type::kBool | Type::kString);
  EXPECT_EQ(types(m.graph.tokens(TokenKind::kAsIs, {}).value()), value::kAnyType);
}

// ---- what the builders refuse ----

struct Refusal {
  Result<NodeId> made;
  ErrorKind kind;
  std::string message;
  std::string hint;
};

TEST(Graph, BuildersRefuseWhatNoInputMakesRight) {
  Maker m;
  Graph& g = m.graph;
  const Span span{2, 5, 7};
  const NodeId text = m.tokens();
  const NodeId one = m.constant(make_int(1));
  const NodeId half = m.constant(Number::rational(1, 2));
  const NodeId zero = m.constant(make_int(0));
  const NodeId no = m.constant(false);
  const std::string to_numbers = "use tokens_int (or tokens_float) to read the tokens as numbers";
  value::Table dict{value::Table::Kind::kDict, {make_int(1)}, {make_int(5)}};
  const std::vector<Refusal> refusals = {
      {g.map(Op::kSub, std::array{text, one}, span), ErrorKind::kType,
       "'-' expects two numbers, found string and int", to_numbers},
      {g.map(Op::kAdd, std::array{one, text}, span), ErrorKind::kType,
       "'+' expects two numbers or two strings, found int and string",
       "use tokens_int to read the tokens as numbers, or put the number in quotes to join texts"},
      {g.map(Op::kMul, std::array{text, half}, span), ErrorKind::kType,
       "'*' expects two numbers, or a string and an int, found string and float", to_numbers},
      {g.map(Op::kNeg, std::array{text}, span), ErrorKind::kType,
       "'-' expects a number, found string", to_numbers},
      {g.map(Op::kRound, std::array{m.map(Op::kAdd, text, text)}, span), ErrorKind::kType,
       "'round' expects a number, found string", ""},
      {g.map(Op::kIndicator, std::array{m.indices()}, span), ErrorKind::kType,
       "'indicator' expects a bool, found int",
       "give it a condition, such as indicator(indices == 0)"},
      {g.map(Op::kLt, std::array{text, one}, span), ErrorKind::kType,
       "'<' expects two numbers or two strings, found string and int", to_numbers},
      {g.map(Op::kDiv, std::array{m.indices(), zero}, span), ErrorKind::kArithmetic,
       "'/' expects a divisor other than zero, found the constant 0", ""},
      {g.map(Op::kMod, std::array{m.indices(), no}, span), ErrorKind::kArithmetic,
       "'%' expects a divisor other than zero, found the constant 0", ""},
      {g.map(Op::kDiv, std::array{one, zero}, span), ErrorKind::kArithmetic,
       "division of the int 1 by zero", ""},
      {g.select(text, m.indices(), Op::kGe, span), ErrorKind::kType,
       "select with '>=' expects two numbers or two strings, found string (key) and int (query)",
       to_numbers},
      {g.lookup(list({make_int(1)}), text, span), ErrorKind::kType,
       "a list or string is indexed by an int, found string",
       "use tokens_int to read the tokens as numbers"},
      {g.lookup(list({}), m.indices(), span), ErrorKind::kValue,
       "indexing expects a table with entries, found an empty one", ""},
      {g.lookup(dict, text, span), ErrorKind::kType,
       "the keys of this dict are int, its index is string", ""},
  };
  const std::size_t size = g.size();
  for (const Refusal& refusal : refusals) {
    ASSERT_FALSE(refusal.made.has_value()) << refusal.message;
    EXPECT_EQ(refusal.made.error().kind, refusal.kind);
    EXPECT_EQ(refusal.made.error().message, refusal.message);
    EXPECT_EQ(refusal.made.error().hint, refusal.hint);
    EXPECT_EQ(refusal.made.error().span, span);
  }
  EXPECT_EQ(g.size(), size);
  // Equality never fails, whatever the types.
  EXPECT_TRUE(g.select(text, m.indices(), Op::kEq, {}).has_value());
  EXPECT_TRUE(g.map(Op::kNe, std::array{text, one}, {}).has_value());
}

// ---- verify ----

TEST(Graph, VerifyFindsWhatIsBroken) {
  struct Breakage {
    std::string complaint;
    void (*harm)(Graph& graph);
  };
  // 0 tokens_int, 1 indices, 2 an int, 3 map, 4 select, 5 aggregate
  const std::vector<Breakage> breakages = {
      {"argument 1 does not come before it", [](Graph& g) { GraphAccess::node(g, 3).args[1] = 3; }},
      {"argument 0 does not come before it",
       [](Graph& g) { GraphAccess::node(g, 3).args[0] = kNoNode; }},
      {"argument 1 is of the wrong sort", [](Graph& g) { GraphAccess::node(g, 5).args[1] = 4; }},
      {"argument 0 is of the wrong sort", [](Graph& g) { GraphAccess::node(g, 5).args[0] = 3; }},
      {"wrong number of arguments", [](Graph& g) { GraphAccess::node(g, 3).arg_count = 1; }},
      {"argument 2 should be empty", [](Graph& g) { GraphAccess::node(g, 3).args[2] = 0; }},
      {"types other than", [](Graph& g) { GraphAccess::node(g, 3).types = 8; }},
      {"can have no value", [](Graph& g) { GraphAccess::node(g, 3).types = 0; }},
      {"a selector with element types", [](Graph& g) { GraphAccess::node(g, 4).types = 1; }},
      {"an atom that is not there", [](Graph& g) { GraphAccess::node(g, 2).payload = 77; }},
      {"lacks one", [](Graph& g) { GraphAccess::node(g, 2).payload = 0xFFFFFFFFu; }},
      {"payload it should not have", [](Graph& g) { GraphAccess::node(g, 1).payload = 0; }},
      {"no comparison", [](Graph& g) { GraphAccess::node(g, 4).op = Op::kAdd; }},
      {"operator it does not use", [](Graph& g) { GraphAccess::node(g, 5).op = Op::kMul; }},
      {"token kind it does not use",
       [](Graph& g) { GraphAccess::node(g, 3).token_kind = TokenKind::kInt; }},
      {"should have been folded", [](Graph& g) { GraphAccess::node(g, 3).args[0] = 2; }},
      {"never compare",
       [](Graph& g) {
         GraphAccess::node(g, 0).token_kind = TokenKind::kString;
         GraphAccess::node(g, 0).types = 8;
       }},
      {"repeats node 3", [](Graph& g) { GraphAccess::append(g, g[3]); }},
      {"repeats an atom",
       [](Graph& g) {
         GraphAccess::append_atom(g, make_int(7));
         Node copy = g[2];
         copy.payload = static_cast<std::uint32_t>(g.atom_count() - 1);
         GraphAccess::append(g, copy);
       }},
  };
  for (const Breakage& breakage : breakages) {
    Maker m;
    const NodeId tokens = m.ints();
    const NodeId indices = m.indices();
    const NodeId seven = m.constant(make_int(7));
    const NodeId sum = m.map(Op::kMod, indices, seven);
    m.mean(m.select(tokens, indices, Op::kLt), sum);
    ASSERT_EQ(verify(m.graph), "");
    breakage.harm(m.graph);
    EXPECT_NE(verify(m.graph).find(breakage.complaint), std::string::npos)
        << breakage.complaint << " / " << verify(m.graph);
  }
}

}  // namespace
}  // namespace rasp::graph
