// rasp inspect.
#include "cli/command.h"
#include "cli/json.h"
#include "cli/measure.h"
#include "cli/models.h"
#include "cli/workspace.h"
#include "runtime/head_scores.h"
#include "visual/cost.h"
#include "visual/inspect.h"

namespace rasp::cli {
namespace {

constexpr std::size_t kTerminalValues = 16;  // what of an axis fits a screen
constexpr std::size_t kFileValues = 256;

std::string strings_json(const std::vector<std::string>& texts) {
  return json_list(texts, [](const std::string& text) { return json_string(text); });
}

std::string slice_json(const model::Model& model, std::int32_t slice) {
  return slice == visual::kAny ? "null"
                               : json_string(model.slices[static_cast<std::size_t>(slice)].name);
}

std::string qk_json(const model::Model& model, const visual::QkTable& qk) {
  JsonObject object;
  object.add("query", slice_json(model, qk.query_slice))
      .add("key", slice_json(model, qk.key_slice))
      .add("query_values", strings_json(qk.queries.labels))
      .add("key_values", strings_json(qk.keys.labels))
      .add("logits", json_matrix(qk.logits))
      .add("bos", qk.bos.empty() ? "null" : json_list(qk.bos, json_real))
      .add("left_out", JsonObject()
                           .add("query_values", std::to_string(qk.queries.left_out))
                           .add("key_values", std::to_string(qk.keys.left_out))
                           .str());
  return object.str();
}

std::string ov_json(const model::Model& model, const visual::OvTable& ov) {
  return JsonObject()
      .add("key", slice_json(model, ov.key_slice))
      .add("writes", slice_json(model, ov.target_slice))
      .add("key_values", strings_json(ov.keys.labels))
      .add("columns", json_matrix(ov.written))
      .add("gives", strings_json(ov.meaning))
      .text("bos_alone", ov.when_bos)
      .add("left_out", JsonObject().add("key_values", std::to_string(ov.keys.left_out)).str())
      .str();
}

std::string head_json(const model::Model& model, std::size_t layer, std::size_t index,
                      const visual::InspectOptions& options) {
  const model::Head& head = model.layers[layer].heads[index];
  const visual::HeadView view = visual::view_head(model, layer, index, options.max_values);
  return JsonObject()
      .text("name", head.name)
      .text("origin", head.origin)
      .text("kind", visual::name_of(view.kind))
      .add("role", options.roles.empty() || options.roles[layer][index].empty()
                       ? "null"
                       : json_string(options.roles[layer][index]))
      .add("d_qk", std::to_string(head.wq.cols()))
      .add("d_v", std::to_string(head.wv.cols()))
      .add("qk", json_list(view.qk, [&](const auto& qk) { return qk_json(model, qk); }))
      .add("ov", json_list(view.ov, [&](const auto& ov) { return ov_json(model, ov); }))
      .str();
}

std::string layer_json(const model::Model& model, std::size_t layer,
                       const visual::InspectOptions& options) {
  std::string heads = "[";
  for (std::size_t h = 0; h < model.layers[layer].heads.size(); ++h) {
    heads += (h > 0 ? ", " : "") + head_json(model, layer, h, options);
  }
  const visual::MlpView mlp = visual::view_mlp(model, layer);
  const auto names = [&](const std::vector<std::int32_t>& slices) {
    return json_list(slices, [&](std::int32_t slice) { return slice_json(model, slice); });
  };
  return JsonObject()
      .add("heads", heads + "]")
      .add("mlp", JsonObject()
                      .add("units", std::to_string(mlp.units))
                      .add("reads", names(mlp.reads))
                      .add("writes", names(mlp.writes))
                      .str())
      .str();
}

std::string slice_json(const model::Slice& slice) {
  return JsonObject()
      .text("name", slice.name)
      .text("origin", slice.origin)
      .text("encoding", visual::name_of(slice.encoding))
      .add("begin", std::to_string(slice.begin))
      .add("end", std::to_string(slice.end))
      .add("first_step", std::to_string(slice.first_step))
      .add("values", json_atoms(slice.values))
      .add("minimum", json_real(slice.minimum))
      .add("maximum", json_real(slice.maximum))
      .str();
}

std::string formula_json(const visual::Formula& formula, std::size_t n) {
  return JsonObject()
      .text("formula", visual::formula_text(formula))
      .add("value", json_real(formula.at(static_cast<double>(n))))
      .str();
}

std::string cost_json(const model::Model& model, std::size_t n,
                      const visual::MeasuredCost& measured) {
  const visual::Cost cost = visual::cost_of(model);
  const auto if_measured = [](double value) {
    return value < 0 ? std::string("null") : json_real(value);
  };
  JsonObject object;
  object.add("n", std::to_string(n))
      .add("forward", formula_json(cost.forward, n))
      .add("forward_nonzero", formula_json(cost.forward_nonzero, n))
      .add("forward_seconds", if_measured(measured.forward_seconds));
  if (model.causal)
    object.add("token", formula_json(cost.token, n))
        .add("token_nonzero", formula_json(cost.token_nonzero, n))
        .add("token_seconds", if_measured(measured.token_seconds))
        .add("cache_bytes", formula_json(cost.cache_bytes, n))
        .add("cache_bytes_measured", if_measured(measured.cache_bytes));
  return object.str();
}

std::string inspect_json(const model::Model& model, const visual::InspectOptions& options,
                         const std::string& cost) {
  std::string layers = "[";
  for (std::size_t l = 0; l < model.layers.size(); ++l) {
    layers += (l > 0 ? ", " : "") + layer_json(model, l, options);
  }
  double margin = std::numeric_limits<double>::infinity();
  for (const model::CertificateLine& line : model.certificate.lines) {
    margin = std::min(margin, line.margin);
  }
  return JsonObject()
      .text("name", model.name)
      .add("vocabulary", json_atoms(model.vocabulary))
      .add("max_length", std::to_string(model.max_length))
      .add("causal", model.causal ? "true" : "false")
      .text("dtype", model.dtype == model::Dtype::kF32 ? "f32" : "f64")
      .add("d_model", std::to_string(model.d_model))
      .add("parameters", std::to_string(model.parameters()))
      .add("certified", model.certificate.holds ? "true" : "false")
      .add("margin", json_real(margin))
      .add("logit_unit", json_real(visual::logit_unit(model)))
      .add("slices",
           json_list(model.slices, [](const model::Slice& slice) { return slice_json(slice); }))
      .add("layers", layers + "]")
      .add("cost", cost)
      .str();
}

// What every head does, where sequences that tell fit the model.
std::vector<std::vector<std::string>> roles_of(const model::Model& model,
                                               const runtime::Executable& executable) {
  constexpr std::size_t kEnough = 4;
  const auto scored = score_heads(model, executable, {.sequences = kEnough});
  std::vector<std::vector<std::string>> roles;
  if (!scored) return roles;
  for (const auto& layer : scored->layers) {
    roles.emplace_back();
    for (const runtime::HeadScores& head : layer) roles.back().emplace_back(role_of(head));
  }
  return roles;
}

int run_inspect(const Parsed& parsed, const Reporter& reporter, Output& output) {
  const auto model = load_model(parsed.get("MODEL"), reporter);
  if (!model) return kUsage;
  const auto failed = [&](const Diagnostic& problem) {
    reporter.report(problem, SourceMap());
    return kFailed;
  };
  const auto n = parse_count("--at", parsed.get("at", std::to_string(model->max_length)), 1,
                             model->max_length);
  if (!n) return reporter.usage(n.error());
  const auto executable = runtime::make_cpu_backend(1)->load(*model);
  if (!executable) return failed(executable.error());
  visual::MeasuredCost measured;
  if (parsed.has("measure")) {
    auto times = measure_model(*model, **executable, *n);
    if (!times) return failed(times.error());
    measured = *times;
  }
  const bool json = reporter.json();
  const visual::InspectOptions options{parsed.has("full")        ? SIZE_MAX
                                       : is_terminal(1) && !json ? kTerminalValues
                                                                 : kFileValues,
                                       roles_of(*model, **executable)};
  output.write(json ? inspect_json(*model, options, cost_json(*model, *n, measured)) + "\n"
                    : visual::inspect_text(*model, options) +
                          visual::cost_text(*model, *n, measured));
  return kDone;
}

}  // namespace

int inspect_command(const Arguments& arguments, Output& output) {
  Syntax syntax(
      "inspect MODEL [options]",
      "Shows what is in a compiled model: the slices of its residual stream, of every head which\n"
      "values attend to which (QK) and what they write (OV), and what running it costs. Heads\n"
      "that do what circuit analysis has names for, as `rasp heads` scores them, are named so.",
      "rasp inspect reverse.safetensors\n"
      "rasp inspect reverse.safetensors --at 100 --measure\n"
      "rasp inspect reverse.safetensors --json");
  syntax.positional("MODEL", 1, 1)
      .flag("full", "tables in full, whatever their size")
      .value("at", "N", "count the cost at N tokens (the max length without it)")
      .flag("measure", "run the model at N tokens and show what that takes")
      .flag("json", "print one JSON object");
  return with_arguments(syntax, arguments, output, run_inspect);
}

}  // namespace rasp::cli
