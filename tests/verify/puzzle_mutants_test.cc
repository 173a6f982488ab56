// Wrong solutions of every puzzle of the packs, made from the reference solution by the same few
// slips: what each is rejected for is known beforehand.
#include <gmock/gmock.h>

#include <set>

#include "packs_fixture.h"
#include "verify/answers.h"

namespace rasp::verify {
namespace {

using testing::HasSubstr;

// One puzzle, its reference solution, and the texts that slips are made of.
class Slips {
 public:
  Slips(const std::string& pack, std::string puzzle)
      : puzzle_(std::move(puzzle)), reference_(text_of(reference_solution(pack))) {
    Solution solution;
    solution.state_packs();
    solution.run(pack + ".rasp", reference_);
    for (const lang::KnownPuzzle& known : puzzles_of(solution, pack)) {
      if (known.puzzle.name.text == puzzle_) read(solution, known);
    }
  }

  // The reference solution with another last step: `body` computes from its answer, `right`.
  [[nodiscard]] PuzzleReport report_on(const std::string& body) const {
    Solution solution;
    solution.state_packs();
    solution.run(puzzle_ + ".rasp", reference_ + "\n_right = " + puzzle_ + ";\ndef " + puzzle_ +
                                        "(" + parameters_ + ") {\n  right = _right(" + parameters_ +
                                        ");\n  " + body + "\n}\n");
    return solution.verify(puzzle_);
  }

  // Differs from the right answer everywhere.
  [[nodiscard]] const std::string& wrong() const { return wrong_; }
  // True on the inputs of the examples.
  [[nodiscard]] const std::string& is_an_example() const { return is_an_example_; }
  [[nodiscard]] const value::Sequence& vocabulary() const { return vocabulary_; }
  [[nodiscard]] const std::set<std::string>& examples() const { return examples_; }

 private:
  void read(Solution& solution, const lang::KnownPuzzle& known) {
    for (const syntax::Name& parameter : known.puzzle.parameters) {
      parameters_ += (parameters_.empty() ? "" : ", ") + parameter.text;
    }
    const auto sequence = [&](syntax::ExprId id) {
      return lang::to_input(*solution.session().evaluate(known, id), {}).value();
    };
    vocabulary_ = sequence(known.puzzle.vocabulary);
    for (const syntax::Puzzle::Check& example : known.puzzle.expects) {
      const auto& call = (*known.program)[example.left];
      ASSERT_EQ(call.children.size(), 2u) << "an application to an input";
      add_example(sequence(call.children[1]));
    }
    const auto right = *solution.session().evaluate(known, known.puzzle.expects[0].right);
    const value::Atom answer = to_answer(right, false)->elements[0];
    wrong_ = std::holds_alternative<bool>(answer)          ? "(not right)"
             : std::holds_alternative<std::string>(answer) ? "\"?\""
                                                           : "(right + 1)";
  }

  void add_example(const value::Sequence& input) {
    if (!examples_.insert(show(input)).second) return;
    std::string test = "(length == " + std::to_string(input.size());
    for (std::size_t i = 0; i < input.size(); ++i) {
      test += " and aggregate(select(indices, " + std::to_string(i) + ", ==), tokens, \"\") == \"" +
              value::brief(input[i]) + "\"";
    }
    is_an_example_ += (is_an_example_.empty() ? "" : " or ") + test + ")";
  }

