// Verdicts on puzzles, for people and for programs.
#pragma once

#include <string>
#include <vector>

#include "verify/puzzle.h"

namespace rasp::cli {

// Why a puzzle did not pass: the reason, and the counterexample with its differing positions
// marked. Empty for one that passed.
[[nodiscard]] std::string failure_text(const verify::PuzzleReport& report);
// One line a puzzle, and what the random inputs came from.
[[nodiscard]] std::string verdict_table(const std::vector<verify::PuzzleReport>& reports,
                                        bool colour);
// One object.
[[nodiscard]] std::string verdict_json(const verify::PuzzleReport& report);

}  // namespace rasp::cli
