#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <unordered_set>

#include "model/atom_json.h"
#include "model/safetensors.h"
#include "model/tensors.h"

namespace rasp::model {
namespace {

using Index = Eigen::Index;

constexpr std::int64_t kMaxDenominator = std::int64_t{1} << 32;

std::string shape(Index rows, Index cols) {
  std::string text = "[";
  text += std::to_string(rows) + ", " + std::to_string(cols) + "]";
  return text;
}

template <typename Tensor>
Result<void> check_shape(const std::string& name, const Tensor& tensor, Index rows, Index cols) {
  if (tensor.rows() == rows && tensor.cols() == cols) return {};
  return bad_file("the tensor " + name + " is " + shape(tensor.rows(), tensor.cols()) +
                  ", expected " + shape(rows, cols));
}

Result<void> check_head(const std::string& name, const Head& head, Index d_model) {
  const Index d_qk = head.wq.cols();
  const Index d_v = head.wv.cols();
  RASP_CHECK_OK(check_shape(name + "wq", head.wq, d_model, d_qk));
  RASP_CHECK_OK(check_shape(name + "wk", head.wk, d_model, d_qk));
  RASP_CHECK_OK(check_shape(name + "wv", head.wv, d_model, d_v));
  return check_shape(name + "wo", head.wo, d_v, d_model);
}

Result<void> check_shapes(const Model& model) {
  const auto d_model = static_cast<Index>(model.d_model);
  RASP_CHECK_OK(check_shape("embed.tokens", model.token_embedding,
                            static_cast<Index>(model.vocabulary.size()) + 1, d_model));
  RASP_CHECK_OK(check_shape("embed.positions", model.position_embedding,
                            static_cast<Index>(model.max_length) + 1, d_model));
  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    const Layer& layer = model.layers[l];
    const std::string in_layer = "layers." + std::to_string(l) + ".";
    for (std::size_t h = 0; h < layer.heads.size(); ++h)
      RASP_CHECK_OK(
          check_head(in_layer + "heads." + std::to_string(h) + ".", layer.heads[h], d_model));
    const Index d_mlp = layer.mlp.w_in.cols();
    RASP_CHECK_OK(check_shape(in_layer + "mlp.w_in", layer.mlp.w_in, d_model, d_mlp));
    RASP_CHECK_OK(check_shape(in_layer + "mlp.b_in", layer.mlp.b_in, 1, d_mlp));
    RASP_CHECK_OK(check_shape(in_layer + "mlp.w_out", layer.mlp.w_out, d_mlp, d_model));
  }
  if (model.unembedding.cols() < 1 && model.decoder.kind != Decoder::Kind::kPattern)
    return bad_file("the model has no outputs");
  return check_shape("unembed", model.unembedding, d_model, model.unembedding.cols());
}

bool is_float32(double weight) {
  return std::abs(weight) <= static_cast<double>(std::numeric_limits<float>::max()) &&
         static_cast<double>(static_cast<float>(weight)) == weight;
}

Result<void> check_weights(const Model& model) {
  Result<void> status;
  for_each_tensor(model, [&](const std::string& name, const auto& tensor) {
    if (!status) return;
    const double* end = tensor.data() + tensor.size();
    const double* bad =
        std::find_if_not(tensor.data(), end, [](double weight) { return std::isfinite(weight); });
    if (bad != end) {
      status = bad_file("the tensor " + name + " holds a weight that is not finite, entry " +
                        std::to_string(bad - tensor.data()));
      return;
    }
    if (model.dtype == Dtype::kF64) return;
    bad = std::find_if_not(tensor.data(), end, is_float32);
    if (bad != end)
      status = bad_file("the tensor " + name + " holds a weight that no float32 is, entry " +
                            std::to_string(bad - tensor.data()),
                        "float64 could hold it");
  });
  return status;
}

Result<void> check_scalar_decoder(const Decoder& decoder) {
  const auto fits = [](const value::Number& number) { return std::isfinite(number.to_double()); };
  if (decoder.codes.size() != decoder.values.size())
    return bad_file("the decoder has " + std::to_string(decoder.codes.size()) + " codes for " +
                    std::to_string(decoder.values.size()) + " values");
  if (!std::all_of(decoder.codes.begin(), decoder.codes.end(), fits) || !fits(decoder.minimum) ||
      !fits(decoder.maximum))
    return bad_file("the decoder has a number that exceeds a double");
  if (std::adjacent_find(decoder.codes.begin(), decoder.codes.end(), std::greater_equal<>()) !=
      decoder.codes.end())
    return bad_file("the decoder's codes do not ascend");
  if (decoder.maximum < decoder.minimum) return bad_file("the decoder's range is empty");
  if (decoder.max_denominator < 1 || decoder.max_denominator > kMaxDenominator)
    return bad_file("the decoder's largest denominator is " +
                    std::to_string(decoder.max_denominator));
  return {};
}

Result<void> check_decoder(const Decoder& decoder, const Model& model, Index d_out) {
  if (decoder.type_output < -1 || decoder.type_output >= d_out)
    return bad_file("the decoder reads a type from output " + std::to_string(decoder.type_output) +
                    " of " + std::to_string(d_out));
  if (decoder.kind == Decoder::Kind::kScalar) return check_scalar_decoder(decoder);
  if (decoder.kind == Decoder::Kind::kPattern) {
    if (decoder.pattern_layer < model.layers.size() &&
        decoder.pattern_head < model.layers[decoder.pattern_layer].heads.size()) {
      return {};
    }
    return bad_file("the decoder reads the pattern of head " +
                    std::to_string(decoder.pattern_head) + " of layer " +
                    std::to_string(decoder.pattern_layer) + ", which the model does not have");
  }
  if (decoder.values.empty()) return bad_file("the decoder has no values");
  if (static_cast<Index>(decoder.values.size()) > d_out)
    return bad_file("the decoder has " + std::to_string(decoder.values.size()) + " values for " +
                    std::to_string(d_out) + " outputs");
  return {};
}

Result<void> check_slice(const Slice& slice, const Model& model) {
  if (slice.begin > slice.end || slice.end > model.d_model)
    return bad_file("the slice \"" + slice.name + "\" is [" + std::to_string(slice.begin) + ", " +
                    std::to_string(slice.end) + ") of " + std::to_string(model.d_model) +
                    " dimensions");
  if (slice.first_step > 2 * model.layers.size())
    return bad_file("the slice \"" + slice.name + "\" begins at step " +
                    std::to_string(slice.first_step) + " of " +
                    std::to_string(2 * model.layers.size()));
  const auto width = static_cast<Index>(slice.end - slice.begin);
  if (slice.features.size() != 0)
    RASP_CHECK_OK(check_shape("features of the slice \"" + slice.name + "\"", slice.features,
                              static_cast<Index>(slice.values.size()), width));
  if (slice.bos_value.size() != 0)
    return check_shape("bos of the slice \"" + slice.name + "\"", slice.bos_value, 1, width);
  return {};
}

Result<void> check_vocabulary(const Model& model) {
  if (model.vocabulary.empty()) return bad_file("the vocabulary is empty");
  std::unordered_set<value::Atom, value::AtomIdentityHash, value::AtomIdentical> seen;
  for (const value::Atom& token : model.vocabulary)
    if (!seen.insert(token).second)
      return bad_file("the vocabulary lists " + value::repr(token) + " twice");
  return {};
}

bool valid_text(const value::Atom& atom) {
  const auto* text = std::get_if<std::string>(&atom);
  return text == nullptr || value::valid_utf8(*text);
}

bool valid_texts(const std::vector<value::Atom>& atoms) {
  return std::all_of(atoms.begin(), atoms.end(), valid_text);
}

// JSON holds nothing but UTF-8.
Result<void> check_texts(const Model& model) {
  bool valid = valid_texts(model.vocabulary) && valid_texts(model.decoder.values) &&
               value::valid_utf8(model.name) && value::valid_utf8(model.program);
  for (const Slice& slice : model.slices)
    valid = valid && valid_texts(slice.values) && value::valid_utf8(slice.name) &&
            value::valid_utf8(slice.origin);
  for (const Layer& layer : model.layers)
    for (const Head& head : layer.heads)
      valid = valid && value::valid_utf8(head.name) && value::valid_utf8(head.origin);
  for (const CertificateLine& line : model.certificate.lines)
    valid = valid && value::valid_utf8(line.part) && value::valid_utf8(line.name) &&
            value::valid_utf8(line.detail);
  if (!valid) return bad_file("a text of the model is not UTF-8");
  return {};
}

}  // namespace

Result<void> check(const Model& model) {
  constexpr std::uint32_t kMost = std::numeric_limits<std::int32_t>::max();
  if (model.format_version != 1) return bad_file("the model's format version is not 1");
  if (model.d_model < 1 || model.d_model > kMost)
    return bad_file("the model's residual width is " + std::to_string(model.d_model));
  if (model.max_length < 1 || model.max_length >= kMost)
    return bad_file("the model's maximal length is " + std::to_string(model.max_length));
  if (!std::isfinite(model.attention_scale))
    return bad_file("the model's attention scale is not finite");
  RASP_CHECK_OK(check_vocabulary(model));
  RASP_CHECK_OK(check_shapes(model));
  RASP_CHECK_OK(check_decoder(model.decoder, model, model.unembedding.cols()));
  for (const Slice& slice : model.slices) RASP_CHECK_OK(check_slice(slice, model));
  RASP_CHECK_OK(check_texts(model));
  return check_weights(model);
}

}  // namespace rasp::model
