// What attention means before any kernel runs: sizes, choices, visible keys, slopes.
#include <algorithm>
#include <cmath>
#include <string>

#include "runtime/attention.h"

namespace rasp::runtime {
namespace {

tl::unexpected<Diagnostic> refuse(const std::string& what, std::string hint = {}) {
  return fail(ErrorKind::kInput, {}, "attention: " + what, std::move(hint));
}

std::string sizes(std::size_t batch, std::size_t heads, std::size_t length, std::size_t dim) {
  std::string text = "[";
  text += std::to_string(batch) + ", " + std::to_string(heads) + ", " + std::to_string(length) +
          ", " + std::to_string(dim) + "]";
  return text;
}

template <typename T>
std::string sizes(const View<T>& view) {
  return sizes(view.batch, view.heads, view.length, view.dim);
}

template <typename T>
Result<AttentionShape> shape_of(const View<const T>& q, const View<const T>& k,
                                const View<const T>& v, const View<const T>& out) {
  if (q.batch != k.batch || q.batch != v.batch)
    return refuse("q " + sizes(q) + ", k " + sizes(k) + " and v " + sizes(v) +
                  " differ in batch size");
  if (q.dim == 0 || q.dim != k.dim)
    return refuse("q " + sizes(q) + " and k " + sizes(k) + " differ in head size, or it is 0");
  if (k.heads != v.heads || k.length != v.length)
    return refuse("k " + sizes(k) + " and v " + sizes(v) + " differ in heads or length");
  if (k.heads == 0 || q.heads % k.heads != 0)
    return refuse(std::to_string(q.heads) + " query heads are not a multiple of " +
                  std::to_string(k.heads) + " key heads");
  if (out.batch != q.batch || out.heads != q.heads || out.length != q.length || out.dim != v.dim)
    return refuse("out is " + sizes(out) + ", expected " +
                  sizes(q.batch, q.heads, q.length, v.dim));
  return AttentionShape{q.batch, q.heads, k.heads, q.length, k.length, q.dim, v.dim};
}

template <typename T>
Result<void> check_per_pair(const char* name, const std::optional<View<T>>& view,
                            const AttentionShape& shape) {
  if (!view) return {};
  const bool fits = (view->batch == shape.batch || view->batch == 1) &&
                    (view->heads == shape.q_heads || view->heads == 1) &&
                    view->length == shape.q_len && view->dim == shape.kv_len;
  if (fits) return {};
  return refuse(std::string("the ") + name + " is " + sizes(*view) + ", expected " +
                sizes(shape.batch, shape.q_heads, shape.q_len, shape.kv_len) +
                ", where batch and heads may be 1");
}

Result<void> check_masks(const AttentionSpec& spec, const AttentionShape& shape) {
  RASP_CHECK_OK(check_per_pair("mask", spec.mask, shape));
  RASP_CHECK_OK(check_per_pair("bias", spec.bias, shape));
  if (!spec.lengths.empty() && spec.lengths.size() != shape.batch)
    return refuse(std::to_string(spec.lengths.size()) + " lengths for a batch of " +
                  std::to_string(shape.batch));
  for (const std::size_t length : spec.lengths)
    if (length > shape.kv_len)
      return refuse("a length of " + std::to_string(length) + " for " +
                    std::to_string(shape.kv_len) + " keys");
  return {};
}

Result<void> check_score(const AttentionSpec& spec, const AttentionShape& shape) {
  if (spec.scale && (spec.score != Score::kDot || !std::isfinite(*spec.scale)))
    return refuse("a scale must be finite, and only dot products have one");
  if (spec.score == Score::kGaussian && !(spec.sigma > 0 && std::isfinite(spec.sigma)))
    return refuse("sigma is " + std::to_string(spec.sigma) + ", expected a positive number");
  const AdditiveWeights& additive = spec.additive;
  if (spec.score == Score::kAdditive &&
      (additive.hidden == 0 || additive.wq.size() != additive.hidden * shape.d ||
       additive.wk.size() != additive.hidden * shape.d || additive.v.size() != additive.hidden))
    return refuse("the additive score has " + std::to_string(additive.wq.size()) + " and " +
                  std::to_string(additive.wk.size()) + " weights and " +
                  std::to_string(additive.v.size()) + " in v, expected " +
                  std::to_string(additive.hidden) + " times " + std::to_string(shape.d) +
                  ", twice, and " + std::to_string(additive.hidden) + ", at least 1");
  return {};
}

Result<void> check_positions(const AttentionSpec& spec, const AttentionShape& shape) {
  if (spec.rope && shape.d % 2 != 0)
    return refuse("RoPE rotates pairs, but the head size is " + std::to_string(shape.d));
  if (spec.rope && !(spec.rope->base > 0 && std::isfinite(spec.rope->base)))
    return refuse("the base of RoPE is " + std::to_string(spec.rope->base));
  if (spec.alibi && !spec.alibi->slopes.empty() && spec.alibi->slopes.size() != shape.q_heads)
    return refuse(std::to_string(spec.alibi->slopes.size()) + " ALiBi slopes for " +
                  std::to_string(shape.q_heads) + " heads");
  return {};
}

// Linear attention forms no scores, so nothing that acts on scores can go with it.
Result<void> check_linear(const AttentionSpec& spec) {
  if (spec.normaliser != Normaliser::kLinear) {
    if (spec.feature != nullptr) return refuse("only linear attention has a feature map");
    return {};
  }
  if (spec.score != Score::kDot || spec.scale || spec.alibi || spec.bias || spec.mask ||
      spec.left || spec.right)
    return refuse(
        "linear attention forms no scores: it takes no other score, scale, ALiBi, bias, mask or "
        "window",
        "causal, lengths and RoPE go with it");
  return {};
}

}  // namespace

template <typename T>
Result<AttentionShape> check_attention(const View<const T>& q, const View<const T>& k,
                                       const View<const T>& v, const AttentionSpec& spec,
                                       const View<const T>& out) {
  RASP_TRY(const AttentionShape shape, shape_of(q, k, v, out));
  RASP_CHECK_OK(check_masks(spec, shape));
  RASP_CHECK_OK(check_score(spec, shape));
  RASP_CHECK_OK(check_positions(spec, shape));
  RASP_CHECK_OK(check_linear(spec));
  return shape;
}

template Result<AttentionShape> check_attention(const View<const float>&, const View<const float>&,
                                                const View<const float>&, const AttentionSpec&,
                                                const View<const float>&);
template Result<AttentionShape> check_attention(const View<const double>&,
                                                const View<const double>&,
                                                const View<const double>&, const AttentionSpec&,
                                                const View<const double>&);

template Result<AttentionShape> check_attention(const View<const BFloat16>&,
                                                const View<const BFloat16>&,
                                                const View<const BFloat16>&, const AttentionSpec&,
                                                const View<const BFloat16>&);

std::vector<double> default_alibi_slopes(std::size_t heads) {
  std::size_t power = 1;
  while (power * 2 <= heads) power *= 2;
  std::vector<double> slopes;
  for (std::size_t i = 1; i <= std::min(power, heads); ++i)
    slopes.push_back(std::exp2(-8.0 * static_cast<double>(i) / static_cast<double>(power)));
  for (std::size_t i = 1; slopes.size() < heads; i += 2)
    slopes.push_back(std::exp2(-8.0 * static_cast<double>(i) / static_cast<double>(2 * power)));
  return slopes;
}

KeyRange visible_keys(const AttentionSpec& spec, const AttentionShape& shape, std::size_t batch,
                      std::size_t query) {
  // The position may be negative: the first queries of many see nothing when there are few keys.
  const auto position = static_cast<std::ptrdiff_t>(query) +
                        static_cast<std::ptrdiff_t>(shape.kv_len) -
                        static_cast<std::ptrdiff_t>(shape.q_len);
  const auto most =
      static_cast<std::ptrdiff_t>(spec.lengths.empty() ? shape.kv_len : spec.lengths[batch]);
  const auto reach = [&](std::size_t keys) {  // no window reaches beyond all keys
    return static_cast<std::ptrdiff_t>(std::min(keys, shape.kv_len + shape.q_len));
  };
  std::ptrdiff_t begin = 0;
  std::ptrdiff_t end = most;
  if (spec.causal) end = std::min(end, position + 1);
  if (spec.right) end = std::min(end, position + reach(*spec.right) + 1);
  if (spec.left) begin = std::max(begin, position - reach(*spec.left));
  if (end <= begin) return {0, 0};
  return {static_cast<std::size_t>(begin), static_cast<std::size_t>(end)};
}

}  // namespace rasp::runtime
