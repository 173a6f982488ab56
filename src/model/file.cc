// Models as files.
#include <array>

#include "base/files.h"
#include "model/safetensors.h"

namespace rasp::model {

Result<void> save(const Model& model, const std::string& path) {
  RASP_TRY(const std::string bytes, serialise(model));
  const std::array<std::string_view, 1> pieces = {bytes};
  return write_whole_file(path, pieces);
}

Result<Model> load(const std::string& path) {
  RASP_TRY(const std::string bytes, read_regular_file(path, kMaxFileBytes, "a model file"));
  auto model = deserialise(bytes);
  if (!model) model.error().message = "\"" + path + "\": " + model.error().message;
  return model;
}

}  // namespace rasp::model
