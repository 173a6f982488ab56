// Devices of OpenCL, through the loader of installable drivers.
#include <algorithm>
#include <map>
#include <optional>

#include "runtime/gpu/cache.h"
#include "runtime/gpu/device.h"
#include "runtime/gpu/kernel_sources.h"
#include "runtime/gpu/opencl_api.h"

namespace rasp::runtime::gpu {
namespace {

using cl::Api;

std::string status_text(cl::Int status) {
  switch (status) {
    case cl::kMemoryAllocationFailure:
    case cl::kOutOfResources:
    case cl::kOutOfHostMemory:
      return "out of memory";
    case cl::kDeviceNotAvailable:
      return "the device is lost or busy";
    default:
      return "OpenCL's status is " + std::to_string(status);
  }
}

tl::unexpected<Diagnostic> problem(const DeviceInfo& info, const char* what, cl::Int status) {
  return fail(ErrorKind::kLimit, {},
              "opencl, " + info.name + ": " + what + " failed: " + status_text(status),
              status == cl::kDeviceNotAvailable ? "" : "use smaller inputs, or --backend cpu");
}

struct Found {
  cl::Platform platform = nullptr;
  cl::DeviceId id = nullptr;
  DeviceInfo info;
  bool exact = false;  // float32 divides correctly rounded
};

template <typename T>
T device_value(const Api& api, cl::DeviceId id, cl::Uint what) {
  T value{};
  static_cast<void>(api.get_device_info(id, what, sizeof value, &value, nullptr));
  return value;
}

std::string device_text(const Api& api, cl::DeviceId id, cl::Uint what) {
  std::size_t size = 0;
  if (api.get_device_info(id, what, 0, nullptr, &size) != cl::kSuccess || size == 0) return {};
  std::string text(size, '\0');
  static_cast<void>(api.get_device_info(id, what, size, text.data(), nullptr));
  text.resize(text.find('\0') == std::string::npos ? size : text.find('\0'));
  return text;
}

Found describe(const Api& api, cl::Platform platform, cl::DeviceId id) {
  Found found{platform, id, {}, false};
  DeviceInfo& info = found.info;
  info.backend = "opencl";
  info.name = device_text(api, id, cl::kDeviceName);
  info.driver = device_text(api, id, cl::kDriverVersion);
  info.memory = device_value<cl::Ulong>(api, id, cl::kDeviceMemory);
  info.largest_allocation = device_value<cl::Ulong>(api, id, cl::kDeviceLargestAllocation);
  info.local_memory = device_value<cl::Ulong>(api, id, cl::kDeviceLocalMemory);
  info.units = device_value<cl::Uint>(api, id, cl::kDeviceUnits);
  info.doubles = device_value<cl::Bits>(api, id, cl::kDeviceDoubleConfig) != 0;
  const auto single = device_value<cl::Bits>(api, id, cl::kDeviceSingleConfig);
  found.exact = (single & cl::kCorrectDivision) != 0 && (single & cl::kRoundToNearest) != 0;
  info.gpu = (device_value<cl::Bits>(api, id, cl::kDeviceType) & cl::kTypeGpu) != 0;
  return found;
}

Result<std::vector<Found>> find_devices(const Api& api) {
  std::vector<Found> all;
  cl::Uint count = 0;
  const cl::Int status = api.get_platform_ids(0, nullptr, &count);
  std::vector<cl::Platform> platforms(status == cl::kSuccess ? count : 0);
  if (!platforms.empty()) static_cast<void>(api.get_platform_ids(count, platforms.data(), nullptr));
  for (const cl::Platform platform : platforms) {
    cl::Uint devices = 0;
    if (api.get_device_ids(platform, cl::kTypeAll, 0, nullptr, &devices) != cl::kSuccess) continue;
    std::vector<cl::DeviceId> ids(devices);
    if (api.get_device_ids(platform, cl::kTypeAll, devices, ids.data(), nullptr) != cl::kSuccess)
      continue;
    for (const cl::DeviceId id : ids) all.push_back(describe(api, platform, id));
  }
  std::stable_sort(all.begin(), all.end(),
                   [](const Found& a, const Found& b) { return a.info.gpu && !b.info.gpu; });
  if (!all.empty()) return all;
  return fail(ErrorKind::kInput, {}, "the OpenCL loader finds no device",
              "install your device's driver; pocl-opencl-icd runs OpenCL on the CPU");
}

class ClProgram final : public Program {
 public:
  ClProgram(const Api& api, const DeviceInfo& info, cl::Queue queue, cl::ProgramId program)
      : api_(api), info_(info), queue_(queue), program_(program) {}
  ClProgram(const ClProgram&) = delete;
  ClProgram& operator=(const ClProgram&) = delete;
  ~ClProgram() override {
    for (const auto& [name, kernel] : kernels_) api_.release_kernel(kernel);
    api_.release_program(program_);
  }

