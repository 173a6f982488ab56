// A causal model row by row: the projections of every layer's rows so far stay on the device, and a
// step launches the kernels of a whole pass for one row, so it gives the very bits of that.
#include <algorithm>
#include <string>

#include "runtime/gpu/stages.h"

namespace rasp::runtime::gpu {
namespace {

template <typename T>
class DeviceGeneration final : public Generation {
 public:
  DeviceGeneration(std::shared_ptr<Workshop> workshop, const ModelWeights& weights,
                   const Stages<T>& stages, std::size_t vocabulary, std::size_t max_length)
      : workshop_(std::move(workshop)),
        weights_(weights),
        stages_(stages),
        vocabulary_(vocabulary),
        max_length_(max_length) {
    for (const LayerWeights& layer : weights.layers) {
      mixed_width_ = std::max(mixed_width_, layer.mixed_width);
      d_mlp_ = std::max(d_mlp_, layer.d_mlp);
    }
  }

  Result<void> begin();
  Result<model::Matrix> step(TokenId token) override;
  [[nodiscard]] std::size_t length() const override { return rows_ - 1; }
  [[nodiscard]] std::size_t bytes() const override;

 private:
  [[nodiscard]] Device& device() const { return *workshop_->device; }
  Result<void> make_room();
  Result<void> run_row(std::size_t token);

  std::shared_ptr<Workshop> workshop_;
  const ModelWeights& weights_;
  Stages<T> stages_;
  std::size_t vocabulary_, max_length_;
  std::size_t mixed_width_ = 0, d_mlp_ = 0;
  std::size_t rows_ = 0;           // BOS included
  std::size_t capacity_ = 0;       // rows
  std::vector<Buffer> projected_;  // a layer: [capacity, width]
  Buffer mixed_;                   // [capacity, mixed_width]
  Buffer id_, place_, block_, x_, hidden_, y_;
};

template <typename T>
Result<void> DeviceGeneration<T>::begin() {
  const std::scoped_lock lock(device().mutex());
  RASP_TRY(id_, device().allocate(sizeof(std::int32_t)));
  RASP_TRY(place_, device().allocate(sizeof(std::int32_t)));
  RASP_TRY(block_, device().allocate(3 * sizeof(std::int32_t)));
  RASP_TRY(x_, device().allocate(weights_.d_model * sizeof(T)));
  RASP_TRY(hidden_, device().allocate(d_mlp_ * sizeof(T)));
  RASP_TRY(y_, device().allocate(weights_.d_out * sizeof(T)));
  projected_.resize(weights_.layers.size());
  return run_row(vocabulary_);  // BOS
}

template <typename T>
std::size_t DeviceGeneration<T>::bytes() const {
  std::size_t bytes = 0;
  for (const Buffer& projected : projected_) bytes += projected.bytes();
  return bytes;
}

// Room for one more row: twice as much when it runs out.
template <typename T>
Result<void> DeviceGeneration<T>::make_room() {
  if (rows_ < capacity_) return {};
  constexpr std::size_t kFirst = 64;
  const std::size_t capacity = std::min(max_length_ + 1, std::max(kFirst, 2 * capacity_));
  for (std::size_t l = 0; l < projected_.size(); ++l) {
    const std::size_t row = weights_.layers[l].width * sizeof(T);
    if (row == 0) continue;
    RASP_TRY(Buffer more, device().allocate(capacity * row));
    RASP_CHECK_OK(device().copy(projected_[l], 0, more, 0, rows_ * row));
    projected_[l] = std::move(more);
  }
  RASP_TRY(mixed_, device().allocate(capacity * mixed_width_ * sizeof(T)));
  capacity_ = capacity;
  return {};
}

template <typename T>
Result<void> DeviceGeneration<T>::run_row(std::size_t token) {
  RASP_CHECK_OK(make_room());
  const auto id = static_cast<std::int32_t>(token);
  const auto place = static_cast<std::int32_t>(rows_);
  const std::int32_t block[] = {0, place + 1, place};
  RASP_CHECK_OK(device().write(id_, 0, &id, sizeof id));
  RASP_CHECK_OK(device().write(place_, 0, &place, sizeof place));
  RASP_CHECK_OK(device().write(block_, 0, block, sizeof block));
  RASP_CHECK_OK(stages_.embed(weights_, id_, place_, x_, 1));
  const std::size_t d = weights_.d_model;
  for (std::size_t l = 0; l < projected_.size(); ++l) {
    const LayerWeights& layer = weights_.layers[l];
    if (layer.head_count > 0) {
      RASP_CHECK_OK(
          stages_.project({x_, d, 0, layer.w_project, d, layer.width, projected_[l], rows_, 1, 0}));
      RASP_CHECK_OK(stages_.attend(layer, projected_[l], block_, 1, mixed_, {}));
    }
    RASP_CHECK_OK(stages_.advance(layer, mixed_, rows_, hidden_, x_, d, 1));
  }
  RASP_CHECK_OK(stages_.project({x_, d, 0, weights_.unembedding, d, weights_.d_out, y_, 0, 1, 0}));
  ++rows_;
  return {};
}

template <typename T>
Result<model::Matrix> DeviceGeneration<T>::step(TokenId token) {
  if (token >= vocabulary_)
    return fail(ErrorKind::kInput, {},
                "the token id " + std::to_string(token) + " is not below the vocabulary's size " +
                    std::to_string(vocabulary_));
  if (length() == max_length_)
    return fail(ErrorKind::kLimit, {},
                "the model takes at most " + std::to_string(max_length_) + " tokens");
  const std::scoped_lock lock(device().mutex());
  RASP_CHECK_OK(run_row(token));
  std::vector<T> numbers(weights_.d_out);
  RASP_CHECK_OK(device().read(y_, 0, numbers.data(), numbers.size() * sizeof(T)));
  model::Matrix y(1, static_cast<Eigen::Index>(numbers.size()));
  std::copy(numbers.begin(), numbers.end(), y.data());
  return y;
}

}  // namespace

template <typename T>
Result<std::unique_ptr<Generation>> start_generation(std::shared_ptr<Workshop> workshop,
                                                     const ModelWeights& weights,
                                                     const Stages<T>& stages,
                                                     std::size_t vocabulary,
                                                     std::size_t max_length) {
  auto generation = std::make_unique<DeviceGeneration<T>>(std::move(workshop), weights, stages,
                                                          vocabulary, max_length);
  RASP_CHECK_OK(generation->begin());
  return generation;
}

template Result<std::unique_ptr<Generation>> start_generation(std::shared_ptr<Workshop>,
                                                              const ModelWeights&,
                                                              const Stages<float>&, std::size_t,
                                                              std::size_t);
template Result<std::unique_ptr<Generation>> start_generation(std::shared_ptr<Workshop>,
                                                              const ModelWeights&,
                                                              const Stages<double>&, std::size_t,
                                                              std::size_t);

}  // namespace rasp::runtime::gpu
