#include "cli/puzzle_report.h"

#include <algorithm>

#include "base/utf8.h"
#include "cli/format.h"
#include "cli/input.h"
#include "cli/json.h"
#include "visual/text.h"

namespace rasp::cli {

using visual::pad_left;
using visual::pad_right;
namespace {

using verify::PuzzleCounterexample;
using verify::PuzzleReport;
using verify::PuzzleVerdict;

constexpr std::size_t kMaxCheck = 100;  // characters of a check that are shown

// A piece of source on one line, cut when it is long.
std::string check_text(const std::string& check) {
  std::string line;
  for (const char c : check) {
    const bool blank = c == '\n' || c == ' ' || c == '\t' || c == '\r';
    if (!blank) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  std::string text;
  const auto points = value::code_points(line);
  for (std::size_t i = 0; i < points.size() && i < kMaxCheck; ++i) text += points[i];
  return printable(text) + (points.size() > kMaxCheck ? "…" : "");
}

// Sequences under each other, in columns. Elements that print alike and differ are written in full.
class Columns {
 public:
  explicit Columns(const PuzzleCounterexample& example) : example_(example) {
    const std::size_t count =
        std::max({example.input.size(), example.expected.size(), example.got.size()});
    widths_.assign(count, 1);
    for (const auto* row : {&example.input, &example.expected, &example.got}) {
      for (std::size_t i = 0; i < row->size(); ++i) {
        widths_[i] = std::max(widths_[i], display_width(cell(*row, i)));
      }
    }
  }

  [[nodiscard]] std::string row(const value::Sequence& sequence) const {
    std::string line;
    for (std::size_t i = 0; i < sequence.size(); ++i) {
      line += (i == 0 ? "" : " ") + pad_right(cell(sequence, i), widths_[i]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    return line;
  }

  [[nodiscard]] std::string marks() const {
    std::string line;
    for (const std::size_t position : example_.differing) {
      std::size_t begin = position;
      for (std::size_t i = 0; i < position; ++i) begin += widths_[i];
      line.resize(begin, ' ');
      line += std::string(widths_[position], '^');
    }
    return line;
  }

 private:
  [[nodiscard]] std::string cell(const value::Sequence& row, std::size_t i) const {
    const bool differs = std::ranges::count(example_.differing, i) > 0;
    const bool answers = &row != &example_.input;
    const bool alike = answers && differs && i < example_.expected.size() &&
                       i < example_.got.size() &&
                       value::brief(example_.expected[i]) == value::brief(example_.got[i]);
    const std::string text = alike ? value::repr(row[i]) : value::brief(row[i]);
    return text.empty() ? "''" : printable(text);
  }

  const PuzzleCounterexample& example_;
  std::vector<std::size_t> widths_;
};

std::string counterexample_text(const PuzzleCounterexample& example) {
  const Columns columns(example);
  std::string text = "  check     " + check_text(example.check) + "\n";
  const auto line = [&](std::string_view name, const std::string& row) {
    if (!row.empty()) text += "  " + pad_right(std::string(name), 10) + row + "\n";
  };
  line("input", columns.row(example.input));
  if (example.is_selector) line("row", std::to_string(example.query) + " of the selector");
  line(example.weights ? "program" : "expected", columns.row(example.expected));
  line(example.weights ? "weights" : "got",
       example.problem.empty() ? columns.row(example.got) : printable(example.problem));
  line("", columns.marks());
  if (example.pattern) {
    line("selector", check_text(example.selector) + " (a row a query, a column a key)");
    text += format_grid(example.input, *example.pattern, std::string(12, ' '));
  }
  return text;
}

// "1/2": what it takes, and the most that it may take.
std::string against_par(bool known, std::size_t count, std::int64_t most) {
  const std::string taken = known ? std::to_string(count) : "-";
  return taken + "/" + (most < 0 ? "-" : std::to_string(most));
}

std::string_view exactness(const PuzzleReport& report) {
  if (!report.compiled) return "-";
  if (!report.exact) return "no";
  return report.exhaustive ? "exact" : "exact (random)";
}

std::string counterexample_json(const PuzzleCounterexample& example) {
  const auto index = [](std::size_t position) { return std::to_string(position); };
  JsonObject object;
  object.text("check", example.check)
      .add("input", json_atoms(example.input))
      .add("expected", json_atoms(example.expected))
      .add("got", example.problem.empty() ? json_atoms(example.got) : "null");
  if (!example.problem.empty()) object.text("problem", example.problem);
  if (example.is_selector) object.add("row", index(example.query));
  object.add("differing", json_list(example.differing, index))
      .add("compiled", example.weights ? "true" : "false");
  if (example.pattern) {
    object.text("selector", example.selector).add("pattern", json_matrix(*example.pattern));
  }
  return object.str();
}

}  // namespace

std::string failure_text(const PuzzleReport& report) {
  if (report.verdict == PuzzleVerdict::kPassed) return {};
  std::string text = printable(report.name) + ": " + std::string(name_of(report.verdict)) + ": " +
                     printable(report.reason) + "\n";
  if (report.counterexample) text += counterexample_text(*report.counterexample);
  return text;
}

std::string verdict_table(const std::vector<PuzzleReport>& reports, bool colour) {
  std::size_t name_width = 6;
  std::size_t verdict_width = 7;
  for (const PuzzleReport& report : reports) {
    name_width = std::max(name_width, display_width(report.name));
    verdict_width = std::max(verdict_width, name_of(report.verdict).size());
  }
  std::string text = pad_right("puzzle", name_width) + "  " + pad_right("verdict", verdict_width) +
                     "     cases  layers  heads  compiled\n";
  bool random = false;
  for (const PuzzleReport& report : reports) {
    const bool passed = report.verdict == PuzzleVerdict::kPassed;
    std::string verdict = pad_right(std::string(name_of(report.verdict)), verdict_width);
    if (colour) verdict = (passed ? "\033[32m" : "\033[31m") + verdict + "\033[0m";
    text += pad_right(printable(report.name), name_width) + "  " + verdict + "  " +
            pad_left(std::to_string(report.cases()), 8) + "  " +
            pad_left(against_par(report.compiled, report.layers, report.max_layers), 6) + "  " +
            pad_left(against_par(report.compiled, report.heads, report.max_heads), 5) + "  " +
            std::string(exactness(report)) + "\n";
    random = random || !report.exhaustive;
  }
  for (const PuzzleReport& report : reports) {
    if (report.undefined == 0) continue;
    text += printable(report.name) + ": on " + std::to_string(report.undefined) +
            (report.undefined == 1 ? " input" : " inputs") +
            " the puzzle's spec has no value; nothing was asked there\n";
  }
  if (random) {
    text += "random inputs, where all are too many, came from seed " +
            std::to_string(reports.front().seed) + "\n";
  }
  return text;
}

std::string verdict_json(const PuzzleReport& report) {
  const auto number = [](auto value) { return std::to_string(value); };
  const auto most = [&](std::int64_t value) { return value < 0 ? "null" : number(value); };
  const auto boolean = [](bool value) { return value ? "true" : "false"; };
  JsonObject object;
  object.text("puzzle", report.name).text("verdict", name_of(report.verdict));
  if (!report.reason.empty()) object.text("reason", report.reason);
  object.add("cases", number(report.cases()))
      .add("examples", number(report.examples))
      .add("inputs", number(report.inputs))
      .add("undefined_inputs", number(report.undefined))
      .add("compiled_inputs", number(report.weighed))
      .add("exhaustive", boolean(report.exhaustive));
  if (!report.exhaustive) object.add("seed", number(report.seed));
  object.add("layers", report.compiled ? number(report.layers) : "null")
      .add("max_layers", most(report.max_layers))
      .add("heads", report.compiled ? number(report.heads) : "null")
      .add("max_heads", most(report.max_heads))
      .add("exact", report.compiled ? boolean(report.exact) : "null")
      .add("seconds", json_real(report.seconds));
  if (report.counterexample) {
    object.add("counterexample", counterexample_json(*report.counterexample));
  }
  return object.str();
}

}  // namespace rasp::cli
