#include "model/metadata.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <utility>

namespace rasp::model {
namespace {

constexpr std::uint32_t kFormatVersion = 1;
// Indexed by Slice::Encoding.
constexpr std::array<std::string_view, 3> kDecoders = {"argmax", "scalar", "pattern"};
constexpr std::array kEncodings = {"one-hot", "features", "scalar", "flag"};

std::vector<value::Atom> as_atoms(const std::vector<value::Number>& numbers) {
  return {numbers.begin(), numbers.end()};
}

Json write_config(const Model& model) {
  Json heads = Json::array();
  for (const Layer& layer : model.layers) heads.push_back(layer.heads.size());
  return {{"attention_scale", real_to_json(model.attention_scale)},
          {"causal", model.causal},
          {"d_model", model.d_model},
          {"dtype", model.dtype == Dtype::kF32 ? "f32" : "f64"},
          {"heads", std::move(heads)},
          {"max_length", model.max_length},
          {"name", model.name},
          {"program", model.program}};
}

Json write_decoder(const Decoder& decoder) {
  const bool is_float = decoder.number_type == Decoder::NumberType::kFloat;
  return {{"codes", atoms_to_json(as_atoms(decoder.codes))},
          {"kind", kDecoders[static_cast<std::size_t>(decoder.kind)]},
          {"max_denominator", decoder.max_denominator},
          {"maximum", atom_to_json(decoder.maximum)},
          {"minimum", atom_to_json(decoder.minimum)},
          {"multiples", decoder.multiples},
          {"number_type", is_float ? "float" : "as listed"},
          {"pattern_head", decoder.pattern_head},
          {"pattern_layer", decoder.pattern_layer},
          {"type_output", decoder.type_output},
          {"values", atoms_to_json(decoder.values)}};
}

Json write_slices(const std::vector<Slice>& slices) {
  Json json = Json::array();
  for (const Slice& slice : slices)
    json.push_back({{"begin", slice.begin},
                    {"encoding", kEncodings[static_cast<std::size_t>(slice.encoding)]},
                    {"end", slice.end},
                    {"error", real_to_json(slice.error)},
                    {"first_step", slice.first_step},
                    {"maximum", real_to_json(slice.maximum)},
                    {"minimum", real_to_json(slice.minimum)},
                    {"name", slice.name},
                    {"origin", slice.origin},
                    {"values", atoms_to_json(slice.values)}});
  return json;
}

Json write_heads(const std::vector<Layer>& layers) {
  Json json = Json::array();
  for (const Layer& layer : layers) {
    Json heads = Json::array();
    for (const Head& head : layer.heads)
      heads.push_back({{"name", head.name}, {"origin", head.origin}});
    json.push_back(std::move(heads));
  }
  return json;
}

Json write_certificate(const Certificate& certificate) {
  Json lines = Json::array();
  for (const CertificateLine& line : certificate.lines)
    lines.push_back({{"bound", real_to_json(line.bound)},
                     {"detail", line.detail},
                     {"holds", line.holds},
                     {"margin", real_to_json(line.margin)},
                     {"name", line.name},
                     {"part", line.part}});
  return {{"holds", certificate.holds}, {"lines", std::move(lines)}};
}

// The parsed JSON text of one section.
Result<Json> section(const Json& metadata, const char* name) {
  const auto found = metadata.find(name);
  if (found == metadata.end())
    return bad_file(std::string("the metadata has no \"") + name + "\"",
                    "only models that this program wrote can be loaded");
  if (!found->is_string())
    return bad_file(std::string("the metadata's \"") + name + "\" is not a string");
  return parse_json(found->get_ref<const std::string&>(),
                    std::string("the metadata's \"") + name + "\"");
}

Result<void> check_version(const Json& metadata) {
  RASP_TRY(const Json version, section(metadata, "format_version"));
  if (!version.is_number_unsigned()) return bad_file("the format version is not a number");
  if (version.get<std::uint64_t>() != kFormatVersion)
    return bad_file("the file has format version " + std::to_string(version.get<std::uint64_t>()) +
                        "; this program reads version " + std::to_string(kFormatVersion),
                    "compile the program again, or use the version that wrote the file");
  return {};
}

Result<void> read_layers(const Json& counts, std::size_t max_tensors, Model& model) {
  if (counts.size() > max_tensors)
    return bad_file("the configuration has " + std::to_string(counts.size()) +
                    " layers, more than the file has tensors");
  std::size_t total = 0;
  for (const Json& count : counts) {
    if (!count.is_number_unsigned() || count.get<std::uint64_t>() > max_tensors)
      return bad_file("the configuration's \"heads\" is not a list of small integers");
    total += count.get<std::size_t>();
    if (total > max_tensors)
      return bad_file("the configuration has more heads than the file has tensors");
    model.layers.emplace_back().heads.resize(count.get<std::size_t>());
  }
  return {};
}

Result<void> read_config(const Json& json, std::size_t max_tensors, Model& model) {
  RASP_TRY(const Fields fields, Fields::of(json, 8, "the configuration"));
  RASP_TRY(model.attention_scale, fields.real("attention_scale"));
  RASP_TRY(model.causal, fields.boolean("causal"));
  RASP_TRY(model.d_model, fields.size("d_model"));
  RASP_TRY(model.max_length, fields.size("max_length"));
  RASP_TRY(model.name, fields.text("name"));
  RASP_TRY(model.program, fields.text("program"));
  RASP_TRY(const std::string dtype, fields.text("dtype"));
  if (dtype != "f32" && dtype != "f64")
    return bad_file("the configuration's dtype is \"" + dtype.substr(0, 20) +
                    "\", expected \"f32\" or \"f64\"");
  model.dtype = dtype == "f32" ? Dtype::kF32 : Dtype::kF64;
  RASP_TRY(const Json* counts, fields.array("heads"));
  return read_layers(*counts, max_tensors, model);
}

Result<value::Number> read_number(const Fields& fields, const char* key) {
  RASP_TRY(const Json* json, fields.any(key));
  RASP_TRY(const value::Atom atom, atom_from_json(*json, fields.where() + "'s " + key));
  const auto* number = std::get_if<value::Number>(&atom);
  if (number == nullptr) return bad_file(fields.where() + "'s " + key + " is not a number");
  return *number;
}

Result<std::vector<value::Number>> read_numbers(const Json& json, const std::string& where) {
  RASP_TRY(const std::vector<value::Atom> atoms, atoms_from_json(json, where));
  std::vector<value::Number> numbers;
  numbers.reserve(atoms.size());
  for (const value::Atom& atom : atoms) {
    const auto* number = std::get_if<value::Number>(&atom);
    if (number == nullptr) return bad_file(where + " are not all numbers");
    numbers.push_back(*number);
  }
  return numbers;
}

Result<Decoder> read_decoder(const Json& json) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kMostOutputs = std::numeric_limits<std::int32_t>::max();
  RASP_TRY(const Fields fields, Fields::of(json, 11, "the decoder"));
  Decoder decoder;
  RASP_TRY(const std::string kind, fields.text("kind"));
  const auto known = std::find(kDecoders.begin(), kDecoders.end(), kind);
  if (known == kDecoders.end())
    return bad_file("the decoder's kind is not one of argmax, scalar and pattern");
  decoder.kind = static_cast<Decoder::Kind>(known - kDecoders.begin());
  RASP_TRY(const Json* values, fields.any("values"));
  RASP_TRY(decoder.values, atoms_from_json(*values, "the decoder's values"));
  RASP_TRY(const Json* codes, fields.any("codes"));
  RASP_TRY(decoder.codes, read_numbers(*codes, "the decoder's codes"));
  RASP_TRY(decoder.minimum, read_number(fields, "minimum"));
  RASP_TRY(decoder.maximum, read_number(fields, "maximum"));
  RASP_TRY(decoder.max_denominator, fields.integer("max_denominator", 1, kMost));
  RASP_TRY(decoder.multiples, fields.boolean("multiples"));
  RASP_TRY(const std::int64_t layer, fields.integer("pattern_layer", 0, kMostOutputs));
  RASP_TRY(const std::int64_t head, fields.integer("pattern_head", 0, kMostOutputs));
  decoder.pattern_layer = static_cast<std::uint32_t>(layer);
  decoder.pattern_head = static_cast<std::uint32_t>(head);
  RASP_TRY(const std::int64_t type_output, fields.integer("type_output", -1, kMostOutputs));
  decoder.type_output = static_cast<std::int32_t>(type_output);
  RASP_TRY(const std::string type, fields.text("number_type"));
  if (type != "as listed" && type != "float")
    return bad_file("the decoder's number type is neither \"as listed\" nor \"float\"");
  decoder.number_type =
      type == "float" ? Decoder::NumberType::kFloat : Decoder::NumberType::kAsListed;
  return decoder;
}

Result<Slice::Encoding> read_encoding(const Fields& fields) {
  RASP_TRY(const std::string name, fields.text("encoding"));
  const auto* found = std::find(kEncodings.begin(), kEncodings.end(), name);
  if (found == kEncodings.end()) return bad_file(fields.where() + " has no known encoding");
  return static_cast<Slice::Encoding>(found - kEncodings.begin());
}

Result<std::vector<Slice>> read_slices(const Json& json, std::size_t max_tensors) {
  if (!json.is_array() || json.size() > max_tensors)
    return bad_file("the metadata's \"slices\" is not a list that fits the file's tensors");
  std::vector<Slice> slices;
  slices.reserve(json.size());
  for (const Json& entry : json) {
    RASP_TRY(const Fields fields, Fields::of(entry, 10, "slice " + std::to_string(slices.size())));
    Slice slice;
    RASP_TRY(slice.begin, fields.size("begin"));
    RASP_TRY(slice.encoding, read_encoding(fields));
    RASP_TRY(slice.end, fields.size("end"));
    RASP_TRY(slice.error, fields.real("error"));
    RASP_TRY(slice.first_step, fields.size("first_step"));
    RASP_TRY(slice.maximum, fields.real("maximum"));
    RASP_TRY(slice.minimum, fields.real("minimum"));
    RASP_TRY(slice.name, fields.text("name"));
    RASP_TRY(slice.origin, fields.text("origin"));
    RASP_TRY(const Json* values, fields.any("values"));
    RASP_TRY(slice.values, atoms_from_json(*values, fields.where() + "'s values"));
    slices.push_back(std::move(slice));
  }
  return slices;
}

Result<void> read_heads(const Json& json, std::vector<Layer>& layers) {
  if (!json.is_array() || json.size() != layers.size())
    return bad_file("the metadata's \"heads\" is not a list with one entry a layer");
  for (std::size_t l = 0; l < layers.size(); ++l) {
    std::vector<Head>& heads = layers[l].heads;
    const std::string layer = "layer " + std::to_string(l);
    if (!json[l].is_array() || json[l].size() != heads.size())
      return bad_file("the metadata's \"heads\" does not have " + std::to_string(heads.size()) +
                      " entries for " + layer);
    for (std::size_t h = 0; h < heads.size(); ++h) {
      RASP_TRY(const Fields fields,
               Fields::of(json[l][h], 2, layer + " head " + std::to_string(h)));
      RASP_TRY(heads[h].name, fields.text("name"));
      RASP_TRY(heads[h].origin, fields.text("origin"));
    }
  }
  return {};
}

Result<Certificate> read_certificate(const Json& json) {
  RASP_TRY(const Fields fields, Fields::of(json, 2, "the certificate"));
  Certificate certificate;
  RASP_TRY(certificate.holds, fields.boolean("holds"));
  RASP_TRY(const Json* lines, fields.array("lines"));
  certificate.lines.reserve(lines->size());
  for (const Json& entry : *lines) {
    RASP_TRY(const Fields line,
             Fields::of(entry, 6, "certificate line " + std::to_string(certificate.lines.size())));
    CertificateLine& read = certificate.lines.emplace_back();
    RASP_TRY(read.bound, line.real("bound"));
    RASP_TRY(read.detail, line.text("detail"));
    RASP_TRY(read.holds, line.boolean("holds"));
    RASP_TRY(read.margin, line.real("margin"));
    RASP_TRY(read.name, line.text("name"));
    RASP_TRY(read.part, line.text("part"));
  }
  return certificate;
}

}  // namespace

