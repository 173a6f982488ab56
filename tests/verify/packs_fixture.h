// The packs that come with the project, their reference solutions and what is wrong with others.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "puzzle_fixture.h"

namespace rasp::verify {

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

inline std::vector<std::string> packs() {
  std::vector<std::string> names;
  for (const std::string_view module : lang::library_modules()) {
    if (module.starts_with("puzzles/")) names.emplace_back(module.substr(8));
  }
  return names;
}

// The puzzles of one pack, or of all.
inline std::vector<lang::KnownPuzzle> puzzles_of(Solution& solution, const std::string& pack = "") {
  std::vector<lang::KnownPuzzle> puzzles;
  for (const lang::KnownPuzzle& known : solution.session().puzzles()) {
    const std::string& file = solution.sources().name(known.puzzle.name.span.file);
    if (pack.empty() || file == "stdlib/puzzles/" + pack + ".rasp") puzzles.push_back(known);
  }
  return puzzles;
}

inline std::filesystem::path reference_solution(const std::string& pack) {
  return std::filesystem::path(RASP_TEST_DATA) / ".." / "examples" / "puzzles" / (pack + ".rasp");
}

inline std::string show(const value::Sequence& sequence) {
  std::string text;
  for (const value::Atom& atom : sequence) text += " " + value::repr(atom);
  return text;
}

}  // namespace rasp::verify
