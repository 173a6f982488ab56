#include "compiler/certify_checks.h"
#include "compiler/certify_values.h"

namespace rasp::compiler::checker {
namespace {

bool writes(const model::Layer& layer, bool attention, Index begin, Index width) {
  if (!attention) return !zero_columns(layer.mlp.w_out, begin, width);
  for (const model::Head& head : layer.heads)
    if (!zero_columns(head.wo, begin, width)) return true;
  return false;
}

}  // namespace

std::vector<std::string> check_unwritten(const model::Model& model, Stream& stream) {
  std::vector<std::string> faults;
  for (std::size_t i = 0; i < model.slices.size(); ++i) {
    const model::Slice& slice = model.slices[i];
    if (slice.first_step == 0) continue;
    const std::size_t layer = (slice.first_step - 1) / 2;
    const bool attention = slice.first_step % 2 == 1;
    if (writes(model.layers[layer], attention, slice.begin, slice.bos_value.size())) continue;
    const Written written = check_written(slice, static_cast<std::int32_t>(i), {}, stream);
    if (!written.fault.empty())
      faults.push_back("\"" + slice.name + "\", which nothing writes, " + written.fault);
  }
  return faults;
}

}  // namespace rasp::compiler::checker
