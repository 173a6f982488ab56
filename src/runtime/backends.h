// Choosing a backend by name, and what this machine has.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/backend.h"

namespace rasp::runtime {

// "cpu, opencl, cuda or auto", for messages and help.
inline constexpr std::string_view kBackendNames = "cpu|opencl|cuda|auto";

// `name` is one of them; "auto" is the first of cuda and opencl that has a GPU, else the CPU.
// Errors: an unknown name, or what is missing here for the one that was asked for. `threads` is for
// the CPU; 0: as many as the machine has.
[[nodiscard]] Result<std::unique_ptr<Backend>> make_backend(std::string_view name,
                                                            std::size_t threads = 0);

// Every device, the CPU first; and why a backend has none.
struct DeviceList {
  std::vector<DeviceInfo> devices;
  struct Missing {
    std::string backend;
    Diagnostic why;
  };
  std::vector<Missing> missing;
};
[[nodiscard]] DeviceList list_devices();

}  // namespace rasp::runtime
