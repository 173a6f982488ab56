#include "runtime/gpu/device.h"

#include <algorithm>

namespace rasp::runtime::gpu {

Buffer::~Buffer() {
  if (device_ == nullptr || handle_ == 0) return;
  device_->give_back(handle_);
  device_->allocated_ -= bytes_;
}

Result<Buffer> Device::allocate(std::size_t bytes) {
  bytes = std::max<std::size_t>(bytes, 1);
  if (info_.largest_allocation != 0 && bytes > info_.largest_allocation)
    return fail(ErrorKind::kLimit, {},
                info_.name + " gives at most " + std::to_string(info_.largest_allocation) +
                    " bytes in one piece, but " + std::to_string(bytes) + " are needed",
                "use smaller inputs, or --backend cpu");
  RASP_TRY(const std::uintptr_t handle, take(bytes));
  const std::size_t now = allocated_ += bytes;
  std::size_t before = peak_;
  while (before < now && !peak_.compare_exchange_weak(before, now)) {
  }
  return Buffer(*this, handle, bytes);
}

}  // namespace rasp::runtime::gpu
