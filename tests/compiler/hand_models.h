// Small exact models built by hand, for the tests of the checker.
#pragma once

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "model/model.h"

namespace rasp::testing {

using model::Matrix;
using model::Model;
using model::Slice;
using model::Vector;
using Index = Eigen::Index;

inline constexpr Index kBos = 0;  // columns of the two flags
inline constexpr Index kToken = 1;

// Grows a model slice by slice, then head by head and unit by unit.
class HandModel {
 public:
  HandModel(std::size_t vocabulary, std::uint32_t max_length, std::size_t layers = 1,
            model::Dtype dtype = model::Dtype::kF32)
      : v_(static_cast<Index>(vocabulary)), n_(max_length) {
    for (std::size_t t = 0; t < vocabulary; ++t)
      model.vocabulary.push_back(value::make_int(static_cast<std::int64_t>(t)));
    model.name = "hand";
    model.max_length = max_length;
    model.dtype = dtype;
    model.layers.resize(layers);
    flag("bos", 1, 0);
    flag("token", 0, 1);
  }

  [[nodiscard]] double c() const { return model.dtype == model::Dtype::kF32 ? 256 : 2048; }
  [[nodiscard]] double rounded(double value) const {
    return model.dtype == model::Dtype::kF32 ? static_cast<double>(static_cast<float>(value))
                                             : value;
  }

  // Slices; each gives its first column.
  Index rows(const std::string& name, const Matrix& features, const Vector& bos,
             std::uint32_t step) {
    Slice& slice = add(name, features.cols(), step);
    slice.features = features;
    slice.bos_value = bos;
    for (Index i = 0; i < features.rows(); ++i) slice.values.push_back(value::make_int(i));
    return slice.begin;
  }
  Index one_hot(const std::string& name, Index values, std::uint32_t step) {
    return rows(name, Matrix::Identity(values, values), Vector::Zero(values), step);
  }
  Index scalar(const std::string& name, std::vector<value::Atom> values, double low, double high,
               double error, double bos, std::uint32_t step) {
    Slice& slice = add(name, 1, step);
    slice.encoding = Slice::Encoding::kScalar;
    slice.values = std::move(values);
    slice.minimum = low;
    slice.maximum = high;
    slice.error = error;
    slice.bos_value = Vector::Constant(1, bos);
    return slice.begin;
  }
  Index tokens() {
    const Index begin = one_hot("tokens", v_, 0);
    for (Index t = 0; t < v_; ++t) model.token_embedding(t, begin + t) = 1;
    return begin;
  }
  Index positions() {
    const Index begin = one_hot("indices", n_, 0);
    for (Index p = 0; p < n_; ++p) model.position_embedding(p + 1, begin + p) = 1;
    return begin;
  }
  Index position_scalar(const std::string& name, double (*f)(double)) {
    std::vector<value::Atom> values;
    for (std::uint32_t p = 1; p <= n_; ++p) values.push_back(value::make_int(std::lround(f(p))));
    const Index begin = scalar(name, values, f(1), f(n_), 0, 0, 0);
    for (std::uint32_t p = 1; p <= n_; ++p) model.position_embedding(p, begin) = f(p);
    return begin;
  }

  // What the embedding puts at every token into a later slice.
  void base(Index column, double value) {
    for (Index t = 0; t < v_; ++t) model.token_embedding(t, column) = value;
  }
  // And at BOS.
  void base_at_bos(Index column, double value) { model.token_embedding(v_, column) = value; }

  model::Head& head(std::size_t layer, Index d_qk, Index d_v) {
    model::Head& made = model.layers[layer].heads.emplace_back();
    made.name = "head";
    made.wq = made.wk = Matrix::Zero(model.d_model, d_qk);
    made.wv = Matrix::Zero(model.d_model, d_v);
    made.wo = Matrix::Zero(d_v, model.d_model);
    return made;
  }

  using Terms = std::vector<std::pair<Index, double>>;  // columns and weights
  void unit(std::size_t layer, const Terms& in, double bias, const Terms& out) {
    model::Mlp& mlp = model.layers[layer].mlp;
    const Index u = mlp.w_in.cols();
    const Index d = model.d_model;
    Matrix w_in = Matrix::Zero(d, u + 1);
    Matrix w_out = Matrix::Zero(u + 1, d);
    Vector b_in(u + 1);
    if (u > 0) {
      w_in.leftCols(u) = mlp.w_in;
      w_out.topRows(u) = mlp.w_out;
      b_in.head(u) = mlp.b_in;
    }
    for (const auto& [column, weight] : in) w_in(column, u) = weight;
    for (const auto& [column, weight] : out) w_out(u, column) = weight;
    b_in[u] = bias;
    mlp = {w_in, b_in, w_out};
  }
  // relu(in - b) - relu(in - b - 1)
  void step(std::size_t layer, const Terms& in, double b, Terms out) {
    unit(layer, in, -b, out);
    for (auto& [column, weight] : out) weight = -weight;
    unit(layer, in, -b - 1, out);
  }

