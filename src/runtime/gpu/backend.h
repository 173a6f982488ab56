// The backends `opencl` and `cuda`: one implementation, on the one device or the other.
#pragma once

#include <memory>

#include "runtime/backend.h"
#include "runtime/gpu/device.h"

namespace rasp::runtime::gpu {

[[nodiscard]] std::unique_ptr<Backend> make_backend(std::unique_ptr<Device> device);

}  // namespace rasp::runtime::gpu
