// Stands in for libcuda.so.1 and libnvrtc.so in tests of the host: memory is the host's, one kernel
// (probe_sums) runs, and failures come when a test orders them through `fake_cuda`.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

struct State {
  int fail_with = 0;  // every call that works on the device gives this
  std::size_t memory = std::size_t{1} << 30;
  std::size_t taken = 0;
  int retained = 0, modules = 0, streams = 0;
  std::vector<std::string> kernels;  // by handle - 1
  std::string options;
  int shared_bytes = 0;
};
State state;

struct Block {
  std::size_t size;
};

std::string compiled;
constexpr char kLog[] = "error: no_such_thing is not declared";

}  // namespace

extern "C" {

// What a test may ask for and order.
void fake_cuda(const char* order, long long value, long long* answer) {
  const std::string name = order;
  if (name == "fail") state.fail_with = static_cast<int>(value);
  if (name == "taken") *answer = static_cast<long long>(state.taken);
  if (name == "open") *answer = state.retained + state.modules + state.streams;
  if (name == "shared") *answer = state.shared_bytes;
  if (name == "exact")
    *answer = state.options.find("--fmad=false") != std::string::npos &&
              state.options.find("--prec-div=true") != std::string::npos &&
              state.options.find("--ftz=false") != std::string::npos &&
              state.options.find("--gpu-architecture=sm_90") != std::string::npos;
}

int cuInit(unsigned) { return 0; }
int cuDriverGetVersion(int* version) {
  *version = 12'040;
  return 0;
}
int cuGetErrorName(int status, const char** name) {
  *name = status == 719 ? "CUDA_ERROR_LAUNCH_FAILED" : nullptr;
  return status == 719 ? 0 : 1;
}
int cuDeviceGetCount(int* count) {
  *count = 1;
  return 0;
}
int cuDeviceGet(int* device, int index) {
  *device = index;
  return 0;
}
int cuDeviceGetName(char* name, int size, int) {
  std::strncpy(name, "Fake card", static_cast<std::size_t>(size) - 1);
  return 0;
}
int cuDeviceGetAttribute(int* value, int which, int) {
  *value = which == 75 ? 9 : which == 76 ? 0 : which == 97 ? 232'448 : 132;
  return 0;
}
int cuDeviceTotalMem_v2(std::size_t* size, int) {
  *size = state.memory;
  return 0;
}
int cuDevicePrimaryCtxRetain(void** context, int) {
  ++state.retained;
  *context = &state;
  return 0;
}
int cuDevicePrimaryCtxRelease_v2(int) {
  --state.retained;
  return 0;
}
int cuCtxSetCurrent(void* context) { return context == &state ? state.fail_with : 201; }
int cuMemAlloc_v2(std::uint64_t* pointer, std::size_t size) {
  if (state.fail_with != 0) return state.fail_with;
  if (state.taken + size > state.memory) return 2;
  auto* block = static_cast<Block*>(std::malloc(sizeof(Block) + 16 + size));
  block->size = size;
  state.taken += size;
  *pointer = reinterpret_cast<std::uint64_t>(block) + 16;
  return 0;
}
int cuMemFree_v2(std::uint64_t pointer) {
  auto* block = reinterpret_cast<Block*>(pointer - 16);
  state.taken -= block->size;
  std::free(block);
  return 0;
}
int cuMemcpyHtoDAsync_v2(std::uint64_t to, const void* from, std::size_t size, void*) {
  std::memcpy(reinterpret_cast<void*>(to), from, size);
  return state.fail_with;
}
int cuMemcpyDtoHAsync_v2(void* to, std::uint64_t from, std::size_t size, void*) {
  std::memcpy(to, reinterpret_cast<const void*>(from), size);
  return state.fail_with;
}
int cuMemcpyDtoDAsync_v2(std::uint64_t to, std::uint64_t from, std::size_t size, void*) {
  std::memmove(reinterpret_cast<void*>(to), reinterpret_cast<const void*>(from), size);
  return state.fail_with;
}
int cuStreamCreate(void** stream, unsigned) {
  ++state.streams;
  *stream = &state;
  return 0;
}
int cuStreamDestroy_v2(void*) {
  --state.streams;
  return 0;
}
int cuStreamSynchronize(void*) { return state.fail_with; }
int cuModuleLoadData(void** module, const void* code) {
  if (std::memcmp(code, "fake", 4) != 0) return 200;
  ++state.modules;
  *module = &state;
  return 0;
}
int cuModuleUnload(void*) {
  --state.modules;
  return 0;
}
int cuModuleGetFunction(void** function, void*, const char* name) {
  if (std::strncmp(name, "no_such", 7) == 0) return 500;
  state.kernels.emplace_back(name);
  *function = reinterpret_cast<void*>(state.kernels.size());
  return 0;
}
int cuFuncSetAttribute(void*, int which, int value) {
  if (which == 8) state.shared_bytes = value;
  return 0;
}
int cuFuncGetAttribute(int* value, int, void*) {
  *value = 0;
  return 0;
}
int cuLaunchKernel(void* function, unsigned groups, unsigned, unsigned, unsigned items, unsigned,
                   unsigned, unsigned, void*, void** arguments, void**) {
  if (state.fail_with != 0) return state.fail_with;
  if (state.kernels[reinterpret_cast<std::uintptr_t>(function) - 1] != "probe_sums") return 0;
  const auto* x = *static_cast<const float**>(arguments[0]);
  auto* sums = *static_cast<float**>(arguments[1]);
  const int rows = *static_cast<int*>(arguments[2]);
  const int count = *static_cast<int*>(arguments[3]);
  for (int row = 0; row < rows && row < static_cast<int>(groups * items); ++row) {
    sums[row] = 0;
    for (int i = 0; i < count; ++i) sums[row] += x[row * count + i];
  }
  return 0;
}

int nvrtcVersion(int* major, int* minor) {
  *major = 12;
  *minor = 4;
  return 0;
}
const char* nvrtcGetErrorString(int) { return "NVRTC_ERROR_COMPILATION"; }
int nvrtcCreateProgram(void** program, const char* source, const char*, int, const char* const*,
                       const char* const*) {
  compiled = source;
  *program = &compiled;
  return 0;
}
int nvrtcCompileProgram(void*, int count, const char* const* options) {
  state.options.clear();
  for (int i = 0; i < count; ++i) state.options += std::string(options[i]) + " ";
  return compiled.find("no_such_thing") == std::string::npos ? 0 : 6;
}
int nvrtcGetProgramLogSize(void*, std::size_t* size) {
  *size = compiled.find("no_such_thing") == std::string::npos ? 1 : sizeof kLog;
  return 0;
}
int nvrtcGetProgramLog(void*, char* log) {
  if (compiled.find("no_such_thing") == std::string::npos) return 1;
  std::strcpy(log, kLog);
  return 0;
}
int nvrtcGetCUBINSize(void*, std::size_t* size) {
  *size = 16;
  return 0;
}
int nvrtcGetCUBIN(void*, char* code) {
  std::memcpy(code, "fake machine cod", 16);
  return 0;
}
int nvrtcDestroyProgram(void** program) {
  *program = nullptr;
  return 0;
}
}
