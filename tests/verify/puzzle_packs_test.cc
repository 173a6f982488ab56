// The packs that come with the project: their reference solutions pass, their wrong solutions do
// not.
#include <map>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>

#include "packs_fixture.h"

namespace rasp::verify {
namespace {

namespace fs = std::filesystem;

TEST(Packs, EveryPuzzleSaysWhatIsAsked) {
  Solution solution;
  solution.state_packs();
  std::set<std::string> names;
  for (const auto& [puzzle, program, scope] : puzzles_of(solution)) {
    const std::string& name = puzzle.name.text;
    EXPECT_TRUE(names.insert(name).second) << name << " is in two packs";
    EXPECT_FALSE(puzzle.description.empty()) << name;
    EXPECT_FALSE(puzzle.hint.empty()) << name;
    EXPECT_GE(puzzle.expects.size(), 2u) << name;
    EXPECT_FALSE(puzzle.specs.empty()) << name;
    EXPECT_NE(puzzle.vocabulary, syntax::kNoExpr) << name;
    EXPECT_EQ(puzzle.min_length, 1) << name;
    EXPECT_GT(puzzle.max_length, 1) << name;
    EXPECT_GE(puzzle.max_layers, 0) << name;
    EXPECT_GE(puzzle.max_heads, 0) << name;
  }
  EXPECT_EQ(names.size(), 52u);
  EXPECT_EQ(packs(), (std::vector<std::string>{"circuits", "course", "paper", "transformer"}));
}

class ReferenceSolutions : public testing::TestWithParam<std::string> {};

TEST_P(ReferenceSolutions, PassCompiledAndExact) {
  Solution solution;
  solution.state_packs();
  const fs::path path = reference_solution(GetParam());
  solution.run(path.string(), text_of(path));
  const auto puzzles = puzzles_of(solution, GetParam());
  ASSERT_FALSE(puzzles.empty());
  for (const lang::KnownPuzzle& known : puzzles) {
    const PuzzleReport report = solution.verify(known.puzzle.name.text);
    EXPECT_EQ(name_of(report.verdict), "passed") << report.name << ": " << report.reason;
    EXPECT_TRUE(report.exact) << report.name;
    EXPECT_TRUE(report.exhaustive) << report.name;
    EXPECT_GT(report.inputs, 0u) << report.name;
    EXPECT_EQ(report.undefined, 0u) << report.name << ": its specs are total";
    EXPECT_EQ(report.weighed, report.inputs) << report.name;
    // The par is what a short solution takes.
    EXPECT_EQ(report.layers, static_cast<std::size_t>(report.max_layers)) << report.name;
    EXPECT_EQ(report.heads, static_cast<std::size_t>(report.max_heads)) << report.name;
  }
}

INSTANTIATE_TEST_SUITE_P(All, ReferenceSolutions, testing::ValuesIn(packs()),
                         [](const auto& pack) { return pack.param; });

// `# wrong: PUZZLE (KIND): REASON: COUNTEREXAMPLE` in front of a solution; "(KIND)" may be missing;
// solutions are apart by `# ---`.
struct Wrong {
  std::string puzzle;
  std::string kind;
  std::string reason;
  std::string counterexample;  // a JSON list, or "null" where another check rejects it
  std::string text;
  std::string place;
};

std::vector<Wrong> wrong_solutions(const std::string& pack) {
  const std::regex head(R"(# wrong: (\w+)(?: \(([^)]*)\))?: (.*): (null|\[.*\]))");
  std::vector<Wrong> all;
  std::istringstream lines(
      text_of(fs::path(RASP_TEST_DATA) / "puzzles" / "wrong" / (pack + ".rasp")));
  std::size_t number = 0;
  for (std::string line; std::getline(lines, line);) {
    ++number;
    std::smatch match;
    if (std::regex_match(line, match, head)) {
      all.push_back(
          {match[1], match[2], match[3], match[4], "", pack + ".rasp:" + std::to_string(number)});
    } else if (line != "# ---") {
      EXPECT_FALSE(line.starts_with("# wrong")) << pack << ": " << line;
      if (!all.empty()) all.back().text += line + "\n";
    }
  }
  return all;
}

value::Sequence sequence_of(const std::string& json) {
  value::Sequence sequence;
  for (const auto& element : nlohmann::json::parse(json)) {
    if (element.is_string()) {
      sequence.emplace_back(element.get<std::string>());
    } else {
      sequence.push_back(value::make_int(element.get<std::int64_t>()));
    }
  }
  return sequence;
}

class WrongSolutions : public testing::TestWithParam<std::string> {};

TEST_P(WrongSolutions, AreRejectedWithTheSmallestCounterexample) {
  for (const Wrong& wrong : wrong_solutions(GetParam())) {
    Solution solution;
    solution.state_packs();
    solution.run(wrong.place, wrong.text);
    const PuzzleReport report = solution.verify(wrong.puzzle);
    const std::string what = wrong.place + ": " + wrong.puzzle + " (" + wrong.reason + ")";
    if (wrong.counterexample == "null") {
      EXPECT_EQ(name_of(report.verdict), "limit exceeded") << what << ": " << report.reason;
      EXPECT_FALSE(report.counterexample) << what << show(report.counterexample->input);
    } else {
      EXPECT_EQ(name_of(report.verdict), "failed") << what << ": " << report.reason;
      ASSERT_TRUE(report.counterexample) << what << ": " << report.reason;
      EXPECT_EQ(show(report.counterexample->input), show(sequence_of(wrong.counterexample)))
          << what;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, WrongSolutions, testing::ValuesIn(packs()),
                         [](const auto& pack) { return pack.param; });

// Why a puzzle has no wrong solution of a kind. (Those wrong at length 1, right on the examples
// only, or too large are made from every reference solution: puzzle_mutants_test.cc.)
const std::map<std::string, std::map<std::string, std::string>> kNone = {
    {"off by one", {{"vowels", "nothing is counted"}, {"complement", "nothing is counted"}}},
    {"ties",
     {{"head", "one position is read"},
      {"index", "one position is read"},
      {"shift", "one position is read"},
      {"last_token", "one position is read"},
      {"delay", "one position is read"},
      {"cycle", "one position is read"},
      {"previous_token", "one position is read"},
      {"reverse", "one position is read"},
      {"unzip", "one position is read"},
      {"palindrome", "one position is read"},
      {"double", "no other position is read"},
      {"count_up", "no other position is read"},
      {"vowels", "no other position is read"},
      {"complement", "no other position is read"},
      {"checkers", "no other position is read"},
      {"cumsum", "every number is added, equal or not"},
      {"prefix_parity", "every digit is added, equal or not"},
      {"to_number", "every digit is added, equal or not"},
      {"increment", "one digit decides, by its place"},
      {"carry", "one digit decides, by its place"},
      {"balanced", "every bracket is added, equal or not"},
      {"dyck1", "every bracket is added, equal or not"},
      {"shuffle_dyck", "every bracket is added, equal or not"}}},
};

TEST(WrongSolutionsOfEveryKind, AreThereForEveryPuzzle) {
  std::map<std::string, std::map<std::string, std::size_t>> found;
  std::map<std::string, std::size_t> all;
  for (const std::string& pack : packs()) {
    for (const Wrong& wrong : wrong_solutions(pack)) {
      ++found[wrong.kind][wrong.puzzle];
      ++all[wrong.puzzle];
    }
  }
  Solution solution;
  solution.state_packs();
  for (const lang::KnownPuzzle& known : puzzles_of(solution)) {
    const std::string& puzzle = known.puzzle.name.text;
    EXPECT_GE(all[puzzle], 2u) << "too few wrong solutions of " << puzzle;
    for (const auto& [kind, without] : kNone) {
      EXPECT_NE(found[kind].contains(puzzle), without.contains(puzzle)) << puzzle << ": " << kind;
    }
  }
}

}  // namespace
}  // namespace rasp::verify
