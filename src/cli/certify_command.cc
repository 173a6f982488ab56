// rasp certify.
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/compiling.h"
#include "cli/json.h"
#include "cli/models.h"
#include "cli/workspace.h"
#include "compiler/compiler.h"

namespace rasp::cli {

namespace {

// Where the file's own certificate says something else; "" when it is the same. What a line calls
// its part decides nothing.
std::string difference(const model::Certificate& file, const model::Certificate& checked) {
  if (file.lines.size() != checked.lines.size()) {
    return "it has " + std::to_string(file.lines.size()) + " lines, not " +
           std::to_string(checked.lines.size());
  }
  for (std::size_t i = 0; i < file.lines.size(); ++i) {
    const model::CertificateLine& a = file.lines[i];
    const model::CertificateLine& b = checked.lines[i];
    if (a.part != b.part) return "it speaks of " + a.part + " instead of " + b.part;
    if (a.holds != b.holds) return "its verdict on " + b.part;
    if (a.margin != b.margin || a.bound != b.bound || a.detail != b.detail) {
      return "its figures for " + b.part;
    }
  }
  return file.holds == checked.holds ? "" : "its verdict";
}

std::string line_json(const model::CertificateLine& line) {
  return JsonObject()
      .text("part", line.part)
      .text("name", line.name)
      .add("margin", json_real(line.margin))
      .add("bound", json_real(line.bound))
      .add("holds", line.holds ? "true" : "false")
      .text("detail", line.detail)
      .str();
}

int run_certify(const Parsed& parsed, const Reporter& reporter, Output& output) {
  const auto model = load_model(parsed.get("MODEL"), reporter);
  if (!model) return kUsage;
  const model::Certificate certificate = compiler::certify(*model);
  const std::string differs = difference(model->certificate, certificate);
  if (reporter.json()) {
    JsonObject object;
    object.text("name", model->name)
        .add("certified", certificate.holds ? "true" : "false")
        .add("as_in_file", differs.empty() ? "true" : "false");
    if (!differs.empty()) object.text("difference", differs);
    output.write(object.add("lines", json_list(certificate.lines, line_json)).str() + "\n");
  } else {
    output.write(certificate_table(certificate, "") + (certificate.holds
                                                           ? "the certificate holds\n"
                                                           : "the certificate does NOT hold\n"));
    if (!differs.empty()) {
      output.write("the certificate in the file is another one: " + printable(differs) + "\n");
    }
  }
  return certificate.holds && differs.empty() ? kDone : kFailed;
}

}  // namespace

int certify_command(const Arguments& arguments, Output& output) {
  Syntax syntax(
      "certify MODEL [options]",
      "Checks a compiled model again, from its weights alone, and that the certificate in\n"
      "the file says the same.",
      "rasp certify reverse.safetensors\n"
      "rasp certify reverse.safetensors --json");
  syntax.positional("MODEL", 1, 1).flag("json", "print one JSON object");
  return with_arguments(syntax, arguments, output, run_certify);
}

}  // namespace rasp::cli
