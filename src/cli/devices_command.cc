// rasp devices.
#include <cstdio>

#include "base/utf8.h"
#include "cli/command.h"
#include "cli/format.h"
#include "cli/json.h"
#include "cli/workspace.h"
#include "runtime/backends.h"

namespace rasp::cli {
namespace {

std::string size_text(std::uint64_t bytes) {
  char text[32];
  const auto size = static_cast<double>(bytes);
  if (size >= 0x1p30) {
    std::snprintf(text, sizeof text, "%.1f GiB", size * 0x1p-30);
  } else {
    std::snprintf(text, sizeof text, "%.0f KiB", size * 0x1p-10);
  }
  return text;
}

std::string device_text(const runtime::DeviceInfo& device) {
  std::string text = device.backend;
  text.resize(8, ' ');
  text += printable(device.name) + ", " + std::to_string(device.units) +
          (device.backend == "cpu" ? " threads" : " compute units");
  if (device.memory != 0) text += ", " + size_text(device.memory);
  if (device.local_memory != 0) text += ", " + size_text(device.local_memory) + " local";
  if (!device.doubles) text += ", no float64";
  if (!device.driver.empty()) text += ", driver " + printable(device.driver);
  return text + "\n";
}

std::string missing_text(const runtime::DeviceList::Missing& missing) {
  std::string text = missing.backend;
  text.resize(8, ' ');
  text += "not here: " + missing.why.message + "\n";
  if (!missing.why.hint.empty()) text += "        " + missing.why.hint + "\n";
  return text;
}

std::string device_json(const runtime::DeviceInfo& device) {
  const auto count = [](std::uint64_t number) {
    return number == 0 ? std::string("null") : std::to_string(number);
  };
  return JsonObject()
      .text("backend", device.backend)
      .text("name", device.name)
      .add("gpu", device.gpu ? "true" : "false")
      .add("units", count(device.units))
      .add("memory", count(device.memory))
      .add("largest_allocation", count(device.largest_allocation))
      .add("local_memory", count(device.local_memory))
      .add("float64", device.doubles ? "true" : "false")
      .add("driver", device.driver.empty() ? "null" : json_string(device.driver))
      .str();
}

int run_devices(const Parsed&, const Reporter& reporter, Output& output) {
  const runtime::DeviceList list = runtime::list_devices();
  for (const runtime::DeviceInfo& device : list.devices)
    output.write(reporter.json() ? device_json(device) + "\n" : device_text(device));
  for (const auto& missing : list.missing) {
    const std::string object = JsonObject()
                                   .text("backend", missing.backend)
                                   .text("missing", missing.why.message)
                                   .text("hint", missing.why.hint)
                                   .str();
    output.write(reporter.json() ? object + "\n" : missing_text(missing));
  }
  return kDone;
}

}  // namespace

int devices_command(const Arguments& arguments, Output& output) {
  Syntax syntax("devices [options]",
                "Lists what models and attention can run on here, by the name that --backend\n"
                "takes, and what is missing for the others. `auto` is the first graphics card, or\n"
                "the CPU where there is none.",
                "rasp devices\n"
                "rasp devices --json");
  syntax.positional("argument", 0, 0).flag("json", "print one JSON object a line");
  return with_arguments(syntax, arguments, output, run_devices);
}

}  // namespace rasp::cli
