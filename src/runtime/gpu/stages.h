// The launches that whole passes and generation of a model share; the device's mutex is held.
#pragma once

#include <span>

#include "runtime/gpu/model_weights.h"
#include "runtime/gpu/programs.h"

namespace rasp::runtime::gpu {

inline constexpr std::size_t kModelItems = 128;  // MODEL_ITEMS of model.cl
inline constexpr std::size_t kQueryRows = 16;    // ROW_QUERIES

// y = x W for some rows, as ProjectParams of kernels/params.h says.
struct Product {
  const Buffer& x;
  std::size_t x_stride = 0, x_row = 0;
  const Buffer& w;
  std::size_t inputs = 0, outputs = 0;
  const Buffer& y;  // rows of `outputs` numbers
  std::size_t y_row = 0;
  std::size_t rows = 0;
  int mode = 0;
};

// Which keys of a head are equal, from equal_keys.cl; null where nobody looked.
struct KeyGroups {
  const Buffer* distinct = nullptr;
  const Buffer* members = nullptr;
  const Buffer* counts = nullptr;
  const Buffer* value_sums = nullptr;
  std::size_t stride = 1;  // heads that those have room for
};

template <typename T>
class Stages {
 public:
  Stages(Workshop& workshop, bool causal, T scale)
      : workshop_(&workshop), causal_(causal), scale_(scale) {}

  [[nodiscard]] Result<void> launch(const char* file, const char* kernel, const Groups& groups,
                                    std::size_t local_numbers,
                                    std::span<const Argument> arguments) const;
  [[nodiscard]] Result<void> project(const Product& product) const;
  [[nodiscard]] Result<void> project(const Product& product, const Buffer& b,
                                     const Buffer& ends) const;
  [[nodiscard]] Result<void> embed(const ModelWeights& weights, const Buffer& ids,
                                   const Buffer& places, const Buffer& x, std::size_t rows) const;
  // `count` blocks of queries, as attend_rows of model.cl describes them.
  [[nodiscard]] Result<void> attend(const LayerWeights& layer, const Buffer& projected,
                                    const Buffer& blocks, std::size_t count, const Buffer& mixed,
                                    const KeyGroups& groups) const;
  // The heads' outputs and the MLP, added to `rows` rows of x; mixed values from row `mixed_row`
  // on.
  [[nodiscard]] Result<void> advance(const LayerWeights& layer, const Buffer& mixed,
                                     std::size_t mixed_row, const Buffer& hidden, const Buffer& x,
                                     std::size_t d_model, std::size_t rows) const;

  [[nodiscard]] bool causal() const { return causal_; }
  [[nodiscard]] T scale() const { return scale_; }

 private:
  Workshop* workshop_;
  bool causal_;
  T scale_;
};

// Generation on the device; `weights` must outlive it.
template <typename T>
[[nodiscard]] Result<std::unique_ptr<Generation>> start_generation(
    std::shared_ptr<Workshop> workshop, const ModelWeights& weights, const Stages<T>& stages,
    std::size_t vocabulary, std::size_t max_length);

}  // namespace rasp::runtime::gpu
