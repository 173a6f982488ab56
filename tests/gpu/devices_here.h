// Tests of devices themselves: parametrised by kind, skipped, visibly, where there is none.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "runtime/gpu/programs.h"

namespace rasp::testing {

class OnDevice : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    auto device = open();
    if (!device) GTEST_SKIP() << "no " << GetParam() << " here: " << device.error().message;
    workshop_ = std::make_shared<runtime::gpu::Workshop>(std::move(*device));
  }
  [[nodiscard]] static Result<std::unique_ptr<runtime::gpu::Device>> open() {
    return GetParam() == std::string("cuda") ? runtime::gpu::open_cuda()
                                             : runtime::gpu::open_opencl();
  }
  [[nodiscard]] runtime::gpu::Device& device() { return *workshop_->device; }
  [[nodiscard]] runtime::gpu::Workshop& workshop() { return *workshop_; }
  [[nodiscard]] const std::shared_ptr<runtime::gpu::Workshop>& shared() { return workshop_; }

 private:
  std::shared_ptr<runtime::gpu::Workshop> workshop_;
};

#define RASP_ON_EVERY_DEVICE(suite)                                             \
  INSTANTIATE_TEST_SUITE_P(Devices, suite, ::testing::Values("opencl", "cuda"), \
                           [](const auto& info) { return std::string(info.param); })

template <typename T>
std::vector<T> fetch(runtime::gpu::Device& device, const runtime::gpu::Buffer& buffer) {
  std::vector<T> values(buffer.bytes() / sizeof(T));
  const auto status = device.read(buffer, 0, values.data(), values.size() * sizeof(T));
  EXPECT_TRUE(status.has_value()) << (status ? "" : status.error().message);
  return values;
}

}  // namespace rasp::testing
