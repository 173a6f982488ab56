#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <limits>
#include <random>

#include "../model/random_model.h"
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
                   int line = __builtin_LINE()) {
  const ::testing::ScopedTrace trace(__FILE__, line, "change");
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

// A step that is moved along s + offset: t = slope (s + offset), the bias moved with it.
void shift_step(Model& m, Index unit, double offset) {
  model::Mlp& mlp = m.layers[0].mlp;
  for (Index u : {unit, unit + 1}) {
    mlp.w_in(kToken, u) += offset;
    mlp.b_in[u] -= offset;
  }
}

TEST(Certify, StepsKeepTheirBitsOnlyAboveZero) {
  const Model steps = bank(3, 9);
  Model higher = steps;
  shift_step(higher, 0, 256);
  EXPECT_TRUE(holds(higher));
  // t + 1000 has fewer places behind the point than t: the two halves are rounded apart.
  expect_broken(steps, [](Model& m) { shift_step(m, 0, -1000); });
  // Only a power of two times a step is exact.
  expect_broken(steps, [](Model& m) { m.layers[0].mlp.w_out.block(0, 0, 2, m.d_model) *= 3; });
}

TEST(Certify, PatternsAreReadFromTheirHead) {
  Model model = mirror(3, 9);
  model.decoder = {};
  model.decoder.kind = model::Decoder::Kind::kPattern;
  model.unembedding = Matrix::Zero(model.d_model, 0);
  EXPECT_TRUE(holds(model));
  EXPECT_EQ(certify(model).lines.back().margin, certify(model).lines[1].margin);
  expect_broken(model, [](Model& m) { m.decoder.pattern_head = 1; });
  expect_broken(model, [](Model& m) { m.decoder.pattern_layer = 1; });
  expect_broken(model, [](Model& m) { m.layers[0].heads[0].wq *= 0.5; });
}

TEST(Certify, SequencesOfTooFewTokensSelectNothing) {
  // Only the first token is always there: a default that no slice lists shows for any other.
  for (const Index key : {0, 1}) {
    HandModel hand(2, 4);
    const Index tokens = hand.tokens();
    const Index positions = hand.positions();
    const Index out = hand.rows("out", Matrix::Identity(2, 2), Vector::Zero(2), 1);
    model::Head& head = hand.head(0, 2, 2);
    head.wq(kToken, 0) = hand.c();
    head.wk(positions + key, 0) = 1;
    head.wq(kToken, 1) = head.wq(kBos, 1) = 1;
    head.wk(kBos, 1) = hand.c() / 2;
    for (Index t = 0; t < 2; ++t) head.wv(tokens + t, t) = head.wo(t, out + t) = 1;
    hand.argmax(out, 2);
    EXPECT_EQ(static_cast<bool>(holds(std::move(hand).finish())), key == 0);
  }
}

// A scalar that a sink adds up, read with the position: the count of all tokens is the length,
// which is never below the position.
TEST(Certify, LengthsGoWithPositions) {
  const auto make = [](bool all_tokens) {
    HandModel hand(2, 4);
    const Index tokens = hand.tokens();
    const Index p = hand.position_scalar("p", [](double x) { return x; });
    const Index count = hand.scalar("n", {}, 0, 4, 1e-3, 0, 1);
    model::Head& head = hand.head(0, 2, 1);
    head.wq(kToken, 0) = hand.c();
    head.wk(all_tokens ? kToken : tokens, 0) = 1;
    head.wq(kToken, 1) = head.wq(kBos, 1) = 1;
    head.wk(kBos, 1) = hand.c() + 32;
    head.wv(kToken, 0) = 1;
    head.wo(0, count) = hand.rounded(std::exp(32.0));
    hand.decode_codes(count, 4);  // n - p, from 0 to 3
    hand.model.unembedding(p, 0) = -1;
    return std::move(hand).finish();
  };
  EXPECT_TRUE(holds(make(true)));
  EXPECT_EQ(certify(make(true)).lines.back().detail, "4 codes");
  EXPECT_THAT(certify(make(false)).lines.back().detail, ::testing::HasSubstr("undefined"));
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

// Whatever a file may hold is looked at without harm.
TEST(Certify, RandomModelsDoNoHarm) {
  RandomModel make(7);
  for (int round = 0; round < 500; ++round) {
    Model model = make({.max_length = 6, .max_width = 8, .density = 0.3});
    for (std::size_t i = make.size(0, 4); i > 0; --i) {
      Slice& slice = model.slices.emplace_back();
      slice.encoding = static_cast<Slice::Encoding>(make.size(0, 3));
      slice.begin = static_cast<std::uint32_t>(make.size(0, model.d_model));
      slice.end = slice.begin + static_cast<std::uint32_t>(make.size(0, 3));
      slice.first_step = static_cast<std::uint32_t>(make.size(0, 2 * model.layers.size() + 1));
      slice.features = make.matrix(make.size(0, 3), make.flip() ? slice.end - slice.begin : 1);
      slice.bos_value = Vector::Zero(make.flip() ? slice.end - slice.begin : 0);
      slice.minimum = make.weight();
      slice.maximum = make.weight();
      slice.error = make.weight();
      for (std::size_t v = make.size(0, 3); v > 0; --v) slice.values.emplace_back(std::string("x"));
    }
    EXPECT_FALSE(certify(model).lines.empty());
  }
}

}  // namespace
}  // namespace rasp::testing
