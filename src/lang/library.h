// The standard library: RASP texts embedded in the binary, one a module. The core modules hold the
// names of the original's library: they are always there, and a core module is parsed and run when
// one of its names is first looked up. The others (puzzle packs are called `puzzles/NAME`) are run
// by `load`, which gives their names to whoever asks.
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

// In the order of their names; made by library.cmake from stdlib/*.rasp and stdlib/puzzles/*.rasp.
[[nodiscard]] const std::vector<LibraryModule>& library();

// The names that a module's text defines: of every line that starts with `def NAME` or `NAME =`.
[[nodiscard]] std::vector<std::string> defined_names(std::string_view text);

[[nodiscard]] bool is_core(std::string_view module);

// The public names of the core modules -> the module that defines each.
using LibraryIndex = std::unordered_map<std::string, const LibraryModule*>;
[[nodiscard]] LibraryIndex library_index();

}  // namespace rasp::lang
