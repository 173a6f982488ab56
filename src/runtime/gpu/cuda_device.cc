// NVIDIA's devices, through the driver API; kernels are compiled by NVRTC.
#include <map>

#include "runtime/gpu/cache.h"
#include "runtime/gpu/cuda_api.h"
#include "runtime/gpu/device.h"
#include "runtime/gpu/kernel_sources.h"

namespace rasp::runtime::gpu {
namespace {

using cuda::Driver;

std::string status_text(const Driver& driver, cuda::Status status) {
  if (status == cuda::kOutOfMemory) return "out of memory";
  const char* name = nullptr;
  if (driver.error_name(status, &name) != cuda::kSuccess || name == nullptr)
    return "CUDA's status is " + std::to_string(status);
  return name;
}

// Statuses other than want of memory are sticky: the context is gone with them.
tl::unexpected<Diagnostic> problem(const Driver& driver, const DeviceInfo& info, const char* what,
                                   cuda::Status status) {
  return fail(ErrorKind::kLimit, {},
              "cuda, " + info.name + ": " + what + " failed: " + status_text(driver, status),
              status == cuda::kOutOfMemory ? "use smaller inputs, or --backend cpu"
                                           : "run again, or use --backend cpu");
}

DeviceInfo describe(const Driver& driver, cuda::DeviceId id) {
  DeviceInfo info;
  info.backend = "cuda";
  info.gpu = true;
  char name[256] = {};
  static_cast<void>(driver.device_name(name, sizeof name - 1, id));
  info.name = name;
  int version = 0;
  static_cast<void>(driver.driver_version(&version));
  info.driver = std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
  std::size_t memory = 0;
  static_cast<void>(driver.device_memory(&memory, id));
  info.memory = memory;
  info.largest_allocation = memory;
  const auto attribute = [&](int which) {
    int value = 0;
    static_cast<void>(driver.device_attribute(&value, which, id));
    return value;
  };
  info.local_memory = static_cast<std::uint64_t>(attribute(cuda::kLocalMemoryOptIn));
  info.units = static_cast<std::uint32_t>(attribute(cuda::kUnits));
  return info;
}

Result<int> count_devices(const Driver& driver) {
  int count = 0;
  const cuda::Status status = driver.init(0);
  if (status == cuda::kSuccess && driver.device_count(&count) == cuda::kSuccess && count > 0)
    return count;
  return fail(ErrorKind::kInput, {},
              "NVIDIA's driver finds no device" +
                  (status == cuda::kSuccess ? "" : " (" + status_text(driver, status) + ")"),
              "use another --backend; `rasp devices` lists what is here");
}

class CudaProgram final : public Program {
 public:
  CudaProgram(const Driver& driver, const DeviceInfo& info, cuda::Context context,
              cuda::Stream stream, cuda::Module module)
      : driver_(driver), info_(info), context_(context), stream_(stream), module_(module) {}
  CudaProgram(const CudaProgram&) = delete;
  CudaProgram& operator=(const CudaProgram&) = delete;
  ~CudaProgram() override {
    static_cast<void>(driver_.set_context(context_));
    static_cast<void>(driver_.module_unload(module_));
  }

  Result<void> launch(const char* name, const Groups& groups, std::size_t threads,
                      std::size_t local_bytes, std::span<const Argument> arguments) override {
    cuda::Status status = driver_.set_context(context_);
    cuda::Function& function = functions_[name];
    if (function == nullptr) status = driver_.module_function(&function, module_, name);
    if (status != cuda::kSuccess) return problem(driver_, info_, name, status);
    constexpr std::size_t kWithoutAsking = 48 * 1024;
    if (local_bytes > kWithoutAsking)
      status = driver_.function_set(function, cuda::kFunctionMaxDynamicShared,
                                    static_cast<int>(local_bytes));
    if (status != cuda::kSuccess) return problem(driver_, info_, name, status);
    std::vector<void*> values;
    for (const Argument& argument : arguments) values.push_back(const_cast<void*>(argument.data()));
    const auto narrow = [](std::size_t size) { return static_cast<unsigned>(size); };
    status =
        driver_.launch(function, narrow(groups.x), narrow(groups.y), narrow(groups.z),
                       narrow(threads), 1, 1, narrow(local_bytes), stream_, values.data(), nullptr);
    if (status != cuda::kSuccess) return problem(driver_, info_, name, status);
    return {};
  }

 private:
  const Driver& driver_;
  const DeviceInfo& info_;
  cuda::Context context_;
  cuda::Stream stream_;
  cuda::Module module_;
  std::map<std::string, cuda::Function, std::less<>> functions_;
};

class CudaDevice final : public Device {
 public:
  CudaDevice(const Driver& driver, const cuda::Nvrtc& nvrtc, cuda::DeviceId id)
      : driver_(driver), nvrtc_(nvrtc), id_(id) {
    info_ = describe(driver, id);
  }
  ~CudaDevice() override {
    if (context_ == nullptr) return;
    static_cast<void>(driver_.set_context(context_));
    if (stream_ != nullptr) static_cast<void>(driver_.stream_destroy(stream_));
    static_cast<void>(driver_.release_context(id_));
  }

