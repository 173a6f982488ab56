// What `rasp attention` reads: a NumPy file, or, where the text begins with {, a spec. Either is
// read or is an error; what is read is no larger than what was there, and an attention that its
// sizes allow runs.
#include <cstdint>
#include <cstdlib>
#include <string>

#include "runtime/npy.h"
#include "runtime/spec_json.h"

namespace {

using namespace rasp;
using namespace rasp::runtime;

void require(bool holds) {
  if (!holds) std::abort();
}

void check_array(const std::string& bytes) {
  const auto array = parse_npy(bytes);
  if (!array) {
    require(array.error().kind == ErrorKind::kInput && !array.error().message.empty());
    return;
  }
  std::size_t entries = 1;
  for (const std::size_t axis : array->shape) entries *= axis;
  require(entries == array->size() && array->data.size() < bytes.size());
}

void check_spec(const std::string& text) {
  const auto file = parse_spec(text, "/nowhere");
  if (!file) {
    require(file.error().kind == ErrorKind::kInput && !file.error().message.empty());
    return;
  }
  constexpr std::size_t kLength = 5;
  constexpr std::size_t kDim = 4;
  std::vector<float> x(2 * kLength * kDim, 0.5F);
  std::vector<float> out(x.size());
  const auto view = packed<const float>(x.data(), 1, 2, kLength, kDim);
  const auto table = position_table_of(**file, kLength, kDim);
  if (table && *table) (void)add_positions(**table, 0, packed(x.data(), 1, 2, kLength, kDim));
  Attention attention(1);
  (void)attention(view, view, view, (*file)->spec, packed(out.data(), 1, 2, kLength, kDim));
  (void)attention_weights(view, view, (*file)->spec);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(reinterpret_cast<const char*>(data), size);
  if (bytes.starts_with('{')) {
    check_spec(bytes);
  } else {
    check_array(bytes);
  }
  return 0;
}
