// rasp compile, rasp exec, rasp certify.
#include <algorithm>
#include <memory>

#include "base/utf8.h"
#include "cli/command.h"
#include "cli/compiling.h"
#include "cli/format.h"
#include "cli/json.h"
#include "cli/trace.h"
#include "cli/workspace.h"
#include "model/safetensors.h"
#include "runtime/backend.h"

namespace rasp::cli {
namespace {

constexpr std::uint32_t kMaxCompiledLength = 65'536;

Result<std::vector<value::Atom>> parse_vocabulary(const std::string& text) {
  RASP_TRY(const Example example, parse_input(text));
  const std::vector<value::Atom>& tokens = example.tokens;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) {
      if (value::identical(tokens[i], tokens[j])) {
        return fail(ErrorKind::kInput, {},
                    "the vocabulary has " + printable(value::repr(tokens[i])) + " twice");
      }
    }
  }
  if (tokens.empty()) {
    return fail(ErrorKind::kInput, {}, "the vocabulary is empty",
                "--vocab takes a text, each character a token, or a JSON list");
  }
  return tokens;
}

Result<compiler::Options> compiler_options(const Parsed& parsed) {
  compiler::Options options;
  for (const char* required : {"sop", "vocab", "max-len"}) {
    if (!parsed.has(required)) {
      return fail(ErrorKind::kInput, {}, "option '--" + std::string(required) + "' is missing",
                  "see `rasp compile --help`");
    }
  }
  RASP_TRY(options.vocabulary, parse_vocabulary(parsed.get("vocab")));
  RASP_TRY(options.max_length,
           parse_count("--max-len", parsed.get("max-len"), 1, kMaxCompiledLength));
  options.causal = parsed.has("causal");
  options.fuse = !parsed.has("no-fuse");
  const std::string dtype = parsed.get("dtype", "f32");
  if (dtype != "f32" && dtype != "f64") {
    return fail(ErrorKind::kInput, {}, "option '--dtype' expects f32 or f64, got '" + dtype + "'");
  }
  options.dtype = dtype == "f32" ? model::Dtype::kF32 : model::Dtype::kF64;
  options.dump = parsed.get("dump");
  const std::vector<std::string>& passes = compiler::pass_names();
  if (parsed.has("dump") && std::find(passes.begin(), passes.end(), options.dump) == passes.end()) {
    std::string all;
    for (const std::string& pass : passes) all += (all.empty() ? "" : ", ") + pass;
    return fail(ErrorKind::kInput, {}, "unknown pass '" + options.dump + "'",
                "the passes are " + all);
  }
  return options;
}

// The s-op that a program gives a name to.
Result<graph::NodeId> find_sop(const std::string& name, Workspace& workspace) {
  const auto value = workspace.session().lookup(name);
  if (!value) {
    const std::string meant = closest(name, workspace.session().names());
    return fail(ErrorKind::kName, {}, "the program defines no '" + name + "'",
                meant.empty() ? "" : "did you mean '" + meant + "'?");
  }
  if (const auto* sop = std::get_if<lang::SOp>(&value->data)) return sop->node;
  return fail(ErrorKind::kType, workspace.session().definition(name).value_or(Span{}),
              "only an s-op can be compiled, but '" + name + "' is " + lang::describe(*value));
}

// Loads a model; reports and gives nullopt where it cannot.
std::optional<model::Model> load_model(const std::string& path, const Reporter& reporter) {
  auto model = model::load(path);
  if (model) return std::move(*model);
  Diagnostic problem = std::move(model).error();
  if (problem.message.find(path) == std::string::npos) {
    problem.message = "'" + path + "': " + problem.message;
  }
  static_cast<void>(reporter.usage(problem));
  return std::nullopt;
}

}  // namespace

