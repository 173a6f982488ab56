#include "runtime/gpu/opencl_api.h"

#include "runtime/gpu/shared_library.h"

namespace rasp::runtime::gpu::cl {
namespace {

struct Loaded {
  Api api{};
  bool opened = false;
  bool complete = false;
};

Loaded open() {
  const SharedLibrary library({"libOpenCL.so.1", "libOpenCL.so"});
  Loaded loaded;
  loaded.opened = library.opened();
  Api& api = loaded.api;
  loaded.complete = library.find(api.get_platform_ids, "clGetPlatformIDs") &&
                    library.find(api.get_device_ids, "clGetDeviceIDs") &&
                    library.find(api.get_device_info, "clGetDeviceInfo") &&
                    library.find(api.create_context, "clCreateContext") &&
                    library.find(api.release_context, "clReleaseContext") &&
                    library.find(api.create_queue, "clCreateCommandQueue") &&
                    library.find(api.release_queue, "clReleaseCommandQueue") &&
                    library.find(api.create_buffer, "clCreateBuffer") &&
                    library.find(api.release_memory, "clReleaseMemObject") &&
                    library.find(api.write_buffer, "clEnqueueWriteBuffer") &&
                    library.find(api.read_buffer, "clEnqueueReadBuffer") &&
                    library.find(api.copy_buffer, "clEnqueueCopyBuffer") &&
                    library.find(api.finish, "clFinish") && library.find(api.flush, "clFlush") &&
                    library.find(api.create_from_source, "clCreateProgramWithSource") &&
                    library.find(api.create_from_binary, "clCreateProgramWithBinary") &&
                    library.find(api.build_program, "clBuildProgram") &&
                    library.find(api.get_build_info, "clGetProgramBuildInfo") &&
                    library.find(api.get_program_info, "clGetProgramInfo") &&
                    library.find(api.release_program, "clReleaseProgram") &&
                    library.find(api.create_kernel, "clCreateKernel") &&
                    library.find(api.release_kernel, "clReleaseKernel") &&
                    library.find(api.set_argument, "clSetKernelArg") &&
                    library.find(api.enqueue_kernel, "clEnqueueNDRangeKernel");
  return loaded;
}

}  // namespace

Result<const Api*> load() {
  static const Loaded loaded = open();
  if (!loaded.opened)
    return fail(ErrorKind::kInput, {}, "the opencl backend needs the OpenCL loader, libOpenCL.so.1",
                "install ocl-icd-libopencl1 and your device's driver; pocl-opencl-icd runs OpenCL "
                "on the CPU");
  if (!loaded.complete)
    return fail(ErrorKind::kInput, {}, "libOpenCL.so.1 lacks functions of OpenCL 1.2",
                "install a newer ocl-icd-libopencl1");
  return &loaded.api;
}

}  // namespace rasp::runtime::gpu::cl
