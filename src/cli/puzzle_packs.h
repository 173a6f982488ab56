// Puzzles by where they come from: the packs in the binary, files, the solution itself.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "cli/workspace.h"
#include "lang/session.h"

namespace rasp::cli {

// The packs that come with the project: the session knows their puzzles afterwards.
void state_packs(Workspace& workspace);
// The puzzles of a file, or of every .rasp file in a folder, in the order of their names.
[[nodiscard]] Result<void> state_puzzles(const std::string& path, Workspace& workspace,
                                         const Reporter& reporter);

// The pack that a puzzle comes from; "" when it is none of the project's.
[[nodiscard]] std::string_view pack_of(const lang::KnownPuzzle& puzzle, const SourceMap& sources);
// The first sentence of the comment that a pack begins with: what it is about.
[[nodiscard]] std::string pack_title(std::string_view pack);

// "shift(i, default)"; "head" where the solution is an s-op and no function.
[[nodiscard]] std::string signature(const lang::KnownPuzzle& puzzle);
// "1 layer, 1 head"; "" without limits.
[[nodiscard]] std::string par_text(const syntax::Puzzle& puzzle);
// What there is to know of a puzzle: statement, examples, vocabulary, lengths, limits. Every line
// begins with `indent`.
[[nodiscard]] std::string puzzle_text(const lang::KnownPuzzle& puzzle, const SourceMap& sources,
                                      std::string_view indent);
// A solution to fill in; `path` is what it will be called.
[[nodiscard]] std::string solution_to_fill_in(const lang::KnownPuzzle& puzzle, Workspace& workspace,
                                              const std::string& path);

}  // namespace rasp::cli