  std::string puzzle_;
  std::string reference_;
  std::string parameters_;
  std::string wrong_;
  std::string is_an_example_;
  value::Sequence vocabulary_;
  std::set<std::string> examples_;
};

// The next input in the order of the vocabulary, shorter ones first.
void advance(std::vector<std::size_t>& input, std::size_t tokens) {
  for (std::size_t i = input.size(); i-- > 0;) {
    if (++input[i] < tokens) return;
    input[i] = 0;
  }
  input.push_back(0);
}

std::string first_that_is_no_example(const Slips& slips) {
  for (std::vector<std::size_t> at{0};; advance(at, slips.vocabulary().size())) {
    value::Sequence input;
    for (const std::size_t token : at) input.push_back(slips.vocabulary()[token]);
    if (!slips.examples().contains(show(input))) return show(input);
  }
}

std::vector<std::pair<std::string, std::string>> puzzles_of_all_packs() {
  std::vector<std::pair<std::string, std::string>> all;
  Solution solution;
  solution.state_packs();
  for (const std::string& pack : packs()) {
    for (const lang::KnownPuzzle& known : puzzles_of(solution, pack)) {
      all.emplace_back(pack, known.puzzle.name.text);
    }
  }
  return all;
}

class Mutants : public testing::TestWithParam<std::pair<std::string, std::string>> {
 protected:
  Slips slips_{GetParam().first, GetParam().second};
};

TEST_P(Mutants, WrongAtLengthOne) {
  const PuzzleReport report =
      slips_.report_on("return " + slips_.wrong() + " if length == 1 else right;");
  EXPECT_EQ(name_of(report.verdict), "failed") << report.reason;
  ASSERT_TRUE(report.counterexample) << report.reason;
  EXPECT_EQ(show(report.counterexample->input), show({slips_.vocabulary()[0]}));
}

TEST_P(Mutants, RightOnTheExamplesOnly) {
  const PuzzleReport report = slips_.report_on("return right if " + slips_.is_an_example() +
                                               " else " + slips_.wrong() + ";");
  EXPECT_EQ(name_of(report.verdict), "failed") << report.reason;
  ASSERT_TRUE(report.counterexample) << report.reason;
  EXPECT_EQ(show(report.counterexample->input), first_that_is_no_example(slips_));
  EXPECT_THAT(report.counterexample->check, HasSubstr("("));
}

TEST_P(Mutants, TooManyLayers) {
  // Backwards, and backwards again.
  const PuzzleReport report = slips_.report_on(
      "back = select(indices, length - 1 - indices, ==);"
      "return aggregate(back, aggregate(back, right));");
  EXPECT_EQ(name_of(report.verdict), "limit exceeded") << report.reason;
  EXPECT_FALSE(report.counterexample);
  EXPECT_TRUE(report.exact);
  ASSERT_GT(report.layers, static_cast<std::size_t>(report.max_layers));
  EXPECT_THAT(report.reason, HasSubstr("takes " + std::to_string(report.layers) + " layers"));
  EXPECT_THAT(report.reason, HasSubstr("allows " + std::to_string(report.max_layers)));
}

TEST_P(Mutants, TooManyHeads) {
  // A letter that stands before this position stands before it or here, always; that takes two
  // heads beside those of the solution.
  const PuzzleReport report =
      slips_.report_on("letter = select(tokens, \"" + value::brief(slips_.vocabulary()[0]) +
                       "\", ==);"
                       "before = has_focus(letter and select(indices, indices, <));"
                       "so_far = has_focus(letter and select(indices, indices, <=));"
                       "return " +
                       slips_.wrong() + " if before and not so_far else right;");
  EXPECT_EQ(name_of(report.verdict), "limit exceeded") << report.reason;
  EXPECT_FALSE(report.counterexample);
  EXPECT_TRUE(report.exact);
  ASSERT_GT(report.heads, static_cast<std::size_t>(report.max_heads));
  if (report.layers > static_cast<std::size_t>(report.max_layers)) return;  // these come first
  EXPECT_THAT(report.reason, HasSubstr("takes " + std::to_string(report.heads) + " head"));
  EXPECT_THAT(report.reason, HasSubstr("allows " + std::to_string(report.max_heads)));
}

INSTANTIATE_TEST_SUITE_P(Of, Mutants, testing::ValuesIn(puzzles_of_all_packs()),
                         [](const auto& puzzle) { return puzzle.param.second; });

}  // namespace
}  // namespace rasp::verify
