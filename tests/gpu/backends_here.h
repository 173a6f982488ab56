// Tests that run on every backend there is: parametrised by name, skipped, visibly, where it is
// not.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "runtime/backends.h"

namespace rasp::testing {

class OnBackend : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    auto made = runtime::make_backend(GetParam(), 2);
    if (!made) GTEST_SKIP() << "no " << GetParam() << " here: " << made.error().message;
    backend_ = std::move(*made);
  }
  [[nodiscard]] const runtime::Backend& backend() const { return *backend_; }
  [[nodiscard]] bool has_doubles() const { return backend_->device().doubles; }

 private:
  std::unique_ptr<runtime::Backend> backend_;
};

inline std::string backend_name(const ::testing::TestParamInfo<const char*>& info) {
  return info.param;
}

// The suite on the CPU too: it keeps the tests themselves honest.
#define RASP_ON_EVERY_BACKEND(suite)                                                    \
  INSTANTIATE_TEST_SUITE_P(Backends, suite, ::testing::Values("cpu", "opencl", "cuda"), \
                           rasp::testing::backend_name)

}  // namespace rasp::testing
