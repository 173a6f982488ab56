#include "runtime/gpu/model_weights.h"

#include <cstdint>

namespace rasp::runtime::gpu {
namespace {

// A matrix of zeros on the host, to be filled and uploaded.
template <typename T>
class Table {
 public:
  Table(std::size_t rows, std::size_t columns) : columns_(columns), numbers_(rows * columns) {}

  void put(const model::Matrix& matrix, std::size_t row, std::size_t column) {
    for (Eigen::Index i = 0; i < matrix.rows(); ++i)
      for (Eigen::Index j = 0; j < matrix.cols(); ++j)
        numbers_[(row + static_cast<std::size_t>(i)) * columns_ + column +
                 static_cast<std::size_t>(j)] = static_cast<T>(matrix(i, j));
  }
  [[nodiscard]] Result<Buffer> upload_to(Device& device) const { return upload(device, numbers_); }

 private:
  std::size_t columns_;
  std::vector<T> numbers_;
};

template <typename T>
Result<Buffer> upload_padded(Device& device, const model::Matrix& matrix, std::size_t rows,
                             std::size_t columns) {
  Table<T> table(rows, columns);
  table.put(matrix, 0, 0);
  return table.upload_to(device);
}

std::size_t count(Eigen::Index size) { return static_cast<std::size_t>(size); }

template <typename T>
Result<void> upload_heads(Device& device, const model::Layer& source, std::size_t d_model,
                          LayerWeights& layer) {
  for (const model::Head& head : source.heads) {
    ModelHead place{};
    place.d_qk = static_cast<int>(head.wq.cols());
    place.d_v = static_cast<int>(head.wv.cols());
    place.q = static_cast<int>(layer.width);
    place.k = place.q + place.d_qk;
    place.v = place.k + place.d_qk;
    place.mixed = static_cast<int>(layer.mixed_width);
    place.mixed_width = static_cast<int>(padded(count(head.wv.cols())));
    layer.width += 2 * count(head.wq.cols()) + count(head.wv.cols());
    layer.mixed_width += padded(count(head.wv.cols()));
    layer.heads.push_back(place);
  }
  layer.head_count = layer.heads.size();
  Table<T> project(d_model, layer.width);
  Table<T> mix(layer.mixed_width, d_model);
  std::vector<std::int32_t> ends(layer.mixed_width / kTileInputs);
  for (std::size_t h = 0; h < layer.head_count; ++h) {
    const ModelHead& place = layer.heads[h];
    project.put(source.heads[h].wq, 0, static_cast<std::size_t>(place.q));
    project.put(source.heads[h].wk, 0, static_cast<std::size_t>(place.k));
    project.put(source.heads[h].wv, 0, static_cast<std::size_t>(place.v));
    mix.put(source.heads[h].wo, static_cast<std::size_t>(place.mixed), 0);
    const auto end = static_cast<std::size_t>(place.mixed + place.mixed_width);
    if (place.mixed_width > 0) ends[end / kTileInputs - 1] = 1;
  }
  RASP_TRY(layer.head_list, upload(device, layer.heads));
  RASP_TRY(layer.w_project, project.upload_to(device));
  RASP_TRY(layer.w_mix, mix.upload_to(device));
  RASP_TRY(layer.head_ends, upload(device, ends));
  return {};
}

template <typename T>
Result<void> upload_mlp(Device& device, const model::Mlp& mlp, std::size_t d_model,
                        LayerWeights& layer) {
  if (mlp.b_in.size() == 0) return {};
  layer.d_mlp = padded(count(mlp.b_in.size()));
  RASP_TRY(layer.w_in, upload_padded<T>(device, mlp.w_in, d_model, layer.d_mlp));
  RASP_TRY(layer.w_out, upload_padded<T>(device, mlp.w_out, layer.d_mlp, d_model));
  RASP_TRY(layer.b_in, upload_padded<T>(device, mlp.b_in, 1, layer.d_mlp));
  std::vector<std::int32_t> ends(layer.d_mlp / kTileInputs);
  ends.back() = 1;
  RASP_TRY(layer.mlp_ends, upload(device, ends));
  return {};
}

}  // namespace

template <typename T>
Result<ModelWeights> upload_weights(Device& device, const model::Model& model) {
  ModelWeights weights;
  weights.d_model = padded(model.d_model);
  weights.d_out = count(model.unembedding.cols());
  RASP_TRY(weights.token_embedding,
           upload_padded<T>(device, model.token_embedding, count(model.token_embedding.rows()),
                            weights.d_model));
  RASP_TRY(weights.position_embedding,
           upload_padded<T>(device, model.position_embedding,
                            count(model.position_embedding.rows()), weights.d_model));
  RASP_TRY(weights.unembedding,
           upload_padded<T>(device, model.unembedding, weights.d_model, weights.d_out));
  for (const model::Layer& source : model.layers) {
    LayerWeights& layer = weights.layers.emplace_back();
    if (!source.heads.empty())
      RASP_CHECK_OK(upload_heads<T>(device, source, weights.d_model, layer));
    RASP_CHECK_OK(upload_mlp<T>(device, source.mlp, weights.d_model, layer));
  }
  return weights;
}

template Result<ModelWeights> upload_weights<float>(Device&, const model::Model&);
template Result<ModelWeights> upload_weights<double>(Device&, const model::Model&);

}  // namespace rasp::runtime::gpu
