#include "runtime/reference/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rasp::runtime::reference {
namespace {

using Row = std::vector<double>;

double position_of_query(const AttentionShape& shape, std::size_t query) {
  return static_cast<double>(query) + static_cast<double>(shape.kv_len) -
         static_cast<double>(shape.q_len);
}

Row rotated(const double* x, std::size_t d, double position, const std::optional<Rope>& rope) {
  Row y(x, x + d);
  if (!rope) return y;
  for (std::size_t i = 0; i < d / 2; ++i) {
    const double angle =
        position * std::pow(rope->base, -2.0 * static_cast<double>(i) / static_cast<double>(d));
    const std::size_t a = rope->interleaved ? 2 * i : i;
    const std::size_t b = rope->interleaved ? 2 * i + 1 : i + d / 2;
    y[a] = x[a] * std::cos(angle) - x[b] * std::sin(angle);
    y[b] = x[a] * std::sin(angle) + x[b] * std::cos(angle);
  }
  return y;
}

double feature(double x, const AttentionSpec& spec) {
  if (spec.feature != nullptr) return spec.feature(x);
  return x > 0 ? x + 1 : std::exp(x);
}

// weights [hidden, x.size()] times x
Row projected(const Row& x, const std::vector<double>& weights) {
  Row y(weights.size() / x.size(), 0.0);
  for (std::size_t h = 0; h < y.size(); ++h)
    for (std::size_t i = 0; i < x.size(); ++i) y[h] += weights[h * x.size() + i] * x[i];
  return y;
}

// A row as scores read it: rotated to its position, and for additive scores projected, for linear
// attention mapped.
Row prepared(const double* x, std::size_t d, double position, const AttentionSpec& spec,
             const std::vector<double>& additive) {
  Row y = rotated(x, d, position, spec.rope);
  if (spec.score == Score::kAdditive) y = projected(y, additive);
  if (spec.normaliser == Normaliser::kLinear)
    for (double& value : y) value = feature(value, spec);
  return y;
}

// Of prepared rows. For linear attention the weight itself.
double score(const Row& q, const Row& k, const AttentionSpec& spec, std::size_t d) {
  double sum = 0;
  switch (spec.score) {
    case Score::kDot:
      for (std::size_t i = 0; i < q.size(); ++i) sum += q[i] * k[i];
      if (spec.normaliser == Normaliser::kLinear) return sum;
      return sum * spec.scale.value_or(1 / std::sqrt(static_cast<double>(d)));
    case Score::kGaussian:
      for (std::size_t i = 0; i < q.size(); ++i) sum += (q[i] - k[i]) * (q[i] - k[i]);
      return -sum / (2 * spec.sigma * spec.sigma);
    case Score::kAdditive:
      for (std::size_t h = 0; h < q.size(); ++h) sum += spec.additive.v[h] * std::tanh(q[h] + k[h]);
      return sum;
  }
  return sum;
}

template <typename T>
double entry(const View<const T>& view, std::size_t b, std::size_t h, std::size_t i,
             std::size_t j) {
  return static_cast<double>(view.row(view.batch == 1 ? 0 : b, view.heads == 1 ? 0 : h, i)[j]);
}

bool all_finite(const double* x, std::size_t count) {
  return std::all_of(x, x + count, [](double value) { return std::isfinite(value); });
}

// What one query makes of the keys it sees.
struct Scores {
  std::vector<std::size_t> keys;
  Row values;             // one a key: scores, or for linear attention phi(q) . phi(k)
  bool poisoned = false;  // q or a key that it sees is not finite
};

struct Place {
  std::size_t batch, head, query;
};

Scores scores_of(const View<const double>& q, const View<const double>& k,
                 const std::vector<Row>& keys, const AttentionSpec& spec,
                 const AttentionShape& shape, const Row& slopes, const Place& at) {
  Scores scores;
  const auto [b, h, i] = at;
  const double* q_row = q.row(b, h, i);
  const double position = position_of_query(shape, i);
  const Row query = prepared(q_row, shape.d, position, spec, spec.additive.wq);
  const KeyRange range = visible_keys(spec, shape, b, i);
  for (std::size_t j = range.begin; j < range.end; ++j) {
    if (spec.mask && entry(*spec.mask, b, h, i, j) == 0) continue;
    const double bias = spec.bias ? entry(*spec.bias, b, h, i, j) : 0;
    if (bias == -std::numeric_limits<double>::infinity()) continue;
    const double* k_row = k.row(b, h / (shape.q_heads / shape.kv_heads), j);
    scores.keys.push_back(j);
    scores.poisoned = scores.poisoned || !all_finite(k_row, shape.d) || !std::isfinite(bias) ||
                      !all_finite(q_row, shape.d);
    double value = score(query, keys[j], spec, shape.d) + bias;
    if (spec.alibi) value -= slopes[h] * std::abs(position - static_cast<double>(j));
    scores.values.push_back(value);
  }
  return scores;
}

// Weights that are not yet divided by their sum.
Row unnormalised(const Scores& scores, Normaliser normaliser) {
  Row weights = scores.values;
  if (normaliser == Normaliser::kLinear || weights.empty()) return weights;
  const double top = *std::max_element(weights.begin(), weights.end());
  for (double& weight : weights)
    weight = normaliser == Normaliser::kHard ? (weight == top ? 1.0 : 0.0) : std::exp(weight - top);
  return weights;
}

// Calls visit(place, keys, weights, sum, poisoned) for every row.
template <typename Visit>
void for_each_row(const View<const double>& q, const View<const double>& k,
                  const AttentionSpec& spec, const AttentionShape& shape, Visit&& visit) {
  Row slopes = spec.alibi ? spec.alibi->slopes : Row{};
  if (spec.alibi && slopes.empty()) slopes = default_alibi_slopes(shape.q_heads);
  for (std::size_t b = 0; b < shape.batch; ++b)
    for (std::size_t h = 0; h < shape.q_heads; ++h) {
      std::vector<Row> keys;
      for (std::size_t j = 0; j < shape.kv_len; ++j)
        keys.push_back(prepared(k.row(b, h / (shape.q_heads / shape.kv_heads), j), shape.d,
                                static_cast<double>(j), spec, spec.additive.wk));
      for (std::size_t i = 0; i < shape.q_len; ++i) {
        const Place at{b, h, i};
        const Scores scores = scores_of(q, k, keys, spec, shape, slopes, at);
        const Row row = unnormalised(scores, spec.normaliser);
        double sum = 0;
        for (const double weight : row) sum += weight;
        visit(at, scores.keys, row, sum, scores.poisoned);
      }
    }
}

}  // namespace