  Result<void> launch(const char* name, const Groups& groups, std::size_t threads,
                      std::size_t local_bytes, std::span<const Argument> arguments) override {
    auto& kernel = kernels_[name];
    cl::Int status = cl::kSuccess;
    if (kernel == nullptr) kernel = api_.create_kernel(program_, name, &status);
    if (status != cl::kSuccess) return problem(info_, name, status);
    cl::Uint at = 0;
    for (const Argument& argument : arguments) {
      const void* value = argument.data();
      // No buffer is a null pointer in the kernel.
      if (argument.is_buffer() && argument.handle() == 0) value = nullptr;
      status = api_.set_argument(kernel, at++, argument.size(), value);
      if (status != cl::kSuccess) return problem(info_, name, status);
    }
    if (local_bytes > 0) status = api_.set_argument(kernel, at, local_bytes, nullptr);
    if (status != cl::kSuccess) return problem(info_, name, status);
    const std::size_t all[] = {groups.x * threads, groups.y, groups.z};
    const std::size_t local[] = {threads, 1, 1};
    status = api_.enqueue_kernel(queue_, kernel, 3, nullptr, all, local, 0, nullptr, nullptr);
    if (status != cl::kSuccess) return problem(info_, name, status);
    return {};
  }

 private:
  const Api& api_;
  const DeviceInfo& info_;
  cl::Queue queue_;
  cl::ProgramId program_;
  std::map<std::string, cl::Kernel, std::less<>> kernels_;
};

class ClDevice final : public Device {
 public:
  ClDevice(const Api& api, Found found) : api_(api), found_(std::move(found)) {
    info_ = found_.info;
  }
  ~ClDevice() override {
    if (queue_ != nullptr) {
      api_.finish(queue_);
      api_.release_queue(queue_);
    }
    if (context_ != nullptr) api_.release_context(context_);
  }

  Result<void> open() {
    constexpr std::intptr_t kContextPlatform = 0x1084;
    const std::intptr_t properties[] = {kContextPlatform,
                                        reinterpret_cast<std::intptr_t>(found_.platform), 0};
    cl::Int status = cl::kSuccess;
    context_ = api_.create_context(properties, 1, &found_.id, nullptr, nullptr, &status);
    if (status != cl::kSuccess) return problem(info_, "opening the device", status);
    queue_ = api_.create_queue(context_, found_.id, 0, &status);
    if (status != cl::kSuccess) return problem(info_, "opening a queue", status);
    return {};
  }

  Result<void> write(const Buffer& to, std::size_t offset, const void* from,
                     std::size_t bytes) override {
    if (bytes == 0) return {};
    return checked("copying to the device", api_.write_buffer(queue_, memory(to), 1, offset, bytes,
                                                              from, 0, nullptr, nullptr));
  }
  Result<void> read(const Buffer& from, std::size_t offset, void* to, std::size_t bytes) override {
    if (bytes == 0) return {};
    return checked("copying from the device", api_.read_buffer(queue_, memory(from), 1, offset,
                                                               bytes, to, 0, nullptr, nullptr));
  }
  Result<void> copy(const Buffer& from, std::size_t from_offset, const Buffer& to,
                    std::size_t to_offset, std::size_t bytes) override {
    if (bytes == 0) return {};
    return checked("copying on the device",
                   api_.copy_buffer(queue_, memory(from), memory(to), from_offset, to_offset, bytes,
                                    0, nullptr, nullptr));
  }
  Result<void> finish() override { return checked("the work", api_.finish(queue_)); }

  Result<std::unique_ptr<Program>> build(const Source& source) override {
    if (source.doubles && !info_.doubles)
      return fail(ErrorKind::kInput, {}, info_.name + " has no float64",
                  "use float32 (--dtype f32), or --backend cpu");
    if (!found_.exact)
      return fail(
          ErrorKind::kInput, {},
          info_.name + " does not divide float32 correctly rounded, which exact models need",
          "use --backend cpu");
    const std::string text = std::string("#define ON_GPU ") + (info_.gpu ? "1\n" : "0\n") +
                             full_text(source, "opencl.cl");
    const std::string key = "opencl\n" + info_.name + "\n" + info_.driver + "\n" + text;
    if (const auto binary = cached(key)) {
      if (const auto program = from_binary(*binary)) return wrap(*program);
    }
    RASP_TRY(const cl::ProgramId program, from_source(text));
    cache(key, binary_of(program));
    return wrap(program);
  }

