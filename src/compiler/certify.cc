// The checker. It proves by induction over the half-layers that every forward pass, on any input
// of at most max_length tokens, keeps every slice of the residual stream as the model's slices
// claim, and that the outputs decode without doubt: from the weights and those claims alone.
//
//   step 0      the embedding writes what the slices of step 0 claim       (certify_stream.cc)
//   attention   every head selects keys exactly, by its logits             (certify_logits.cc)
//               and writes what its slices claim            (certify_heads.cc, certify_values.cc)
//   MLP         every combination of what units read makes a row of theirs  (certify_units.cc)
//   output      every combination decodes to one value                     (certify_output.cc)
//
// Assumed of the runtime, beyond IEEE arithmetic in the model's dtype: exp(0) is 1, exp is within 4
// ulp, and 0 (or too small to be felt beside 1) from Precision::exp_zero on; the softmax subtracts
// the largest logit and divides once, at the end; x W_in adds the bias last and rounds equal
// columns alike; hidden units are summed in ascending order before they are added to the stream.
// All other sums may run in any order.
#include <algorithm>
#include <cmath>

#include "compiler/certify_checks.h"
#include "compiler/compiler.h"
#include "compiler/halted.h"

namespace rasp::compiler {
namespace {

using checker::Index;

bool shaped(const model::Matrix& matrix, std::size_t rows, Index cols) {
  return matrix.rows() == static_cast<Index>(rows) && matrix.cols() == cols && matrix.allFinite();
}

bool shaped(const model::Head& head, std::size_t d_model) {
  return shaped(head.wq, d_model, head.wq.cols()) && shaped(head.wk, d_model, head.wq.cols()) &&
         shaped(head.wv, d_model, head.wv.cols()) &&
         shaped(head.wo, static_cast<std::size_t>(head.wv.cols()), static_cast<Index>(d_model));
}

bool shaped(const model::Mlp& mlp, std::size_t d_model) {
  return shaped(mlp.w_in, d_model, mlp.w_in.cols()) && mlp.b_in.size() == mlp.w_in.cols() &&
         mlp.b_in.allFinite() &&
         shaped(mlp.w_out, static_cast<std::size_t>(mlp.w_in.cols()), static_cast<Index>(d_model));
}

template <typename Tensor>
bool fits(const Tensor& tensor, const checker::Precision& precision) {
  return std::all_of(tensor.data(), tensor.data() + tensor.size(),
                     [&](double weight) { return precision.round(weight) == weight; });
}

bool fits(const model::Model& model, const checker::Precision& precision) {
  bool all = fits(model.token_embedding, precision) && fits(model.position_embedding, precision) &&
             fits(model.unembedding, precision);
  for (const model::Layer& layer : model.layers) {
    for (const model::Head& head : layer.heads)
      all = all && fits(head.wq, precision) && fits(head.wk, precision) &&
            fits(head.wv, precision) && fits(head.wo, precision);
    all = all && fits(layer.mlp.w_in, precision) && fits(layer.mlp.b_in, precision) &&
          fits(layer.mlp.w_out, precision);
  }
  return all;
}

// Why the model cannot be looked at; else empty.
std::string malformed(const model::Model& model) {
  const std::size_t d_model = model.d_model;
  if (d_model < 1 || model.max_length < 1 || model.vocabulary.empty()) return "the model is empty";
  const auto width = static_cast<Index>(d_model);
  bool sound =
      shaped(model.token_embedding, model.vocabulary.size() + 1, width) &&
      shaped(model.position_embedding, std::size_t{model.max_length} + 1, width) &&
      shaped(model.unembedding, d_model, model.unembedding.cols()) &&
      (model.unembedding.cols() >= 1 || model.decoder.kind == model::Decoder::Kind::kPattern);
  for (const model::Layer& layer : model.layers) {
    sound = sound && shaped(layer.mlp, d_model);
    for (const model::Head& head : layer.heads) sound = sound && shaped(head, d_model);
  }
  if (!sound) return "a tensor has the wrong shape or an entry that is not finite";
  if (!std::isfinite(model.attention_scale)) return "the attention scale is not finite";
  if (!fits(model, checker::precision_of(model.dtype))) return "a weight is no float32";
  return "";
}

model::CertificateLine embedding_line(const model::Model& model, checker::Stream& stream) {
  model::CertificateLine line;
  line.part = "embedding";
  line.name = std::to_string(model.slices.size()) + " slices";
  std::vector<std::string> faults = stream.faults;
  if (faults.empty()) faults = checker::check_unwritten(model, stream);
  line.holds = faults.empty();
  line.margin = line.holds ? 1 : 0;
  for (const std::string& fault : faults) line.detail += (line.detail.empty() ? "" : "; ") + fault;
  return line;
}

}  // namespace

model::Certificate certify(const model::Model& model, const Halt& halt) {
  model::Certificate certificate;
  const std::string problem = malformed(model);
  if (!problem.empty()) {
    certificate.lines.push_back({"model", model.name, 0, 0, false, problem});
    return certificate;
  }
  checker::Stream stream = checker::build_stream(model);
  certificate.lines.push_back(embedding_line(model, stream));
  if (!certificate.lines.back().holds) return certificate;  // the induction has no start
  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    heed(halt);
    std::ranges::move(checker::check_heads(model, l, stream),
                      std::back_inserter(certificate.lines));
    std::ranges::move(checker::check_units(model, l, stream),
                      std::back_inserter(certificate.lines));
  }
  certificate.lines.push_back(checker::check_output(model, stream));
  certificate.holds =
      std::ranges::all_of(certificate.lines, [](const auto& line) { return line.holds; });
  return certificate;
}

}  // namespace rasp::compiler
