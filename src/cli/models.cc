#include "cli/models.h"

#include "base/utf8.h"
#include "model/safetensors.h"

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

}  // namespace

void add_subject_options(Syntax& syntax, std::string_view sop_help) {
  syntax.value("sop", "NAME", sop_help)
      .value("vocab", "V", "the tokens: a text, each character a token, or a JSON list")
      .value("max-len", "N", "the longest input, in tokens");
}

void add_weight_options(Syntax& syntax) {
  syntax.flag("causal", "let every selector see only positions up to its own")
      .value("dtype", "f32|f64", "the numbers of the weights (f32 without it)");
}

Result<compiler::Options> compiler_options(const Parsed& parsed, std::string_view command) {
  compiler::Options options;
  for (const char* required : {"sop", "vocab", "max-len"}) {
    if (!parsed.has(required)) {
      return fail(ErrorKind::kInput, {}, "option '--" + std::string(required) + "' is missing",
                  "see `rasp " + std::string(command) + " --help`");
    }
  }
  RASP_TRY(options.vocabulary, parse_vocabulary(parsed.get("vocab")));
  RASP_TRY(options.max_length,
           parse_count("--max-len", parsed.get("max-len"), 1, kMaxCompiledLength));
  options.causal = parsed.has("causal");
  const std::string dtype = parsed.get("dtype", "f32");
  if (dtype != "f32" && dtype != "f64") {
    return fail(ErrorKind::kInput, {}, "option '--dtype' expects f32 or f64, got '" + dtype + "'");
  }
  options.dtype = dtype == "f32" ? model::Dtype::kF32 : model::Dtype::kF64;
  return options;
}

std::optional<int> run_program(const Parsed& parsed, Workspace& workspace, const Reporter& reporter,
                               Output& output) {
  const auto file = workspace.add_file(parsed.get("FILE"));
  if (!file) return reporter.usage(file.error());
  const lang::Outcome outcome = workspace.session().run(*file);
  const Reporter people(output, false);
  for (const Diagnostic& diagnostic : outcome.diagnostics) {
    (diagnostic.level == Level::kError ? reporter : people).report(diagnostic, workspace.sources());
  }
  return outcome.ok() ? std::nullopt : std::optional(kFailed);
}

Result<graph::NodeId> find_node(const std::string& name, Workspace& workspace) {
  const auto value = workspace.session().lookup(name);
  if (!value) {
    const std::string meant = closest(name, workspace.session().names());
    return fail(ErrorKind::kName, {}, "the program defines no '" + name + "'",
                meant.empty() ? "" : "did you mean '" + meant + "'?");
  }
  if (const auto* sop = std::get_if<lang::SOp>(&value->data)) return sop->node;
  const auto* selector = std::get_if<lang::Selector>(&value->data);
  if (selector != nullptr) return selector->node;
  return fail(ErrorKind::kType, workspace.session().definition(name).value_or(Span{}),
              "only an s-op or a selector can be compiled, but '" + name + "' is " +
                  lang::describe(*value));
}

void add_backend_option(Syntax& syntax) {
  syntax.value("backend", "NAME",
               "where the weights run: cpu (without it), opencl, cuda or auto;\n"
               "`rasp devices` lists what is here");
}

Result<std::unique_ptr<runtime::Backend>> chosen_backend(const Parsed& parsed) {
  return runtime::make_backend(parsed.get("backend", "cpu"));
}

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

}  // namespace rasp::cli