Result<std::vector<double>> weights(const View<const double>& q, const View<const double>& k,
                                    const AttentionSpec& spec) {
  View<const double> out = q;
  out.dim = k.dim;
  RASP_TRY(const AttentionShape shape, check_attention(q, k, k, spec, out));
  std::vector<double> all(shape.batch * shape.q_heads * shape.q_len * shape.kv_len, 0.0);
  for_each_row(q, k, spec, shape,
               [&](const Place& at, const std::vector<std::size_t>& keys, const Row& row,
                   double sum, bool poisoned) {
                 double* line =
                     all.data() +
                     ((at.batch * shape.q_heads + at.head) * shape.q_len + at.query) * shape.kv_len;
                 for (std::size_t n = 0; n < keys.size(); ++n)
                   line[keys[n]] = poisoned ? std::nan("") : sum == 0 ? 0 : row[n] / sum;
               });
  return all;
}

Result<void> attention(const View<const double>& q, const View<const double>& k,
                       const View<const double>& v, const AttentionSpec& spec,
                       const View<double>& out) {
  RASP_TRY(const AttentionShape shape, check_attention<double>(q, k, v, spec, out));
  const std::size_t group = shape.q_heads / shape.kv_heads;
  for_each_row(q, k, spec, shape,
               [&](const Place& at, const std::vector<std::size_t>& keys, const Row& row,
                   double sum, bool poisoned) {
                 double* y = out.row(at.batch, at.head, at.query);
                 std::fill(y, y + shape.d_v, 0.0);
                 for (std::size_t n = 0; n < keys.size(); ++n) {
                   const double* value = v.row(at.batch, at.head / group, keys[n]);
                   poisoned = poisoned || !all_finite(value, shape.d_v);
                   for (std::size_t c = 0; c < shape.d_v; ++c) y[c] += row[n] * value[c];
                 }
                 for (std::size_t c = 0; c < shape.d_v; ++c)
                   y[c] = poisoned ? std::nan("") : sum == 0 ? 0 : y[c] / sum;
               });
  return {};
}

}  // namespace rasp::runtime::reference
