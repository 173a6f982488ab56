// The part of OpenCL 1.2 that is used, declared here so that no header has to be installed, and
// found at run time in the loader of installable drivers. Names and values are those of the
// standard (Khronos OpenCL 1.2).
#pragma once

#include <cstddef>
#include <cstdint>

#include "base/result.h"

namespace rasp::runtime::gpu::cl {

using Int = std::int32_t;
using Uint = std::uint32_t;
using Ulong = std::uint64_t;
using Bits = std::uint64_t;
using Platform = struct PlatformTag*;
using DeviceId = struct DeviceTag*;
using Context = struct ContextTag*;
using Queue = struct QueueTag*;
using Memory = struct MemoryTag*;
using ProgramId = struct ProgramTag*;
using Kernel = struct KernelTag*;
using Event = struct EventTag*;

inline constexpr Int kSuccess = 0;
inline constexpr Int kDeviceNotFound = -1;
inline constexpr Int kDeviceNotAvailable = -2;
inline constexpr Int kMemoryAllocationFailure = -4;
inline constexpr Int kOutOfResources = -5;
inline constexpr Int kOutOfHostMemory = -6;
inline constexpr Int kInvalidBufferSize = -61;
inline constexpr Int kPlatformNotFound = -1001;  // of the loader (cl_khr_icd)
inline constexpr Bits kTypeGpu = 1 << 2;
inline constexpr Bits kTypeAll = 0xFFFFFFFF;
inline constexpr Uint kDeviceType = 0x1000;
inline constexpr Uint kDeviceUnits = 0x1002;
inline constexpr Uint kDeviceGroupSize = 0x1004;
inline constexpr Uint kDeviceLargestAllocation = 0x1010;
inline constexpr Uint kDeviceSingleConfig = 0x101B;
inline constexpr Uint kDeviceMemory = 0x101F;
inline constexpr Uint kDeviceLocalMemory = 0x1023;
inline constexpr Uint kDeviceName = 0x102B;
inline constexpr Uint kDriverVersion = 0x102D;
inline constexpr Uint kDeviceDoubleConfig = 0x1032;
inline constexpr Bits kRoundToNearest = 1 << 2;
inline constexpr Bits kCorrectDivision = 1 << 7;
inline constexpr Bits kReadWrite = 1 << 0;
inline constexpr Uint kProgramBinarySizes = 0x1165;
inline constexpr Uint kProgramBinaries = 0x1166;
inline constexpr Uint kBuildLog = 0x1183;

// One member a function; `load` fills them.
struct Api {
  Int (*get_platform_ids)(Uint, Platform*, Uint*);
  Int (*get_device_ids)(Platform, Bits, Uint, DeviceId*, Uint*);
  Int (*get_device_info)(DeviceId, Uint, std::size_t, void*, std::size_t*);
  Context (*create_context)(const std::intptr_t*, Uint, const DeviceId*,
                            void (*)(const char*, const void*, std::size_t, void*), void*, Int*);
  Int (*release_context)(Context);
  Queue (*create_queue)(Context, DeviceId, Bits, Int*);
  Int (*release_queue)(Queue);
  Memory (*create_buffer)(Context, Bits, std::size_t, void*, Int*);
  Int (*release_memory)(Memory);
  Int (*write_buffer)(Queue, Memory, Uint, std::size_t, std::size_t, const void*, Uint,
                      const Event*, Event*);
  Int (*read_buffer)(Queue, Memory, Uint, std::size_t, std::size_t, void*, Uint, const Event*,
                     Event*);
  Int (*copy_buffer)(Queue, Memory, Memory, std::size_t, std::size_t, std::size_t, Uint,
                     const Event*, Event*);
  Int (*finish)(Queue);
  Int (*flush)(Queue);
  ProgramId (*create_from_source)(Context, Uint, const char**, const std::size_t*, Int*);
  ProgramId (*create_from_binary)(Context, Uint, const DeviceId*, const std::size_t*,
                                  const unsigned char**, Int*, Int*);
  Int (*build_program)(ProgramId, Uint, const DeviceId*, const char*, void (*)(ProgramId, void*),
                       void*);
  Int (*get_build_info)(ProgramId, DeviceId, Uint, std::size_t, void*, std::size_t*);
  Int (*get_program_info)(ProgramId, Uint, std::size_t, void*, std::size_t*);
  Int (*release_program)(ProgramId);
  Kernel (*create_kernel)(ProgramId, const char*, Int*);
  Int (*release_kernel)(Kernel);
  Int (*set_argument)(Kernel, Uint, std::size_t, const void*);
  Int (*enqueue_kernel)(Queue, Kernel, Uint, const std::size_t*, const std::size_t*,
                        const std::size_t*, Uint, const Event*, Event*);
};

// The loader's functions; an error that says what to install where it is not there.
[[nodiscard]] Result<const Api*> load();

}  // namespace rasp::runtime::gpu::cl
