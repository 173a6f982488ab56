// The standard library: RASP texts embedded in the binary, one a module. A module is parsed and run
// when one of its names is first looked up.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace rasp::lang {

struct LibraryModule {
  std::string_view name;
  std::string_view text;
};

// In the order of their names; made by library.cmake from stdlib/*.rasp.
[[nodiscard]] const std::vector<LibraryModule>& library();

// The names that a module's text defines: of every line that starts with `def NAME` or `NAME =`.
[[nodiscard]] std::vector<std::string> defined_names(std::string_view text);

// The public names of all modules -> the module that defines each.
using LibraryIndex = std::unordered_map<std::string, const LibraryModule*>;
[[nodiscard]] LibraryIndex library_index();

}  // namespace rasp::lang