int compile_command(const Arguments& arguments, Output& output) {
  Syntax syntax("compile FILE --sop NAME --vocab V --max-len N [-o MODEL] [options]",
                "Compiles an s-op of a program to the weights of a transformer that computes it\n"
                "exactly, and certifies them.",
                "rasp compile examples/reverse.rasp --sop reverse --vocab abcd --max-len 8 \\\n"
                "    -o reverse.safetensors\n"
                "rasp compile program.rasp --sop total --vocab '[0, 1, 2]' --max-len 10 --json");
  syntax.positional("FILE", 1, 1)
      .value("sop", "NAME", "the s-op to compile")
      .value("vocab", "V", "the tokens: a text, each character a token, or a JSON list")
      .value("max-len", "N", "the longest input, in tokens")
      .value("output,o", "MODEL", "write the model to this safetensors file")
      .flag("causal", "let every selector see only positions up to its own")
      .value("dtype", "f32|f64", "the numbers of the weights (f32 without it)")
      .flag("no-fuse", "keep every named s-op a readable slice of the residual stream")
      .value("dump", "PASS", "print the program as it is after a pass")
      .flag("json", "print one JSON object");
  const auto parsed = syntax.parse(arguments);
  const Reporter reporter(output, parsed && parsed->has("json"));
  if (!parsed) return reporter.usage(parsed.error());
  if (parsed->has("help")) {
    output.write(syntax.help());
    return kDone;
  }
  const auto options = compiler_options(*parsed);
  if (!options) return reporter.usage(options.error());
  Workspace workspace({.causal = options->causal});
  const auto file = workspace.add_file(parsed->get("FILE"));
  if (!file) return reporter.usage(file.error());
  const lang::Outcome outcome = workspace.session().run(*file);
  const Reporter people(output, false);
  for (const Diagnostic& diagnostic : outcome.diagnostics) {
    (diagnostic.level == Level::kError ? reporter : people).report(diagnostic, workspace.sources());
  }
  if (!outcome.ok()) return kFailed;

  const std::string name = parsed->get("sop");
  const auto failed = [&](const Diagnostic& problem) {
    reporter.report(problem, workspace.sources());
    return kFailed;
  };
  const auto sop = find_sop(name, workspace);
  if (!sop) return failed(sop.error());
  const auto result = compile_sop(workspace, *sop, name, *options);
  if (!result) return failed(result.error());
  people.report(result->compiled.notes, workspace.sources());
  if (!options->dump.empty()) output.write(result->compiled.dump);
  const std::string path = parsed->get("output");
  if (!path.empty()) {
    const auto saved = model::save(result->compiled.model, path);
    if (!saved) return failed(saved.error());
  }
  const model::Model& model = result->compiled.model;
  if (reporter.json()) {
    output.write(model_json(model, result->seconds) + "\n");
  } else if (options->dump.empty()) {
    output.write(model_table(model, result->seconds, ""));
    output.write(path.empty() ? "not written: no -o MODEL was given\n"
                              : "written to " + printable(path) + "\n");
  }
  return kDone;
}

