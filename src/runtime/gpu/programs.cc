#include "runtime/gpu/programs.h"

namespace rasp::runtime::gpu {

Result<Program*> Programs::get(const Source& source) {
  std::string key = source.doubles ? "double\n" : "float\n";
  for (const auto& [name, value] : source.defines) key += name + "=" + std::to_string(value) + "\n";
  key += source.text;
  auto& program = built_[key];
  if (program == nullptr) {
    RASP_TRY(program, device_.build(source));
  }
  return program.get();
}

}  // namespace rasp::runtime::gpu
