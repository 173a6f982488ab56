#include <algorithm>
#include <sstream>

#include "compiler/certify_checks.h"
#include "compiler/certify_joint.h"
#include "compiler/certify_logits.h"
#include "compiler/certify_values.h"

namespace rasp::compiler::checker {
namespace {

using Kind = Selection::Kind;

struct HeadState {
  Selection selection;
  Reading values;
  std::vector<std::string> faults;
  std::vector<std::string> details;
  double bound = 0;  // of the scalars that it writes
};

std::string describe(const Selection& selection) {
  std::ostringstream text;
  switch (selection.kind) {
    case Kind::kNothing:
      return "selects nothing";
    case Kind::kMean:
      text << (selection.one_key ? "picks one key" : "mean");
      if (!selection.never_empty) text << ", or BOS";
      break;
    case Kind::kShared:
      text << "mean with BOS";
      break;
    case Kind::kSink:
      text << "sum, BOS " << selection.depth << " above";
      break;
  }
  return text.str();
}

std::string join(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : "; ") + text;
  return all;
}

HeadState state_of(const model::Model& model, const model::Head& head, std::uint32_t step,
                   const Stream& stream) {
  HeadState state;
  state.selection = check_logits(stream, step, head.wq, head.wk, model.attention_scale);
  state.values = read(stream, step, head.wv);
  if (state.values.fault.empty()) join_parts(stream, state.values);
  if (!state.selection.fault.empty()) state.faults.push_back(state.selection.fault);
  if (!state.values.fault.empty()) state.faults.push_back(state.values.fault);
  // Columns that no slice of this step owns must stay as they are.
  for (Index c = 0; c < head.wo.cols(); ++c) {
    const Column& column = stream.columns[static_cast<std::size_t>(c)];
    if (zero_columns(head.wo, c, 1)) continue;
    if (column.slice >= 0 && column.first_step == step + 1) continue;
    state.faults.push_back("writes column " + std::to_string(c) + ", which is not of this layer");
    break;
  }
  return state;
}

void check_slice(const model::Model& model, std::size_t index, const model::Layer& layer,
                 std::vector<HeadState>& states, Stream& stream) {
  const model::Slice& slice = model.slices[index];
  std::vector<Writer> writers;
  std::vector<HeadState*> by;
  bool sound = true;
  for (std::size_t h = 0; h < states.size(); ++h) {
    const Matrix& wo = layer.heads[h].wo;
    const Index width = slice.bos_value.size();
    if (zero_columns(wo, slice.begin, width)) continue;
    sound = sound && states[h].faults.empty();
    writers.push_back({&states[h].selection, &states[h].values, wo.middleCols(slice.begin, width)});
    by.push_back(&states[h]);
  }
  if (writers.empty() || !sound) return;  // a line says why
  const Written written = check_written(slice, static_cast<std::int32_t>(index), writers, stream);
  for (HeadState* state : by) {
    if (!written.fault.empty()) state->faults.push_back("\"" + slice.name + "\" " + written.fault);
    if (!written.detail.empty()) state->details.push_back(written.detail);
    state->bound = std::max(state->bound, written.bound);
  }
}

}  // namespace

std::vector<model::CertificateLine> check_heads(const model::Model& model, std::size_t l,
                                                Stream& stream) {
  const auto step = static_cast<std::uint32_t>(2 * l);
  const model::Layer& layer = model.layers[l];
  std::vector<HeadState> states;
  for (const model::Head& head : layer.heads) states.push_back(state_of(model, head, step, stream));
  for (std::size_t i = 0; i < model.slices.size(); ++i)
    if (model.slices[i].first_step == step + 1) check_slice(model, i, layer, states, stream);
  std::vector<model::CertificateLine> lines;
  for (std::size_t h = 0; h < states.size(); ++h) {
    HeadState& state = states[h];
    model::CertificateLine& line = lines.emplace_back();
    line.part = "layer " + std::to_string(l) + " head " + std::to_string(h);
    line.name = layer.heads[h].name;
    line.margin = state.selection.margin;
    line.holds = state.faults.empty();
    state.details.insert(state.details.begin(), describe(state.selection));
    if (state.bound > 0) {
      std::ostringstream text;
      text << "writes within " << state.bound;
      state.details.push_back(text.str());
    }
    line.detail = join(line.holds ? state.details : state.faults);
  }
  return lines;
}

}  // namespace rasp::compiler::checker
