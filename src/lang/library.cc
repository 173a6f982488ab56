#include "lang/library.h"

#include <algorithm>
#include <array>

#include "lang/scope.h"
#include "lang/session.h"

namespace rasp::lang {

namespace {

constexpr std::array<std::string_view, 5> kCore = {"basics", "counting", "numbers", "positions",
                                                   "sorting"};

[[nodiscard]] bool is_name_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// The name that a line defines, or "".
[[nodiscard]] std::string_view defined_by(std::string_view line) {
  const bool function = line.starts_with("def ");
  if (function) line.remove_prefix(4);
  std::size_t end = 0;
  while (end < line.size() && is_name_character(line[end])) ++end;
  const std::string_view rest = line.substr(end);
  return function || rest.starts_with(" = ") ? line.substr(0, end) : std::string_view{};
}

}  // namespace

std::vector<std::string> defined_names(std::string_view text) {
  std::vector<std::string> names;
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    const std::string_view name = defined_by(text.substr(0, end));
    if (!name.empty()) names.emplace_back(name);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  }
  return names;
}

bool is_core(std::string_view module) { return std::ranges::find(kCore, module) != kCore.end(); }

LibraryIndex library_index() {
  LibraryIndex index;
  for (const LibraryModule& module : library()) {
    if (!is_core(module.name)) continue;
    for (std::string& name : defined_names(module.text)) {
      if (!is_private(name)) index.emplace(std::move(name), &module);
    }
  }
  return index;
}

std::vector<std::string_view> library_modules() {
  std::vector<std::string_view> names;
  for (const LibraryModule& module : library()) names.push_back(module.name);
  return names;
}

std::optional<std::string_view> library_text(std::string_view module) {
  for (const LibraryModule& candidate : library()) {
    if (candidate.name == module) return candidate.text;
  }
  return std::nullopt;
}

}  // namespace rasp::lang
