#include "cli/puzzle_packs.h"

#include <algorithm>
#include <filesystem>

#include "base/utf8.h"

namespace rasp::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPackFolder = "stdlib/puzzles/";
constexpr std::string_view kSuffix = ".rasp";
constexpr std::size_t kLineWidth = 90;

// A text as lines of at most kLineWidth columns.
std::string wrapped(std::string_view text, std::string_view indent) {
  std::string result;
  std::string line(indent);
  const auto end_line = [&] {
    result += line + "\n";
    line = indent;
  };
  while (!text.empty()) {
    const std::size_t space = text.find_first_of(" \n");
    const std::string word = printable(text.substr(0, space));
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
    if (word.empty()) continue;
    const bool first = line.size() == indent.size();
    if (!first && display_width(line) + 1 + display_width(word) > kLineWidth) end_line();
    if (line.size() > indent.size()) line += " ";
    line += word;
  }
  if (line.size() > indent.size()) end_line();
  return result;
}

std::string count_text(std::int64_t count, std::string_view noun) {
  return std::to_string(count) + " " + std::string(noun) + (count == 1 ? "" : "s");
}

// A piece of source on one line.
std::string on_one_line(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool blank = c == ' ' || c == '\n' || c == '\t' || c == '\r';
    if (!blank) {
      result += c;
    } else if (!result.empty() && result.back() != ' ') {
      result += ' ';
    }
  }
  return printable(result);
}

// Whether the puzzle's checks call the solution as a function without arguments.
bool is_called(const lang::KnownPuzzle& known) {
  const syntax::Program& program = *known.program;
  return std::ranges::any_of(program.exprs, [&](const syntax::Expr& e) {
    return e.kind == syntax::ExprKind::kCall && e.children.size() == 1 &&
           program[e.children[0]].kind == syntax::ExprKind::kName &&
           program[e.children[0]].text == known.puzzle.name.text;
  });
}

Result<void> state_file(const std::string& path, Workspace& workspace, const Reporter& reporter) {
  RASP_TRY(const FileId file, workspace.add_file(path));
  const lang::Outcome outcome = workspace.session().run_apart(file);
  reporter.report(outcome.diagnostics, workspace.sources());
  if (!outcome.ok())
    return fail(ErrorKind::kInput, {}, "the puzzles in '" + path + "' are not usable");
  return {};
}

}  // namespace

void state_packs(Workspace& workspace) {
  for (const std::string_view module : lang::library_modules()) {
    if (!module.starts_with("puzzles/")) continue;
    const FileId file = workspace.sources().add("stdlib/" + std::string(module) + ".rasp",
                                                std::string(*lang::library_text(module)));
    // Our own text: that it runs is what its tests show.
    static_cast<void>(workspace.session().run_apart(file));
  }
}

Result<void> state_puzzles(const std::string& path, Workspace& workspace,
                           const Reporter& reporter) {
  std::error_code code;
  if (!fs::is_directory(path, code)) return state_file(path, workspace, reporter);
  std::vector<std::string> files;
  for (fs::directory_iterator at(path, code); !code && at != fs::directory_iterator();
       at.increment(code)) {
    if (at->path().extension() == kSuffix) files.push_back(at->path().string());
  }
  if (code) return fail(ErrorKind::kInput, {}, "cannot read the folder '" + path + "'");
  if (files.empty()) {
    return fail(ErrorKind::kInput, {}, "the folder '" + path + "' holds no .rasp file");
  }
  std::ranges::sort(files);
  for (const std::string& file : files) RASP_CHECK_OK(state_file(file, workspace, reporter));
  return {};
}

std::string_view pack_of(const lang::KnownPuzzle& puzzle, const SourceMap& sources) {
  std::string_view name = sources.name(puzzle.puzzle.name.span.file);
  if (!name.starts_with(kPackFolder)) return {};
  name.remove_prefix(kPackFolder.size());
  return name.substr(0, name.size() - kSuffix.size());
}

std::string pack_title(std::string_view pack) {
  std::string_view text =
      lang::library_text("puzzles/" + std::string(pack)).value_or(std::string_view());
  std::string title;
  while (text.starts_with('#')) {
    const std::string_view line = text.substr(0, text.find('\n'));
    const std::size_t start = line.find_first_not_of("# ");
    if (start == std::string_view::npos) break;
    title += (title.empty() ? "" : " ") + printable(line.substr(start));
    text.remove_prefix(std::min(line.size() + 1, text.size()));
  }
  return title.substr(0, title.find(". "));
}

std::string signature(const lang::KnownPuzzle& known) {
  std::string text = known.puzzle.name.text;
  if (known.puzzle.parameters.empty()) return is_called(known) ? text + "()" : text;
  for (std::size_t i = 0; i < known.puzzle.parameters.size(); ++i) {
    text += (i == 0 ? "(" : ", ") + known.puzzle.parameters[i].text;
  }
  return text + ")";
}

std::string par_text(const syntax::Puzzle& puzzle) {
  std::string text;
  if (puzzle.max_layers >= 0) text = count_text(puzzle.max_layers, "layer");
  if (puzzle.max_heads >= 0) {
    text += (text.empty() ? "" : ", ") + count_text(puzzle.max_heads, "head");
  }
  return text;
}

std::string puzzle_text(const lang::KnownPuzzle& known, const SourceMap& sources,
                        std::string_view indent) {
  const syntax::Puzzle& puzzle = known.puzzle;
  const std::string start(indent);
  std::string text = start + signature(known) + "\n";
  text += wrapped(puzzle.description, start + "  ");
  if (!puzzle.expects.empty()) text += start + "\n" + start + "Examples\n";
  for (const syntax::Puzzle::Check& check : puzzle.expects) {
    text += start + "  " + on_one_line(sources.text((*known.program)[check.left].span)) + " is " +
            on_one_line(sources.text((*known.program)[check.right].span)) + "\n";
  }
  std::string facts;
  if (puzzle.vocabulary != syntax::kNoExpr) {
    facts += start + "Tokens   " +
             on_one_line(sources.text((*known.program)[puzzle.vocabulary].span)) + "\n";
  }
  if (puzzle.max_length > 0) {
    facts += start + "Lengths  " + std::to_string(puzzle.min_length) + " to " +
             std::to_string(puzzle.max_length) + "\n";
  }
  if (!par_text(puzzle).empty()) facts += start + "Par      " + par_text(puzzle) + "\n";
  if (!facts.empty()) text += start + "\n" + facts;
  // A line of comment has no blanks at its end.
  std::string::size_type blank = 0;
  while ((blank = text.find(" \n", blank)) != std::string::npos) text.erase(blank, 1);
  return text;
}

std::string solution_to_fill_in(const lang::KnownPuzzle& known, Workspace& workspace,
                                const std::string& path) {
  const syntax::Puzzle& puzzle = known.puzzle;
  std::string text = puzzle_text(known, workspace.sources(), "# ");
  text += "#\n# To check it:    rasp verify " + path + "\n# For a hint:     rasp puzzles hint " +
          puzzle.name.text + "\n\n";
  const std::string_view pack = pack_of(known, workspace.sources());
  if (workspace.session().lookup(puzzle.name.text) && !pack.empty()) {
    text += "# The library has this name; stating the puzzle frees it.\nload \"puzzles/" +
            std::string(pack) + "\";\n\n";
  }
  if (puzzle.parameters.empty() && !is_called(known)) {
    return text + puzzle.name.text + " = tokens;  # your answer\n";
  }
  return text + "def " + signature(known) + " {\n  return tokens;  # your answer\n}\n";
}

}  // namespace rasp::cli
