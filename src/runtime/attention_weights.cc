// The matrix itself is for looking at: the reference computes it, in double precision.
#include "runtime/attention.h"
#include "runtime/reference/attention.h"

namespace rasp::runtime {
namespace {

std::vector<double> widened(const View<const float>& view) {
  std::vector<double> wide;
  wide.reserve(view.batch * view.heads * view.length * view.dim);
  for (std::size_t b = 0; b < view.batch; ++b)
    for (std::size_t h = 0; h < view.heads; ++h)
      for (std::size_t i = 0; i < view.length; ++i)
        wide.insert(wide.end(), view.row(b, h, i), view.row(b, h, i) + view.dim);
  return wide;
}

View<const double> packed_as(const View<const float>& view, const std::vector<double>& wide) {
  return packed(wide.data(), view.batch, view.heads, view.length, view.dim);
}

}  // namespace

template <>
Result<std::vector<double>> attention_weights(const View<const double>& q,
                                              const View<const double>& k,
                                              const AttentionSpec& spec) {
  return reference::weights(q, k, spec);
}

template <>
Result<std::vector<float>> attention_weights(const View<const float>& q, const View<const float>& k,
                                             const AttentionSpec& spec) {
  const std::vector<double> wide_q = widened(q);
  const std::vector<double> wide_k = widened(k);
  RASP_TRY(const std::vector<double> weights,
           reference::weights(packed_as(q, wide_q), packed_as(k, wide_k), spec));
  std::vector<float> narrow(weights.size());
  for (std::size_t i = 0; i < weights.size(); ++i) narrow[i] = static_cast<float>(weights[i]);
  return narrow;
}

}  // namespace rasp::runtime
