#include "visual/cost.h"

#include <cmath>
#include <vector>

#include "visual/text.h"

namespace rasp::visual {
namespace {

using model::Matrix;

struct Weights {
  double shape = 0, nonzero = 0;
  void add(const Matrix& matrix) {
    shape += static_cast<double>(matrix.size());
    nonzero += static_cast<double>((matrix.array() != 0).count());
  }
};

Formula operator+(const Formula& a, const Formula& b) {
  return {a.squared + b.squared, a.linear + b.linear, a.constant + b.constant};
}
Formula operator*(double factor, const Formula& a) {
  return {factor * a.squared, factor * a.linear, factor * a.constant};
}

std::string number_text(double value) {
  char text[64];
  const bool whole = value == std::floor(value);
  std::snprintf(text, sizeof text, whole ? "%.0f" : "%.1f", value);
  return text;
}

std::string seconds_text(double seconds) { return real_text(seconds) + " s"; }

}  // namespace

std::string formula_text(const Formula& formula) {
  std::string text;
  const auto add = [&text](double factor, const std::string& power) {
    if (factor == 0) return;
    text += text.empty() ? "" : " + ";
    text += factor == 1 && !power.empty() ? power
            : power.empty()               ? number_text(factor)
                                          : number_text(factor) + " " + power;
  };
  add(formula.squared, "n^2");
  add(formula.linear, "n");
  add(formula.constant, "");
  return text.empty() ? "0" : text;
}

Cost cost_of(const model::Model& model) {
  Weights row;           // for every position
  Weights unembedding;   // for every token
  double attention = 0;  // for every pair of a query and a key
  unembedding.add(model.unembedding);
  for (const model::Layer& layer : model.layers) {
    for (const model::Head& head : layer.heads) {
      for (const Matrix* matrix : {&head.wq, &head.wk, &head.wv, &head.wo}) row.add(*matrix);
      attention += static_cast<double>(head.wk.cols() + head.wv.cols());
    }
    row.add(layer.mlp.w_in);
    row.add(layer.mlp.w_out);
  }
  const Formula rows{0, 1, 1};  // BOS is one
  const Formula tokens{0, 1, 0};
  const Formula one{0, 0, 1};
  const Formula pairs = model.causal ? Formula{0.5, 1.5, 1} : Formula{1, 2, 1};
  const double item = model.dtype == model::Dtype::kF32 ? sizeof(float) : sizeof(double);
  Cost cost;
  cost.forward = row.shape * rows + unembedding.shape * tokens + attention * pairs;
  cost.forward_nonzero = row.nonzero * rows + unembedding.nonzero * tokens + attention * pairs;
  cost.cache_bytes = item * attention * rows;
  cost.token = (row.shape + unembedding.shape) * one + attention * rows;
  cost.token_nonzero = (row.nonzero + unembedding.nonzero) * one + attention * rows;
  return cost;
}

std::string cost_text(const model::Model& model, std::size_t n, const MeasuredCost& measured) {
  const Cost cost = cost_of(model);
  const auto at = static_cast<double>(n);
  std::vector<std::vector<std::string>> rows{
      {"", "of n tokens and BOS", "n = " + std::to_string(n), "measured"}};
  const auto add = [&](const std::string& what, const Formula& formula, const std::string& found) {
    rows.push_back({what, formula_text(formula), number_text(formula.at(at)), found});
  };
  add("forward pass, multiply-adds", cost.forward,
      measured.forward_seconds < 0 ? "" : seconds_text(measured.forward_seconds));
  add("  weights that are not 0", cost.forward_nonzero, "");
  if (model.causal) {
    add("one decoded token, multiply-adds", cost.token,
        measured.token_seconds < 0 ? "" : seconds_text(measured.token_seconds));
    add("  weights that are not 0", cost.token_nonzero, "");
    add("KV cache, bytes", cost.cache_bytes,
        measured.cache_bytes < 0 ? "" : number_text(measured.cache_bytes));
  }
  if (measured.forward_seconds < 0)
    for (auto& row : rows) row.pop_back();
  return "cost\n" + table(rows, "  ");
}

}  // namespace rasp::visual
