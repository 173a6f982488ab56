#include "compiler/encode.h"

#include <gtest/gtest.h>

#include <random>

#include "../support/compiled.h"
#include "../support/random_graph.h"
#include "compiler/lower.h"
#include "compiler/simplify.h"

namespace rasp::compiler {
namespace {

const std::vector<value::Atom> kVocabulary = value::characters("01234");

TEST(Normalise, KeepsTheFunctionAndStartsAtZero) {
  std::mt19937_64 random(5);
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<double> f;
    for (std::size_t i = 0; i < random() % 6 + 1; ++i) {
      f.push_back(static_cast<double>(random() % 41) - 20.0);
      if (trial % 5 == 0) f.back() /= 3.0;
    }
    const NormalFeature normal = normalise(f);
    for (std::size_t i = 0; i < f.size(); ++i) {
      EXPECT_EQ(normal.scale * normal.f[i] + normal.offset, f[i]);
    }
    if (trial % 5 != 0) {
      EXPECT_EQ(normal.f[0], 0.0);
    }
    EXPECT_EQ(normalise(normal.f).f, normal.f);
  }
}

TEST(Normalise, GivesFunctionsThatDifferByScaleAndOffsetOneColumn) {
  const std::vector<double> f{0, 1, 3, 7};
  EXPECT_EQ(normalise({5, 6, 8, 12}).f, f);
  EXPECT_EQ(normalise({0, -1, -3, -7}).f, f);
  EXPECT_EQ(normalise({256, 512, 1024, 2048}).f, f);
  EXPECT_NE(normalise({0, 1, 3, 8}).f, f);
}

struct Stages {
  Circuit circuit;
  Encoded encoded;
};

std::optional<Stages> stages_of(const graph::Graph& graph, graph::NodeId root, bool causal) {
  Simplified program = simplify(graph, root, causal, 6, kVocabulary);
  Domains domains(program.ir, kVocabulary);
  try {
    Stages stages;
    stages.circuit = Lowering(program.ir, domains, model::Dtype::kF32, {})
                         .run(program.root, program.root_is_float);
    stages.encoded = encode(stages.circuit);
    return stages;
  } catch (const Refusal&) {
    return std::nullopt;
  }
}

// What the circuit promises: ops read what earlier steps wrote, into variables of their own.
void expect_ordered(const Circuit& circuit, const std::string& where) {
  const auto reads = [&](const Form& form, std::uint32_t step) {
    for (const Term& term : form.terms) {
      EXPECT_LT(circuit.vars[term.var].step, step) << where;
      EXPECT_EQ(term.f.empty(), circuit.vars[term.var].scalar) << where;
      if (!term.f.empty()) {
        EXPECT_EQ(term.f.size(), circuit.vars[term.var].values.size()) << where;
      }
    }
  };
  for (const Op& op : circuit.ops) {
    if (const auto* head = std::get_if<HeadOp>(&op)) {
      EXPECT_EQ(head->step % 2, 1u) << where;
      for (const auto& dim : head->logits.dims) {
        reads(dim.key, head->step);
        reads(dim.query, head->step);
      }
      for (const HeadOutput& output : head->outputs) {
        EXPECT_EQ(circuit.vars[output.target].step, head->step) << where;
        reads(output.form, head->step);
        if (output.value.var != kNoVar) {
          EXPECT_LT(circuit.vars[output.value.var].step, head->step) << where;
        }
      }
    } else if (const auto* bank = std::get_if<BankOp>(&op)) {
      EXPECT_EQ(bank->step % 2, 0u) << where;
      EXPECT_EQ(bank->points.size(), bank->result.size()) << where;
      EXPECT_TRUE(std::is_sorted(bank->points.begin(), bank->points.end())) << where;
      reads(bank->form, bank->step);
    } else {
      const auto& table = std::get<TableOp>(op);
      EXPECT_EQ(table.step % 2, 0u) << where;
      std::size_t cells = 1;
      for (const VarId input : table.inputs) {
        EXPECT_LT(circuit.vars[input].step, table.step) << where;
        const Var& var = circuit.vars[input];
        cells *= var.values.size() + (var.may_mix ? 1 : 0);
      }
      EXPECT_EQ(table.cells.size(), cells) << where;
    }
  }
}

void expect_encoded(const Stages& stages, const std::string& where) {
  for (VarId id = 0; id < stages.circuit.vars.size(); ++id) {
    const Encoding& encoding = stages.encoded.vars[id];
    const Var& var = stages.circuit.vars[id];
    if (!encoding.live || var.scalar) continue;
    for (const auto& column : encoding.columns) EXPECT_EQ(column.size(), var.values.size());
    EXPECT_EQ(encoding.base.size(), encoding.columns.size()) << where;
    if (!encoding.one_hot) continue;
    for (std::size_t v = 0; v < var.values.size(); ++v) {
      double sum = 0;
      for (const auto& column : encoding.columns) {
        EXPECT_TRUE(column[v] == 0 || column[v] == 1) << where;
        sum += column[v];
      }
      EXPECT_EQ(sum, 1) << where;
    }
    for (std::size_t c = 0; c < encoding.columns.size(); ++c) {
      EXPECT_EQ(encoding.columns[c][encoding.representative[c]], 1) << where;
    }
  }
  std::uint32_t step = 0;
  for (const EncodedOp& op : stages.encoded.ops) {
    EXPECT_GE(op.step, step) << where;
    step = op.step;
    if (op.head == nullptr) {
      EXPECT_TRUE(stages.encoded.vars[op.target].live) << where;
      const std::size_t width =
          stages.encoded.vars[op.target].width(stages.circuit.vars[op.target]);
      for (const Unit& unit : op.units) EXPECT_EQ(unit.out.size(), width) << where;
    }
  }
}

TEST(Encode, KeepsItsPromisesOnRandomGraphs) {
  std::size_t compiled = 0;
  for (std::uint64_t seed = 0; seed < 800; ++seed) {
    test::RandomGraph random(seed + 5'000);
    const int depth = static_cast<int>(random.pick(4)) + 1;
    const graph::NodeId root = random.chance(0.2) ? random.selector(depth) : random.sop(depth);
    const auto stages = stages_of(random.graph(), root, random.chance(0.3));
    if (!stages) continue;
    ++compiled;
    const std::string where = graph::expression(random.graph(), root, 400);
    expect_ordered(stages->circuit, where);
    expect_encoded(*stages, where);
    if (HasFailure()) return;
  }
  EXPECT_GT(compiled, 600u);
}

TEST(Encode, DropsWhatNobodyReads) {
  const test::Source source("ans = aggregate(select(indices, 0, ==), indices);", "ans");
  const auto stages = stages_of(source.graph(), source.node(), false);
  ASSERT_TRUE(stages);
  for (VarId id = 0; id < stages->circuit.vars.size(); ++id) {
    if (stages->encoded.vars[id].live && !stages->circuit.vars[id].scalar) {
      EXPECT_FALSE(stages->encoded.vars[id].columns.empty());
    }
  }
}

}  // namespace
}  // namespace rasp::compiler