 private:
  Result<std::uintptr_t> take(std::size_t bytes) override {
    cl::Int status = cl::kSuccess;
    const cl::Memory memory = api_.create_buffer(context_, cl::kReadWrite, bytes, nullptr, &status);
    if (status == cl::kSuccess) return reinterpret_cast<std::uintptr_t>(memory);
    if (status == cl::kInvalidBufferSize) status = cl::kMemoryAllocationFailure;
    return problem(info_, ("allocating " + std::to_string(bytes) + " bytes").c_str(), status);
  }
  void give_back(std::uintptr_t handle) override {
    static_cast<void>(api_.release_memory(reinterpret_cast<cl::Memory>(handle)));
  }
  static cl::Memory memory(const Buffer& buffer) {
    return reinterpret_cast<cl::Memory>(buffer.handle());
  }
  [[nodiscard]] Result<void> checked(const char* what, cl::Int status) const {
    if (status != cl::kSuccess) return problem(info_, what, status);
    return {};
  }

  [[nodiscard]] std::unique_ptr<Program> wrap(cl::ProgramId program) const {
    return std::make_unique<ClProgram>(api_, info_, queue_, program);
  }
  [[nodiscard]] cl::Int compile(cl::ProgramId program) const {
    // Exactness: no contraction (a pragma in opencl.cl), no relaxed mathematics, divisions
    // correctly rounded.
    return api_.build_program(program, 1, &found_.id,
                              "-cl-std=CL1.2 -cl-fp32-correctly-rounded-divide-sqrt", nullptr,
                              nullptr);
  }
  [[nodiscard]] std::optional<cl::ProgramId> from_binary(const std::string& binary) const {
    const auto* bytes = reinterpret_cast<const unsigned char*>(binary.data());
    const std::size_t size = binary.size();
    cl::Int loaded = cl::kSuccess;
    cl::Int status = cl::kSuccess;
    const cl::ProgramId program =
        api_.create_from_binary(context_, 1, &found_.id, &size, &bytes, &loaded, &status);
    if (status != cl::kSuccess || program == nullptr) return std::nullopt;
    if (loaded == cl::kSuccess && compile(program) == cl::kSuccess) return program;
    api_.release_program(program);
    return std::nullopt;
  }
  [[nodiscard]] Result<cl::ProgramId> from_source(const std::string& text) const {
    const char* source = text.data();
    const std::size_t size = text.size();
    cl::Int status = cl::kSuccess;
    const cl::ProgramId program = api_.create_from_source(context_, 1, &source, &size, &status);
    if (status != cl::kSuccess) return problem(info_, "taking the kernels", status);
    status = compile(program);
    if (status == cl::kSuccess) return program;
    std::size_t length = 0;
    static_cast<void>(api_.get_build_info(program, found_.id, cl::kBuildLog, 0, nullptr, &length));
    std::string log(length, '\0');
    static_cast<void>(
        api_.get_build_info(program, found_.id, cl::kBuildLog, length, log.data(), nullptr));
    api_.release_program(program);
    return fail(ErrorKind::kLimit, {},
                "opencl, " + info_.name + ": its compiler refuses the kernels:\n" +
                    log.substr(0, log.find('\0')));
  }
  [[nodiscard]] std::string binary_of(cl::ProgramId program) const {
    std::size_t size = 0;
    if (api_.get_program_info(program, cl::kProgramBinarySizes, sizeof size, &size, nullptr) !=
        cl::kSuccess)
      return {};
    std::string binary(size, '\0');
    char* bytes = binary.data();
    if (api_.get_program_info(program, cl::kProgramBinaries, sizeof bytes, &bytes, nullptr) !=
        cl::kSuccess)
      return {};
    return binary;
  }

  const Api& api_;
  Found found_;
  cl::Context context_ = nullptr;
  cl::Queue queue_ = nullptr;
};

}  // namespace

Result<std::vector<DeviceInfo>> opencl_devices() {
  RASP_TRY(const Api* api, cl::load());
  RASP_TRY(const std::vector<Found> found, find_devices(*api));
  std::vector<DeviceInfo> devices;
  for (const Found& device : found) devices.push_back(device.info);
  return devices;
}

Result<std::unique_ptr<Device>> open_opencl() {
  RASP_TRY(const Api* api, cl::load());
  RASP_TRY(const std::vector<Found> found, find_devices(*api));
  auto device = std::make_unique<ClDevice>(*api, found.front());
  RASP_CHECK_OK(device->open());
  return device;
}

}  // namespace rasp::runtime::gpu
