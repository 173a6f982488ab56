// The structs of kernels/params.h for the host.
#pragma once

namespace rasp::runtime::gpu {
#include "runtime/gpu/kernels/params.h"
}  // namespace rasp::runtime::gpu
