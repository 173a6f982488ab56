// The same corpus of models gives the same decoded answers on every backend: programs of the
// library and the examples, compiled, on all inputs or many.
#include <gtest/gtest.h>

#include <cstdio>
#include <fstream>
#include <string>

#include "../support/compiled.h"
#include "backends_here.h"
#include "runtime/codec.h"

namespace rasp {
namespace {

// A program of examples/, by name, or a text that defines `sop`.
struct Entry {
  std::string program;
  std::string sop;
  std::string vocabulary;
  std::uint32_t max_length;
  bool causal = false;
};

const Entry kCorpus[] = {
    {"histogram", "hist", "abcd", 200},
    {"histogram", "hist", "abcdefgh", 24},
    {"double_histogram", "hist2", "abc", 10},
    {"reverse", "reverse", "abcd", 30},
    {"shift", "shift1", "abc", 25},
    {"sort", "sorted", "abcd", 12},
    {"frac_prevs", "frac_prevs", "xy", 60},
    {"frac_prevs", "frac_prevs", "xy", 60, true},
    {"most_frequent", "most_frequent", "abc", 8},
    {"dyck1", "dyck1", "()", 16},
    {"shuffle_dyck", "shuffle_dyck2", "(){}", 10},
    {"induction", "induction", "abc", 12, true},
    {"load \"order\"; ans = rank(tokens);", "ans", "abcd", 20},
    {"load \"layout\"; ans = is_palindrome(tokens);", "ans", "abc", 12},
    {"load \"search\"; ans = mode(tokens);", "ans", "abc", 9},
    {"ans = aggregate(select(tokens, tokens, ==), indices);", "ans", "abc", 12},
    {"ans = aggregate(select(indices, indices, <=), indices * 0.5);", "ans", "abc", 60},
};

std::string text_of(const std::string& program) {
  if (program.find('=') != std::string::npos) return program;
  std::ifstream file(std::string(RASP_EXAMPLES) + "/" + program + ".rasp");
  std::string text, line;
  while (std::getline(file, line))
    if (!line.starts_with("expect ")) text += line + "\n";  // only the command runs those
  return text;
}

Result<compiler::Compiled> compiled(const Entry& entry, model::Dtype dtype) {
  const test::Source source(text_of(entry.program), entry.sop);
  if (!source.why().empty()) return fail(ErrorKind::kInput, {}, source.why());
  compiler::Options options;
  options.vocabulary = value::characters(entry.vocabulary);
  options.max_length = entry.max_length;
  options.causal = entry.causal;
  options.dtype = dtype;
  return source.compile(options);
}

class Corpus : public testing::OnBackend {};
RASP_ON_EVERY_BACKEND(Corpus);

TEST_P(Corpus, GivesTheAnswersOfTheCpu) {
  std::size_t answers = 0, differences = 0, other_bits = 0;
  for (const Entry& entry : kCorpus)
    for (const model::Dtype dtype : {model::Dtype::kF32, model::Dtype::kF64}) {
      if (dtype == model::Dtype::kF64 && !has_doubles()) continue;
      const auto model = compiled(entry, dtype);
      ASSERT_TRUE(model.has_value()) << entry.sop << ": " << model.error().message;
      const runtime::Codec codec(model->model);
      std::mt19937_64 random(41);
      std::vector<std::vector<runtime::TokenId>> batch;
      for (const auto& input :
           test::random_inputs(random, model->model.vocabulary, entry.max_length, 120))
        batch.push_back(codec.encode(input).value());
      const auto cpu = runtime::make_cpu_backend(1)->load(model->model).value()->run(batch);
      const auto here = backend().load(model->model).value()->run(batch);
      ASSERT_TRUE(here.has_value()) << here.error().message;
      for (std::size_t s = 0; s < batch.size(); ++s) {
        const auto expected = codec.decode((*cpu)[s]);
        const auto got = codec.decode((*here)[s]);
        ASSERT_EQ(expected.has_value(), got.has_value()) << entry.sop;
        if (!expected) continue;
        ++answers;
        other_bits += (*cpu)[s] == (*here)[s] ? 0 : 1;
        differences += std::equal(expected->begin(), expected->end(), got->begin(), got->end(),
                                  value::AtomIdentical())
                           ? 0
                           : 1;
      }
    }
  EXPECT_EQ(differences, 0u);
  EXPECT_GT(answers, 2000u);
  std::printf("%s: %zu answers, %zu differ; %zu outputs have other bits than the CPU's\n",
              GetParam(), answers, differences, other_bits);
}

}  // namespace
}  // namespace rasp