  void argmax(Index begin, Index count) {
    model.unembedding = Matrix::Zero(model.d_model, count);
    for (Index i = 0; i < count; ++i) {
      model.unembedding(begin + i, i) = 1;
      model.decoder.values.push_back(value::make_int(i));
    }
  }
  void decode_codes(Index column, Index count) {
    model.unembedding = Matrix::Zero(model.d_model, 1);
    model.unembedding(column, 0) = 1;
    model.decoder.kind = model::Decoder::Kind::kScalar;
    for (Index i = 0; i < count; ++i) {
      model.decoder.values.push_back(value::make_int(i));
      model.decoder.codes.push_back(value::Number::integer(i));
    }
  }

  // Layers without units get empty matrices.
  Model finish() && {
    for (model::Layer& layer : model.layers) {
      if (layer.mlp.w_in.cols() > 0) continue;
      layer.mlp = {Matrix::Zero(model.d_model, 0), Vector::Zero(0), Matrix::Zero(0, model.d_model)};
    }
    return std::move(model);
  }

  Model model;

 private:
  Slice& add(const std::string& name, Index width, std::uint32_t step) {
    Slice& slice = model.slices.emplace_back();
    slice.name = name;
    slice.begin = model.d_model;
    model.d_model += static_cast<std::uint32_t>(width);
    slice.end = model.d_model;
    slice.first_step = step;
    widen(model.token_embedding, v_ + 1);
    widen(model.position_embedding, n_ + 1);
    return slice;
  }
  void widen(Matrix& matrix, Index rows) const {
    Matrix wider = Matrix::Zero(rows, model.d_model);
    if (matrix.cols() > 0) wider.leftCols(matrix.cols()) = matrix;
    matrix = std::move(wider);
  }
  void flag(const std::string& name, double at_bos, double at_tokens) {
    Slice& slice = add(name, 1, 0);
    slice.encoding = Slice::Encoding::kFlag;
    slice.bos_value = Vector::Constant(1, at_bos);
    base(slice.begin, at_tokens);
    base_at_bos(slice.begin, at_bos);
  }

