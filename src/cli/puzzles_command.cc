// rasp puzzles: the packs that come with the project.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <memory>

#include "base/files.h"
#include "base/utf8.h"
#include "cli/command.h"
#include "cli/puzzle_packs.h"
#include "cli/workspace.h"
#include "visual/text.h"

namespace rasp::cli {

using visual::pad_right;
namespace {

constexpr std::size_t kSummary = 64;  // columns of a statement in the list

// The beginning of a statement, on one line.
std::string summary(const std::string& statement) {
  const auto points = value::code_points(printable(statement));
  std::string text;
  for (std::size_t i = 0; i < points.size(); ++i) {
    if (display_width(text) + 2 > kSummary && i + 1 < points.size()) return text + "…";
    text += points[i];
  }
  return text;
}

std::string list_text(const Workspace& workspace) {
  std::size_t width = 0;
  for (const lang::KnownPuzzle& known : workspace.session().puzzles()) {
    width = std::max(width, display_width(signature(known)));
  }
  std::string text;
  std::string_view pack;
  for (const lang::KnownPuzzle& known : workspace.session().puzzles()) {
    const std::string_view from = pack_of(known, workspace.sources());
    if (from != pack) {
      const std::string title = pack_title(from);
      text += (text.empty() ? "" : "\n") + std::string(from) + (title.empty() ? "" : ": " + title) +
              "\n";
      pack = from;
    }
    std::string line = "  " + pad_right(signature(known), width) + "  " +
                       pad_right(summary(known.puzzle.description), kSummary) + "  " +
                       par_text(known.puzzle);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

// Takes a name that no file has: two writers cannot both find that there is none.
Result<void> claim(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "wx"),
                                                             &std::fclose);
  if (file != nullptr) return {};
  std::error_code code;
  if (!std::filesystem::exists(path, code)) {
    return fail(ErrorKind::kInput, {}, "cannot write '" + path + "'");
  }
  return fail(ErrorKind::kInput, {}, "'" + path + "' exists already",
              "--force overwrites it; -o FILE writes another");
}

Result<void> write_solution(const std::string& path, const std::string& text, bool force) {
  if (!force) RASP_CHECK_OK(claim(path));
  const std::string_view pieces[] = {text};
  auto written = write_whole_file(path, pieces);
  if (!written && !force) static_cast<void>(std::remove(path.c_str()));  // the empty claim
  return written;
}

Result<const lang::KnownPuzzle*> find_puzzle(const std::string& name, const Workspace& workspace) {
  std::vector<std::string> names;
  for (const lang::KnownPuzzle& known : workspace.session().puzzles()) {
    if (known.puzzle.name.text == name) return &known;
    names.push_back(known.puzzle.name.text);
  }
  const std::string meant = closest(name, names);
  return fail(ErrorKind::kInput, {}, "there is no puzzle '" + name + "'",
              meant.empty() ? "`rasp puzzles` lists them" : "did you mean '" + meant + "'?");
}

int start(const lang::KnownPuzzle& puzzle, const Parsed& parsed, Workspace& workspace,
          const Reporter& reporter, Output& output) {
  const std::string& name = puzzle.puzzle.name.text;
  const std::string path = parsed.get("output", name + ".rasp");
  const std::string text = solution_to_fill_in(puzzle, workspace, path);
  if (const auto done = write_solution(path, text, parsed.has("force")); !done) {
    return reporter.usage(done.error());
  }
  output.write("wrote " + printable(path) + "; when it is filled in: rasp verify " +
               printable(path) + "\n");
  return kDone;
}

int hint(const syntax::Puzzle& puzzle, Output& output) {
  output.write(puzzle.hint.empty() ? "there is no hint for " + puzzle.name.text + "\n"
                                   : printable(puzzle.hint) + "\n");
  return puzzle.hint.empty() ? kFailed : kDone;
}

int run_puzzles(const Parsed& parsed, const Reporter& reporter, Output& output) {
  Workspace workspace({});
  state_packs(workspace);
  const std::vector<std::string> words = parsed.all("ACTION");
  if (words.empty() || (words.size() == 1 && words[0] == "list")) {
    output.write(list_text(workspace));
    return kDone;
  }
  const std::string& action = words[0];
  if (action != "show" && action != "start" && action != "hint") {
    const std::string meant = closest(action, {"show", "start", "hint"});
    return reporter.usage(
        error(ErrorKind::kInput, {}, "unknown action '" + action + "'",
              meant.empty() ? "see `rasp puzzles --help`" : "did you mean '" + meant + "'?"));
  }
  if (words.size() == 1) {
    return reporter.usage(error(ErrorKind::kInput, {},
                                "'" + action + "' needs the name of a puzzle",
                                "`rasp puzzles` lists them"));
  }
  const auto puzzle = find_puzzle(words[1], workspace);
  if (!puzzle) return reporter.usage(puzzle.error());
  if (action == "start") return start(**puzzle, parsed, workspace, reporter, output);
  if (action == "hint") return hint((*puzzle)->puzzle, output);
  output.write(puzzle_text(**puzzle, workspace.sources(), ""));
  return kDone;
}

}  // namespace

int puzzles_command(const Arguments& arguments, Output& output) {
  Syntax syntax("puzzles [show|start|hint NAME] [options]",
                "The puzzles that come with the project. Alone it lists them with their par;\n"
                "`show` tells all about one, `start` writes a solution to fill in, `hint` helps.",
                "rasp puzzles\n"
                "rasp puzzles show shift\n"
                "rasp puzzles start shift -o my_shift.rasp\n"
                "rasp puzzles hint shift");
  syntax.positional("ACTION", 0, 2)
      .value("output,o", "FILE", "with start: write this file (NAME.rasp without it)")
      .flag("force", "with start: overwrite the file");
  return with_arguments(syntax, arguments, output, run_puzzles);
}

}  // namespace rasp::cli
