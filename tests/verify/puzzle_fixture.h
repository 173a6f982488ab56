// A session that knows puzzles and has run a solution.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "../lang/fixture.h"
#include "verify/puzzle.h"

namespace rasp::verify {

class Solution {
 public:
  Solution() : session_(sources_, options()) {}

  // The packs of the library.
  void state_packs() {
    for (const std::string_view module : lang::library_modules()) {
      if (!module.starts_with("puzzles/")) continue;
      state("stdlib/" + std::string(module) + ".rasp", std::string(*lang::library_text(module)));
    }
  }
  void state(std::string name, std::string text) {
    check(session_.run_apart(sources_.add(std::move(name), std::move(text))));
  }
  void run(std::string name, std::string text) {
    check(session_.run(sources_.add(std::move(name), std::move(text))));
  }

  [[nodiscard]] lang::Session& session() { return session_; }
  [[nodiscard]] const SourceMap& sources() const { return sources_; }
  [[nodiscard]] PuzzleReport verify(const std::string& puzzle, const PuzzleOptions& options = {}) {
    for (const lang::KnownPuzzle& known : session_.puzzles()) {
      if (known.puzzle.name.text == puzzle) {
        return verify_puzzle(session_, known, sources_, options);
      }
    }
    ADD_FAILURE() << "there is no puzzle " << puzzle;
    return {};
  }

 private:
  static lang::Options options() {
    lang::Options options;
    options.applier = lang::interpreter_applier();
    return options;
  }
  void check(const lang::Outcome& outcome) {
    for (const Diagnostic& diagnostic : outcome.diagnostics) {
      if (diagnostic.level == Level::kError) ADD_FAILURE() << format(diagnostic, sources_);
    }
  }

  SourceMap sources_;
  lang::Session session_;
};

// A puzzle `p` and its solution, in one text.
inline PuzzleReport verdict_on(const std::string& text, const PuzzleOptions& options = {}) {
  Solution solution;
  solution.run("solution.rasp", text);
  return solution.verify("p", options);
}

}  // namespace rasp::verify
