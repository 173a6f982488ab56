// The packs that come with the project: their reference solutions pass, their wrong solutions do
// not.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "puzzle_fixture.h"

namespace rasp::verify {
namespace {

namespace fs = std::filesystem;

std::string text_of(const fs::path& path) {
  std::ifstream file(path);
  EXPECT_TRUE(file) << path;
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

std::vector<fs::path> programs_in(const fs::path& folder) {
  std::vector<fs::path> paths;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (entry.path().extension() == ".rasp") paths.push_back(entry.path());
  }
  std::ranges::sort(paths);
  return paths;
}

std::vector<std::string> packs() {
  std::vector<std::string> names;
  for (const std::string_view module : lang::library_modules()) {
    if (module.starts_with("puzzles/")) names.emplace_back(module.substr(8));
  }
  return names;
}

// The puzzles of one pack, or of all.
std::vector<lang::KnownPuzzle> puzzles_of(Solution& solution, const std::string& pack = "") {
  std::vector<lang::KnownPuzzle> puzzles;
  for (const lang::KnownPuzzle& known : solution.session().puzzles()) {
    const std::string& file = solution.sources().name(known.puzzle.name.span.file);
    if (pack.empty() || file == "stdlib/puzzles/" + pack + ".rasp") puzzles.push_back(known);
  }
  return puzzles;
}

TEST(Packs, EveryPuzzleSaysWhatIsAsked) {
  Solution solution;
  solution.state_packs();
  ASSERT_FALSE(solution.session().puzzles().empty());
  std::set<std::string> names;
  for (const auto& [puzzle, program, scope] : puzzles_of(solution)) {
    const std::string& name = puzzle.name.text;
    EXPECT_TRUE(names.insert(name).second) << name << " is in two packs";
    EXPECT_FALSE(puzzle.description.empty()) << name;
    EXPECT_FALSE(puzzle.hint.empty()) << name;
    EXPECT_FALSE(puzzle.expects.empty()) << name;
    EXPECT_FALSE(puzzle.specs.empty()) << name;
    EXPECT_NE(puzzle.vocabulary, syntax::kNoExpr) << name;
    EXPECT_GT(puzzle.max_length, 0) << name;
  }
}

class ReferenceSolutions : public testing::TestWithParam<std::string> {};

TEST_P(ReferenceSolutions, PassCompiledAndExact) {
  Solution solution;
  solution.state_packs();
  const fs::path path =
      fs::path(RASP_TEST_DATA) / ".." / "examples" / "puzzles" / (GetParam() + ".rasp");
  solution.run(path.string(), text_of(path));
  const auto puzzles = puzzles_of(solution, GetParam());
  ASSERT_FALSE(puzzles.empty());
  for (const lang::KnownPuzzle& known : puzzles) {
    const PuzzleReport report = solution.verify(known.puzzle.name.text);
    EXPECT_EQ(name_of(report.verdict), "passed") << report.name << ": " << report.reason;
    EXPECT_TRUE(report.exact) << report.name;
    EXPECT_TRUE(report.exhaustive) << report.name;
    EXPECT_GT(report.inputs, 0u) << report.name;
    EXPECT_GE(report.weighed, report.inputs / known.puzzle.specs.size()) << report.name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ReferenceSolutions, testing::ValuesIn(packs()),
                         [](const auto& pack) { return pack.param; });

// `# wrong: PUZZLE: REASON: COUNTEREXAMPLE` in front of a solution; solutions are apart by `# ---`.
struct Wrong {
  std::string puzzle;
  std::string reason;
  std::string counterexample;  // a JSON list, or "" where another check rejects it
  std::string text;
  std::string place;
};

std::vector<Wrong> wrong_solutions() {
  std::vector<Wrong> all;
  for (const fs::path& path : programs_in(fs::path(RASP_TEST_DATA) / "puzzles" / "wrong")) {
    std::istringstream lines(text_of(path));
    std::string line;
    Wrong next;
    std::size_t number = 0;
    const auto finish = [&] {
      if (!next.puzzle.empty()) all.push_back(next);
      next = {};
    };
    while (std::getline(lines, line)) {
      ++number;
      constexpr std::string_view kWrong = "# wrong: ";
      if (line.starts_with("# ---")) {
        finish();
      } else if (line.starts_with(kWrong)) {
        finish();
        const std::string head = line.substr(kWrong.size());
        const std::size_t first = head.find(": ");
        const std::size_t list = head.rfind(": [");
        next.puzzle = head.substr(0, first);
        next.reason = list == std::string::npos || list <= first
                          ? head.substr(first + 2)
                          : head.substr(first + 2, list - first - 2);
        if (list != std::string::npos) next.counterexample = head.substr(list + 2);
        next.place = path.filename().string() + ":" + std::to_string(number);
      } else {
        next.text += line + "\n";
      }
    }
    finish();
  }
  return all;
}

value::Sequence sequence_of(const std::string& json) {
  value::Sequence sequence;
  for (const auto& element : nlohmann::json::parse(json)) {
    if (element.is_string()) {
      sequence.emplace_back(element.get<std::string>());
    } else if (element.is_boolean()) {
      sequence.emplace_back(element.get<bool>());
    } else {
      sequence.push_back(value::make_int(element.get<std::int64_t>()));
    }
  }
  return sequence;
}

std::string show(const value::Sequence& sequence) {
  std::string text;
  for (const value::Atom& atom : sequence) text += " " + value::repr(atom);
  return text;
}

TEST(WrongSolutions, AreRejectedWithTheSmallestCounterexample) {
  std::map<std::string, std::size_t> rejected;
  for (const Wrong& wrong : wrong_solutions()) {
    Solution solution;
    solution.state_packs();
    solution.run(wrong.place, wrong.text);
    const PuzzleReport report = solution.verify(wrong.puzzle);
    const std::string what = wrong.place + ": " + wrong.puzzle + " (" + wrong.reason + ")";
    EXPECT_NE(name_of(report.verdict), "passed") << what;
    EXPECT_NE(name_of(report.verdict), "undefined name") << what;
    if (wrong.counterexample.empty()) {
      EXPECT_FALSE(report.counterexample) << what << show(report.counterexample->input);
      EXPECT_EQ(name_of(report.verdict), "limit exceeded") << what << ": " << report.reason;
    } else {
      ASSERT_TRUE(report.counterexample) << what << ": " << report.reason;
      EXPECT_EQ(show(report.counterexample->input), show(sequence_of(wrong.counterexample)))
          << what;
    }
    ++rejected[wrong.puzzle];
  }
  Solution solution;
  solution.state_packs();
  for (const lang::KnownPuzzle& known : puzzles_of(solution)) {
    EXPECT_GE(rejected[known.puzzle.name.text], 2u)
        << "too few wrong solutions of " << known.puzzle.name.text;
  }
}

}  // namespace
}  // namespace rasp::verify
