// What the checker certifies is true of forward passes: random changes of models, and for each that
// still certifies, passes over random inputs with sums in random orders, every slice held against
// its claim.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>

#include "../support/compiled.h"
#include "compiler/compiler.h"
#include "hand_models.h"

namespace rasp::testing {
namespace {

using model::Dtype;
using Random = std::mt19937_64;

std::size_t draw(Random& random, std::size_t below) {
  return std::uniform_int_distribution<std::size_t>(0, below - 1)(random);
}

// One forward pass in the arithmetic of T, in a random order of every sum that may have any.
template <typename T>
class Forward {
 public:
  using Rows = std::vector<std::vector<T>>;

  Forward(const Model& model, Random& random) : model_(model), random_(random) {}

  // The stream after every step: [2 layers + 1][1 + n][d_model].
  std::vector<Rows> run(const std::vector<Index>& tokens) {
    Rows x;
    for (std::size_t p = 0; p <= tokens.size(); ++p) {
      const Index token = p == 0 ? static_cast<Index>(model_.vocabulary.size()) : tokens[p - 1];
      std::vector<T>& row = x.emplace_back();
      for (Index c = 0; c < model_.d_model; ++c)
        row.push_back(static_cast<T>(model_.token_embedding(token, c)) +
                      static_cast<T>(model_.position_embedding(static_cast<Index>(p), c)));
    }
    std::vector<Rows> steps{x};
    for (const model::Layer& layer : model_.layers) {
      attend(layer, x);
      steps.push_back(x);
      for (std::vector<T>& row : x) feed(layer.mlp, row);
      steps.push_back(x);
    }
    return steps;
  }

  std::vector<T> times(const std::vector<T>& x, const Matrix& w) {
    std::vector<T> y;
    const std::vector<std::size_t> order = shuffled(x.size());  // the same for every column
    for (Index j = 0; j < w.cols(); ++j) {
      T sum = 0;
      for (std::size_t c : order) sum += x[c] * static_cast<T>(w(static_cast<Index>(c), j));
      y.push_back(sum);
    }
    return y;
  }

 private:
  std::vector<std::size_t> shuffled(std::size_t count) {
    std::vector<std::size_t> order(count);
    for (std::size_t i = 0; i < count; ++i) order[i] = i;
    std::ranges::shuffle(order, random_);
    return order;
  }

  void attend(const model::Layer& layer, Rows& x) {
    const Rows before = x;
    for (const model::Head& head : layer.heads) {
      Rows keys, values;
      for (const std::vector<T>& row : before) {
        keys.push_back(times(row, head.wk));
        values.push_back(times(row, head.wv));
      }
      for (std::size_t p = 0; p < x.size(); ++p) {
        const std::vector<T> out = softmax(times(before[p], head.wq), keys, values, p);
        const std::vector<T> added = times(out, head.wo);
        for (std::size_t c = 0; c < added.size(); ++c) x[p][c] += added[c];
      }
    }
  }

  std::vector<T> softmax(const std::vector<T>& query, const Rows& keys, const Rows& values,
                         std::size_t p) {
    const std::size_t seen = model_.causal ? p + 1 : keys.size();
    std::vector<T> logits;
    for (std::size_t k = 0; k < seen; ++k) {
      T logit = 0;
      for (std::size_t j : shuffled(query.size())) logit += query[j] * keys[k][j];
      logits.push_back(logit * static_cast<T>(model_.attention_scale));
    }
    const T most = *std::ranges::max_element(logits);
    std::vector<T> out(values[0].size());
    T total = 0;
    for (std::size_t k : shuffled(seen)) {
      const T weight = std::exp(logits[k] - most);
      total += weight;
      for (std::size_t j = 0; j < out.size(); ++j) out[j] += weight * values[k][j];
    }
    for (T& value : out) value /= total;
    return out;
  }

  void feed(const model::Mlp& mlp, std::vector<T>& row) {
    std::vector<T> hidden = times(row, mlp.w_in);
    std::vector<T> sum(row.size());
    for (std::size_t u = 0; u < hidden.size(); ++u) {
      const auto i = static_cast<Index>(u);
      hidden[u] = std::max<T>(0, hidden[u] + static_cast<T>(mlp.b_in[i]));
      for (std::size_t c = 0; c < sum.size(); ++c)
        sum[c] += hidden[u] * static_cast<T>(mlp.w_out(i, static_cast<Index>(c)));
    }
    for (std::size_t c = 0; c < sum.size(); ++c) row[c] += sum[c];
  }