  Index v_;
  std::uint32_t n_;
};

inline std::vector<value::Atom> whole_numbers(Index count) {
  std::vector<value::Atom> values;
  for (Index i = 0; i < count; ++i) values.push_back(value::make_int(i));
  return values;
}

// How many tokens equal the query's: a sink head.
inline Model histogram(std::size_t v, std::uint32_t n, model::Dtype dtype = model::Dtype::kF32,
                       double error = 1e-2) {
  HandModel hand(v, n, 1, dtype);
  const Index tokens = hand.tokens();
  const Index count = hand.scalar("count", whole_numbers(n + 1), 0, n, error, 0, 1);
  const auto d = static_cast<Index>(v);
  model::Head& head = hand.head(0, d + 1, 1);
  for (Index t = 0; t < d; ++t) {
    head.wq(tokens + t, t) = hand.c();
    head.wk(tokens + t, t) = 1;
  }
  head.wq(kToken, d) = head.wq(kBos, d) = 1;
  head.wk(kBos, d) = hand.c() + 32;
  head.wv(kToken, 0) = 1;
  head.wo(0, count) = hand.rounded(std::exp(32.0));
  hand.decode_codes(count, n + 1);
  return std::move(hand).finish();
}

// The token at position n + 1 - p, or "none": positions one-hot.
inline Model mirror(std::size_t v, std::uint32_t n, model::Dtype dtype = model::Dtype::kF32) {
  HandModel hand(v, n, 1, dtype);
  const auto values = static_cast<Index>(v) + 1;
  const Index tokens = hand.tokens();
  const Index positions = hand.positions();
  const Index out = hand.rows("out", Matrix::Identity(values, values),
                              Matrix::Identity(values, values).row(values - 1), 1);
  model::Head& head = hand.head(0, n + 1, values);
  for (Index p = 0; p < n; ++p) {
    head.wq(positions + p, n - 1 - p) = hand.c();
    head.wk(positions + p, p) = 1;
  }
  head.wq(kToken, n) = head.wq(kBos, n) = 1;
  head.wk(kBos, n) = hand.c() / 2;
  for (Index t = 0; t < values; ++t) {
    head.wv(t + 1 < values ? tokens + t : kBos, t) = 1;
    head.wo(t, out + t) = 1;
  }
  hand.argmax(out, values);
  return std::move(hand).finish();
}

// The token before, or "none": positions as the numbers p and p^2.
inline Model shift(std::size_t v, std::uint32_t n, model::Dtype dtype = model::Dtype::kF32) {
  HandModel hand(v, n, 1, dtype);
  const auto values = static_cast<Index>(v) + 1;
  const Index tokens = hand.tokens();
  const Index p = hand.position_scalar("p", [](double x) { return x; });
  const Index p2 = hand.position_scalar("p^2", [](double x) { return x * x; });
  const Index out = hand.rows("out", Matrix::Identity(values, values),
                              Matrix::Identity(values, values).row(values - 1), 1);
  model::Head& head = hand.head(0, 3, values);
  const double c = hand.c();
  head.wq(p, 0) = 2 * c;  // 2 C (q - 1) k - C k^2, BOS at C (q - 1)^2 - C / 2
  head.wq(kToken, 0) = -2 * c;
  head.wk(p, 0) = 1;
  head.wq(kToken, 1) = -c;
  head.wk(p2, 1) = 1;
  head.wq(p2, 2) = c;
  head.wq(p, 2) = -2 * c;
  head.wq(kToken, 2) = c / 2;
  head.wq(kBos, 2) = c;
  head.wk(kBos, 2) = 1;
  for (Index t = 0; t < values; ++t) {
    head.wv(t + 1 < values ? tokens + t : kBos, t) = 1;
    head.wo(t, out + t) = 1;
  }
  hand.argmax(out, values);
  return std::move(hand).finish();
}

// (token + position) mod 3 as a table of boxes; 0, the commonest, comes from the embedding.
inline Model table(std::size_t v, std::uint32_t n, model::Dtype dtype = model::Dtype::kF32) {
  HandModel hand(v, n, 1, dtype);
  const Index tokens = hand.tokens();
  const Index positions = hand.positions();
  const Index out = hand.one_hot("sum", 3, 2);
  hand.base(out, 1);
  for (Index t = 0; t < static_cast<Index>(v); ++t)
    for (Index p = 0; p < n; ++p)
      if ((t + p) % 3 != 0)
        hand.unit(0, {{tokens + t, 1}, {positions + p, 1}}, -1,
                  {{out, -1}, {out + (t + p) % 3, 1}});
  hand.argmax(out, 3);
  return std::move(hand).finish();
}

// How many tokens equal the query's, as a one-hot: 1 / (w + 1) from a head that shares with BOS,
// then a bank of steps of one slope.
inline Model bank(std::size_t v, std::uint32_t n, model::Dtype dtype = model::Dtype::kF32) {
  HandModel hand(v, n, 1, dtype);
  const Index tokens = hand.tokens();
  std::vector<value::Atom> values;
  for (std::int64_t w = 0; w <= n; ++w) values.push_back(value::Number::rational(1, w + 1));
  const double error = dtype == model::Dtype::kF32 ? 0x1p-23 : 0x1p-51;
  const Index part = hand.scalar("1/(w+1)", values, 1.0 / (n + 1), 1, error, 1, 1);
  const Index out = hand.one_hot("w", n + 1, 2);
  const auto d = static_cast<Index>(v);
  model::Head& head = hand.head(0, d + 1, 1);
  for (Index t = 0; t < d; ++t) {
    head.wq(tokens + t, t) = hand.c();
    head.wk(tokens + t, t) = 1;
  }
  head.wq(kToken, d) = head.wq(kBos, d) = 1;
  head.wk(kBos, d) = hand.c();
  head.wv(kBos, 0) = 1;
  head.wo(0, part) = 1;
  const double slope = std::exp2(std::ceil(std::log2(4.0 * n * (n + 1))));
  for (Index w = 0; w <= n; ++w) {  // on when at most w keys are selected
    if (w == n) {                   // always on, at tokens
      hand.unit(0, {{kToken, 1}}, 0, {{out + n, 1}});
      continue;
    }
    const auto w1 = static_cast<double>(w + 1);
    const double b = std::floor((slope / w1 + slope / (w1 + 1)) / 2 - 0.5);
    hand.step(0, {{part, slope}, {kBos, -2 * slope}}, b, {{out + w, 1}, {out + w + 1, -1}});
  }
  hand.argmax(out, n + 1);
  return std::move(hand).finish();
}

}  // namespace rasp::testing
