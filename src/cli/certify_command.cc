// rasp certify.
#include "cli/command.h"
#include "cli/compiling.h"
#include "cli/json.h"
#include "cli/models.h"
#include "cli/workspace.h"
#include "compiler/compiler.h"

namespace rasp::cli {

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
