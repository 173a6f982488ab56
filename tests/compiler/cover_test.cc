#include "compiler/cover.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace rasp::compiler {
namespace {

// ------------------------------------------------------------------------------------ boxes

struct Table {
  std::vector<std::size_t> sizes;
  std::vector<bool> mixes;
  std::vector<std::uint32_t> cells;
};

// Tables as programs make them: a program reads one input, then perhaps another; what it has read
// of a mixture has no value, and some combinations never occur.
class RandomTable {
 public:
  explicit RandomTable(std::uint64_t seed) : random_(seed) {}

  Table make() {
    const std::size_t dims = pick(4) + 1;
    for (std::size_t d = 0; d < dims; ++d) {
      table_.sizes.push_back(pick(5) + 1);
      table_.mixes.push_back(chance(0.3) && table_.sizes.back() > 1);
    }
    std::size_t count = 1;
    for (const std::size_t size : table_.sizes) count *= size;
    table_.cells.assign(count, kUndefined);
    std::vector<std::optional<std::size_t>> fixed(dims);
    read(fixed);
    for (std::uint32_t& cell : table_.cells) {
      if (chance(0.1)) cell = kUndefined;
    }
    return table_;
  }

 private:
  std::size_t pick(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random_);
  }
  bool chance(double p) { return std::bernoulli_distribution(p)(random_); }

  void read(std::vector<std::optional<std::size_t>>& fixed) {
    std::vector<std::size_t> open;
    for (std::size_t d = 0; d < fixed.size(); ++d) {
      if (!fixed[d]) open.push_back(d);
    }
    if (open.empty() || chance(0.35)) return fill(fixed, static_cast<std::uint32_t>(pick(3)));
    const std::size_t d = open[pick(open.size())];
    const std::size_t readable = table_.sizes[d] - (table_.mixes[d] ? 1 : 0);
    for (std::size_t row = 0; row < readable; ++row) {
      fixed[d] = row;
      read(fixed);
    }
    fixed[d].reset();
  }

  void fill(const std::vector<std::optional<std::size_t>>& fixed, std::uint32_t result) {
    for (std::size_t cell = 0; cell < table_.cells.size(); ++cell) {
      std::size_t rest = cell;
      bool here = true;
      for (std::size_t d = fixed.size(); d-- > 0;) {
        here = here && (!fixed[d] || *fixed[d] == rest % table_.sizes[d]);
        rest /= table_.sizes[d];
      }
      if (here) table_.cells[cell] = result;
    }
  }

  std::mt19937_64 random_;
  Table table_;
};

enum class Activity { kOn, kOff, kDependsOnMixture };

// A box's unit at one cell: off where a dimension that holds a value is outside the box, whatever
// mixtures hold.
Activity activity(const Table& table, const Box& box, std::size_t cell) {
  bool mixture = false;
  for (std::size_t d = table.sizes.size(); d-- > 0;) {
    const std::size_t row = cell % table.sizes[d];
    cell /= table.sizes[d];
    if (box.sets[d].empty()) continue;
    if (table.mixes[d] && row + 1 == table.sizes[d]) {
      mixture = true;
    } else if (!box.sets[d][row]) {
      return Activity::kOff;
    }
  }
  return mixture ? Activity::kDependsOnMixture : Activity::kOn;
}

TEST(Cover, DisjointBoxesReproduceRandomTables) {
  for (std::uint64_t seed = 0; seed < 3000; ++seed) {
    const Table table = RandomTable(seed).make();
    const std::uint32_t omit = commonest(table.cells);
    const std::vector<Box> boxes = cover(table.sizes, table.mixes, table.cells, omit);
    for (std::size_t cell = 0; cell < table.cells.size(); ++cell) {
      if (table.cells[cell] == kUndefined) continue;
      std::vector<std::uint32_t> results;
      for (const Box& box : boxes) {
        const Activity on = activity(table, box, cell);
        ASSERT_NE(on, Activity::kDependsOnMixture) << "seed " << seed << " cell " << cell;
        if (on == Activity::kOn) results.push_back(box.result);
      }
      if (table.cells[cell] == omit) {
        ASSERT_TRUE(results.empty()) << "seed " << seed << " cell " << cell;
      } else {
        ASSERT_EQ(results, std::vector<std::uint32_t>{table.cells[cell]})
            << "seed " << seed << " cell " << cell;
      }
    }
  }
}

TEST(Cover, IsSmallWhereTheTableIsSimple) {
  // and: one box; a function of one of two inputs: one box a value but the commonest.
  EXPECT_EQ(cover({2, 2}, {false, false}, {0, 0, 0, 1}, 0).size(), 1u);
  EXPECT_EQ(cover({3, 2}, {false, false}, {0, 0, 1, 1, 2, 2}, 0).size(), 2u);
  // Where a don't-care may be anything, it joins its neighbours.
  EXPECT_EQ(cover({2, 2}, {false, false}, {0, 0, kUndefined, 1}, 0).size(), 1u);
  EXPECT_TRUE(cover({2, 2}, {false, false}, {kUndefined, 1, 1, kUndefined}, 1).empty());
}

TEST(Cover, LeavesOutTheCommonestResult) {
  EXPECT_EQ(commonest({4, 7, 7, kUndefined, kUndefined, kUndefined}), 7u);
  EXPECT_EQ(commonest({kUndefined}), kUndefined);
}