Metadata write_metadata(const Model& model) {
  return {{"format_version", Json(model.format_version).dump()},
          {"config", write_config(model).dump()},
          {"vocabulary", atoms_to_json(model.vocabulary).dump()},
          {"decoder", write_decoder(model.decoder).dump()},
          {"slices", write_slices(model.slices).dump()},
          {"heads", write_heads(model.layers).dump()},
          {"certificate", write_certificate(model.certificate).dump()}};
}

Result<Model> read_metadata(const Json& json, std::size_t max_tensors) {
  if (!json.is_object()) return bad_file("the metadata is not a JSON object");
  Model model;
  RASP_CHECK_OK(check_version(json));
  RASP_TRY(const Json config, section(json, "config"));
  RASP_CHECK_OK(read_config(config, max_tensors, model));
  RASP_TRY(const Json vocabulary, section(json, "vocabulary"));
  RASP_TRY(model.vocabulary, atoms_from_json(vocabulary, "the vocabulary"));
  RASP_TRY(const Json decoder, section(json, "decoder"));
  RASP_TRY(model.decoder, read_decoder(decoder));
  RASP_TRY(const Json slices, section(json, "slices"));
  RASP_TRY(model.slices, read_slices(slices, max_tensors));
  RASP_TRY(const Json heads, section(json, "heads"));
  RASP_CHECK_OK(read_heads(heads, model.layers));
  RASP_TRY(const Json certificate, section(json, "certificate"));
  RASP_TRY(model.certificate, read_certificate(certificate));
  return model;
}

}  // namespace rasp::model
