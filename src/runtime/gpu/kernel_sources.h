// The kernels' text, embedded at build time from src/runtime/gpu/kernels.
#pragma once

#include <string>
#include <string_view>

#include "runtime/gpu/device.h"

namespace rasp::runtime::gpu {

// "attention.cl" and the like; "" for an unknown name.
[[nodiscard]] std::string_view kernel_file(std::string_view name);

// A program of one or more kernel files with the common part in front.
[[nodiscard]] Source kernel_source(std::initializer_list<std::string_view> files, bool doubles,
                                   std::vector<std::pair<std::string, long long>> defines = {});

// The whole text for a language: `prelude` is the kernel file that makes it that language.
[[nodiscard]] std::string full_text(const Source& source, std::string_view prelude);

}  // namespace rasp::runtime::gpu
