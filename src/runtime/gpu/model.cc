#include "runtime/gpu/model.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <type_traits>

#include "runtime/codec.h"
#include "runtime/gpu/kernel_sources.h"
#include "runtime/gpu/model_weights.h"
#include "runtime/gpu/stages.h"

namespace rasp::runtime::gpu {
namespace {

constexpr std::size_t kKeyItems = 128;  // KEY_ITEMS of equal_keys.cl
// From so many rows on it is looked whether a sequence has few different keys.
constexpr std::size_t kEqualKeysFrom = 128;

// Some sequences of a batch, row after row, as the kernels read them.
struct Rows {
  std::size_t first = 0, sequences = 0;  // of the batch
  std::vector<std::int32_t> ids, places;
  std::vector<std::int32_t> blocks;  // [blocks, 3]
  std::vector<std::int32_t> large;   // [sequences, 2]: those looked through for equal keys
  [[nodiscard]] std::size_t count() const { return ids.size(); }
};

// Where a batch is worked on; kept between batches.
struct Workspace {
  std::size_t rows = 0;
  Buffer ids, places, blocks, large;
  Buffer x, projected, mixed, hidden, y;
  Buffer table, leaders, distinct, members, counts, value_sums;
};

template <typename T>
class DeviceModel final : public Executable {
 public:
  DeviceModel(std::shared_ptr<Workshop> workshop, const model::Model& model, ModelWeights weights,
              std::size_t most_rows);

  Result<std::vector<model::Matrix>> run(
      std::span<const std::vector<TokenId>> batch) const override;
  Result<Trace> trace(std::span<const TokenId> tokens) const override;
  Result<std::unique_ptr<Generation>> start() const override {
    if (!stages_.causal()) return Executable::start();
    return start_generation<T>(workshop_, weights_, stages_, vocabulary_, max_length_);
  }

 private:
  [[nodiscard]] Device& device() const { return *workshop_->device; }
  [[nodiscard]] std::size_t bytes_a_row() const;
  [[nodiscard]] Rows take(std::span<const std::vector<TokenId>> batch, std::size_t first) const;
  void add(std::span<const TokenId> tokens, Rows& rows) const;

  Result<void> prepare(const Rows& rows) const;
  Result<void> run_layer(std::size_t l, const Rows& rows) const;
  Result<void> attend(const LayerWeights& layer, const Rows& rows) const;
  Result<void> unembed(const Rows& rows) const;
  Result<void> collect(const Rows& rows, std::span<const std::vector<TokenId>> batch,
                       std::vector<model::Matrix>& outputs) const;
  Result<model::Matrix> fetch(const Buffer& from, std::size_t rows, std::size_t stride,
                              std::size_t columns) const;

