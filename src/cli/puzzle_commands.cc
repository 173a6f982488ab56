// rasp verify of puzzles, rasp watch.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <random>
#include <thread>

#include "base/utf8.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/models.h"
#include "cli/presenter.h"
#include "cli/progress_line.h"
#include "cli/puzzle_packs.h"
#include "cli/puzzle_report.h"
#include "cli/workspace.h"
#include "verify/puzzle.h"

namespace rasp::cli {
namespace {

using verify::PuzzleReport;
using verify::PuzzleVerdict;

constexpr std::chrono::milliseconds kPoll{200};

struct Request {
  std::string solution;
  std::string puzzles;  // a file or a folder; "": the solution's own and the packs
  std::vector<std::string> only;
  verify::PuzzleOptions options;
  std::unique_ptr<runtime::Backend> backend;  // null: the CPU
};

void add_options(Syntax& syntax) {
  syntax.positional("SOLUTION", 1, 1)
      .value("puzzles", "PATH",
             "check all the puzzles of this file, or of the .rasp files in this\n"
             "folder (without it: those in the solution itself, and those of\n"
             "the project's packs that it defines)")
      .values("only", "NAME", "check this puzzle alone (repeatable)")
      .flag("no-compile", "leave the compiled weights and the limits out")
      .value("seed", "S", "of the random inputs (another one each time without it)");
  add_backend_option(syntax);
}

Result<Request> request_of(const Parsed& parsed) {
  Request request;
  request.solution = parsed.get("SOLUTION");
  request.puzzles = parsed.get("puzzles");
  request.only = parsed.all("only");
  request.options.compile = !parsed.has("no-compile");
  const std::string seed = parsed.get("seed", std::to_string(std::random_device()()));
  RASP_TRY(request.options.seed, parse_count("--seed", seed, 0, UINT32_MAX));
  if (parsed.get("backend", "cpu") == "cpu") return request;
  RASP_TRY(request.backend, chosen_backend(parsed));
  request.options.backend = request.backend.get();
  return request;
}

// One round of checks: what the solution says by itself, then puzzle by puzzle.
class Round {
 public:
  Round(const Request& request, const Reporter& reporter, Output& output)
      : request_(request),
        reporter_(reporter),
        output_(output),
        interrupted_(catch_interrupts()),
        workspace_({.interrupted = &interrupted_}) {}

  [[nodiscard]] int run() {
    if (request_.puzzles.empty()) {
      state_packs(workspace_);
    } else if (const auto done = state_puzzles(request_.puzzles, workspace_, reporter_); !done) {
      return reporter_.usage(done.error());
    }
    const auto file = workspace_.add_file(request_.solution);
    if (!file) return reporter_.usage(file.error());
    const bool solution_runs = run_solution(*file);
    std::vector<const lang::KnownPuzzle*> asked = puzzles_asked_for(*file);
    if (!narrow(asked)) return kUsage;
    for (const lang::KnownPuzzle* puzzle : asked) check(*puzzle);
    if (reports_.empty()) {
      if (!solution_runs) return kFailed;
      reporter_.report(nothing_to_check(), workspace_.sources());
      return kFailed;
    }
    if (!reporter_.json()) output_.write(verdict_table(reports_, wants_colour(1)));
    const auto has = [&](PuzzleVerdict verdict) {
      return std::ranges::count(reports_, verdict, &PuzzleReport::verdict) > 0;
    };
    if (has(PuzzleVerdict::kInterrupted)) return kInterrupted;
    const bool passed = std::ranges::all_of(reports_, [](const PuzzleReport& report) {
      return report.verdict == PuzzleVerdict::kPassed && report.cases() > 0;
    });
    return passed && solution_runs ? kDone : kFailed;
  }

 private:
  // Runs the solution; what it expects outside of puzzles counts as well.
  bool run_solution(FileId file) {
    PuzzleReport own;
    own.name = "(expect)";
    std::string failures;
    const lang::Outcome outcome =
        workspace_.session().run(file, [&](const lang::Event& event) -> std::optional<Diagnostic> {
          if (event.kind != lang::Event::Kind::kExpect) return std::nullopt;
          ++own.examples;
          if (!event.holds) failures += "  " + expectation_text(event) + "\n";
          return std::nullopt;
        });
    const Reporter people(output_, false);
    for (const Diagnostic& diagnostic : outcome.diagnostics) {
      (diagnostic.level == Level::kError ? reporter_ : people)
          .report(diagnostic, workspace_.sources());
    }
    if (own.examples == 0 || !request_.only.empty()) return outcome.ok();
    own.verdict = failures.empty() ? PuzzleVerdict::kPassed : PuzzleVerdict::kFailed;
    if (!failures.empty()) own.reason = "what the solution itself expects does not hold";
    if (!reporter_.json()) output_.write(failure_text(own) + failures);
    add(std::move(own));
    return outcome.ok();
  }

  // Whether the solution, or a file that it loads, defines the name: the library's modules do not
  // count.
  [[nodiscard]] bool defines(const std::string& name) {
    const auto span = workspace_.session().definition(name);
    return workspace_.session().is_user_defined(name) && span &&
           !workspace_.sources().name(span->file).starts_with("stdlib/");
  }

  [[nodiscard]] std::vector<const lang::KnownPuzzle*> puzzles_asked_for(FileId solution) {
    std::vector<const lang::KnownPuzzle*> asked;
    for (const lang::KnownPuzzle& known : workspace_.session().puzzles()) {
      const bool own = known.puzzle.name.span.file == solution;
      const bool by_name = std::ranges::count(request_.only, known.puzzle.name.text) > 0;
      const bool wanted =
          request_.puzzles.empty() ? own || by_name || defines(known.puzzle.name.text) : !own;
      if (wanted) asked.push_back(&known);
    }
    return asked;
  }