  const Model& model_;
  Random& random_;
};

template <typename Row>
bool is_row(const Row& row, const Slice& slice, const Matrix& rows, Index i) {
  for (Index c = 0; c < rows.cols(); ++c)
    if (static_cast<double>(row[slice.begin + static_cast<std::size_t>(c)]) != rows(i, c))
      return false;
  return true;
}

// Whether the columns at a token are what the slice claims.
template <typename Row>
bool claimed(const Row& row, const Slice& slice) {
  if (slice.encoding == Slice::Encoding::kFlag) return true;
  if (slice.encoding != Slice::Encoding::kScalar) {
    for (Index i = 0; i < slice.features.rows(); ++i)
      if (is_row(row, slice, slice.features, i)) return true;
    return false;
  }
  const auto x = static_cast<long double>(row[slice.begin]);
  if (!(x >= slice.minimum - slice.error && x <= slice.maximum + slice.error)) return false;
  for (const value::Atom& atom : slice.values) {
    const auto number = value::to_number(atom)->to_fraction();
    const long double value =
        static_cast<long double>(number->num) / static_cast<long double>(number->den);
    if (std::abs(x - value) <= slice.error) return true;
  }
  return slice.values.empty();
}

// Whether an output leaves no doubt: a best value, or a code near by.
template <typename T>
bool clear_output(const Model& model, const std::vector<T>& y) {
  const model::Decoder& decoder = model.decoder;
  if (decoder.kind == model::Decoder::Kind::kArgmax) {
    std::vector<T> sorted(y.begin(),
                          y.begin() + static_cast<std::ptrdiff_t>(decoder.values.size()));
    std::ranges::sort(sorted, std::greater<>());
    return sorted.size() < 2 || sorted[0] - sorted[1] > T{0.375};
  }
  std::vector<double> distances;
  for (const value::Number& code : decoder.codes)
    distances.push_back(std::abs(code.to_double() - static_cast<double>(y[0])));
  std::ranges::sort(distances);
  return distances.size() < 2 || distances[0] < 0.9 * distances[1];
}

// The first slice that is not what it claims, over random inputs.
template <typename T>
std::optional<std::string> broken_claim(const Model& model, Random& random, int inputs) {
  for (int i = 0; i < inputs; ++i) {
    std::vector<Index> tokens(1 + draw(random, model.max_length));
    for (Index& token : tokens) token = static_cast<Index>(draw(random, model.vocabulary.size()));
    const auto steps = Forward<T>(model, random).run(tokens);
    for (std::size_t step = 0; step < steps.size(); ++step) {
      for (const Slice& slice : model.slices) {
        if (slice.first_step > step) continue;
        if (!is_row(steps[step][0], slice, Matrix(slice.bos_value), 0))
          return slice.name + " at BOS";
        for (std::size_t p = 1; p <= tokens.size(); ++p)
          if (!claimed(steps[step][p], slice)) return slice.name + " at a token";
      }
    }
    Forward<T> forward(model, random);
    for (std::size_t p = 1; p <= tokens.size(); ++p)
      if (!clear_output(model, forward.times(steps.back()[p], model.unembedding))) return "output";
  }
  return std::nullopt;
}

std::optional<std::string> broken_claim(const Model& model, Random& random, int inputs) {
  return model.dtype == Dtype::kF32 ? broken_claim<float>(model, random, inputs)
                                    : broken_claim<double>(model, random, inputs);
}

double changed(double weight, Dtype dtype, Random& random) {
  const double factors[] = {0, -1, 0.5, 2, 0.875, 1.5, 1.0009765625, 3};
  const std::size_t kind = draw(random, 14);
  if (kind < 8) weight *= factors[kind];
  if (kind == 8) weight = std::nextafter(static_cast<float>(weight), 1e9f);
  if (kind == 9) weight += 1;
  if (kind == 10) weight -= 1;
  if (kind == 11) weight += 0.5;
  if (kind == 12) weight += 256;
  if (kind == 13) weight = dtype == Dtype::kF64 ? std::nextafter(weight, 1e9) : weight + 2;
  return dtype == Dtype::kF32 ? static_cast<double>(static_cast<float>(weight)) : weight;
}

void change_entry(Matrix& matrix, Dtype dtype, Random& random) {
  if (matrix.size() == 0) return;
  double* entry = nullptr;
  for (int tries = 0; tries < 50; ++tries) {  // zeros are most of the entries
    entry = matrix.data() + draw(random, static_cast<std::size_t>(matrix.size()));
    if (*entry != 0 || draw(random, 20) == 0) break;
  }
  *entry = changed(*entry, dtype, random);
}

void change_claim(Slice& slice, Dtype dtype, Random& random) {
  switch (draw(random, 5)) {
    case 0:
      slice.error *= draw(random, 2) == 0 ? 0.5 : 0.01;
      break;
    case 1:
      if (!slice.values.empty())
        slice.values.erase(slice.values.begin() +
                           static_cast<std::ptrdiff_t>(draw(random, slice.values.size())));
      break;
    case 2:
      change_entry(slice.features, dtype, random);
      break;
    case 3:
      slice.bos_value[0] += 1;
      break;
    default:
      slice.maximum -= 1;
      break;
  }
}

void change_model(Model& model, Random& random) {
  if (model.layers.empty()) return change_entry(model.position_embedding, model.dtype, random);
  model::Layer& layer = model.layers[draw(random, model.layers.size())];
  Matrix b_in = layer.mlp.b_in;
  std::vector<Matrix*> matrices = {&model.token_embedding, &model.position_embedding,
                                   &layer.mlp.w_in, &layer.mlp.w_out, &b_in};
  for (model::Head& head : layer.heads)
    matrices.insert(matrices.end(), {&head.wq, &head.wk, &head.wv, &head.wo});
  const std::size_t which = draw(random, matrices.size() + 1);
  if (which == matrices.size()) {
    change_claim(model.slices[draw(random, model.slices.size())], model.dtype, random);
  } else {
    change_entry(*matrices[which], model.dtype, random);
  }
  layer.mlp.b_in = b_in.row(0);
}

// Queries that select unequal values leave rows undefined, and the checker says that it relies on
// nobody reading them: such models are left out.
bool relies_on_undefined(const model::Certificate& certificate) {
  return std::ranges::any_of(certificate.lines, [](const model::CertificateLine& line) {
    return line.detail.find("undefined") != std::string::npos;
  });
}

TEST(CertifyForward, HandModelsKeepTheirClaims) {
  Random random(1);
  for (Dtype dtype : {Dtype::kF32, Dtype::kF64})
    for (const Model& model : {histogram(4, 30, dtype), mirror(3, 9, dtype), shift(3, 9, dtype),
                               table(4, 7, dtype), bank(3, 20, dtype)})
      EXPECT_EQ(broken_claim(model, random, 100), std::nullopt);
}

// What changes do to a model: how many still certify, and how many of those that do not have an
// input that shows why.
struct Tally {
  int certified = 0;
  int refused = 0;
  int rightly = 0;
};

void try_change(const Model& model, Random& random, int inputs, Tally& tally) {
  Model changed = model;
  change_model(changed, random);
  const model::Certificate certificate = compiler::certify(changed);
  if (certificate.holds && relies_on_undefined(certificate)) return;
  const auto broken = broken_claim(changed, random, inputs);
  if (!certificate.holds) {
    ++tally.refused;
    tally.rightly += broken.has_value() ? 1 : 0;
    return;
  }
  ++tally.certified;
  EXPECT_EQ(broken, std::nullopt);
}

// Compiled programs, each with a head, a bank or a table of its own kind.
const std::vector<std::pair<std::string, std::string>>& programs() {
  static const std::vector<std::pair<std::string, std::string>> all = {
      {"reverse", "r = aggregate(select(indices, length - indices - 1, ==), tokens);"},
      {"count", "r = selector_width(select(tokens, tokens, ==)) * indices;"},
      {"fractions", "r = aggregate(select(indices, indices, <=), indicator(tokens == \"1\"));"},
      {"thirds", "r = round(aggregate(select(tokens, tokens, ==), indices / 3) * 2);"},
      {"exists", "r = has_focus(select(tokens_int, indices, ==)) and indices > 1;"},
      {"nested",
       "r = aggregate(select(indices, indices - 1, ==), "
       "selector_width(select(tokens, tokens, <)), 5);"},
      {"length", "r = (indices + 1) / length - tokens_int;"},
      {"sum", "r = (indices + 1) * aggregate(select(indices, indices, <=), tokens_int);"},
  };
  return all;
}

Model compiled(const std::string& program, bool causal, Dtype dtype) {
  compiler::Options options;
  options.vocabulary = value::characters("012");
  options.max_length = 5;
  options.causal = causal;
  options.dtype = dtype;
  const test::Source source(program, "r");
  EXPECT_EQ(source.why(), "") << program;
  const auto result = source.compile(options);
  EXPECT_TRUE(result) << program << ": " << (result ? "" : result.error().message);
  return result ? result->model : Model{};
}

TEST(CertifyForward, CompiledModelsKeepTheirClaims) {
  Random random(3);
  Tally tally;
  for (const auto& [name, program] : programs()) {
    for (const bool causal : {false, true}) {
      for (const Dtype dtype : {Dtype::kF32, Dtype::kF64}) {
        SCOPED_TRACE(name + (causal ? ", causal" : ""));
        const Model model = compiled(program, causal, dtype);
        if (model.d_model == 0) continue;
        EXPECT_FALSE(relies_on_undefined(model.certificate)) << "not a program for this test";
        EXPECT_EQ(broken_claim(model, random, 50), std::nullopt);
        for (int i = 0; i < 40; ++i) try_change(model, random, 10, tally);
      }
    }
  }
  EXPECT_GT(tally.certified, 100);
  EXPECT_GT(tally.refused, 300);
  EXPECT_GT(tally.rightly, tally.refused / 4);
}

TEST(CertifyForward, WhatStillCertifiesKeepsItsClaims) {
  Random random(2);
  Tally tally;
  for (int round = 0; round < 300; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    const Dtype dtype = round % 4 == 3 ? Dtype::kF64 : Dtype::kF32;
    for (const Model& model : {histogram(3, 6, dtype), mirror(2, 5, dtype), shift(2, 5, dtype),
                               table(3, 4, dtype), bank(2, 6, dtype)})
      try_change(model, random, 20, tally);
  }
  EXPECT_GT(tally.certified, 200);
  EXPECT_GT(tally.refused, 500);
  EXPECT_GT(tally.rightly, tally.refused / 2);
}

}  // namespace
}  // namespace rasp::testing
