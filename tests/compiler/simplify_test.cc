#include "compiler/simplify.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "../support/compiled.h"
#include "../support/random_graph.h"
#include "interpreter/interpreter.h"
#include "ir_evaluator.h"

namespace rasp::compiler {
namespace {

using test::RandomGraph;
using test::Source;
using value::Sequence;

// The program as one nested text, in which the order of terms and conjuncts makes no difference.
std::string structure(const Ir& ir, IrId id) {
  const IrNode& node = ir[id];
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < node.args.size(); ++i) {
    const std::string weight = node.weights.empty() ? "" : node.weights[i].repr() + "*";
    parts.push_back(weight + structure(ir, node.args[i]));
  }
  const bool any_order =
      node.kind == IrKind::kAffine || node.kind == IrKind::kAnd || node.kind == IrKind::kOr;
  if (any_order) std::sort(parts.begin(), parts.end());
  const std::string own = print(ir, {id});  // its last line names the node itself
  const std::size_t line = own.rfind("= ", own.size());
  std::string text = own.substr(line + 2, own.find('(', line) - line - 2);
  if (node.kind == IrKind::kAffine) text += node.offset.repr();
  if (node.kind == IrKind::kMean) text += value::repr(node.atom);
  for (const std::string& part : parts) text += '(' + part + ')';
  return text;
}

std::string simplified(const std::string& expression, bool causal = false) {
  const Source source("ans = " + expression + ";", "ans");
  EXPECT_EQ(source.why(), "") << expression;
  if (!source.why().empty()) return "";
  const Simplified result =
      simplify(source.graph(), source.node(), causal, 9, value::characters("01234"));
  return structure(result.ir, result.root);
}

struct Identity {
  std::string expression;
  std::string means;  // another expression that must become the very same program
};

void PrintTo(const Identity& identity, std::ostream* out) { *out << identity.expression; }

class Identities : public testing::TestWithParam<Identity> {};
TEST_P(Identities, BothSidesBecomeOneProgram) {
  EXPECT_EQ(simplified(GetParam().expression), simplified(GetParam().means))
      << GetParam().expression << "\n"
      << GetParam().means;
}

INSTANTIATE_TEST_SUITE_P(
    All, Identities,
    testing::Values(
        Identity{"tokens_int - tokens_int", "0 * tokens_int"},
        Identity{"(tokens_int + indices) - indices", "tokens_int + 0"},
        Identity{"2 * tokens_int + 3 * tokens_int", "tokens_int * 5"},
        Identity{"-(-tokens_int)", "tokens_int + 0"},
        Identity{"tokens_int / 2", "tokens_int * 0.5"},
        Identity{"round(selector_width(select(tokens, tokens, ==)))",
                 "selector_width(select(tokens, tokens, ==))"},
        Identity{"round(round(indices) + length)", "indices + length"},
        Identity{"count(tokens, \"1\")",
                 "round(length * aggregate(full_s, indicator(tokens == \"1\")))"},
        // Widths.
        Identity{"selector_width(select(tokens, tokens, ==) or select(tokens, tokens, <))",
                 "selector_width(select(tokens, tokens, <=))"},
        Identity{"selector_width(select(tokens, tokens, <) or select(tokens_int, indices, <))",
                 "selector_width(select(tokens, tokens, <)) + "
                 "selector_width(select(tokens_int, indices, <)) - "
                 "selector_width(select(tokens, tokens, <) and select(tokens_int, indices, <))"},
        Identity{"selector_width(not select(tokens, tokens, ==))",
                 "selector_width(select(tokens, tokens, !=))"},
        Identity{"selector_width(full_s)", "length"},
        Identity{"selector_width(select(indices, indices, <=))", "indices + 1"},
        Identity{"selector_width(select(indices, indices, <))", "indices"},
        Identity{"selector_width(select(indices, indices, ==))", "1 + 0 * indices"},
        Identity{"selector_width(select(indices, indices, >=))", "length - indices"},
        // Sums.
        Identity{"(indices + 1) * aggregate(select(indices, indices, <=), tokens_int)",
                 "round((1 + indices) * aggregate(select(indices, indices, <=), tokens_int))"},
        Identity{"length * aggregate(full_s, 2 * tokens_int)",
                 "2 * round(length * aggregate(full_s, tokens_int))"},
        // Existence.
        Identity{"selector_width(select(tokens, tokens, <)) >= 1",
                 "selector_width(select(tokens, tokens, <)) > 0"},
        Identity{"not (selector_width(select(tokens, tokens, <)) > 0)",
                 "selector_width(select(tokens, tokens, <)) == 0"},
        Identity{"has_focus(full_s)", "indices == indices"},
        // A default that the mean's shift and scale reach.
        Identity{"aggregate(select(tokens, tokens, <), 2 * tokens_int + 1, -1)",
                 "2 * aggregate(select(tokens, tokens, <), tokens_int, -1) + 1"},
        // Selectors.
        Identity{"selector_width(not (select(tokens, tokens, <) or select(tokens, tokens, ==)))",
                 "selector_width(select(tokens, tokens, >))"},
        Identity{"aggregate(full_s and select(tokens, tokens, ==), indices)",
                 "aggregate(select(tokens, tokens, ==), indices)"},
        Identity{"aggregate(not not select(tokens, tokens, ==), indices)",
                 "aggregate(select(tokens, tokens, ==), indices)"},
        Identity{"aggregate(select(tokens, tokens, <) and select(tokens, tokens, >), indices, 4)",
                 "4 + 0 * indices"},
        // What every position shares.
        Identity{"aggregate(full_s, length)", "length"},
        Identity{"aggregate(select(tokens, tokens, ==), 3 * tokens_int)",
                 "3 * aggregate(select(tokens, tokens, ==), tokens_int)"},
        Identity{"tokens if True else \"x\"", "tokens"},
        Identity{"tokens if tokens == \"1\" else tokens", "tokens"}));

TEST(Simplify, RecognisesWhatTheLibrarySpellsOut) {
  const std::string same = "select ==(tokens_str(token))(tokens_str(token))";
  EXPECT_EQ(simplified("selector_width(select(tokens, tokens, ==))"), "width(" + same + ")");
  EXPECT_EQ(simplified("length"), "width(true)");
  EXPECT_EQ(simplified("(indices + 1) * aggregate(select(indices, indices, <=), tokens_int)"),
            "sum(select <=(position)(position))(tokens_int(token))");
  EXPECT_EQ(simplified("selector_width(select(tokens, tokens, ==)) > 0"), "exists(" + same + ")");
  // Functions of whether there is a key: they cost nothing, but no width is counted for them.
  EXPECT_EQ(simplified("has_focus(select(tokens, tokens, ==))").find("width"), std::string::npos);
}

TEST(Simplify, CausalMasksCountAsPartOfSelectors) {
  EXPECT_EQ(simplified("length", true), simplified("indices + 1", true));
  EXPECT_EQ(simplified("selector_width(select(indices, indices, >))", true),
            simplified("0 * indices", true));
}

// The simplified program means what the graph means wherever that has a value.
void expect_same_meaning(const graph::Graph& graph, graph::NodeId root, const Sequence& input,
                         bool causal, const std::vector<value::Atom>& vocabulary) {
  interpreter::Options options;
  options.causal = causal;
  const Simplified program =
      simplify(graph, root, causal, static_cast<std::uint32_t>(input.size()), vocabulary);
  const IrEvaluator evaluator(program.ir, input);
  const std::string where = graph::expression(graph, root, 400) + " on " + test::show(input) +
                            (causal ? " causal" : "") + "\n" + print(program.ir, {program.root});
  if (graph.is_selector(root)) {
    const auto matrix = interpreter::evaluate_selector(graph, root, input, options);
    for (std::size_t q = 0; matrix && q < input.size(); ++q) {
      for (std::size_t k = 0; k < input.size(); ++k) {
        ASSERT_EQ(matrix->at(q, k), evaluator.selects(program.root, q, k)) << where;
      }
    }
    return;
  }
  const auto want = interpreter::evaluate(graph, root, input, options);
  for (std::size_t i = 0; want && i < input.size(); ++i) {
    const auto& got = evaluator.elements(program.root)[i];
    const value::Atom expected = canonical((*want)[i]);
    ASSERT_TRUE(got && value::identical(*got, expected))
        << where << "\nat " << i << " wants " << value::repr(expected) << ", got "
        << (got ? value::repr(*got) : "nothing");
    const auto& is_float = evaluator.elements(program.root_is_float)[i];
    ASSERT_TRUE(is_float) << where;
    EXPECT_EQ(value::truth(*is_float), value::type_of((*want)[i]) == value::Type::kFloat) << where;
  }
}

TEST(Simplify, KeepsTheMeaningOfRandomGraphs) {
  const std::vector<value::Atom> vocabulary = value::characters("01234");
  for (std::uint64_t seed = 0; seed < 1500; ++seed) {
    RandomGraph random(seed);
    const int depth = static_cast<int>(random.pick(4)) + 1;
    const graph::NodeId root = random.chance(0.2) ? random.selector(depth) : random.sop(depth);
    for (int repeat = 0; repeat < 4; ++repeat) {
      expect_same_meaning(random.graph(), root, random.input(random.pick(7) + 1),
                          random.chance(0.3), vocabulary);
      if (HasFatalFailure()) return;
    }
  }
}

}  // namespace
}  // namespace rasp::compiler