  Result<void> open() {
    RASP_CHECK_OK(checked("opening the device", driver_.retain_context(&context_, id_)));
    RASP_CHECK_OK(checked("opening the device", driver_.set_context(context_)));
    constexpr unsigned kNonBlocking = 1;
    return checked("opening a stream", driver_.stream_create(&stream_, kNonBlocking));
  }

  Result<void> write(const Buffer& to, std::size_t offset, const void* from,
                     std::size_t bytes) override {
    if (bytes == 0) return {};
    static_cast<void>(driver_.set_context(context_));
    // Pageable memory is staged before this returns.
    return checked("copying to the device",
                   driver_.copy_in(to.handle() + offset, from, bytes, stream_));
  }
  Result<void> read(const Buffer& from, std::size_t offset, void* to, std::size_t bytes) override {
    if (bytes == 0) return {};
    static_cast<void>(driver_.set_context(context_));
    RASP_CHECK_OK(checked("copying from the device",
                          driver_.copy_out(to, from.handle() + offset, bytes, stream_)));
    return finish();
  }
  Result<void> copy(const Buffer& from, std::size_t from_offset, const Buffer& to,
                    std::size_t to_offset, std::size_t bytes) override {
    if (bytes == 0) return {};
    static_cast<void>(driver_.set_context(context_));
    return checked(
        "copying on the device",
        driver_.copy_within(to.handle() + to_offset, from.handle() + from_offset, bytes, stream_));
  }
  Result<void> finish() override {
    static_cast<void>(driver_.set_context(context_));
    return checked("the work", driver_.stream_synchronize(stream_));
  }

  Result<std::unique_ptr<Program>> build(const Source& source) override {
    const std::string text = full_text(source, "cuda.cl");
    int major = 0, minor = 0, nvrtc_major = 0, nvrtc_minor = 0;
    static_cast<void>(driver_.device_attribute(&major, cuda::kMajor, id_));
    static_cast<void>(driver_.device_attribute(&minor, cuda::kMinor, id_));
    static_cast<void>(nvrtc_.version(&nvrtc_major, &nvrtc_minor));
    const std::string architecture = "sm_" + std::to_string(major) + std::to_string(minor);
    const std::string key = "cuda\n" + architecture + "\n" + std::to_string(nvrtc_major) + "." +
                            std::to_string(nvrtc_minor) + "\n" + text;
    static_cast<void>(driver_.set_context(context_));
    cuda::Module module = nullptr;
    if (const auto code = cached(key);
        code && driver_.module_load(&module, code->data()) == cuda::kSuccess)
      return wrap(module);
    RASP_TRY(const std::string code, cuda::compile(nvrtc_, text, architecture));
    RASP_CHECK_OK(checked("loading the kernels", driver_.module_load(&module, code.data())));
    cache(key, code);
    return wrap(module);
  }

 private:
  Result<std::uintptr_t> take(std::size_t bytes) override {
    static_cast<void>(driver_.set_context(context_));
    cuda::Pointer pointer = 0;
    RASP_CHECK_OK(checked(("allocating " + std::to_string(bytes) + " bytes").c_str(),
                          driver_.allocate(&pointer, bytes)));
    return static_cast<std::uintptr_t>(pointer);
  }
  // Waits for the work that was queued, as cuMemFree does.
  void give_back(std::uintptr_t handle) override {
    static_cast<void>(driver_.set_context(context_));
    static_cast<void>(driver_.release(handle));
  }
  [[nodiscard]] Result<void> checked(const char* what, cuda::Status status) const {
    if (status != cuda::kSuccess) return problem(driver_, info_, what, status);
    return {};
  }
  [[nodiscard]] std::unique_ptr<Program> wrap(cuda::Module module) const {
    return std::make_unique<CudaProgram>(driver_, info_, context_, stream_, module);
  }

  const Driver& driver_;
  const cuda::Nvrtc& nvrtc_;
  cuda::DeviceId id_;
  cuda::Context context_ = nullptr;
  cuda::Stream stream_ = nullptr;
};

}  // namespace

Result<std::vector<DeviceInfo>> cuda_devices() {
  RASP_TRY(const Driver* driver, cuda::load_driver());
  RASP_TRY(const int count, count_devices(*driver));
  std::vector<DeviceInfo> devices;
  for (int i = 0; i < count; ++i) {
    cuda::DeviceId id = 0;
    if (driver->device_get(&id, i) == cuda::kSuccess) devices.push_back(describe(*driver, id));
  }
  return devices;
}

Result<std::unique_ptr<Device>> open_cuda() {
  RASP_TRY(const Driver* driver, cuda::load_driver());
  RASP_TRY(const int count, count_devices(*driver));
  static_cast<void>(count);
  RASP_TRY(const cuda::Nvrtc* nvrtc, cuda::load_nvrtc());
  cuda::DeviceId id = 0;
  static_cast<void>(driver->device_get(&id, 0));
  auto device = std::make_unique<CudaDevice>(*driver, *nvrtc, id);
  RASP_CHECK_OK(device->open());
  return device;
}

}  // namespace rasp::runtime::gpu
