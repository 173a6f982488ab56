// What work on a device needs: memory, programs built from source, launches. Written once above
// this; OpenCL and CUDA each stand behind it.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "base/result.h"
#include "runtime/backend.h"

namespace rasp::runtime::gpu {

class Device;

// Memory of a device; freed with its owner, which must not outlive the device.
class Buffer {
 public:
  Buffer() = default;
  Buffer(Device& device, std::uintptr_t handle, std::size_t bytes)
      : device_(&device), handle_(handle), bytes_(bytes) {}
  Buffer(Buffer&& other) noexcept { swap(other); }
  Buffer& operator=(Buffer&& other) noexcept {
    Buffer(std::move(other)).swap(*this);
    return *this;
  }
  ~Buffer();

  [[nodiscard]] std::uintptr_t handle() const { return handle_; }  // 0: none
  [[nodiscard]] std::size_t bytes() const { return bytes_; }

 private:
  void swap(Buffer& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(handle_, other.handle_);
    std::swap(bytes_, other.bytes_);
  }

  Device* device_ = nullptr;
  std::uintptr_t handle_ = 0;
  std::size_t bytes_ = 0;
};

// An argument of a kernel: a buffer, or a scalar or plain struct by value.
class Argument {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor): arguments are listed in a call
  Argument(const Buffer& buffer) : is_buffer_(true), size_(sizeof(std::uintptr_t)) {
    const std::uintptr_t handle = buffer.handle();
    std::memcpy(data_.data(), &handle, sizeof handle);
  }
  template <typename T>
  requires std::is_trivially_copyable_v<T>
  // NOLINTNEXTLINE(google-explicit-constructor)
  Argument(const T& value) : size_(sizeof(T)) {
    static_assert(sizeof(T) <= kMost);
    std::memcpy(data_.data(), &value, sizeof value);
  }

  [[nodiscard]] bool is_buffer() const { return is_buffer_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] const void* data() const { return data_.data(); }
  [[nodiscard]] std::uintptr_t handle() const {
    std::uintptr_t handle = 0;
    std::memcpy(&handle, data_.data(), sizeof handle);
    return handle;
  }

 private:
  static constexpr std::size_t kMost = 96;
  bool is_buffer_ = false;
  std::size_t size_ = 0;
  alignas(16) std::array<std::byte, kMost> data_{};
};

struct Groups {
  std::size_t x = 1, y = 1, z = 1;  // y and z below 65,536
};

// A program of kernels for one device.
class Program {
 public:
  virtual ~Program() = default;
  // `threads` items a group, as many as the kernel was built for. Returns when the launch is
  // queued; `local_bytes` of local memory are the kernel's last argument.
  [[nodiscard]] virtual Result<void> launch(const char* kernel, const Groups& groups,
                                            std::size_t threads, std::size_t local_bytes,
                                            std::span<const Argument> arguments) = 0;
};

// What is built: the text of src/runtime/gpu/kernels and the values of its macros.
struct Source {
  bool doubles = false;                                    // REAL is double, else float
  std::string text;                                        // without the prelude of the language
  std::vector<std::pair<std::string, long long>> defines;  // of a program's own
};

class Device {
 public:
  Device() = default;
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;
  virtual ~Device() = default;

  [[nodiscard]] const DeviceInfo& info() const { return info_; }

  // At least one byte. Work is queued in order; `read` waits for what was queued before it, and
  // `write` has taken the bytes when it returns.
  [[nodiscard]] Result<Buffer> allocate(std::size_t bytes);
  [[nodiscard]] virtual Result<void> write(const Buffer& to, std::size_t offset, const void* from,
                                           std::size_t bytes) = 0;
  [[nodiscard]] virtual Result<void> read(const Buffer& from, std::size_t offset, void* to,
                                          std::size_t bytes) = 0;
  [[nodiscard]] virtual Result<void> copy(const Buffer& from, std::size_t from_offset,
                                          const Buffer& to, std::size_t to_offset,
                                          std::size_t bytes) = 0;
  [[nodiscard]] virtual Result<void> finish() = 0;
  [[nodiscard]] virtual Result<std::unique_ptr<Program>> build(const Source& source) = 0;

  // Bytes that buffers hold now and held at most since `forget_peak`.
  [[nodiscard]] std::size_t allocated() const { return allocated_; }
  [[nodiscard]] std::size_t peak() const { return peak_; }
  void forget_peak() { peak_ = allocated_.load(); }

  // Held by whoever queues a sequence of work.
  [[nodiscard]] std::mutex& mutex() { return mutex_; }

 protected:
  friend class Buffer;
  [[nodiscard]] virtual Result<std::uintptr_t> take(std::size_t bytes) = 0;
  virtual void give_back(std::uintptr_t handle) = 0;

  DeviceInfo info_;

 private:
  std::mutex mutex_;
  std::atomic<std::size_t> allocated_ = 0;
  std::atomic<std::size_t> peak_ = 0;
};

// The first device that fits: a GPU before others. Errors say what is missing here.
[[nodiscard]] Result<std::unique_ptr<Device>> open_opencl();
[[nodiscard]] Result<std::unique_ptr<Device>> open_cuda();
// Every device of a kind, by its description.
[[nodiscard]] Result<std::vector<DeviceInfo>> opencl_devices();
[[nodiscard]] Result<std::vector<DeviceInfo>> cuda_devices();

template <typename T>
[[nodiscard]] Result<Buffer> upload(Device& device, const std::vector<T>& values) {
  RASP_TRY(Buffer buffer, device.allocate(values.size() * sizeof(T)));
  if (!values.empty())
    RASP_CHECK_OK(device.write(buffer, 0, values.data(), values.size() * sizeof(T)));
  return buffer;
}

}  // namespace rasp::runtime::gpu
