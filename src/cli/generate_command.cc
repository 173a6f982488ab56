// rasp generate.
#include <chrono>

#include "base/utf8.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/json.h"
#include "cli/models.h"
#include "cli/workspace.h"
#include "runtime/backend.h"
#include "runtime/codec.h"

namespace rasp::cli {
namespace {

constexpr std::uint32_t kMostTokens = 1'000'000;

// Why a text ends.
enum class End { kDone, kMaxLength, kNoToken, kInterrupted };

std::string_view name_of(End end) {
  switch (end) {
    case End::kDone:
      return "tokens";
    case End::kMaxLength:
      return "max_length";
    case End::kNoToken:
      return "answer";
    case End::kInterrupted:
      return "interrupted";
  }
  return "";
}

struct Generated {
  value::Sequence tokens;
  End end = End::kDone;
  std::optional<Diagnostic> problem;  // kNoToken
  double seconds = 0;                 // of the tokens, the prompt not counted
  std::size_t bytes = 0;              // of keys and values in the end
};

Diagnostic no_token(const model::Model& model, const value::Atom& answer, std::size_t position) {
  return error(ErrorKind::kValue, {},
               "behind position " + std::to_string(position) + " the model answers " +
                   printable(value::repr(answer)) + ", which is no token of its vocabulary: " +
                   printable(model.name) + " must give the next token",
               "where nothing can be told, let the s-op give a token, such as \" \"");
}

// Feeds the prompt, then every answer; `tell` is called with each token as it comes.
template <typename Tell>
Result<Generated> generate(const model::Model& model, runtime::Generation& state,
                           std::span<const runtime::TokenId> prompt, std::size_t count,
                           const std::atomic<bool>& interrupted, const Tell& tell) {
  const runtime::Codec codec(model);
  Generated result;
  model::Matrix y;
  for (const runtime::TokenId token : prompt) {
    if (interrupted) break;
    RASP_TRY(y, state.step(token));
  }
  const auto start = std::chrono::steady_clock::now();
  while (result.tokens.size() < count && !interrupted) {
    RASP_TRY(const value::Sequence answer, codec.decode(y));
    const auto id = codec.encode(answer);
    if (!id) {
      result.end = End::kNoToken;
      result.problem = no_token(model, answer.front(), state.length() - 1);
      break;
    }
    result.tokens.push_back(answer.front());
    tell(answer.front());
    if (result.tokens.size() == count) break;
    if (state.length() == model.max_length) {
      result.end = End::kMaxLength;
      break;
    }
    RASP_TRY(y, state.step(id->front()));
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
  if (interrupted) result.end = End::kInterrupted;
  result.seconds = took.count();
  result.bytes = state.bytes();
  return result;
}

// Line breaks and tabs are text; what else a terminal would obey is spelled out.
std::string as_text(const value::Atom& token) {
  const std::string text = value::to_text(token);
  return text == "\n" || text == "\t" ? text : printable(text);
}

std::string json_of(const model::Model& model, const Example& prompt, const Generated& result) {
  const Example output = as_example(result.tokens);
  return JsonObject()
             .text("name", model.name)
             .add("prompt", json_input(prompt))
             .add("output",
                  prompt.text && output.text ? json_input(output) : json_atoms(result.tokens))
             .add("tokens", std::to_string(result.tokens.size()))
             .text("end", name_of(result.end))
             .add("cache_bytes", std::to_string(result.bytes))
             .add("seconds", json_real(result.seconds))
             .str() +
         "\n";
}

int run_generate(const Parsed& parsed, const Reporter& reporter, Output& output) {
  for (const char* required : {"prompt", "tokens"})
    if (!parsed.has(required))
      return reporter.usage(error(ErrorKind::kInput, {},
                                  "option '--" + std::string(required) + "' is missing",
                                  "see `rasp generate --help`"));
  const auto count = parse_count("--tokens", parsed.get("tokens"), 0, kMostTokens);
  if (!count) return reporter.usage(count.error());
  const auto prompts = parse_inputs({parsed.get("prompt")});
  if (!prompts) return reporter.usage(prompts.error());
  const auto backend = runtime::make_backend(parsed.get("backend", "cpu"), 1);
  if (!backend) return reporter.usage(backend.error());
  const auto model = load_model(parsed.get("MODEL"), reporter);
  if (!model) return kUsage;

  const auto failed = [&](const Diagnostic& problem) {
    reporter.report(problem, SourceMap());
    return kFailed;
  };
  const Example& prompt = prompts->front();
  if (!model->causal)
    return failed(error(ErrorKind::kInput, {},
                        "'" + printable(model->name) +
                            "' is not causal: a position may read what comes after it, so nothing "
                            "can be kept from step to step",
                        "compile it with --causal"));
  if (model->decoder.kind == model::Decoder::Kind::kPattern)
    return failed(error(ErrorKind::kInput, {},
                        "'" + printable(model->name) + "' is a selector and has no next token",
                        "compile an s-op"));
  const auto tokens = runtime::encode(*model, prompt.tokens);
  if (!tokens) return failed(tokens.error());
  const auto executable = (*backend)->load(*model);
  if (!executable) return failed(executable.error());
  const auto state = (*executable)->start();
  if (!state) return failed(state.error());

  const std::atomic<bool>& interrupted = catch_interrupts();
  const bool live = is_terminal(1);
  const auto tell = [&](const value::Atom& token) {
    if (reporter.json()) return;
    output.write(prompt.text ? as_text(token) : printable(value::repr(token)) + "\n");
    if (live) output.flush();
  };
  const auto result = generate(*model, **state, *tokens, *count, interrupted, tell);
  if (!result) return failed(result.error());
  if (reporter.json()) {
    output.write(json_of(*model, prompt, *result));
  } else if (prompt.text) {
    output.write("\n");
  }
  if (result->problem) return failed(*result->problem);
  if (result->end == End::kMaxLength && !reporter.json())
    output.error("rasp: the text ends at the model's max length, " +
                 std::to_string(model->max_length) + " tokens\n");
  return result->end == End::kInterrupted ? kInterrupted : kDone;
}

}  // namespace

int generate_command(const Arguments& arguments, Output& output) {
  Syntax syntax(
      "generate MODEL --prompt INPUT --tokens N [options]",
      "Lets a causal model whose s-op is the next token continue a text, one position a\n"
      "step: keys and values of the positions before are kept. The continuation goes to\n"
      "standard output as it comes, characters behind a text and one token a line behind\n"
      "a list. It ends early at the model's max length.",
      "rasp compile examples/induction_text.rasp --sop next --causal \\\n"
      "    --vocab 'abcdehnort ,.?' --max-len 200 -o next.safetensors\n"
      "rasp generate next.safetensors --prompt 'not here, no' --tokens 30\n"
      "rasp generate counter.safetensors --prompt '[0, 1, 2]' --tokens 5 --json");
  syntax.positional("MODEL", 1, 1)
      .value("prompt", "INPUT", "what is continued: an input, as in rasp run")
      .value("tokens", "N", "so many tokens, at most")
      .flag("json", "print one JSON object");
  add_backend_option(syntax);
  return with_arguments(syntax, arguments, output, run_generate);
}

}  // namespace rasp::cli
