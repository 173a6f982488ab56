#include "runtime/multi_head.h"

#include <string>

namespace rasp::runtime {
namespace {

tl::unexpected<Diagnostic> refuse(const std::string& what) {
  return fail(ErrorKind::kInput, {}, "multi-head attention: " + what);
}

template <typename T>
std::string sizes(const RowMatrix<T>& matrix) {
  std::string text = "[";
  text += std::to_string(matrix.rows()) + ", " + std::to_string(matrix.cols()) + "]";
  return text;
}

template <typename T>
Result<void> check_product(const char* name, const RowMatrix<T>& x, const RowMatrix<T>& w,
                           std::size_t heads) {
  if (x.cols() == w.rows() && heads != 0 && w.cols() % static_cast<Eigen::Index>(heads) == 0)
    return {};
  return refuse(std::string(name) + " is " + sizes(w) + " for rows of " + std::to_string(x.cols()) +
                " and " + std::to_string(heads) + " heads");
}

// Heads side by side in a row.
template <typename T, typename Matrix>
View<T> head_view(Matrix& matrix, std::size_t heads) {
  const auto width = static_cast<std::size_t>(matrix.cols());
  const auto dim = static_cast<std::ptrdiff_t>(width / heads);
  return {matrix.data(), 1, heads, static_cast<std::size_t>(matrix.rows()),
          width / heads, 0, dim,   static_cast<std::ptrdiff_t>(width)};
}

}  // namespace

template <typename T>
Result<RowMatrix<T>> multi_head(Attention& attention, const RowMatrix<T>& x,
                                const RowMatrix<T>& source, const MultiHeadWeights<T>& weights,
                                const AttentionSpec& spec) {
  RASP_CHECK_OK(check_product("Wq", x, weights.wq, weights.q_heads));
  RASP_CHECK_OK(check_product("Wk", source, weights.wk, weights.kv_heads));
  RASP_CHECK_OK(check_product("Wv", source, weights.wv, weights.kv_heads));
  const RowMatrix<T> q = x * weights.wq;
  const RowMatrix<T> k = source * weights.wk;
  const RowMatrix<T> v = source * weights.wv;
  const auto d_v = v.cols() / static_cast<Eigen::Index>(weights.kv_heads);
  RowMatrix<T> mixed(x.rows(), static_cast<Eigen::Index>(weights.q_heads) * d_v);
  if (mixed.cols() != weights.wo.rows())
    return refuse("Wo is " + sizes(weights.wo) + ", expected " + std::to_string(mixed.cols()) +
                  " rows");
  RASP_CHECK_OK(attention(
      head_view<const T>(q, weights.q_heads), head_view<const T>(k, weights.kv_heads),
      head_view<const T>(v, weights.kv_heads), spec, head_view<T>(mixed, weights.q_heads)));
  return RowMatrix<T>(mixed * weights.wo);
}

template Result<RowMatrix<float>> multi_head(Attention&, const RowMatrix<float>&,
                                             const RowMatrix<float>&,
                                             const MultiHeadWeights<float>&, const AttentionSpec&);
template Result<RowMatrix<double>> multi_head(Attention&, const RowMatrix<double>&,
                                              const RowMatrix<double>&,
                                              const MultiHeadWeights<double>&,
                                              const AttentionSpec&);

}  // namespace rasp::runtime