int exec_command(const Arguments& arguments, Output& output) {
  Syntax syntax("exec MODEL --input INPUT... [options]",
                "Runs a compiled model on inputs and decodes what it computes.",
                "rasp exec reverse.safetensors --input abcd\n"
                "rasp exec reverse.safetensors --input abcd --input dab --json\n"
                "rasp exec reverse.safetensors --input ab --trace");
  syntax.positional("MODEL", 1, SIZE_MAX)
      .values("input", "INPUT", "an input, as in rasp run (repeatable)")
      .flag("trace", "show every head's attention and every named slice by layer")
      .flag("json", "print one JSON object a line");
  const auto parsed = syntax.parse(arguments);
  const Reporter reporter(output, parsed && parsed->has("json"));
  if (!parsed) return reporter.usage(parsed.error());
  if (parsed->has("help")) {
    output.write(syntax.help());
    return kDone;
  }
  // Further arguments are inputs too: --input a b c.
  const std::vector<std::string> free = parsed->all("MODEL");
  std::vector<std::string> texts = parsed->all("input");
  texts.insert(texts.end(), free.begin() + 1, free.end());
  if (texts.empty()) {
    return reporter.usage(
        error(ErrorKind::kInput, {}, "option '--input' is missing", "see `rasp exec --help`"));
  }
  const auto inputs = parse_inputs(texts);
  if (!inputs) return reporter.usage(inputs.error());
  const auto model = load_model(free.front(), reporter);
  if (!model) return kUsage;

  const SourceMap no_sources;
  const auto failed = [&](const Diagnostic& problem) {
    reporter.report(problem, no_sources);
    return kFailed;
  };
  std::vector<std::vector<runtime::TokenId>> batch;
  for (const Example& input : *inputs) {
    auto tokens = runtime::encode(*model, input.tokens);
    if (!tokens) return failed(tokens.error());
    batch.push_back(std::move(*tokens));
  }
  const auto executable = runtime::make_cpu_backend()->load(*model);
  if (!executable) return failed(executable.error());
  const auto results = (*executable)->run(batch);
  if (!results) return failed(results.error());
  for (std::size_t i = 0; i < inputs->size(); ++i) {
    const auto values = runtime::decode(*model, (*results)[i]);
    if (!values) return failed(values.error());
    std::optional<runtime::Trace> trace;
    if (parsed->has("trace")) {
      auto traced = (*executable)->trace(batch[i]);
      if (!traced) return failed(traced.error());
      trace = std::move(*traced);
    }
    if (!reporter.json()) {
      output.write(printable(model->name) + "(" + describe((*inputs)[i]) +
                   ") = " + format_sequence(*values) + "\n");
      if (trace) output.write(trace_text(*model, (*inputs)[i], *trace));
      continue;
    }
    const auto type = value::sequence_type(*values);
    JsonObject object;
    object.text("name", model->name)
        .text("kind", "s-op")
        .add("input", json_input((*inputs)[i]))
        .add("type", type ? json_string(value::name_of(*type)) : "null")
        .add("output", json_atoms(*values));
    if (trace) object.add("trace", trace_json(*model, *trace));
    output.write(object.str() + "\n");
  }
  return kDone;
}

int certify_command(const Arguments& arguments, Output& output) {
  Syntax syntax("certify MODEL [options]", "Checks a compiled model again, from its weights alone.",
                "rasp certify reverse.safetensors\n"
                "rasp certify reverse.safetensors --json");
  syntax.positional("MODEL", 1, 1).flag("json", "print one JSON object");
  const auto parsed = syntax.parse(arguments);
  const Reporter reporter(output, parsed && parsed->has("json"));
  if (!parsed) return reporter.usage(parsed.error());
  if (parsed->has("help")) {
    output.write(syntax.help());
    return kDone;
  }
  const auto model = load_model(parsed->get("MODEL"), reporter);
  if (!model) return kUsage;
  const model::Certificate certificate = compiler::certify(*model);
  if (reporter.json()) {
    output.write(JsonObject()
                     .text("name", model->name)
                     .add("certified", certificate.holds ? "true" : "false")
                     .add("lines", json_list(certificate.lines,
                                             [](const model::CertificateLine& line) {
                                               return JsonObject()
                                                   .text("part", line.part)
                                                   .text("name", line.name)
                                                   .add("margin", json_real(line.margin))
                                                   .add("bound", json_real(line.bound))
                                                   .add("holds", line.holds ? "true" : "false")
                                                   .text("detail", line.detail)
                                                   .str();
                                             }))
                     .str() +
                 "\n");
  } else {
    output.write(certificate_table(certificate, "") + (certificate.holds
                                                           ? "the certificate holds\n"
                                                           : "the certificate does NOT hold\n"));
  }
  return certificate.holds ? kDone : kFailed;
}

}  // namespace rasp::cli
