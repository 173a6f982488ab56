// What other compilers of the language get wrong or refuse, and the whole standard library: each
// compiled, certified and compared with the interpreter, exhaustively where that is cheap.
#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

#include "../support/compiled.h"

namespace rasp {
namespace {

using model::Dtype;
using test::Comparer;
using test::Source;
using value::Atom;
using value::Number;
using value::Sequence;

std::vector<Atom> letters(const std::string& text) { return value::characters(text); }
std::vector<Atom> numbers(std::initializer_list<int> values) {
  std::vector<Atom> atoms;
  for (const int value : values) atoms.push_back(value::make_int(value));
  return atoms;
}

struct Program {
  std::string name;
  std::string text;  // defines `ans`
  std::vector<Atom> vocabulary;
  std::uint32_t max_length = 6;
};

void PrintTo(const Program& program, std::ostream* out) { *out << program.text; }

// Every dtype, causal or not, fused or not; all inputs where they are fewer than 4,000.
void expect_exact(const Program& program) {
  const Source source(program.text, "ans");
  ASSERT_EQ(source.why(), "");
  double count = 0, power = 1;
  for (std::uint32_t n = 0; n < program.max_length; ++n) {
    count += power *= static_cast<double>(program.vocabulary.size());
  }
  std::mt19937_64 random(program.max_length);
  const std::vector<Sequence> inputs =
      count < 4000 ? test::all_inputs(program.vocabulary, program.max_length)
                   : test::random_inputs(random, program.vocabulary, program.max_length, 300);
  compiler::Options options;
  options.vocabulary = program.vocabulary;
  options.max_length = program.max_length;
  for (const Dtype dtype : {Dtype::kF32, Dtype::kF64}) {
    for (const bool causal : {false, true}) {
      for (const bool fuse : {true, false}) {
        options.dtype = dtype;
        options.causal = causal;
        options.fuse = fuse;
        const std::string label = program.name + (dtype == Dtype::kF64 ? " f64" : "") +
                                  (causal ? " causal" : "") + (fuse ? "" : " not fused");
        const auto compiled = source.compile(options);
        ASSERT_TRUE(compiled) << label << " refused: " << compiled.error().message;
        EXPECT_TRUE(compiled->model.certificate.holds) << label;
        const auto result = Comparer(source.graph(), source.node(), compiled->model).on(inputs);
        EXPECT_EQ(result.mismatch, "") << label << ": " << program.text;
        EXPECT_GT(result.answers, 0u) << label;
      }
    }
  }
}

class CompilePrograms : public testing::TestWithParam<Program> {};
TEST_P(CompilePrograms, AreExact) { expect_exact(GetParam()); }

const std::vector<Atom> kDigits = numbers({0, 1, 2, 3});
const std::vector<Atom> kSigned = numbers({-3, -1, 0, 2});
const std::vector<Atom> kFractions{Number::rational(-3, 2), Number::rational(1, 4),
                                   Number::rational(1, 1), Number::rational(5, 2)};

INSTANTIATE_TEST_SUITE_P(
    All, CompilePrograms,
    testing::Values(
        // Defaults.
        Program{"default_minus_one", "ans = aggregate(select(indices, indices, <), indices, -1);",
                letters("ab")},
        Program{"default_fraction", "ans = aggregate(select(tokens, tokens, <), indices, 0.25);",
                letters("abc")},
        Program{"default_text",
                "ans = aggregate(select(indices, indices + 1, ==), tokens, \"end\");",
                letters("abc")},
        Program{"default_bool",
                "ans = aggregate(select(indices, indices + 1, ==), tokens == \"a\", True);",
                letters("ab")},
        Program{"default_large",
                "ans = aggregate(select(tokens_int, tokens_int, <), tokens_int, 1000);", kSigned},
        // Numbers.
        Program{"shifted_tokens", "ans = tokens_int - 3;", kDigits},
        Program{"negative_tokens", "ans = aggregate(select(indices, 0, ==), tokens_int);", kSigned},
        Program{"means_of_ints", "ans = aggregate(select(indices, indices, <=), tokens_int);",
                kSigned, 8},
        Program{"means_of_selected", "ans = aggregate(select(tokens, tokens, <=), tokens_int);",
                kDigits, 8},
        Program{"means_of_fractions",
                "ans = aggregate(select(indices, indices, <=), tokens_float);", kFractions},
        Program{"means_of_quotients",
                "ans = aggregate(select(indices, indices, !=), (indices + 1) / 2);", letters("ab")},
        Program{"sum_by_mean",
                "ans = round((indices + 1) * aggregate(select(indices, indices, <=), tokens_int));",
                kSigned, 8},
        Program{"sum_unrounded",
                "ans = (indices + 1) * aggregate(select(indices, indices, <=), tokens_int);",
                kDigits, 8},
        Program{"product", "ans = tokens_int * indices;", kSigned},
        Program{"product_of_widths",
                "ans = selector_width(select(tokens, tokens, ==)) * "
                "selector_width(select(tokens, tokens, <));",
                letters("abc")},
        Program{"product_of_mean_and_position",
                "ans = aggregate(select(tokens, \"a\", ==), indices) * indices;", letters("ab")},
        Program{"difference_with_itself", "x = tokens_int * 2; ans = x - x;", kSigned},
        Program{"powers", "ans = 2 ^ indices + tokens_int ^ 2;", kSigned},
        Program{"remainders", "ans = (tokens_int - indices) % 3;", kSigned},
        Program{
            "decimal_value",
            "ans = round(length * aggregate(full_s, tokens_int * 10 ^ (length - 1 - indices)));",
            kDigits, 5},
        Program{"guarded_division", "ans = 0 if tokens_int == 0 else 6 / tokens_int;", kSigned},
        Program{"rounded_fraction",
                "ans = round(6 * aggregate(select(indices, indices, <=), "
                "indicator(tokens == \"x\")));",
                letters("xy"), 8},
        // Selectors.
        Program{"over_fractions", "ans = selector_width(select(tokens_float, tokens_float, <));",
                kFractions},
        Program{"over_quotients", "ans = selector_width(select(indices / 2, length / 3, <));",
                letters("a"), 9},
        Program{"both",
                "ans = aggregate(select(tokens, tokens, ==) and select(indices, indices, <), "
                "indices, -1);",
                letters("abc")},
        Program{"either",
                "ans = aggregate(select(tokens, \"a\", ==) or select(indices, indices, ==), "
                "indices);",
                letters("ab")},
        Program{"negated", "ans = selector_width(not select(tokens, tokens, ==));", letters("abc")},
        Program{"neither",
                "ans = selector_width(not (select(tokens, tokens, ==) or "
                "select(indices, indices, >)));",
                letters("abc")},
        Program{"answer_is_a_selector",
                "ans = select(tokens, tokens, <=) and not select(indices, indices, ==);",
                letters("abc")},
        Program{"selects_nothing", "ans = aggregate(select(indices, 99, ==), tokens, \"-\");",
                letters("ab")},
        // Aggregates read by aggregates and by selectors.
        Program{"of_aggregates",
                "s = select(indices, tokens_int, ==); ans = aggregate(s, aggregate(s, indices));",
                kDigits},
        Program{"over_aggregates",
                "m = aggregate(select(indices, indices, <=), tokens_int); "
                "ans = selector_width(select(m, m, <));",
                numbers({0, 1, 2}), 5},
        Program{"over_texts_fetched",
                "p = shift(tokens, 1, \"-\"); ans = selector_width(select(p, tokens, ==));",
                letters("abc")},
        // Strings.
        Program{"joined", "ans = tokens + shift(tokens, 1, \"-\") + \"!\";", letters("abc")},
        Program{"looked_up", "ans = {\"a\": \"vowel\", \"b\": \"no\"}[tokens];", letters("ab")},
        Program{"compared", "ans = tokens + \"b\" < \"bb\";", letters("abc")},
        Program{"one_and_the_string",
                "ans = tokens_asis == 1;",
                {Atom(std::string("1")), value::make_int(1)}},
        // Programs.
        Program{"sort_with_duplicates", "ans = sort(tokens, tokens);", letters("abc"), 7},
        Program{"double_histogram",
                "same = select(tokens, tokens, ==); h = selector_width(same); "
                "new = not has_focus(same and select(indices, indices, <)); "
                "ans = selector_width(select(h, h, ==) and select(new, True, ==));",
                letters("abc"), 7},
        Program{"length_one", "ans = selector_width(select(tokens, tokens, ==));", letters("a"), 1},
        Program{"chain", "b = indices; for i in range(40) { b = (b * 3 + 1) % 17; } ans = b;",
                letters("ab"), 20},
        Program{"identity", "ans = tokens;", letters("ab"), 2},
        Program{"positions", "ans = indices;", letters("ab"), 9},
        Program{"constant", "ans = 7 + 0 * indices;", letters("ab"), 4}),
    [](const auto& program) { return program.param.name; });

TEST(CompilePrograms, MeansAreExactAtEveryLength) {
  expect_exact({"fractions of a",
                "ans = aggregate(select(indices, indices, <=), indicator(tokens == \"a\"));",
                letters("ab"), 64});
}

TEST(CompilePrograms, CountsAreExactAtEveryLength) {
  expect_exact(
      {"histogram", "ans = selector_width(select(tokens, tokens, ==));", letters("ab"), 200});
}

// ------------------------------------------------------------------- the standard library

struct Use {
  std::string function;
  std::string call;
  std::vector<Atom> vocabulary;
};

std::vector<Use> library_uses() {
  const auto abc = letters("abc");
  return {
      {"full_s", "full_s", abc},
      {"length", "length", abc},
      {"selector_width", "selector_width(select(tokens, tokens, <))", abc},
      {"has_focus", "has_focus(select(tokens, tokens, <))", abc},
      {"count", "count(tokens, \"a\")", abc},
      {"contains", "contains(tokens, \"a\")", abc},
      {"max", "max(tokens_int, indices)", kSigned},
      {"min", "min(tokens_int, 1)", kSigned},
      {"average", "average(tokens_int)", kSigned},
      {"load_from_location", "load_from_location(tokens, 1)", abc},
      {"load_from_location", "load_from_location(tokens_int, length - 1 - indices)", kSigned},
      {"shift", "shift(tokens, 1, \"-\")", abc},
      {"shift", "shift(tokens_int, -2, 0)", kSigned},
      {"mark_last_instance", "mark_last_instance(tokens, \"a\")", abc},
      {"mark_first_instance", "mark_first_instance(tokens, \"a\")", abc},
      {"select_from_last", "select_from_last(tokens, \"a\")", abc},
      {"select_from_first", "select_from_first(tokens, \"a\")", abc},
      {"select_from_first", "aggregate(select_from_first(tokens, \"a\"), indices, -1)", abc},
      {"select_next_identical", "select_next_identical(tokens)", abc},
      {"select_next_identical", "aggregate(select_next_identical(tokens), indices, -1)", abc},
      {"sort", "sort(tokens, tokens)", abc},
      {"sort", "sort(tokens_int, -tokens_int)", kSigned},
      {"sort", "sort(indices, tokens)", abc},
  };
}

TEST(CompileLibrary, EveryFunctionIsExact) {
  for (const Use& use : library_uses()) {
    expect_exact({use.call, "ans = " + use.call + ";", use.vocabulary, 6});
  }
}

TEST(CompileLibrary, NoFunctionIsLeftOut) {
  std::set<std::string> used;
  for (const Use& use : library_uses()) used.insert(use.function);
  SourceMap sources;
  lang::Session session(sources);
  std::size_t found = 0;
  for (const std::string& name : session.names()) {
    if (session.is_user_defined(name) || !session.definition(name)) continue;
    ++found;
    EXPECT_TRUE(used.contains(name)) << name << " is never compiled here";
  }
  EXPECT_GE(found, 15u);
}

}  // namespace
}  // namespace rasp
