#include "runtime/backends.h"

#include <string>
#include <utility>

#include "runtime/gpu/backend.h"

namespace rasp::runtime {
namespace {

// A graphics card, where there is one with all that it needs; else the CPU, which OpenCL on a CPU
// does not beat.
std::unique_ptr<Backend> best_backend(std::size_t threads) {
  if (auto device = gpu::open_cuda()) return gpu::make_backend(std::move(*device));
  if (auto device = gpu::open_opencl(); device && (*device)->info().gpu)
    return gpu::make_backend(std::move(*device));
  return make_cpu_backend(threads);
}

}  // namespace

Result<std::unique_ptr<Backend>> make_backend(std::string_view name, std::size_t threads) {
  if (name == "cpu") return make_cpu_backend(threads);
  if (name == "auto") return best_backend(threads);
  if (name == "opencl" || name == "cuda") {
    RASP_TRY(auto device, name == "cuda" ? gpu::open_cuda() : gpu::open_opencl());
    return gpu::make_backend(std::move(device));
  }
  return fail(ErrorKind::kInput, {}, "there is no backend '" + std::string(name) + "'",
              "the backends are " + std::string(kBackendNames));
}

DeviceList list_devices() {
  DeviceList list;
  list.devices.push_back(make_cpu_backend()->device());
  const auto add = [&list](const char* backend, Result<std::vector<DeviceInfo>> devices) {
    if (devices) {
      list.devices.insert(list.devices.end(), devices->begin(), devices->end());
    } else {
      list.missing.push_back({backend, std::move(devices).error()});
    }
  };
  add("opencl", gpu::opencl_devices());
  add("cuda", gpu::cuda_devices());
  return list;
}

}  // namespace rasp::runtime
