#include "runtime/gpu/backend.h"

#include "model/safetensors.h"
#include "runtime/gpu/attention.h"
#include "runtime/gpu/model.h"

namespace rasp::runtime::gpu {
namespace {

class GpuBackend final : public Backend {
 public:
  explicit GpuBackend(std::unique_ptr<Device> device)
      : workshop_(std::make_shared<Workshop>(std::move(device))) {}

  [[nodiscard]] std::string_view name() const override { return device().backend; }
  [[nodiscard]] const DeviceInfo& device() const override { return workshop_->device->info(); }

  [[nodiscard]] Result<std::unique_ptr<Executable>> load(const model::Model& model) const override {
    RASP_CHECK_OK(model::check(model));
    return load_model(workshop_, model);
  }
  [[nodiscard]] Result<void> attention(const View<const float>& q, const View<const float>& k,
                                       const View<const float>& v, const AttentionSpec& spec,
                                       const View<float>& out) const override {
    return gpu::attention<float>(*workshop_, q, k, v, spec, out);
  }
  [[nodiscard]] Result<void> attention(const View<const double>& q, const View<const double>& k,
                                       const View<const double>& v, const AttentionSpec& spec,
                                       const View<double>& out) const override {
    return gpu::attention<double>(*workshop_, q, k, v, spec, out);
  }
  [[nodiscard]] Result<std::unique_ptr<DecodeSession<float>>> decode_floats(
      const AttentionShape& shape, const AttentionSpec& spec) const override {
    return decode_session<float>(workshop_, shape, spec);
  }
  [[nodiscard]] Result<std::unique_ptr<DecodeSession<double>>> decode_doubles(
      const AttentionShape& shape, const AttentionSpec& spec) const override {
    return decode_session<double>(workshop_, shape, spec);
  }

 private:
  std::shared_ptr<Workshop> workshop_;  // also held by what was loaded
};

}  // namespace

std::unique_ptr<Backend> make_backend(std::unique_ptr<Device> device) {
  return std::make_unique<GpuBackend>(std::move(device));
}

}  // namespace rasp::runtime::gpu
