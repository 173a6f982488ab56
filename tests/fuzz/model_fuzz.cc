// A model file that may hold anything: it loads or is an error, and what loads can be run, written
// again, and read back to the same bytes.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "model/safetensors.h"
#include "runtime/backend.h"

namespace {

using namespace rasp;

void require(bool holds) {
  if (!holds) std::abort();
}

void check_model(const model::Model& model) {
  require(model::check(model).has_value());
  const auto bytes = model::serialise(model);
  require(bytes.has_value());
  const auto again = model::deserialise(*bytes);
  require(again.has_value() && model::serialise(*again).value() == *bytes);

  const auto executable = runtime::make_cpu_backend(1)->load(model);
  require(executable.has_value());
  const std::vector<std::vector<runtime::TokenId>> batch = {{0}};
  const auto y = (*executable)->run(batch);
  require(y.has_value());
  if (model.causal) {
    const auto state = (*executable)->start();
    require(state.has_value() && (*state)->step(0).has_value());
  }
  // Weights may be so large that the output is no number: an error then.
  (void)runtime::decode(model, y->at(0));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  const auto model = model::deserialise(bytes);
  if (model) {
    check_model(*model);
  } else {
    require(model.error().kind == ErrorKind::kModel && !model.error().message.empty());
  }
  return 0;
}
