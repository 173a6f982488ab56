// What the operating system says of memory.
#pragma once

#include <cstdint>

namespace rasp::cli {

[[nodiscard]] std::uint64_t machine_memory();  // bytes; 0 where it is not known
[[nodiscard]] std::uint64_t peak_memory();     // bytes of this process, at most so far

}  // namespace rasp::cli
