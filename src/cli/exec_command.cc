// rasp exec.
#include <memory>

#include "base/utf8.h"
#include "cli/command.h"
#include "cli/format.h"
#include "cli/json.h"
#include "cli/models.h"
#include "cli/trace.h"
#include "cli/workspace.h"
#include "runtime/backend.h"

namespace rasp::cli {

namespace {

struct Answer {
  std::string text;
  JsonObject object;
};

Answer pattern_answer(const model::Model& model, const Example& input,
                      const runtime::Trace& trace) {
  const interpreter::Matrix matrix = to_matrix(runtime::decode_pattern(model, trace));
  Answer answer;
  answer.text = printable(model.name) + "(" + describe(input) + ") =\n" +
                format_grid(input.tokens, matrix, "    ");
  answer.object.text("name", model.name)
      .text("kind", "selector")
      .add("input", json_input(input))
      .add("output", json_matrix(matrix));
  return answer;
}

Result<Answer> sequence_answer(const model::Model& model, const Example& input,
                               const model::Matrix& y) {
  RASP_TRY(const value::Sequence values, runtime::decode(model, y));
  const auto type = value::sequence_type(values);
  Answer answer;
  answer.text =
      printable(model.name) + "(" + describe(input) + ") = " + format_sequence(values) + "\n";
  answer.object.text("name", model.name)
      .text("kind", "s-op")
      .add("input", json_input(input))
      .add("type", type ? json_string(value::name_of(*type)) : "null")
      .add("output", json_atoms(values));
  return answer;
}

int run_exec(const Parsed& parsed, const Reporter& reporter, Output& output) {
  // Further arguments are inputs too: --input a b c.
  const std::vector<std::string> free = parsed.all("MODEL");
  std::vector<std::string> texts = parsed.all("input");
  texts.insert(texts.end(), free.begin() + 1, free.end());
  if (texts.empty()) {
    return reporter.usage(
        error(ErrorKind::kInput, {}, "option '--input' is missing", "see `rasp exec --help`"));
  }
  const auto inputs = parse_inputs(texts);
  if (!inputs) return reporter.usage(inputs.error());
  const auto backend = chosen_backend(parsed);
  if (!backend) return reporter.usage(backend.error());
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
  const auto executable = (*backend)->load(*model);
  if (!executable) return failed(executable.error());
  const bool pattern = model->decoder.kind == model::Decoder::Kind::kPattern;
  const auto results = (*executable)->run(batch);
  if (!results) return failed(results.error());
  for (std::size_t i = 0; i < inputs->size(); ++i) {
    std::optional<runtime::Trace> trace;
    if (pattern || parsed.has("trace")) {
      auto traced = (*executable)->trace(batch[i]);
      if (!traced) return failed(traced.error());
      trace = std::move(*traced);
    }
    const Example& input = (*inputs)[i];
    const auto answer = pattern ? Result<Answer>(pattern_answer(*model, input, *trace))
                                : sequence_answer(*model, input, (*results)[i]);
    if (!answer) return failed(answer.error());
    if (!reporter.json()) {
      output.write(answer->text);
      if (parsed.has("trace")) output.write(trace_text(*model, input, *trace));
      continue;
    }
    JsonObject object = answer->object;
    if (parsed.has("trace")) object.add("trace", trace_json(*model, *trace));
    output.write(object.str() + "\n");
  }
  return kDone;
}

}  // namespace

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
  add_backend_option(syntax);
  return with_arguments(syntax, arguments, output, run_exec);
}

}  // namespace rasp::cli
