#include "cli/machine.h"

#include <sys/resource.h>
#include <unistd.h>

namespace rasp::cli {

std::uint64_t machine_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long size = sysconf(_SC_PAGESIZE);
  if (pages <= 0 || size <= 0) return 0;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(size);
}

std::uint64_t peak_memory() {
  constexpr std::uint64_t kKiB = 1024;
  struct rusage usage = {};
  if (getrusage(RUSAGE_SELF, &usage) != 0) return 0;
  return static_cast<std::uint64_t>(usage.ru_maxrss) * kKiB;
}

}  // namespace rasp::cli