  std::shared_ptr<Workshop> workshop_;
  ModelWeights weights_;
  std::size_t vocabulary_, max_length_, d_model_;
  std::vector<std::size_t> d_mlp_;  // as the model has them
  Stages<T> stages_;
  std::size_t most_rows_;
  std::size_t width_ = 0, mixed_ = 0, mlp_ = 0, heads_ = 0;  // the largest of a layer
  mutable Workspace work_;
};

template <typename T>
DeviceModel<T>::DeviceModel(std::shared_ptr<Workshop> workshop, const model::Model& model,
                            ModelWeights weights, std::size_t most_rows)
    : workshop_(std::move(workshop)),
      weights_(std::move(weights)),
      vocabulary_(model.vocabulary.size()),
      max_length_(model.max_length),
      d_model_(model.d_model),
      stages_(*workshop_, model.causal, static_cast<T>(model.attention_scale)),
      most_rows_(most_rows) {
  for (const model::Layer& layer : model.layers)
    d_mlp_.push_back(static_cast<std::size_t>(layer.mlp.b_in.size()));
  for (const LayerWeights& layer : weights_.layers) {
    width_ = std::max(width_, layer.width);
    mixed_ = std::max(mixed_, layer.mixed_width);
    mlp_ = std::max(mlp_, layer.d_mlp);
    heads_ = std::max(heads_, layer.head_count);
  }
  if (most_rows_ != 0) return;
  // A quarter of the memory, pieces no larger than the device gives, and rows enough to keep it
  // busy: more would only put off the first results.
  constexpr std::size_t kEnough = 1 << 17;
  const DeviceInfo& info = device().info();
  const std::size_t widest =
      sizeof(T) * std::max({weights_.d_model, width_, mixed_, mlp_, weights_.d_out, 2 * heads_});
  most_rows_ = kEnough;
  if (info.memory != 0)
    most_rows_ = std::min<std::size_t>(most_rows_, info.memory / 4 / bytes_a_row());
  if (info.largest_allocation != 0)
    most_rows_ = std::min<std::size_t>(most_rows_, info.largest_allocation / widest);
  // The kernels count numbers of a buffer's rows in 64 bits, but rows and heads in 32.
  most_rows_ = std::max<std::size_t>(most_rows_, 1);
}

template <typename T>
std::size_t DeviceModel<T>::bytes_a_row() const {
  const std::size_t numbers =
      weights_.d_model + 2 * width_ + mixed_ + mlp_ + weights_.d_out + heads_;
  return sizeof(T) * numbers + sizeof(std::int32_t) * (8 + 5 * heads_);
}

template <typename T>
void DeviceModel<T>::add(std::span<const TokenId> tokens, Rows& rows) const {
  const auto narrow = [](std::size_t size) { return static_cast<std::int32_t>(size); };
  const std::size_t base = rows.count();
  const std::size_t count = tokens.size() + 1;
  rows.ids.push_back(narrow(vocabulary_));  // BOS
  for (const TokenId id : tokens) rows.ids.push_back(narrow(id));
  for (std::size_t row = 0; row < count; ++row) rows.places.push_back(narrow(row));
  for (std::size_t query = 0; query < count; query += kQueryRows)
    rows.blocks.insert(rows.blocks.end(), {narrow(base), narrow(count), narrow(query)});
  if (!stages_.causal() && count >= kEqualKeysFrom)
    rows.large.insert(rows.large.end(), {narrow(base), narrow(count)});
  ++rows.sequences;
}

// As many sequences from `first` on as fit, at least one.
template <typename T>
Rows DeviceModel<T>::take(std::span<const std::vector<TokenId>> batch, std::size_t first) const {
  Rows rows;
  rows.first = first;
  for (std::size_t s = first; s < batch.size(); ++s) {
    if (rows.sequences > 0 && rows.count() + batch[s].size() + 1 > most_rows_) break;
    add(batch[s], rows);
  }
  return rows;
}

template <typename T>
Result<void> DeviceModel<T>::prepare(const Rows& rows) const {
  const std::size_t count = rows.count();
  if (work_.rows < count) {
    work_ = Workspace();
    const auto numbers = [&](std::size_t width) {
      return device().allocate(count * width * sizeof(T));
    };
    const auto ints = [&](std::size_t width) {
      return device().allocate(count * width * sizeof(std::int32_t));
    };
    RASP_TRY(work_.ids, ints(1));
    RASP_TRY(work_.places, ints(1));
    RASP_TRY(work_.blocks, ints(3));
    RASP_TRY(work_.large, ints(2));
    RASP_TRY(work_.x, numbers(weights_.d_model));
    RASP_TRY(work_.projected, numbers(width_));
    RASP_TRY(work_.mixed, numbers(mixed_));
    RASP_TRY(work_.hidden, numbers(mlp_));
    RASP_TRY(work_.y, numbers(weights_.d_out));
    work_.rows = count;
  }
  const auto bytes = [](const std::vector<std::int32_t>& values) {
    return values.size() * sizeof(std::int32_t);
  };
  RASP_CHECK_OK(device().write(work_.ids, 0, rows.ids.data(), bytes(rows.ids)));
  RASP_CHECK_OK(device().write(work_.places, 0, rows.places.data(), bytes(rows.places)));
  RASP_CHECK_OK(device().write(work_.blocks, 0, rows.blocks.data(), bytes(rows.blocks)));
  if (rows.large.empty() || heads_ == 0) return {};
  RASP_CHECK_OK(device().write(work_.large, 0, rows.large.data(), bytes(rows.large)));
  if (work_.table.handle() == 0) {
    const auto ints = [&](std::size_t width) {
      return device().allocate(work_.rows * width * heads_ * sizeof(std::int32_t));
    };
    RASP_TRY(work_.table, ints(2));
    RASP_TRY(work_.leaders, ints(1));
    RASP_TRY(work_.distinct, ints(1));
    RASP_TRY(work_.members, ints(1));
    RASP_TRY(work_.counts, device().allocate(work_.rows * heads_ * sizeof(T)));
    RASP_TRY(work_.value_sums, device().allocate(work_.rows * width_ * sizeof(T)));
  }
  const std::vector<std::int32_t> none(count * heads_);
  return device().write(work_.distinct, 0, none.data(), bytes(none));
}

template <typename T>
Result<void> DeviceModel<T>::attend(const LayerWeights& layer, const Rows& rows) const {
  KeyGroups groups;
  groups.stride = heads_;
  if (!rows.large.empty()) {
    // Up to here every whole number is one of T's, so sums of them are exact in any order.
    const T most = static_cast<T>(std::is_same_v<T, double> ? 0x1p53 : 0x1p24);
    const Argument arguments[] = {work_.projected,
                                  layer.head_list,
                                  work_.large,
                                  work_.table,
                                  work_.leaders,
                                  work_.distinct,
                                  work_.members,
                                  work_.counts,
                                  work_.value_sums,
                                  static_cast<int>(layer.width),
                                  static_cast<int>(heads_),
                                  most};
    RASP_CHECK_OK(stages_.launch("equal_keys.cl", "equal_keys",
                                 {rows.large.size() / 2, layer.head_count}, kKeyItems + 1,
                                 arguments));
    groups.distinct = &work_.distinct;
    groups.members = &work_.members;
    groups.counts = &work_.counts;
    groups.value_sums = &work_.value_sums;
  }
  return stages_.attend(layer, work_.projected, work_.blocks, rows.blocks.size() / 3, work_.mixed,
                        groups);
}

template <typename T>
Result<void> DeviceModel<T>::run_layer(std::size_t l, const Rows& rows) const {
  const LayerWeights& layer = weights_.layers[l];
  const std::size_t d = weights_.d_model;
  if (layer.head_count > 0) {
    RASP_CHECK_OK(stages_.project(
        {work_.x, d, 0, layer.w_project, d, layer.width, work_.projected, 0, rows.count(), 0}));
    RASP_CHECK_OK(attend(layer, rows));
  }
  return stages_.advance(layer, work_.mixed, 0, work_.hidden, work_.x, d, rows.count());
}

template <typename T>
Result<void> DeviceModel<T>::unembed(const Rows& rows) const {
  const std::size_t d = weights_.d_model;
  return stages_.project(
      {work_.x, d, 0, weights_.unembedding, d, weights_.d_out, work_.y, 0, rows.count(), 0});
}

// The first `columns` of rows of `stride` numbers.
template <typename T>
Result<model::Matrix> DeviceModel<T>::fetch(const Buffer& from, std::size_t rows,
                                            std::size_t stride, std::size_t columns) const {
  std::vector<T> numbers(rows * stride);
  RASP_CHECK_OK(device().read(from, 0, numbers.data(), numbers.size() * sizeof(T)));
  model::Matrix matrix(static_cast<Eigen::Index>(rows), static_cast<Eigen::Index>(columns));
  for (std::size_t r = 0; r < rows; ++r)
    std::copy_n(numbers.data() + r * stride, columns,
                matrix.data() + static_cast<std::ptrdiff_t>(r * columns));
  return matrix;
}

template <typename T>
Result<void> DeviceModel<T>::collect(const Rows& rows, std::span<const std::vector<TokenId>> batch,
                                     std::vector<model::Matrix>& outputs) const {
  const std::size_t d_out = weights_.d_out;
  std::vector<T> numbers(rows.count() * d_out);
  RASP_CHECK_OK(device().read(work_.y, 0, numbers.data(), numbers.size() * sizeof(T)));
  const T* row = numbers.data();
  for (std::size_t s = rows.first; s < rows.first + rows.sequences; ++s) {
    row += d_out;  // BOS
    const std::size_t count = batch[s].size();
    outputs[s].resize(static_cast<Eigen::Index>(count), static_cast<Eigen::Index>(d_out));
    std::copy_n(row, count * d_out, outputs[s].data());
    row += count * d_out;
  }
  return {};
}

template <typename T>
Result<std::vector<model::Matrix>> DeviceModel<T>::run(
    std::span<const std::vector<TokenId>> batch) const {
  for (std::size_t s = 0; s < batch.size(); ++s)
    RASP_CHECK_OK(check_tokens(batch[s], s, vocabulary_, max_length_));
  std::vector<model::Matrix> outputs(batch.size());
  if (batch.empty()) return outputs;
  const std::scoped_lock lock(device().mutex());
  Rows rows = take(batch, 0);
  while (rows.sequences > 0) {
    RASP_CHECK_OK(prepare(rows));
    RASP_CHECK_OK(stages_.embed(weights_, work_.ids, work_.places, work_.x, rows.count()));
    for (std::size_t l = 0; l < weights_.layers.size(); ++l) RASP_CHECK_OK(run_layer(l, rows));
    RASP_CHECK_OK(unembed(rows));
    // While the device works, the host lays out what comes next. The copies themselves are a few
    // bytes a row, against thousands of operations: overlapping those would win nothing.
    Rows next = take(batch, rows.first + rows.sequences);
    RASP_CHECK_OK(collect(rows, batch, outputs));
    rows = std::move(next);
  }
  return outputs;
}

template <typename T>
Result<Trace> DeviceModel<T>::trace(std::span<const TokenId> tokens) const {
  RASP_CHECK_OK(check_tokens(tokens, 0, vocabulary_, max_length_));
  const std::scoped_lock lock(device().mutex());
  Rows rows;
  add(tokens, rows);
  const std::size_t count = rows.count();
  RASP_CHECK_OK(prepare(rows));
  RASP_CHECK_OK(stages_.embed(weights_, work_.ids, work_.places, work_.x, rows.count()));
  Trace trace;
  RASP_TRY(const Buffer weights, device().allocate(count * count * sizeof(T)));
  const auto note_stream = [&]() -> Result<void> {
    RASP_TRY(model::Matrix x, fetch(work_.x, count, weights_.d_model, d_model_));
    trace.residual.push_back(std::move(x));
    return {};
  };
  RASP_CHECK_OK(note_stream());
  for (std::size_t l = 0; l < weights_.layers.size(); ++l) {
    const LayerWeights& layer = weights_.layers[l];
    RASP_CHECK_OK(run_layer(l, rows));
    auto& heads = trace.attention.emplace_back();
    for (std::size_t h = 0; h < layer.head_count; ++h) {
      const Argument arguments[] = {
          work_.projected,          layer.head_list,         weights,
          static_cast<int>(h),      static_cast<int>(count), static_cast<int>(layer.width),
          stages_.causal() ? 1 : 0, stages_.scale()};
      RASP_CHECK_OK(stages_.launch("model.cl", "attention_of", {groups_of(count, kModelItems)}, 0,
                                   arguments));
      RASP_TRY(model::Matrix matrix, fetch(weights, count, count, count));
      heads.push_back(std::move(matrix));
    }
    model::Matrix hidden(static_cast<Eigen::Index>(count), 0);
    if (layer.d_mlp > 0) {
      RASP_TRY(hidden, fetch(work_.hidden, count, layer.d_mlp, d_mlp_[l]));
    }
    trace.hidden.push_back(std::move(hidden));
    RASP_CHECK_OK(note_stream());
  }
  RASP_CHECK_OK(unembed(rows));
  RASP_TRY(trace.output, fetch(work_.y, count, weights_.d_out, weights_.d_out));
  return trace;
}

template <typename T>
Result<std::unique_ptr<Executable>> load(std::shared_ptr<Workshop> workshop,
                                         const model::Model& model, std::size_t most_rows) {
  Device& device = *workshop->device;
  const std::scoped_lock lock(device.mutex());
  // Built now, so that a device that cannot is found out here.
  RASP_CHECK_OK(workshop->programs.get(kernel_source({"model.cl"}, std::is_same_v<T, double>)));
  RASP_TRY(ModelWeights weights, upload_weights<T>(device, model));
  return std::make_unique<DeviceModel<T>>(std::move(workshop), model, std::move(weights),
                                          most_rows);
}

}  // namespace

Result<std::unique_ptr<Executable>> load_model(std::shared_ptr<Workshop> workshop,
                                               const model::Model& model, std::size_t most_rows) {
  if (model.dtype == model::Dtype::kF32) return load<float>(std::move(workshop), model, most_rows);
  return load<double>(std::move(workshop), model, most_rows);
}

}  // namespace rasp::runtime::gpu
