#include "runtime/gpu/kernel_sources.h"

namespace rasp::runtime::gpu {

Source kernel_source(std::initializer_list<std::string_view> files, bool doubles,
                     std::vector<std::pair<std::string, long long>> defines) {
  Source source{doubles, std::string(kernel_file("params.h")), std::move(defines)};
  source.text += kernel_file("common.cl");
  for (const std::string_view file : files) source.text += kernel_file(file);
  return source;
}

std::string full_text(const Source& source, std::string_view prelude) {
  std::string text = source.doubles ? "#define REAL_IS_DOUBLE 1\n" : "#define REAL_IS_DOUBLE 0\n";
  for (const auto& [name, value] : source.defines)
    text += "#define " + name + " " + std::to_string(value) + "\n";
  return text + std::string(kernel_file(prelude)) + source.text;
}

}  // namespace rasp::runtime::gpu
