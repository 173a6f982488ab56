#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <random>
#include <source_location>

#include "compiler/compiler.h"
#include "hand_models.h"

namespace rasp::testing {
namespace {

using compiler::certify;
using model::Certificate;
using model::Dtype;

std::string printed(const Certificate& certificate) {
  std::string text;
  for (const model::CertificateLine& line : certificate.lines)
    text += line.part + " " + line.name + ": margin " + std::to_string(line.margin) + ", bound " +
            std::to_string(line.bound) + (line.holds ? ", holds" : ", FAILS") + " (" + line.detail +
            ")\n";
  return text;
}

::testing::AssertionResult holds(const Model& model) {
  const Certificate certificate = certify(model);
  if (certificate.holds) return ::testing::AssertionSuccess() << printed(certificate);
  return ::testing::AssertionFailure() << printed(certificate);
}

// The model with one change no longer certifies, and a line says so.
void expect_broken(const Model& model, const std::function<void(Model&)>& change,
                   const std::source_location& from = std::source_location::current()) {
  const ::testing::ScopedTrace trace(from.file_name(), static_cast<int>(from.line()), "change");
  Model changed = model;
  change(changed);
  const Certificate certificate = certify(changed);
  EXPECT_FALSE(certificate.holds) << printed(certificate);
  bool said = false;
  for (const model::CertificateLine& line : certificate.lines)
    said = said || (!line.holds && !line.detail.empty());
  EXPECT_TRUE(said) << printed(certificate);
}

Slice& slice_named(Model& model, const std::string& name) {
  for (Slice& slice : model.slices)
    if (slice.name == name) return slice;
  ADD_FAILURE() << "no slice " << name;
  return model.slices.front();
}

TEST(Certify, HandModelsHold) {
  for (Dtype dtype : {Dtype::kF32, Dtype::kF64}) {
    EXPECT_TRUE(holds(histogram(4, 8, dtype)));
    EXPECT_TRUE(holds(mirror(3, 9, dtype)));
    EXPECT_TRUE(holds(shift(3, 9, dtype)));
    EXPECT_TRUE(holds(table(4, 7, dtype)));
    EXPECT_TRUE(holds(bank(3, 9, dtype)));
  }
}

using Change = std::function<void(Model&)>;

// Of a head: the first entry of a matrix that is not 0.
double& first_weight(Matrix& matrix) {
  for (Index i = 0; i < matrix.size(); ++i)
    if (matrix.data()[i] != 0) return matrix.data()[i];
  ADD_FAILURE() << "no weight";
  return matrix.data()[0];
}

// Of a row: the first entry that is not 0.
double& first_weight(Matrix& matrix, Index row) {
  for (Index j = 0; j < matrix.cols(); ++j)
    if (matrix(row, j) != 0) return matrix(row, j);
  ADD_FAILURE() << "no weight";
  return matrix(row, 0);
}

TEST(Certify, LogitsThatMoveAreFound) {
  for (const Model& model : {histogram(4, 8), mirror(3, 9), shift(3, 9), bank(3, 9)}) {
    // Positions where they are read, else tokens: the first slice after the flags.
    const bool picks = model.layers[0].heads[0].wq.row(2).isZero(0);
    const auto row = static_cast<Index>(picks ? model.slices[3].begin : 2);
    std::vector<double> factors = {0.875};
    if (!picks) factors.insert(factors.end(), {0.75, 1.25, 1 + 0x1p-20});
    for (double factor : factors) {
      expect_broken(model, [=](Model& m) { first_weight(m.layers[0].heads[0].wq, row) *= factor; });
      expect_broken(model, [=](Model& m) { first_weight(m.layers[0].heads[0].wk, row) *= factor; });
    }
    expect_broken(model, [](Model& m) { m.layers[0].heads[0].wk.row(kBos).setZero(); });
    expect_broken(model, [](Model& m) { first_weight(m.layers[0].heads[0].wk, kBos) *= -1; });
    expect_broken(model, [](Model& m) { m.layers[0].heads[0].wq *= 0.25; });
    expect_broken(model, [](Model& m) { m.attention_scale = 0.3; });
  }
}

TEST(Certify, HalfTheLogitsLeak) {
  expect_broken(mirror(3, 9), [](Model& m) { m.layers[0].heads[0].wq *= 0.5; });
  expect_broken(shift(3, 9), [](Model& m) { m.attention_scale = 0.5; });
  expect_broken(mirror(3, 9, Dtype::kF64), [](Model& m) { m.layers[0].heads[0].wq *= 0.5; });
}

TEST(Certify, BosMustAttendToItself) {
  expect_broken(mirror(3, 9), [](Model& m) { m.layers[0].heads[0].wq.row(kBos).setZero(); });
  // With a causal mask it sees nothing else.
  Model causal = mirror(3, 9);
  causal.layers[0].heads[0].wq.row(kBos).setZero();
  causal.causal = true;
  EXPECT_TRUE(holds(causal));
}

TEST(Certify, ClaimsOfSlicesAreChecked) {
  expect_broken(histogram(4, 8), [](Model& m) { slice_named(m, "count").error = 1e-9; });
  expect_broken(histogram(4, 8), [](Model& m) { slice_named(m, "count").values.pop_back(); });
  expect_broken(histogram(4, 8), [](Model& m) { slice_named(m, "count").maximum = 7; });
  expect_broken(histogram(4, 8), [](Model& m) { slice_named(m, "count").bos_value[0] = 1; });
  expect_broken(bank(3, 9), [](Model& m) { slice_named(m, "1/(w+1)").error = 1e-9; });
  expect_broken(bank(3, 9), [](Model& m) { slice_named(m, "1/(w+1)").values.pop_back(); });
  expect_broken(bank(3, 9), [](Model& m) { slice_named(m, "1/(w+1)").error = 0.1; });
  expect_broken(mirror(3, 9), [](Model& m) { slice_named(m, "out").features(0, 0) = 2; });
  expect_broken(mirror(3, 9), [](Model& m) { slice_named(m, "tokens").features(0, 0) = 2; });
  expect_broken(mirror(3, 9), [](Model& m) { slice_named(m, "out").bos_value.setZero(); });
  expect_broken(mirror(3, 9), [](Model& m) { slice_named(m, "token").bos_value[0] = 1; });
  expect_broken(shift(3, 9), [](Model& m) {
    slice_named(m, "p").maximum = 5;
    m.slices[3].values.clear();
  });
  expect_broken(table(4, 7), [](Model& m) { slice_named(m, "sum").features(1, 2) = 1; });
  expect_broken(table(4, 7), [](Model& m) { slice_named(m, "sum").first_step = 1; });
}

TEST(Certify, DroppedSlicesAreMissed) {
  for (const Model& model : {histogram(4, 8), mirror(3, 9), shift(3, 9), table(4, 7), bank(3, 9)}) {
    for (std::size_t i = 0; i < model.slices.size(); ++i) {
      if (i < 2 && model.layers[0].heads.empty()) continue;  // the table reads no flags
      expect_broken(model, [i](Model& m) {
        m.slices.erase(m.slices.begin() + static_cast<std::ptrdiff_t>(i));
      });
    }
  }
}

TEST(Certify, SlicesMayNotOverlapNorLeaveTheStream) {
  expect_broken(table(4, 7), [](Model& m) { slice_named(m, "indices").begin -= 1; });
  expect_broken(table(4, 7), [](Model& m) { slice_named(m, "sum").end += 1; });
  expect_broken(table(4, 7), [](Model& m) { slice_named(m, "sum").begin = 0xFFFFFFFF; });
  expect_broken(table(4, 7), [](Model& m) { slice_named(m, "sum").first_step = 3; });
  expect_broken(table(4, 7), [](Model& m) { m.slices.push_back(m.slices.back()); });
}

TEST(Certify, WhatHeadsWriteIsChecked) {
  expect_broken(histogram(4, 8), [](Model& m) { first_weight(m.layers[0].heads[0].wo) *= 1.5; });
  expect_broken(histogram(4, 8), [](Model& m) { m.layers[0].heads[0].wv(kBos, 0) = 1; });
  expect_broken(mirror(3, 9),
                [](Model& m) { first_weight(m.layers[0].heads[0].wo) = 1 + 0x1p-23; });
  expect_broken(mirror(3, 9), [](Model& m) { first_weight(m.layers[0].heads[0].wv) = 2; });
  expect_broken(mirror(3, 9), [](Model& m) { m.layers[0].heads[0].wo(0, kToken) = 1; });
  expect_broken(mirror(3, 9), [](Model& m) { m.layers[0].heads[0].wv.row(kBos).setZero(); });
  // Reads what it writes.
  expect_broken(mirror(3, 9),
                [](Model& m) { m.layers[0].heads[0].wv(slice_named(m, "out").begin, 0) = 1; });
}

TEST(Certify, UnitsAreChecked) {
  const Model boxes = table(4, 7);
  const Model steps = bank(3, 9);
  const Index units = steps.layers[0].mlp.b_in.size();
  for (const Model& model : {boxes, steps}) {
    expect_broken(model, [](Model& m) { first_weight(m.layers[0].mlp.w_out) += 0x1p-23; });
    expect_broken(model, [](Model& m) { m.layers[0].mlp.b_in[0] += 1; });
    expect_broken(model, [](Model& m) { first_weight(m.layers[0].mlp.w_in) *= 2; });
    expect_broken(model, [](Model& m) { m.layers[0].mlp.w_out(0, kToken) = 1; });
  }
  expect_broken(boxes, [](Model& m) { first_weight(m.layers[0].mlp.w_out) = 0; });
  expect_broken(steps, [](Model& m) { m.layers[0].mlp.b_in[1] -= 1; });
  expect_broken(steps, [](Model& m) { m.layers[0].mlp.w_in.col(1).setZero(); });
  expect_broken(steps, [](Model& m) { m.layers[0].mlp.w_out.row(1).setZero(); });
  // A box that never opens leaves the commonest value: a claim that the weights keep.
  Model closed = boxes;
  closed.layers[0].mlp.w_out.row(0).setZero();
  EXPECT_TRUE(holds(closed));
  // A step moved by a little stays right, by more it meets a value.
  Model moved = steps;
  moved.layers[0].mlp.b_in.segment(2, 2).array() -= 1;
  EXPECT_TRUE(holds(moved));
  expect_broken(steps, [](Model& m) { m.layers[0].mlp.b_in.segment(2, 2).array() -= 44; });
  // Halves of a step.
  expect_broken(steps, [](Model& m) { m.layers[0].mlp.b_in.array() += 0.5; });
  // BOS, where 1/(w+1) is 1, switches units on.
  expect_broken(steps, [](Model& m) { m.layers[0].mlp.w_in.row(kBos).setZero(); });
  expect_broken(boxes, [](Model& m) { m.layers[0].mlp.w_in.row(kBos).setConstant(2); });
  // Steps as they are, but summed in another order: whether that is exact cannot be said.
  expect_broken(steps, [units](Model& m) {
    model::Mlp& mlp = m.layers[0].mlp;
    mlp.w_in.col(1).swap(mlp.w_in.col(units - 1));
    mlp.w_out.row(1).swap(mlp.w_out.row(units - 1));
    std::swap(mlp.b_in[1], mlp.b_in[units - 1]);
  });
}

TEST(Certify, OutputsMustBeClear) {
  expect_broken(mirror(3, 9), [](Model& m) { m.unembedding *= 0.25; });
  expect_broken(mirror(3, 9), [](Model& m) { m.unembedding.col(1) = m.unembedding.col(0); });
  expect_broken(mirror(3, 9), [](Model& m) { m.decoder.values.resize(9); });
  expect_broken(histogram(4, 8), [](Model& m) { m.unembedding *= 0.75; });
  expect_broken(histogram(4, 8), [](Model& m) { m.decoder.codes.pop_back(); });
  expect_broken(histogram(4, 8), [](Model& m) {
    m.decoder.codes.pop_back();
    m.decoder.values.pop_back();
  });
  expect_broken(histogram(4, 8),
                [](Model& m) { std::swap(m.decoder.codes[0], m.decoder.codes[1]); });
  expect_broken(histogram(4, 8, Dtype::kF32, 0.6), [](Model&) {});
}

TEST(Certify, FractionsDecodeByTheirDenominator) {
  Model model = bank(3, 9);
  model.decoder = {};
  model.decoder.kind = model::Decoder::Kind::kScalar;
  model.decoder.minimum = value::Number::rational(1, 10);
  model.decoder.maximum = value::Number::integer(1);
  model.decoder.max_denominator = 10;
  const Index x = slice_named(model, "1/(w+1)").begin;
  model.unembedding = Matrix::Zero(model.d_model, 1);
  model.unembedding(x, 0) = 1;
  EXPECT_TRUE(holds(model));
  expect_broken(model, [](Model& m) { m.decoder.max_denominator = 9; });
  expect_broken(model, [](Model& m) { m.decoder.max_denominator = 10000; });
  expect_broken(model, [](Model& m) { m.decoder.maximum = value::Number::rational(1, 2); });
}

TEST(Certify, NothingThatIsNotFinite) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  for (double bad : {nan, infinity, -infinity}) {
    expect_broken(mirror(3, 9), [bad](Model& m) { m.unembedding(0, 0) = bad; });
    expect_broken(mirror(3, 9), [bad](Model& m) { m.token_embedding(0, 0) = bad; });
    expect_broken(mirror(3, 9), [bad](Model& m) { m.layers[0].heads[0].wk(0, 0) = bad; });
    expect_broken(mirror(3, 9), [bad](Model& m) { m.attention_scale = bad; });
    expect_broken(mirror(3, 9), [bad](Model& m) { m.slices[2].features(0, 0) = bad; });
    expect_broken(histogram(4, 8), [bad](Model& m) { slice_named(m, "count").error = bad; });
    expect_broken(bank(3, 9), [bad](Model& m) { m.layers[0].mlp.b_in[0] = bad; });
    expect_broken(bank(3, 9), [bad](Model& m) { m.layers[0].mlp.w_out(0, 0) = bad; });
  }
  expect_broken(mirror(3, 9), [](Model& m) { first_weight(m.layers[0].heads[0].wq) = 256 + 1e-9; });
}

TEST(Certify, NothingCheckedDoesNotHold) {
  EXPECT_FALSE(certify(Model{}).holds);
  Model model = mirror(3, 9);
  model.layers.clear();
  EXPECT_FALSE(certify(model).holds);
  for (const Change& change : std::vector<Change>{
           [](Model& m) { m.d_model -= 1; }, [](Model& m) { m.max_length = 0; },
           [](Model& m) { m.max_length += 1; }, [](Model& m) { m.vocabulary.pop_back(); },
           [](Model& m) { m.layers[0].heads[0].wo.resize(0, 0); },
           [](Model& m) { m.layers[0].mlp.b_in = Vector::Zero(3); }})
    expect_broken(mirror(3, 9), change);
}

TEST(Certify, LinesNameEveryPart) {
  const Certificate certificate = certify(bank(3, 9));
  std::vector<std::string> parts;
  for (const model::CertificateLine& line : certificate.lines) parts.push_back(line.part);
  EXPECT_THAT(parts,
              ::testing::ElementsAre("embedding", "layer 0 head 0", "layer 0 mlp", "output"));
  EXPECT_EQ(certificate.lines[1].margin, 256 - 104);
  EXPECT_GT(certificate.lines[2].margin, certificate.lines[2].bound);
}

}  // namespace
}  // namespace rasp::testing
