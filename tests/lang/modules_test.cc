// Library modules that `load` brings, against plain loops; where their names are seen; puzzles read
// where they stand.
#include <algorithm>
#include <map>
#include <numeric>
#include <random>

#include "fixture.h"
#include "lang/library.h"

namespace rasp::lang {
namespace {

class Modules : public LangTest {
 protected:
  const KnownPuzzle& puzzle(const std::string& name) {
    const auto& all = session.puzzles();
    return *std::ranges::find_if(
        all, [&](const KnownPuzzle& known) { return known.puzzle.name.text == name; });
  }
  std::string side(const std::string& name, syntax::ExprId id) {
    const auto value = session.evaluate(puzzle(name), id);
    return value ? repr(*value) : "error: " + value.error().message;
  }
  // The sides of the puzzle's `expect` number i.
  std::string left(const std::string& name, std::size_t i = 0) {
    return side(name, puzzle(name).puzzle.expects[i].left);
  }
  std::string right(const std::string& name, std::size_t i = 0) {
    return side(name, puzzle(name).puzzle.expects[i].right);
  }

  Folder folder;
};

TEST_F(Modules, AreSeenOnlyOnceLoaded) {
  std::size_t tried = 0;
  for (const LibraryModule& module : library()) {
    if (is_core(module.name) || module.name.starts_with("puzzles/")) continue;
    Session fresh(sources, options());
    const std::vector<std::string> before = fresh.names();
    for (const std::string& name : defined_names(module.text)) {
      if (name.starts_with('_')) continue;
      EXPECT_FALSE(fresh.lookup(name)) << name;
      EXPECT_FALSE(std::ranges::count(before, name)) << name;
    }
    const Outcome outcome =
        fresh.run(sources.add("<t>", "load \"" + std::string(module.name) + "\"; load \"" +
                                         std::string(module.name) + "\";"));
    EXPECT_EQ(error_of(outcome), "") << module.name;
    for (const std::string& name : defined_names(module.text)) {
      EXPECT_EQ(fresh.lookup(name).has_value(), !name.starts_with('_')) << name;
      if (name.starts_with('_')) continue;
      EXPECT_NE(module.text.find("\n# " + name + "("), std::string_view::npos)
          << name << " has no comment";
      ++tried;
    }
  }
  EXPECT_GE(tried, 20u);
}

TEST_F(Modules, TheirNamesAreFree) {
  EXPECT_EQ(error("sum = 3; load \"sums\"; a = sum(tokens_int)([1,2]); sum = 4;"), "");
  EXPECT_EQ(look("a"), "<3, 3>");
  EXPECT_EQ(look("sum"), "4");
}

TEST_F(Modules, DoNotSeeTheUsersNames) {
  EXPECT_EQ(error("tokens = tokens_int; load \"digits\"; load \"dyck\"; _prefix = 1; "
                  "a = dyck1(tokens_str)(\"()\");"),
            "");
  EXPECT_EQ(look("a"), "<'P', 'T'>");
}

TEST_F(Modules, AFileOfTheSameNameComesFirst) {
  folder.write("sums.rasp", "sum = 17;");
  Options with_folder = options();
  with_folder.working_directory = folder.path();
  Session other(sources, with_folder);
  EXPECT_EQ(error_of(other.run(sources.add("<t>", "load \"sums\";"))), "");
  EXPECT_EQ(repr(*other.lookup("sum")), "17");
}

TEST_F(Modules, ErrorsAreToldAtTheCall) {
  EXPECT_NE(error("load \"sums\"; sum(tokens)(\"ab\");").find("[sum(tokens)]"), std::string::npos)
      << error("load \"sums\"; sum(tokens)(\"ab\");");
}

using Ints = std::vector<int>;

std::string show(const Ints& x) {
  std::string text;
  for (const int v : x) text += (text.empty() ? "" : ", ") + std::to_string(v);
  return text;
}

template <typename Element>
Ints each(const Ints& x, Element&& element) {
  Ints result;
  for (int i = 0; i < static_cast<int>(x.size()); ++i) result.push_back(element(i));
  return result;
}

int place(const Ints& x, int item, bool last) {
  int found = -1;
  for (int i = 0; i < static_cast<int>(x.size()); ++i) {
    if (x[std::size_t(i)] == item && (last || found < 0)) found = i;
  }
  return found;
}

int most_frequent(const Ints& x) {
  int best = 0;
  for (int i = 1; i < static_cast<int>(x.size()); ++i) {
    if (std::ranges::count(x, x[std::size_t(i)]) > std::ranges::count(x, x[std::size_t(best)])) {
      best = i;
    }
  }
  return x[std::size_t(best)];
}

int rank_of(const Ints& x, int i) {
  int rank = 0;
  for (int j = 0; j < static_cast<int>(x.size()); ++j) {
    const int a = x[std::size_t(j)], b = x[std::size_t(i)];
    rank += a < b || (a == b && j < i) ? 1 : 0;
  }
  return rank;
}

int at(const Ints& x, int i, int otherwise) {
  return i >= 0 && i < static_cast<int>(x.size()) ? x[std::size_t(i)] : otherwise;
}

// Of every position, the first element from it on that is not 0; 0 when there is none.
int slid(const Ints& x, int i) {
  while (i < static_cast<int>(x.size()) && x[std::size_t(i)] == 0) ++i;
  return at(x, i, 0);
}

Ints aligned(Ints x) {
  Ints result(x.size(), 9);
  while (!x.empty() && x.back() == 0) x.pop_back();
  std::ranges::copy(x, result.end() - static_cast<std::ptrdiff_t>(x.size()));
  return result;
}

TEST_F(Modules, AgainstPlainLoops) {
  ASSERT_EQ(error("load \"choices\"; load \"sums\"; load \"order\"; load \"search\"; "
                  "load \"layout\"; t = tokens_int;"),
            "");
  std::mt19937 random(11);
  for (int trial = 0; trial < 60; ++trial) {
    Ints x(1 + random() % 9);
    for (int& v : x) v = static_cast<int>(random() % 4) - 1;
    const auto n = static_cast<int>(x.size());
    const std::map<std::string, Ints> wanted = {
        {"where(t > 0, t, 7)",
         each(x, [&](int i) { return x[std::size_t(i)] > 0 ? x[std::size_t(i)] : 7; })},
        {"sum(t)", each(x, [&](int) { return std::accumulate(x.begin(), x.end(), 0); })},
        {"cumsum(t)",
         each(x, [&](int i) { return std::accumulate(x.begin(), x.begin() + i + 1, 0); })},
        {"minimum(t)", each(x, [&](int) { return std::ranges::min(x); })},
        {"maximum(t)", each(x, [&](int) { return std::ranges::max(x); })},
        {"rank(t)", each(x, [&](int i) { return rank_of(x, i); })},
        {"first(t, 1)", each(x, [&](int) { return place(x, 1, false); })},
        {"last(t, 1)", each(x, [&](int) { return place(x, 1, true); })},
        {"mode(t)", each(x, [&](int) { return most_frequent(x); })},
        {"previous(t, 9)", each(x, [&](int i) { return at(x, i - 1, 9); })},
        {"next(t, 9)", each(x, [&](int i) { return at(x, i + 1, 9); })},
        {"reverse(t)", each(x, [&](int i) { return at(x, n - 1 - i, 9); })},
        {"slide(t, 0)", each(x, [&](int i) { return slid(x, i); })},
        {"right_align(t, 0, 9)", aligned(x)},
        {"indicator(is_palindrome(t))",
         each(x, [&](int) { return std::equal(x.begin(), x.end(), x.rbegin()) ? 1 : 0; })}};
    for (const auto& [expression, answer] : wanted) {
      EXPECT_EQ(value("(" + expression + ")([" + show(x) + "])"), "<" + show(answer) + ">")
          << expression << " on " << show(x);
    }
  }
}

TEST_F(Modules, EdgesOfTextFunctions) {
  ASSERT_EQ(error("load \"search\"; load \"layout\"; load \"order\"; load \"digits\";"), "");
  EXPECT_EQ(value("induction(tokens)(\"abcaba\")"), "<'-', '-', '-', 'b', 'c', 'b'>");
  EXPECT_EQ(value("induction(tokens)(\"a\")"), "<'-'>");
  EXPECT_EQ(value("split(tokens, \"-\", 1)(\"ab-c\")"), "<'0', '0', 'a', 'b'>");
  EXPECT_EQ(value("split(tokens, \"-\", 0)(\"ab-c\")"), "<'0', '0', '0', 'c'>");
  EXPECT_EQ(value("split(tokens, \"-\", 0)(\"a-b-\")"), "<'0', '0', 'b', '-'>");
  EXPECT_EQ(value("split(tokens, \"-\", 1)(\"ab\")"), "<'a', 'b'>");
  EXPECT_EQ(value("split(tokens, \"-\", 0)(\"ab\")"), "<'0', '0'>");
  EXPECT_EQ(value("split(tokens, \"-\", 1)(\"-\")"), "<'0'>");
  EXPECT_EQ(value("right_align(tokens, \"_\", \".\")(\"a_b__\")"), "<'.', '.', 'a', '_', 'b'>");
  EXPECT_EQ(value("minimum(tokens)(\"banana\")"), "<'a', 'a', 'a', 'a', 'a', 'a'>");
  EXPECT_EQ(value("rank(tokens)(\"banana\")"), "<3, 0, 4, 1, 5, 2>");
  EXPECT_EQ(value("add(tokens)(\"99+1\")"), "<0, 1, 0, 0>");
  EXPECT_EQ(value("add(tokens)(\"7\")"), "<7>");
  EXPECT_EQ(value("add(tokens)(\"+\")"), "<0>");
}

std::string in_brackets(const std::vector<std::string>& elements) {
  std::string text;
  for (const std::string& element : elements) text += (text.empty() ? "" : ", ") + element;
  return "<" + text + ">";
}

std::vector<std::string> quoted(const std::string& text) {
  std::vector<std::string> elements;
  for (const char c : text) elements.push_back("'" + std::string(1, c) + "'");
  return elements;
}

// What followed the latest earlier appearance of each letter.
std::string followers(const std::string& text) {
  std::string result;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const std::size_t before = i == 0 ? std::string::npos : text.rfind(text[i], i - 1);
    result += before == std::string::npos ? '-' : text[before + 1];
  }
  return result;
}

TEST_F(Modules, TextFunctionsAgainstPlainLoops) {
  ASSERT_EQ(error("load \"search\"; load \"layout\"; load \"digits\";"), "");
  std::mt19937 random(13);
  const auto pick = [&](const std::string& letters) { return letters[random() % letters.size()]; };
  for (int trial = 0; trial < 150; ++trial) {
    std::string text(1 + random() % 9, ' ');
    for (char& c : text) c = pick("ab-");
    const std::string given = "(\"" + text + "\")";
    EXPECT_EQ(value("induction(tokens)" + given), in_brackets(quoted(followers(text)))) << text;

    const std::size_t end = std::min(text.find('-'), text.size());
    const std::string pad(text.size(), '0');
    const std::string before = pad.substr(end) + text.substr(0, end);
    const std::string after =
        end == text.size() ? pad : pad.substr(0, end + 1) + text.substr(end + 1);
    EXPECT_EQ(value("split(tokens, \"-\", 1)" + given), in_brackets(quoted(before))) << text;
    EXPECT_EQ(value("split(tokens, \"-\", 0)" + given), in_brackets(quoted(after))) << text;

    const std::size_t a = random() % 1000;
    const std::size_t b = random() % 10000;
    const std::string sum = std::to_string(a) + "+" + std::to_string(b);
    std::string digits = std::to_string(a + b);
    digits.insert(0, sum.size() - digits.size(), '0');
    std::vector<std::string> wanted;
    for (const char digit : digits) wanted.emplace_back(1, digit);
    EXPECT_EQ(value("add(tokens)(\"" + sum + "\")"), in_brackets(wanted)) << sum;
  }
}

// What a stack says of every prefix.
std::string verdicts(const std::string& text, const std::string& openers,
                     const std::string& closers) {
  std::string stack, result;
  bool broken = false;
  for (const char c : text) {
    if (openers.find(c) != std::string::npos) {
      stack += c;
    } else if (const auto kind = closers.find(c); kind != std::string::npos) {
      broken = broken || stack.empty() || stack.back() != openers[kind];
      if (!stack.empty()) stack.pop_back();
    }
    result += std::string(result.empty() ? "" : ", ") + (broken          ? "'F'"
                                                         : stack.empty() ? "'T'"
                                                                         : "'P'");
  }
  return "<" + result + ">";
}

bool shuffled(const std::string& text) {
  int round_depth = 0, curly_depth = 0;
  bool good = true;
  for (const char c : text) {
    round_depth += c == '(' ? 1 : (c == ')' ? -1 : 0);
    curly_depth += c == '{' ? 1 : (c == '}' ? -1 : 0);
    good = good && round_depth >= 0 && curly_depth >= 0;
  }
  return good && round_depth == 0 && curly_depth == 0;
}

TEST_F(Modules, BracketLanguagesAgainstAStack) {
  ASSERT_EQ(error("load \"dyck\";"), "");
  std::mt19937 random(5);
  for (int trial = 0; trial < 200; ++trial) {
    std::string text(1 + random() % 8, ' ');
    // Every fourth text is closed properly, so that balanced ones occur.
    for (char& c : text) c = "(){}[]"[random() % (trial % 2 == 0 ? 4 : 6)];
    if (trial % 4 == 0) {
      const std::string opened = text;
      for (auto c = opened.rbegin(); c != opened.rend(); ++c) {
        text += *c == '(' ? ")" : (*c == '{' ? "}" : "");
      }
    }
    const std::string given = "(\"" + text + "\")";
    EXPECT_EQ(value("dyck1(tokens)" + given), verdicts(text, "(", ")")) << text;
    EXPECT_EQ(value("dyck2(tokens)" + given), verdicts(text, "({", ")}")) << text;
    EXPECT_EQ(value("dyck3(tokens)" + given), verdicts(text, "({[", ")}]")) << text;
    EXPECT_EQ(value("shuffle_dyck2(tokens)" + given).substr(1, 4), shuffled(text) ? "True" : "Fals")
        << text;
  }
}

TEST_F(Modules, APuzzleFreesItsName) {
  EXPECT_NE(error("def shift(i, default) { return tokens; }"), "");
  EXPECT_EQ(error("puzzle shift(i, default) { expect shift(1, \"-\")(\"ab\") == \"-a\"; } "
                  "b = shift(tokens, 1, \"-\")(\"ab\"); "
                  "def shift(i, default) { return aggregate(select(indices, indices - i, ==), "
                  "tokens, default); } a = shift(1, \"-\")(\"ab\");"),
            "");
  EXPECT_EQ(look("a"), "<'-', 'a'>");
  EXPECT_EQ(look("b"), "<'-', 'a'>");
  EXPECT_EQ(left("shift"), "<'-', 'a'>");
  EXPECT_NE(error("def sort(x) { return x; }"), "") << "other names stay taken";
}

TEST_F(Modules, APuzzleIsReadWhereItStands) {
  folder.write("pack.rasp",
               "def _twice(x) { return x + x; } "
               "puzzle double() { expect double()(\"1\") == _twice(tokens_int)(\"1\"); "
               "expect double()(\"1\") == tokens(\"1\"); }");
  Options with_folder = options();
  with_folder.working_directory = folder.path();
  ASSERT_EQ(error("x = 1;"), "");
  ASSERT_TRUE(session.load(folder.path() / "pack.rasp").ok());
  EXPECT_EQ(left("double"), "error: there is no solution: nothing defines 'double'");
  ASSERT_EQ(error("tokens = tokens_int; _twice = 5; def double() { return tokens * 2; }"), "");
  EXPECT_EQ(left("double"), "<2>");
  EXPECT_EQ(right("double"), "<2>");
  EXPECT_EQ(right("double", 1), "<'1'>");
}

TEST_F(Modules, AFailedLoadLeavesNoPuzzle) {
  folder.write("bad.rasp", "puzzle sort() { expect sort()(\"ba\") == \"ab\"; } 1 + \"a\" + f;");
  EXPECT_FALSE(session.load(folder.path() / "bad.rasp").ok());
  EXPECT_TRUE(session.puzzles().empty());
  EXPECT_NE(error("def sort() { return tokens; }"), "");
}

}  // namespace
}  // namespace rasp::lang
