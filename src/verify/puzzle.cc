#include "verify/puzzle.h"

#include <chrono>
#include <exception>
#include <new>

#include "verify/verification.h"

namespace rasp::verify {
namespace {

using Clock = std::chrono::steady_clock;

// What `verify_puzzle` does, with memory that may be short.
Step<> guarded(Verification& verification) {
  try {
    return verification.run();
  } catch (const std::bad_alloc&) {
    return stop(PuzzleVerdict::kLimit, "there is not enough memory for this solution");
  } catch (const std::exception& problem) {
    return stop(PuzzleVerdict::kLimit, std::string("this could not be checked: ") + problem.what());
  }
}

}  // namespace

std::string_view name_of(PuzzleVerdict verdict) {
  switch (verdict) {
    case PuzzleVerdict::kPassed:
      return "passed";
    case PuzzleVerdict::kFailed:
      return "failed";
    case PuzzleVerdict::kRefused:
      return "refused";
    case PuzzleVerdict::kError:
      return "error";
    case PuzzleVerdict::kUndefined:
      return "undefined name";
    case PuzzleVerdict::kLimit:
      return "limit exceeded";
    case PuzzleVerdict::kInterrupted:
      return "interrupted";
  }
  return "";
}

PuzzleReport verify_puzzle(lang::Session& session, const lang::KnownPuzzle& puzzle,
                           const SourceMap& sources, const PuzzleOptions& options) {
  const auto start = Clock::now();
  PuzzleReport report;
  report.name = puzzle.puzzle.name.text;
  report.seed = options.seed;
  report.max_layers = puzzle.puzzle.max_layers;
  report.max_heads = puzzle.puzzle.max_heads;
  Verification verification(session, puzzle, sources, options, report);
  if (auto done = guarded(verification); done) {
    report.verdict = PuzzleVerdict::kPassed;
  } else {
    report.verdict = done.error().verdict;
    report.reason = std::move(done.error().reason);
    report.diagnostic = std::move(done.error().diagnostic);
    // A wrong answer stays wrong, whatever ended the search for a smaller one.
    if (report.counterexample && report.verdict != PuzzleVerdict::kFailed) {
      report.verdict = PuzzleVerdict::kFailed;
      report.reason = "a wrong answer; " + report.reason;
    }
  }
  report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return report;
}

}  // namespace rasp::verify
