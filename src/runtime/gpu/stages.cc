#include "runtime/gpu/stages.h"

#include <type_traits>

#include "runtime/gpu/kernel_sources.h"

namespace rasp::runtime::gpu {
namespace {

// As in model.cl.
constexpr std::size_t kTileRows = 32, kTileColumns = 32;
constexpr std::size_t kKeys = 32, kNumbers = 32;

}  // namespace

template <typename T>
Result<void> Stages<T>::launch(const char* file, const char* kernel, const Groups& groups,
                               std::size_t local_numbers,
                               std::span<const Argument> arguments) const {
  RASP_TRY(Program * program,
           workshop_->programs.get(kernel_source({file}, std::is_same_v<T, double>)));
  return program->launch(kernel, groups, kModelItems, local_numbers * sizeof(T), arguments);
}

template <typename T>
Result<void> Stages<T>::project(const Product& product) const {
  const Buffer none;
  return project(product, none, none);
}

template <typename T>
Result<void> Stages<T>::project(const Product& product, const Buffer& b, const Buffer& ends) const {
  if (product.outputs == 0) return {};
  const auto narrow = [](std::size_t size) { return static_cast<int>(size); };
  const ProjectParams params{narrow(product.rows),    narrow(product.inputs),
                             narrow(product.outputs), narrow(product.x_stride),
                             narrow(product.outputs), narrow(product.x_row),
                             narrow(product.y_row),   product.mode};
  const Argument arguments[] = {product.x, product.w, b, ends, product.y, params};
  return launch("model.cl", "project",
                {groups_of(product.rows, kTileRows), groups_of(product.outputs, kTileColumns)},
                kTileInputs * (kTileRows + kTileColumns), arguments);
}

template <typename T>
Result<void> Stages<T>::embed(const ModelWeights& weights, const Buffer& ids, const Buffer& places,
                              const Buffer& x, std::size_t rows) const {
  const Argument arguments[] = {
      weights.token_embedding, weights.position_embedding,       ids, places, x,
      static_cast<int>(rows),  static_cast<int>(weights.d_model)};
  return launch("model.cl", "embed", {groups_of(rows * weights.d_model, kModelItems)}, 0,
                arguments);
}

template <typename T>
Result<void> Stages<T>::attend(const LayerWeights& layer, const Buffer& projected,
                               const Buffer& blocks, std::size_t count, const Buffer& mixed,
                               const KeyGroups& groups) const {
  const Buffer none;
  const auto given = [&](const Buffer* buffer) -> const Buffer& {
    return buffer == nullptr ? none : *buffer;
  };
  const Argument arguments[] = {projected,
                                layer.head_list,
                                blocks,
                                mixed,
                                given(groups.distinct),
                                given(groups.members),
                                given(groups.counts),
                                given(groups.value_sums),
                                static_cast<int>(layer.width),
                                static_cast<int>(layer.mixed_width),
                                static_cast<int>(groups.stride),
                                causal_ ? 1 : 0,
                                scale_};
  const std::size_t local = (kQueryRows + kKeys) * (kNumbers + 1) + kQueryRows * (kKeys + 3);
  return launch("model.cl", "attend_rows", {count, layer.head_count}, local, arguments);
}

template <typename T>
Result<void> Stages<T>::advance(const LayerWeights& layer, const Buffer& mixed,
                                std::size_t mixed_row, const Buffer& hidden, const Buffer& x,
                                std::size_t d_model, std::size_t rows) const {
  const Buffer none;
  if (layer.head_count > 0)
    RASP_CHECK_OK(project({mixed, layer.mixed_width, mixed_row, layer.w_mix, layer.mixed_width,
                           d_model, x, 0, rows, 1},
                          none, layer.head_ends));
  if (layer.d_mlp == 0) return {};
  RASP_CHECK_OK(project({x, d_model, 0, layer.w_in, d_model, layer.d_mlp, hidden, 0, rows, 2},
                        layer.b_in, none));
  return project({hidden, layer.d_mlp, 0, layer.w_out, layer.d_mlp, d_model, x, 0, rows, 1}, none,
                 layer.mlp_ends);
}

template class Stages<float>;
template class Stages<double>;

}  // namespace rasp::runtime::gpu
