// Every conformance vector that has a finite vocabulary, compiled: the weights give the
// interpreter's answer, types included, or the compiler says why it refuses.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "../support/compiled.h"

namespace rasp {
namespace {

using model::Dtype;
using nlohmann::json;
using test::Comparer;
using test::Source;
using value::Atom;
using value::Number;
using value::Sequence;

Atom atom_of(const json& j) {
  if (j.is_boolean()) return j.get<bool>();
  if (j.is_string()) return j.get<std::string>();
  if (j.is_number_integer()) return Number::integer(j.get<std::int64_t>());
  return Number::parse(j.dump()).value();
}

Sequence input_of(const json& j) {
  if (j.is_string()) return value::characters(j.get<std::string>());
  Sequence atoms;
  for (const json& element : j) atoms.push_back(atom_of(element));
  return atoms;
}

std::vector<json> vectors(const std::string& file) {
  std::ifstream lines(std::string(RASP_TEST_DATA) + "/conformance/" + file);
  std::vector<json> result;
  for (std::string line; std::getline(lines, line);) result.push_back(json::parse(line));
  return result;
}

// Tokens in the order of their first appearance.
std::vector<Atom> vocabulary_of(const std::vector<Sequence>& inputs) {
  std::vector<Atom> vocabulary;
  for (const Sequence& input : inputs) {
    for (const Atom& token : input) {
      const bool known = std::any_of(vocabulary.begin(), vocabulary.end(), [&](const Atom& other) {
        return value::identical(token, other);
      });
      if (!known) vocabulary.push_back(token);
    }
  }
  return vocabulary;
}

compiler::Options options_for(const std::vector<Sequence>& inputs) {
  compiler::Options options;
  options.vocabulary = vocabulary_of(inputs);
  for (const Sequence& input : inputs) {
    options.max_length = std::max(options.max_length, static_cast<std::uint32_t>(input.size()));
  }
  return options;
}

// Compiles and compares on these inputs and on random ones; a refusal is a failure.
void expect_exact(const std::string& label, const std::string& program, const std::string& name,
                  const compiler::Options& options, std::vector<Sequence> inputs,
                  std::size_t random_count = 60) {
  const Source source(program, name);
  ASSERT_EQ(source.why(), "") << label;
  const auto compiled = source.compile(options);
  ASSERT_TRUE(compiled) << label << " refused: " << compiled.error().message << "\n" << program;
  EXPECT_TRUE(compiled->model.certificate.holds) << label;
  std::mt19937_64 random(std::hash<std::string>{}(label));
  for (Sequence& input :
       test::random_inputs(random, options.vocabulary, options.max_length, random_count)) {
    inputs.push_back(std::move(input));
  }
  const auto comparison = Comparer(source.graph(), source.node(), compiled->model).on(inputs);
  EXPECT_EQ(comparison.mismatch, "") << label << "\n" << program;
  EXPECT_GT(comparison.answers, 0u) << label;
}

// ---------------------------------------------------------------------------- random.jsonl

struct RandomPart {
  std::string name;
  std::size_t first, step;  // which programs: first, first + step, ...
  bool causal = false;
  Dtype dtype = Dtype::kF32;
};

void PrintTo(const RandomPart& part, std::ostream* out) { *out << part.name; }

class CompileRandom : public testing::TestWithParam<RandomPart> {};

TEST_P(CompileRandom, IsExactOrSaysWhyNot) {
  const RandomPart& part = GetParam();
  const std::vector<json> all = vectors("random.jsonl");
  ASSERT_EQ(all.size(), 1499u);
  std::size_t tried = 0, compiled_count = 0, answers = 0;
  std::mt19937_64 random(part.first + 7);
  for (std::size_t i = part.first; i < all.size(); i += part.step) {
    const std::string label = all[i]["id"].get<std::string>();
    const Source source(all[i]["program"].get<std::string>(), all[i]["name"].get<std::string>());
    ASSERT_EQ(source.why(), "") << label;
    compiler::Options options;
    for (const char digit : std::string("01234")) {
      options.vocabulary.emplace_back(std::string(1, digit));
    }
    options.max_length = 9;
    options.causal = part.causal;
    options.dtype = part.dtype;
    ++tried;
    const auto compiled = source.compile(options);
    if (!compiled) {
      const Diagnostic& refusal = compiled.error();
      EXPECT_EQ(refusal.kind, ErrorKind::kCompile) << label;
      EXPECT_TRUE(refusal.span.valid()) << label;
      EXPECT_FALSE(refusal.message.empty()) << label;
      EXPECT_FALSE(refusal.hint.empty()) << label;
      continue;
    }
    ++compiled_count;
    std::vector<Sequence> inputs = test::random_inputs(random, options.vocabulary, 9, 40);
    for (const json& one : all[i]["cases"]) inputs.push_back(input_of(one["input"]));
    const auto comparison = Comparer(source.graph(), source.node(), compiled->model).on(inputs);
    EXPECT_EQ(comparison.mismatch, "") << label << ": " << all[i]["program"];
    answers += comparison.answers;
  }
  RecordProperty("compiled", static_cast<int>(compiled_count));
  RecordProperty("tried", static_cast<int>(tried));
  EXPECT_GE(static_cast<double>(compiled_count), 0.97 * static_cast<double>(tried));
  EXPECT_GT(answers, 30 * tried);
}

INSTANTIATE_TEST_SUITE_P(Vectors, CompileRandom,
                         testing::Values(RandomPart{"FirstHalf", 0, 2},
                                         RandomPart{"SecondHalf", 1, 2},
                                         RandomPart{"Float64", 2, 5, false, Dtype::kF64},
                                         RandomPart{"Causal", 3, 5, true},
                                         RandomPart{"CausalFloat64", 4, 25, true, Dtype::kF64}),
                         [](const auto& part) { return part.param.name; });

// --------------------------------------------------------------------------- reports.jsonl

TEST(CompileReports, EveryCaseWithAVocabulary) {
  std::size_t tried = 0;
  for (const json& report : vectors("reports.jsonl")) {
    if (!report.contains("vocab")) continue;
    ++tried;
    const std::string label = report["id"].get<std::string>();
    compiler::Options options;
    for (const json& token : report["vocab"]) options.vocabulary.push_back(atom_of(token));
    options.max_length = report["max_len"].get<std::uint32_t>();
    const Sequence input = input_of(report["input"]);
    // P03.3 lists numbers and reads a word: then the word's own tokens.
    const bool covered = std::all_of(input.begin(), input.end(), [&](const Atom& token) {
      return std::any_of(options.vocabulary.begin(), options.vocabulary.end(),
                         [&](const Atom& known) { return value::identical(token, known); });
    });
    if (!covered) options.vocabulary = vocabulary_of({input});
    for (const bool causal : {false, true}) {
      for (const Dtype dtype : {Dtype::kF32, Dtype::kF64}) {
        options.causal = causal;
        options.dtype = dtype;
        expect_exact(label, report["program"].get<std::string>(), report["name"].get<std::string>(),
                     options, {input}, 40);
      }
    }
  }
  EXPECT_EQ(tried, 48u);
}

// ----------------------------------------------------------------------------- tasks.jsonl

std::string literal(const json& arg) { return arg.dump(); }

// The text that defines a task's function, and the call for one vector's arguments.
std::string solution_for(const std::string& task, const json& args) {
  static const std::map<std::string, std::string> kOfTheLibrary{
      {"shift", "shift(tokens_asis, "}, {"sort", "sort(tokens_asis, tokens_asis"}};
  std::string call;
  for (const json& arg : args) call += (call.empty() ? "" : ", ") + literal(arg);
  if (const auto known = kOfTheLibrary.find(task); known != kOfTheLibrary.end()) {
    return "ans = " + known->second + call + ");";
  }
  const std::string file = task == "dyck2" || task == "dyck3" ? "dyck" : task;
  std::ifstream text(std::string(RASP_TEST_DATA) + "/conformance/solutions/" + file + ".rasp");
  EXPECT_TRUE(text) << "no solution for " << task;
  const std::string program((std::istreambuf_iterator<char>(text)), {});
  return program + "ans = " + task + "(" + call + ");";
}

bool same(const json& want, const Atom& got) {
  if (want.is_number_float()) {
    const auto* number = std::get_if<Number>(&got);
    return number != nullptr && number->is_float() &&
           std::abs(want.get<double>() - number->to_double()) <= 1e-9;
  }
  return value::identical(atom_of(want), got);
}

void expect_output(const json& want, const Result<Sequence>& got, const std::string& label) {
  ASSERT_TRUE(got) << label << ": " << got.error().message;
  // Some vectors of this task list more or fewer positions than their input has. Its answer is the
  // same at all of them.
  if (label.starts_with("shuffle_dyck2")) {
    for (const Atom& atom : *got) EXPECT_TRUE(same(want.at(0), atom)) << label;
    return;
  }
  ASSERT_EQ(want.size(), got->size()) << label;
  EXPECT_TRUE(std::equal(want.begin(), want.end(), got->begin(), same))
      << label << " wants " << want << ", got " << test::show(*got);
}

struct Task {
  std::vector<json> cases;  // of one set of arguments
  std::vector<Sequence> inputs;
};

// By task and arguments; the sizes of a task's models come from all its vectors.
std::map<std::string, std::map<json, Task>> tasks() {
  std::map<std::string, std::map<json, Task>> result;
  for (const json& vector : vectors("tasks.jsonl")) {
    Task& task = result[vector["task"].get<std::string>()][vector["args"]];
    task.cases.push_back(vector);
    task.inputs.push_back(input_of(vector["input"]));
  }
  return result;
}

class CompileTask : public testing::TestWithParam<std::string> {};

TEST_P(CompileTask, GivesTheVectorsAnswers) {
  const std::string name = GetParam();
  const auto by_arguments = tasks().at(name);
  std::vector<Sequence> everything;
  for (const auto& [args, task] : by_arguments) {
    everything.insert(everything.end(), task.inputs.begin(), task.inputs.end());
  }
  compiler::Options options = options_for(everything);
  std::size_t seed = 0;
  for (const auto& [args, task] : by_arguments) {
    const std::string label = name + args.dump();
    const Source source(solution_for(name, args), "ans");
    ASSERT_EQ(source.why(), "") << label;
    for (const json& one : task.cases) {
      expect_output(one["output"],
                    interpreter::evaluate(source.graph(), source.node(), input_of(one["input"])),
                    label + " interpreted on " + one["input"].dump());
    }
    const auto compiled = source.compile(options);
    ASSERT_TRUE(compiled) << label << " refused: " << compiled.error().message;
    const model::Model& model = compiled->model;
    std::printf("%-28s vocabulary %2zu n %2u: layers %zu d_model %u parameters %zu\n",
                label.c_str(), options.vocabulary.size(), options.max_length, model.layers.size(),
                model.d_model, model.parameters());
    const auto executable = runtime::make_cpu_backend(1)->load(model);
    ASSERT_TRUE(executable) << label;
    for (const json& one : task.cases) {
      const auto ids = runtime::encode(model, input_of(one["input"]));
      ASSERT_TRUE(ids) << label;
      const std::vector<std::vector<runtime::TokenId>> batch{*ids};
      const auto y = (*executable)->run(batch);
      ASSERT_TRUE(y) << label;
      expect_output(one["output"], runtime::decode(model, y->front()),
                    label + " compiled on " + one["input"].dump());
    }
    std::mt19937_64 random(++seed);
    const auto inputs = test::random_inputs(random, options.vocabulary, options.max_length, 100);
    const auto comparison = Comparer(source.graph(), source.node(), model).on(inputs);
    EXPECT_EQ(comparison.mismatch, "") << label;
  }
}

INSTANTIATE_TEST_SUITE_P(Tasks, CompileTask,
                         testing::Values("head", "index", "shift", "ralign", "split", "minimum",
                                         "first", "slide", "add", "cumsum", "reverse", "hist",
                                         "hist2", "sort", "most_freq", "dyck1", "dyck2", "dyck3",
                                         "shuffle_dyck2", "frac_prevs", "induction", "mode", "rank",
                                         "prefix_parity", "palindrome"),
                         [](const auto& task) { return task.param; });

// What the vectors leave out: words that are broken. T, P or F of every prefix, with a stack.
Sequence dyck_oracle(const Sequence& input) {
  static const std::map<std::string, std::string> kOpener{{")", "("}, {"}", "{"}, {"]", "["}};
  std::vector<std::string> open;
  bool broken = false;
  Sequence answer;
  for (const Atom& atom : input) {
    const std::string bracket = std::get<std::string>(atom);
    const auto closer = kOpener.find(bracket);
    if (closer == kOpener.end()) {
      open.push_back(bracket);
    } else if (open.empty() || open.back() != closer->second) {
      broken = true;
    } else {
      open.pop_back();
    }
    answer.emplace_back(std::string(broken ? "F" : open.empty() ? "T" : "P"));
  }
  return answer;
}

TEST(CompileTasks, BrokenBracketsAreFound) {
  const std::map<std::string, std::string> vocabularies{
      {"dyck1", "()"}, {"dyck2", "(){}"}, {"dyck3", "(){}[]"}};
  for (const auto& [name, brackets] : vocabularies) {
    const Source source(solution_for(name, json::array()), "ans");
    ASSERT_EQ(source.why(), "");
    std::mt19937_64 random(11);
    const auto inputs = test::random_inputs(random, value::characters(brackets), 12, 400);
    for (const Sequence& input : inputs) {
      const auto got = interpreter::evaluate(source.graph(), source.node(), input);
      ASSERT_TRUE(got) << name << " " << test::show(input);
      EXPECT_EQ(test::show(*got), test::show(dyck_oracle(input))) << name << test::show(input);
    }
  }
}

TEST(CompileTasks, ThereIsASolutionForEveryOne) {
  const auto all = tasks();
  EXPECT_EQ(all.size(), 25u);
  std::size_t vectors = 0;
  for (const auto& [name, by_arguments] : all) {
    for (const auto& [args, task] : by_arguments) vectors += task.cases.size();
  }
  EXPECT_EQ(vectors, 324u);
}

}  // namespace
}  // namespace rasp
