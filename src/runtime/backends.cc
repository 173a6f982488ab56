#include "runtime/backends.h"

#include <string>

namespace rasp::runtime {

Result<std::unique_ptr<Backend>> make_backend(std::string_view name, std::size_t threads) {
  if (name == "cpu" || name == "auto") return make_cpu_backend(threads);
  return fail(ErrorKind::kInput, {}, "there is no backend '" + std::string(name) + "'",
              "the backends are " + std::string(kBackendNames));
}

DeviceList list_devices() {
  DeviceList list;
  list.devices.push_back(make_cpu_backend()->device());
  return list;
}

}  // namespace rasp::runtime
