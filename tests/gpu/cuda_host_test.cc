// The host of the cuda backend against a driver that is none (fake_cuda.cc): what it asks for, what
// it gives back, and what it makes of errors. Run with that driver's folder as LD_LIBRARY_PATH.
#include <dlfcn.h>
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "runtime/backends.h"
#include "runtime/gpu/attention.h"
#include "runtime/gpu/kernel_sources.h"

namespace rasp::runtime::gpu {
namespace {

using Order = void (*)(const char*, long long, long long*);

class CudaHost : public ::testing::Test {
 protected:
  void SetUp() override {
    setenv("XDG_CACHE_HOME", "/dev/null", 1);  // nothing of the fake is kept
    void* driver = dlopen("libcuda.so.1", RTLD_NOW);
    ASSERT_NE(driver, nullptr) << dlerror();
    order_ = reinterpret_cast<Order>(dlsym(driver, "fake_cuda"));
    if (order_ == nullptr) GTEST_SKIP() << "this machine has a real driver";
    auto device = open_cuda();
    ASSERT_TRUE(device.has_value()) << device.error().message;
    device_ = std::move(*device);
  }
  void TearDown() override {
    if (order_ == nullptr) return;
    fail_with(0);
    device_.reset();
    EXPECT_EQ(ask("taken"), 0);
    EXPECT_EQ(ask("open"), 0);
  }
  [[nodiscard]] long long ask(const char* what) const {
    long long answer = 0;
    order_(what, 0, &answer);
    return answer;
  }
  void fail_with(int status) const { order_("fail", status, nullptr); }
  [[nodiscard]] Device& device() { return *device_; }

  Order order_ = nullptr;
  std::unique_ptr<Device> device_;
};

TEST_F(CudaHost, DescribesTheDevice) {
  const DeviceInfo& info = device().info();
  EXPECT_EQ(info.name, "Fake card");
  EXPECT_EQ(info.driver, "12.4");
  EXPECT_EQ(info.units, 132u);
  EXPECT_EQ(info.local_memory, 232'448u);
  EXPECT_TRUE(info.gpu);
  EXPECT_EQ(list_devices().devices.back().backend, "cuda");
}

TEST_F(CudaHost, CopiesThereAndBack) {
  std::vector<int> values(1000);
  std::iota(values.begin(), values.end(), 0);
  const Buffer buffer = upload(device(), values).value();
  EXPECT_EQ(ask("taken"), 4000);
  const Buffer other = device().allocate(4000).value();
  ASSERT_TRUE(device().copy(buffer, 400, other, 800, 40).has_value());
  std::vector<int> part(10);
  ASSERT_TRUE(device().read(other, 800, part.data(), 40).has_value());
  EXPECT_EQ(part.front(), 100);
  EXPECT_EQ(part.back(), 109);
}

TEST_F(CudaHost, LaunchesWithItsArguments) {
  const std::vector<float> x{1, 2, 3, 4, 5, 6};
  const Buffer from = upload(device(), x).value();
  const Buffer to = device().allocate(2 * sizeof(float)).value();
  const auto program = device().build(kernel_source({"probe.cl"}, false));
  ASSERT_TRUE(program.has_value()) << program.error().message;
  EXPECT_EQ(ask("exact"), 1);
  const Argument arguments[] = {from, to, 2, 3};
  ASSERT_TRUE((*program)->launch("probe_sums", {1}, 64, 100'000, arguments).has_value());
  EXPECT_EQ(ask("shared"), 100'000);  // asked for beyond 48 KiB
  std::vector<float> sums(2);
  ASSERT_TRUE(device().read(to, 0, sums.data(), 8).has_value());
  EXPECT_EQ(sums, (std::vector<float>{6, 15}));
  EXPECT_FALSE((*program)->launch("no_such_kernel", {1}, 64, 0, arguments).has_value());
}

TEST_F(CudaHost, WantOfMemoryIsAnErrorAndNoMore) {
  const auto most = device().allocate((std::size_t{1} << 30) - 10);
  ASSERT_TRUE(most.has_value());
  const auto more = device().allocate(100);
  ASSERT_FALSE(more.has_value());
  EXPECT_EQ(more.error().kind, ErrorKind::kLimit);
  EXPECT_NE(more.error().message.find("out of memory"), std::string::npos);
  EXPECT_TRUE(device().allocate(10).has_value());
}

TEST_F(CudaHost, ALostDeviceIsAnError) {
  const auto program = device().build(kernel_source({"probe.cl"}, false));
  ASSERT_TRUE(program.has_value());
  const Buffer buffer = device().allocate(64).value();
  fail_with(719);
  const Argument arguments[] = {buffer, buffer, 1, 1};
  const auto launched = (*program)->launch("probe_sums", {1}, 64, 0, arguments);
  ASSERT_FALSE(launched.has_value());
  EXPECT_NE(launched.error().message.find("CUDA_ERROR_LAUNCH_FAILED"), std::string::npos);
  int value = 0;
  EXPECT_FALSE(device().read(buffer, 0, &value, 4).has_value());
  EXPECT_FALSE(device().write(buffer, 0, &value, 4).has_value());
  EXPECT_FALSE(device().finish().has_value());
  EXPECT_FALSE(device().allocate(4).has_value());
}

TEST_F(CudaHost, ARefusedKernelIsAnErrorWithItsLog) {
  Source source = kernel_source({"probe.cl"}, false);
  source.text += "no_such_thing";
  const auto program = device().build(source);
  ASSERT_FALSE(program.has_value());
  EXPECT_NE(program.error().message.find("no_such_thing is not declared"), std::string::npos);
  EXPECT_NE(program.error().message.find("sm_90"), std::string::npos);
}

// Every failure in the middle of a call becomes the call's error, and nothing stays allocated.
TEST_F(CudaHost, CallsGiveBackWhatTheyTook) {
  Workshop workshop(std::move(device_));
  const std::vector<float> q(4 * 8);
  std::vector<float> out(q.size());
  const auto view = packed(q.data(), 1, 1, 4, 8);
  const auto call = [&] {
    return attention<float>(workshop, view, view, view, {}, packed(out.data(), 1, 1, 4, 8));
  };
  EXPECT_TRUE(call().has_value());
  EXPECT_EQ(ask("taken"), 0);
  fail_with(719);
  EXPECT_FALSE(call().has_value());
  EXPECT_EQ(ask("taken"), 0);
}

}  // namespace
}  // namespace rasp::runtime::gpu
