#include "runtime/gpu/cuda_api.h"

#include <cstdlib>
#include <vector>

#include "runtime/gpu/shared_library.h"

namespace rasp::runtime::gpu::cuda {
namespace {

template <typename Api>
struct Loaded {
  Api api{};
  bool opened = false;
  bool complete = false;
};

Loaded<Driver> open_driver() {
  const SharedLibrary library({"libcuda.so.1"});
  Loaded<Driver> loaded;
  loaded.opened = library.opened();
  Driver& api = loaded.api;
  loaded.complete =
      library.find(api.init, "cuInit") && library.find(api.driver_version, "cuDriverGetVersion") &&
      library.find(api.error_name, "cuGetErrorName") &&
      library.find(api.device_count, "cuDeviceGetCount") &&
      library.find(api.device_get, "cuDeviceGet") &&
      library.find(api.device_name, "cuDeviceGetName") &&
      library.find(api.device_attribute, "cuDeviceGetAttribute") &&
      library.find(api.device_memory, "cuDeviceTotalMem_v2") &&
      library.find(api.retain_context, "cuDevicePrimaryCtxRetain") &&
      library.find(api.release_context, "cuDevicePrimaryCtxRelease_v2") &&
      library.find(api.set_context, "cuCtxSetCurrent") &&
      library.find(api.allocate, "cuMemAlloc_v2") && library.find(api.release, "cuMemFree_v2") &&
      library.find(api.copy_in, "cuMemcpyHtoDAsync_v2") &&
      library.find(api.copy_out, "cuMemcpyDtoHAsync_v2") &&
      library.find(api.copy_within, "cuMemcpyDtoDAsync_v2") &&
      library.find(api.stream_create, "cuStreamCreate") &&
      library.find(api.stream_destroy, "cuStreamDestroy_v2") &&
      library.find(api.stream_synchronize, "cuStreamSynchronize") &&
      library.find(api.module_load, "cuModuleLoadData") &&
      library.find(api.module_unload, "cuModuleUnload") &&
      library.find(api.module_function, "cuModuleGetFunction") &&
      library.find(api.function_set, "cuFuncSetAttribute") &&
      library.find(api.function_get, "cuFuncGetAttribute") &&
      library.find(api.launch, "cuLaunchKernel");
  return loaded;
}

// CUDA's own folder need not be among those that the dynamic loader searches.
std::string in_toolkit(const char* variable) {
  const char* root = std::getenv(variable);
  return root == nullptr || *root == 0 ? "" : std::string(root) + "/lib64/libnvrtc.so";
}

Loaded<Nvrtc> open_nvrtc() {
  const SharedLibrary library({"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12",
                               "libnvrtc.so.11.2", in_toolkit("CUDA_HOME"), in_toolkit("CUDA_PATH"),
                               "/usr/local/cuda/lib64/libnvrtc.so"});
  Loaded<Nvrtc> loaded;
  loaded.opened = library.opened();
  Nvrtc& api = loaded.api;
  loaded.complete = library.find(api.version, "nvrtcVersion") &&
                    library.find(api.error_text, "nvrtcGetErrorString") &&
                    library.find(api.create, "nvrtcCreateProgram") &&
                    library.find(api.compile, "nvrtcCompileProgram") &&
                    library.find(api.log_size, "nvrtcGetProgramLogSize") &&
                    library.find(api.log, "nvrtcGetProgramLog") &&
                    library.find(api.cubin_size, "nvrtcGetCUBINSize") &&
                    library.find(api.cubin, "nvrtcGetCUBIN") &&
                    library.find(api.destroy, "nvrtcDestroyProgram");
  return loaded;
}

std::string log_of(const Nvrtc& nvrtc, NvrtcProgram program) {
  std::size_t size = 0;
  if (nvrtc.log_size(program, &size) != kSuccess || size <= 1) return {};
  std::string log(size, '\0');
  if (nvrtc.log(program, log.data()) != kSuccess) return {};
  log.resize(size - 1);  // it ends with a zero
  return log;
}

}  // namespace

Result<const Driver*> load_driver() {
  static const Loaded<Driver> loaded = open_driver();
  if (!loaded.opened)
    return fail(ErrorKind::kInput, {}, "the cuda backend needs NVIDIA's driver, libcuda.so.1",
                "install the driver of the card (Debian: nvidia-driver), or use another --backend; "
                "`rasp devices` lists what is here");
  if (!loaded.complete)
    return fail(ErrorKind::kInput, {}, "libcuda.so.1 lacks functions of CUDA 11",
                "install a newer driver");
  return &loaded.api;
}

Result<const Nvrtc*> load_nvrtc() {
  static const Loaded<Nvrtc> loaded = open_nvrtc();
  if (!loaded.opened)
    return fail(
        ErrorKind::kInput, {}, "the cuda backend needs NVIDIA's run-time compiler, libnvrtc.so",
        "install the CUDA toolkit (its package of NVRTC is enough), or set CUDA_HOME to it");
  if (!loaded.complete)
    return fail(ErrorKind::kInput, {}, "libnvrtc.so lacks functions of CUDA 11.1",
                "install a newer CUDA toolkit");
  return &loaded.api;
}

Result<std::string> compile(const Nvrtc& nvrtc, const std::string& source,
                            const std::string& architecture, std::string* log, bool verbose) {
  NvrtcProgram program = nullptr;
  if (nvrtc.create(&program, source.c_str(), "rasp_kernels.cu", 0, nullptr, nullptr) != kSuccess)
    return fail(ErrorKind::kLimit, {}, "NVRTC does not start");
  // Exactness: as the kernels are written, without contraction, flushing or quick divisions.
  const std::string target = "--gpu-architecture=" + architecture;
  std::vector<const char*> options{target.c_str(),
                                   "--std=c++17",
                                   "--fmad=false",
                                   "--prec-div=true",
                                   "--prec-sqrt=true",
                                   "--ftz=false",
                                   "--device-as-default-execution-space"};
  if (verbose) options.push_back("--ptxas-options=-v");
  const Status status = nvrtc.compile(program, static_cast<int>(options.size()), options.data());
  const std::string text = log_of(nvrtc, program);
  if (log != nullptr) *log = text;
  std::string code;
  std::size_t size = 0;
  const bool built = status == kSuccess && nvrtc.cubin_size(program, &size) == kSuccess;
  if (built) {
    code.resize(size);
    static_cast<void>(nvrtc.cubin(program, code.data()));
  }
  nvrtc.destroy(&program);
  if (built && size > 0) return code;
  return fail(ErrorKind::kLimit, {},
              "NVRTC does not compile the kernels for " + architecture + ": " +
                  (status == kSuccess ? "no machine code" : nvrtc.error_text(status)) +
                  (text.empty() ? "" : "\n" + text));
}

}  // namespace rasp::runtime::gpu::cuda