// ------------------------------------------------------------------------------------ steps

struct Bank {
  Circuit circuit;
  BankOp op;
  double error = 0;  // of the scalar
};

// F over `points`, of a scalar that is within `error` of one of them.
Bank bank_over(std::vector<double> points, std::vector<std::uint32_t> result, double error,
               model::Dtype dtype) {
  Bank bank;
  bank.circuit.dtype = dtype;
  bank.circuit.max_length = 16;
  Var var;
  var.scalar = true;
  var.minimum = value::Number::inexact(points.front());
  var.maximum = value::Number::inexact(points.back());
  var.error = error;
  bank.circuit.vars.push_back(var);
  bank.op.form.terms.push_back({0, {}, 1.0});
  bank.op.error = error_of(bank.circuit, bank.op.form);
  bank.op.points = std::move(points);
  bank.op.result = std::move(result);
  bank.error = error;
  return bank;
}

// Two units as the forward pass has them, in its own arithmetic.
template <typename Real>
Real step(Real s, const Steps& steps, double bias) {
  const Real slope = static_cast<Real>(steps.slope);
  const Real shift = static_cast<Real>(-steps.slope * steps.origin);
  const Real t = slope * s + shift;
  const Real up = t + static_cast<Real>(-bias);
  const Real down = t + static_cast<Real>(-bias - 1);
  return std::max(up, Real(0)) - std::max(down, Real(0));
}

template <typename Real>
void expect_exact_steps(const Bank& bank, const Steps& steps) {
  std::size_t change = 0;
  for (std::size_t i = 1; i < bank.op.points.size(); ++i) {
    if (bank.op.result[i] == bank.op.result[i - 1]) continue;
    const double bias = steps.biases[change++];
    for (std::size_t j = 0; j < bank.op.points.size(); ++j) {
      for (const double off : {0.0, -1.0, 1.0, -0.5, 0.3}) {
        const auto s = static_cast<Real>(bank.op.points[j] + off * bank.error);
        if (std::abs(static_cast<double>(s) - bank.op.points[j]) > bank.error) continue;
        ASSERT_EQ(step<Real>(s, steps, bias), j < i ? Real(0) : Real(1))
            << "point " << bank.op.points[j] << " " << off << " step " << i << " slope "
            << steps.slope << " origin " << steps.origin << " bias " << bias;
      }
    }
  }
  ASSERT_EQ(change, steps.biases.size());
}

std::vector<double> fractions(int most) {
  std::vector<double> points;
  for (int q = 1; q <= most; ++q) {
    for (int p = 0; p <= q; ++p) points.push_back(static_cast<double>(p) / q);
  }
  std::sort(points.begin(), points.end());
  points.erase(std::unique(points.begin(), points.end()), points.end());
  return points;
}

TEST(PlaceSteps, GiveExactlyZeroOrOneInFloatArithmetic) {
  std::mt19937_64 random(3);
  std::size_t placed = 0;
  for (int trial = 0; trial < 600; ++trial) {
    std::vector<double> points;
    if (trial % 3 == 0) {
      points = fractions(static_cast<int>(random() % 14) + 1);
    } else {
      const double gap = std::ldexp(1.0, static_cast<int>(random() % 7) - 5);
      double at = (static_cast<double>(random() % 400) - 200.0) * gap;
      for (std::size_t i = 0; i < random() % 40 + 2; ++i) {
        points.push_back(at);
        at += gap * static_cast<double>(random() % 3 + 1);
      }
    }
    std::vector<std::uint32_t> result;
    for (std::size_t i = 0; i < points.size(); ++i) {
      result.push_back(static_cast<std::uint32_t>(random() % 3));
    }
    const double error = std::ldexp(1.0, -static_cast<int>(random() % 22));
    const bool wide = trial % 2 == 0;
    const Bank bank =
        bank_over(points, result, error, wide ? model::Dtype::kF64 : model::Dtype::kF32);
    const auto steps = place_steps(bank.circuit, bank.op, bank.op.result);
    if (!steps) continue;
    ++placed;
    if (wide) {
      expect_exact_steps<double>(bank, *steps);
    } else {
      expect_exact_steps<float>(bank, *steps);
    }
    if (HasFatalFailure()) return;
  }
  EXPECT_GT(placed, 200u);
}

TEST(PlaceSteps, RefuseWhatTheErrorBlurs) {
  const Bank blurred = bank_over({0, 1, 2}, {0, 1, 2}, 0.6, model::Dtype::kF32);
  EXPECT_FALSE(place_steps(blurred.circuit, blurred.op, blurred.op.result));
  const Bank fine = bank_over({0, 1, 2}, {0, 1, 2}, 0.1, model::Dtype::kF32);
  EXPECT_TRUE(place_steps(fine.circuit, fine.op, fine.op.result));
}

TEST(PlaceSteps, FollowTheChangesOnly) {
  const Bank bank = bank_over({0, 1, 2, 3, 4}, {5, 5, 6, 6, 5}, 1e-4, model::Dtype::kF32);
  EXPECT_EQ(count_changes(bank.op), 2u);
  const auto steps = place_steps(bank.circuit, bank.op, bank.op.result);
  ASSERT_TRUE(steps);
  EXPECT_EQ(steps->biases.size(), 2u);
}

}  // namespace
}  // namespace rasp::compiler