  // Leaves those that --only names; false when it names an unknown one.
  [[nodiscard]] bool narrow(std::vector<const lang::KnownPuzzle*>& asked) {
    if (request_.only.empty()) return true;
    std::vector<std::string> names;
    for (const lang::KnownPuzzle* known : asked) names.push_back(known->puzzle.name.text);
    for (const std::string& name : request_.only) {
      if (std::ranges::count(names, name) > 0) continue;
      for (const auto& known : workspace_.session().puzzles()) {
        names.push_back(known.puzzle.name.text);
      }
      const std::string meant = closest(name, names);
      static_cast<void>(
          reporter_.usage(error(ErrorKind::kInput, {}, "there is no puzzle '" + name + "'",
                                meant.empty() ? "`rasp puzzles` lists those that come with it"
                                              : "did you mean '" + meant + "'?")));
      return false;
    }
    std::erase_if(asked, [&](const lang::KnownPuzzle* known) {
      return std::ranges::count(request_.only, known->puzzle.name.text) == 0;
    });
    return true;
  }

  void check(const lang::KnownPuzzle& puzzle) {
    PuzzleReport report;
    {
      ProgressLine line(output_);
      verify::PuzzleOptions options = request_.options;
      options.interrupted = &interrupted_;
      options.progress = [&](std::string_view stage, const verify::Progress& progress) {
        line.show(puzzle.puzzle.name.text + ", " + std::string(stage), progress);
      };
      report = verify::verify_puzzle(workspace_.session(), puzzle, workspace_.sources(), options);
    }
    if (!reporter_.json()) {
      output_.write(failure_text(report));
      if (report.diagnostic && report.diagnostic->span.valid()) {
        reporter_.report(*report.diagnostic, workspace_.sources());
      }
    }
    add(std::move(report));
  }

  void add(PuzzleReport report) {
    if (reporter_.json()) output_.write(verdict_json(report) + "\n");
    output_.flush();
    reports_.push_back(std::move(report));
  }

  [[nodiscard]] Diagnostic nothing_to_check() const {
    if (!request_.puzzles.empty()) {
      return error(ErrorKind::kInput, {}, "'" + request_.puzzles + "' states no puzzle");
    }
    return error(ErrorKind::kInput, {},
                 "nothing to check: '" + request_.solution +
                     "' states no puzzle and defines none that the packs ask for",
                 "`rasp puzzles` lists them; `rasp puzzles start NAME` begins a solution");
  }

  const Request& request_;
  const Reporter& reporter_;
  Output& output_;
  std::atomic<bool>& interrupted_;
  Workspace workspace_;
  std::vector<PuzzleReport> reports_;
};

// Changes when the file does.
std::filesystem::file_time_type saved_at(const std::string& path) {
  std::error_code code;
  const auto time = std::filesystem::last_write_time(path, code);
  return code ? std::filesystem::file_time_type::min() : time;
}

// Waits for a save; false when Ctrl-C came first.
bool wait_for_save(const Request& request, std::filesystem::file_time_type last,
                   const std::atomic<bool>& interrupted) {
  while (!interrupted) {
    const auto now = saved_at(request.solution);
    // An editor may take the file away for a moment.
    if (now != last && now != std::filesystem::file_time_type::min()) return true;
    std::this_thread::sleep_for(kPoll);
  }
  return false;
}

int run_verify(const Parsed& parsed, const Reporter& reporter, Output& output) {
  const auto request = request_of(parsed);
  if (!request) return reporter.usage(request.error());
  return Round(*request, reporter, output).run();
}

}  // namespace

int verify_command(const Arguments& arguments, Output& output) {
  const auto names_an_sop = [](const std::string& argument) {
    return argument == "--sop" || argument.starts_with("--sop=");
  };
  if (std::ranges::any_of(arguments, names_an_sop)) return verify_sop_command(arguments, output);
  Syntax syntax("verify SOLUTION [options]",
                "Checks solutions of puzzles: the examples; the specs, on every input where there\n"
                "are at most a million, else on random ones; the compiled weights, on the same\n"
                "inputs; the limits on layers and heads. What is wrong is shown on the smallest\n"
                "input.\n\n"
                "With --sop NAME it compares one s-op with its weights: see\n"
                "`rasp verify --sop NAME --help`.",
                "rasp verify shift.rasp\n"
                "rasp verify solutions.rasp --only shift --only sort --no-compile\n"
                "rasp verify homework.rasp --puzzles course/ --json");
  add_options(syntax);
  syntax.flag("json", "print one JSON object a puzzle");
  return with_arguments(syntax, arguments, output, run_verify);
}

namespace {

int run_watch(const Parsed& parsed, const Reporter& reporter, Output& output) {
  const auto request = request_of(parsed);
  if (!request) return reporter.usage(request.error());
  const std::atomic<bool>& interrupted = catch_interrupts();
  for (bool first = true; !output.broken(); first = false) {
    const auto saved = saved_at(request->solution);
    if (!first) output.write("\n");
    const int status = Round(*request, reporter, output).run();
    if (first && status == kUsage) return status;
    if (!interrupted) output.write("watching " + printable(request->solution) + "\n");
    output.flush();
    if (!wait_for_save(*request, saved, interrupted)) break;
  }
  return kDone;
}

}  // namespace

int watch_command(const Arguments& arguments, Output& output) {
  Syntax syntax("watch SOLUTION [options]",
                "Checks solutions of puzzles as `rasp verify` does, again at every save of the\n"
                "file, until Ctrl-C.",
                "rasp watch shift.rasp\n"
                "rasp watch solutions.rasp --only shift --no-compile");
  add_options(syntax);
  return with_arguments(syntax, arguments, output, run_watch);
}

}  // namespace rasp::cli
