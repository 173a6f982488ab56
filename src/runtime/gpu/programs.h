// The programs that a device has built so far, kept for as long as it is in use.
#pragma once

#include <map>
#include <memory>
#include <string>

#include "runtime/gpu/device.h"

namespace rasp::runtime::gpu {

class Programs {
 public:
  explicit Programs(Device& device) : device_(device) {}

  // Builds it the first time; the device's mutex is held.
  [[nodiscard]] Result<Program*> get(const Source& source);

 private:
  Device& device_;
  std::map<std::string, std::unique_ptr<Program>> built_;
};

// A device with all that is kept about it.
struct Workshop {
  explicit Workshop(std::unique_ptr<Device> made) : device(std::move(made)), programs(*device) {}
  std::unique_ptr<Device> device;
  Programs programs;
};

[[nodiscard]] constexpr std::size_t groups_of(std::size_t items, std::size_t group) {
  return (items + group - 1) / group;
}

}  // namespace rasp::runtime::gpu
