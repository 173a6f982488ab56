#include "cli/compiling.h"

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "base/utf8.h"
#include "cli/format.h"
#include "cli/json.h"
#include "visual/text.h"

namespace rasp::cli {

using visual::pad_left;
using visual::pad_right;
namespace {

std::string real_text(double value) {
  char text[32];
  std::snprintf(text, sizeof text, "%.4g", value);
  return text;
}

const model::CertificateLine* tightest(const model::Certificate& certificate) {
  const auto found =
      std::min_element(certificate.lines.begin(), certificate.lines.end(),
                       [](const auto& a, const auto& b) { return a.margin < b.margin; });
  return found == certificate.lines.end() ? nullptr : &*found;
}

std::string head_sizes(const model::Layer& layer) {
  std::string text;
  for (const model::Head& head : layer.heads) {
    if (!text.empty()) text += " ";
    text += std::to_string(head.wq.cols()) + "/" + std::to_string(head.wv.cols());
  }
  return text.empty() ? "-" : text;
}

Eigen::Index d_mlp(const model::Layer& layer) { return layer.mlp.w_in.cols(); }

std::string_view encoding_name(model::Slice::Encoding encoding) {
  switch (encoding) {
    case model::Slice::Encoding::kOneHot:
      return "one-hot";
    case model::Slice::Encoding::kFeatures:
      return "features";
    case model::Slice::Encoding::kScalar:
      return "scalar";
    case model::Slice::Encoding::kFlag:
      return "flag";
  }
  return "";
}

std::string layer_table(const model::Model& model, std::string_view indent) {
  std::string text = std::string(indent) + "layer  heads  d_mlp  head sizes (QK/V)\n";
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const model::Layer& layer = model.layers[i];
    text += std::string(indent) + pad_left(std::to_string(i), 5) +
            pad_left(std::to_string(layer.heads.size()), 7) +
            pad_left(std::to_string(d_mlp(layer)), 7) + "  " + head_sizes(layer) + "\n";
  }
  return text;
}

std::string slice_table(const model::Model& model, std::string_view indent) {
  std::string text =
      std::string(indent) + "residual stream, " + std::to_string(model.d_model) + " dimensions:\n";
  for (const model::Slice& slice : model.slices) {
    std::string line = std::string(indent) + "  ";
    line += pad_right(std::to_string(slice.begin) + "-" + std::to_string(slice.end - 1), 10);
    line += pad_right(std::string(encoding_name(slice.encoding)), 10) + printable(slice.name);
    if (!slice.origin.empty()) line += "  (" + printable(slice.origin) + ")";
    text += line + "\n";
  }
  return text;
}

}  // namespace

std::vector<compiler::NamedNode> named_nodes(const Workspace& workspace) {
  std::vector<compiler::NamedNode> names;
  for (const lang::Session::Named& named : workspace.session().named_nodes()) {
    names.push_back({named.node, named.name});
  }
  return names;
}

Result<TimedCompilation> compile_sop(const Workspace& workspace, graph::NodeId sop,
                                     const std::string& name, const compiler::Options& options) {
  const auto names = named_nodes(workspace);
  const auto start = std::chrono::steady_clock::now();
  RASP_TRY(compiler::Compiled compiled, compiler::compile(workspace.session().graph(), sop, names,
                                                          workspace.sources(), options));
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  compiled.model.name = name;
  return TimedCompilation{std::move(compiled), took.count()};
}

std::vector<value::Atom> vocabulary_of(const value::Sequence& tokens) {
  std::vector<value::Atom> vocabulary(tokens.begin(), tokens.end());
  std::sort(vocabulary.begin(), vocabulary.end(), value::canonical_less);
  vocabulary.erase(std::unique(vocabulary.begin(), vocabulary.end(), value::identical),
                   vocabulary.end());
  return vocabulary;
}

std::string model_table(const model::Model& model, double seconds, std::string_view indent) {
  std::size_t heads = 0;
  for (const model::Layer& layer : model.layers) heads += layer.heads.size();
  const auto count = [](std::size_t n, std::string_view word) {
    return std::to_string(n) + " " + std::string(word) + (n == 1 ? "" : "s");
  };
  std::string text = std::string(indent) + printable(model.name) + ": " +
                     count(model.layers.size(), "layer") + ", " + count(heads, "head") +
                     ", d_model " + std::to_string(model.d_model) + ", " +
                     count(model.parameters(), "parameter") + ", " +
                     (model.dtype == model::Dtype::kF32 ? "float32" : "float64") +
                     (model.causal ? ", causal" : "") + "\n";
  if (!model.layers.empty()) text += layer_table(model, indent);
  text += slice_table(model, indent);
  if (const auto* line = tightest(model.certificate)) {
    text += std::string(indent) + "smallest margin " + real_text(line->margin) + " (" +
            printable(line->part) + (line->name.empty() ? "" : ", " + printable(line->name)) +
            ")\n";
  }
  text += std::string(indent) + "certificate " +
          (model.certificate.holds ? "holds: " : "does NOT hold: ") +
          count(model.certificate.lines.size(), "part") + " checked\n";
  if (seconds >= 0) {
    text += std::string(indent) + "compiled in " + real_text(seconds) + " s\n";
  }
  return text;
}

std::string model_json(const model::Model& model, double seconds) {
  const auto number = [](auto value) { return std::to_string(value); };
  Eigen::Index d_head = 0;
  for (const model::Layer& layer : model.layers) {
    for (const model::Head& head : layer.heads) {
      d_head = std::max({d_head, head.wq.cols(), head.wv.cols()});
    }
  }
  const auto* line = tightest(model.certificate);
  JsonObject object;
  object.text("name", model.name)
      .add("layers", number(model.layers.size()))
      .add("heads",
           json_list(model.layers,
                     [&](const model::Layer& layer) { return number(layer.heads.size()); }))
      .add("d_mlp",
           json_list(model.layers, [&](const model::Layer& layer) { return number(d_mlp(layer)); }))
      .add("d_model", number(model.d_model))
      .add("d_head", number(d_head))
      .add("parameters", number(model.parameters()))
      .add("margin", line != nullptr ? json_real(line->margin) : "null")
      .add("certified", model.certificate.holds ? "true" : "false")
      .text("dtype", model.dtype == model::Dtype::kF32 ? "f32" : "f64")
      .add("causal", model.causal ? "true" : "false")
      .add("slices", json_list(model.slices, [&](const model::Slice& slice) {
             return JsonObject()
                 .text("name", slice.name)
                 .text("encoding", encoding_name(slice.encoding))
                 .add("begin", number(slice.begin))
                 .add("end", number(slice.end))
                 .str();
           }));
  if (seconds >= 0) object.add("seconds", json_real(seconds));
  return object.str();
}

std::string certificate_table(const model::Certificate& certificate, std::string_view indent) {
  std::size_t width = 4;
  for (const auto& line : certificate.lines) width = std::max(width, display_width(line.part));
  std::string text =
      std::string(indent) + pad_right("part", width) + "      margin       bound  verdict\n";
  for (const model::CertificateLine& line : certificate.lines) {
    text += std::string(indent) + pad_right(printable(line.part), width) +
            pad_left(real_text(line.margin), 12) + pad_left(real_text(line.bound), 12) + "  " +
            (line.holds ? "holds" : "FAILS") + "  " + printable(line.name);
    if (!line.detail.empty()) text += "; " + printable(line.detail);
    text += "\n";
  }
  return text;
}

}  // namespace rasp::cli
