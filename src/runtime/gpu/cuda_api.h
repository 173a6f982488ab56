// The part of the CUDA driver API and of NVRTC that is used, declared here so that no header has to
// be installed, and found at run time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/result.h"

namespace rasp::runtime::gpu::cuda {

using Status = int;
using DeviceId = int;
using Pointer = std::uint64_t;  // CUdeviceptr
using Context = struct ContextTag*;
using Module = struct ModuleTag*;
using Function = struct FunctionTag*;
using Stream = struct StreamTag*;
using NvrtcProgram = struct NvrtcTag*;

inline constexpr Status kSuccess = 0;
inline constexpr Status kOutOfMemory = 2;
inline constexpr Status kNoDevice = 100;
inline constexpr int kMaxGridY = 65'535;
// CUdevice_attribute
inline constexpr int kUnits = 16;
inline constexpr int kMajor = 75;
inline constexpr int kMinor = 76;
inline constexpr int kLocalMemoryOptIn = 97;
// CUfunction_attribute
inline constexpr int kFunctionLocalBytes = 3;
inline constexpr int kFunctionRegisters = 4;
inline constexpr int kFunctionMaxDynamicShared = 8;

struct Driver {
  Status (*init)(unsigned);
  Status (*driver_version)(int*);
  Status (*error_name)(Status, const char**);
  Status (*device_count)(int*);
  Status (*device_get)(DeviceId*, int);
  Status (*device_name)(char*, int, DeviceId);
  Status (*device_attribute)(int*, int, DeviceId);
  Status (*device_memory)(std::size_t*, DeviceId);
  Status (*retain_context)(Context*, DeviceId);
  Status (*release_context)(DeviceId);
  Status (*set_context)(Context);
  Status (*allocate)(Pointer*, std::size_t);
  Status (*release)(Pointer);
  Status (*copy_in)(Pointer, const void*, std::size_t, Stream);
  Status (*copy_out)(void*, Pointer, std::size_t, Stream);
  Status (*copy_within)(Pointer, Pointer, std::size_t, Stream);
  Status (*stream_create)(Stream*, unsigned);
  Status (*stream_destroy)(Stream);
  Status (*stream_synchronize)(Stream);
  Status (*module_load)(Module*, const void*);
  Status (*module_unload)(Module);
  Status (*module_function)(Function*, Module, const char*);
  Status (*function_set)(Function, int, int);
  Status (*function_get)(int*, int, Function);
  Status (*launch)(Function, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                   Stream, void**, void**);
};

struct Nvrtc {
  Status (*version)(int*, int*);
  const char* (*error_text)(Status);
  Status (*create)(NvrtcProgram*, const char*, const char*, int, const char* const*,
                   const char* const*);
  Status (*compile)(NvrtcProgram, int, const char* const*);
  Status (*log_size)(NvrtcProgram, std::size_t*);
  Status (*log)(NvrtcProgram, char*);
  Status (*cubin_size)(NvrtcProgram, std::size_t*);
  Status (*cubin)(NvrtcProgram, char*);
  Status (*destroy)(NvrtcProgram*);
};

// Errors say what to install where a library is not there.
[[nodiscard]] Result<const Driver*> load_driver();
[[nodiscard]] Result<const Nvrtc*> load_nvrtc();

// Machine code of a CUDA source for an architecture such as "sm_90"; the compiler's log is in the
// error, and in `log` when that is not null.
[[nodiscard]] Result<std::string> compile(const Nvrtc& nvrtc, const std::string& source,
                                          const std::string& architecture,
                                          std::string* log = nullptr, bool verbose = false);

}  // namespace rasp::runtime::gpu::cuda
