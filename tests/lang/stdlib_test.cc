// The standard library on random inputs, each name against a plain loop.
#include <algorithm>
#include <functional>
#include <numeric>
#include <random>

#include "fixture.h"
#include "lang/library.h"

namespace rasp::lang {
namespace {

using value::Atom;
using Ints = std::vector<int>;

class Stdlib : public LangTest {
 protected:
  // Applies an expression of `tokens_int` to the input.
  std::string on(const std::string& expression, const Ints& input) {
    std::string list;
    for (const int x : input) list += (list.empty() ? "" : ",") + std::to_string(x);
    return value("(" + expression + ")([" + list + "])");
  }

  template <typename Element>
  static std::string each(const Ints& input, Element&& element) {
    std::string text;
    for (int i = 0; i < static_cast<int>(input.size()); ++i) {
      text += (text.empty() ? "" : ", ") + element(i);
    }
    return "<" + text + ">";
  }
  static std::string truth(bool flag) { return flag ? "True" : "False"; }

  // Row = query, column = key.
  static std::string grid(const Ints& input, const std::function<bool(int, int)>& selected) {
    const int n = static_cast<int>(input.size());
    std::string text;
    for (int q = 0; q < n; ++q) {
      if (q > 0) text += "/";
      for (int k = 0; k < n; ++k) text += selected(q, k) ? '1' : '0';
    }
    return text;
  }

  std::vector<Ints> inputs() {
    std::mt19937 random(7);
    std::vector<Ints> result;
    for (int i = 0; i < 40; ++i) {
      Ints input(1 + random() % 12);
      for (int& x : input) x = static_cast<int>(random() % 5) - 1;
      result.push_back(std::move(input));
    }
    return result;
  }
};

int count_of_item(const Ints& x, int item) {
  return static_cast<int>(std::count(x.begin(), x.end(), item));
}

TEST_F(Stdlib, CountsAndMeans) {
  for (const Ints& x : inputs()) {
    const int n = static_cast<int>(x.size());
    EXPECT_EQ(on("length", x), each(x, [&](int) { return std::to_string(n); }));
    EXPECT_EQ(on("count(tokens_int, 2)", x),
              each(x, [&](int) { return std::to_string(count_of_item(x, 2)); }));
    EXPECT_EQ(on("contains(tokens_int, 2)", x),
              each(x, [&](int) { return truth(count_of_item(x, 2) > 0); }));
    EXPECT_EQ(on("max(tokens_int, 1)", x),
              each(x, [&](int i) { return std::to_string(std::max(x[std::size_t(i)], 1)); }));
    EXPECT_EQ(on("min(tokens_int, indices)", x),
              each(x, [&](int i) { return std::to_string(std::min(x[std::size_t(i)], i)); }));
    const int sum = std::accumulate(x.begin(), x.end(), 0);
    EXPECT_EQ(on("average(tokens_int)*length == " + std::to_string(sum), x),
              each(x, [&](int) { return truth(true); }));
  }
}

TEST_F(Stdlib, WidthsOfRandomSelectors) {
  ASSERT_TRUE(run("s1 = select(tokens_int, tokens_int, <); s2 = select(tokens_int, indices, ==);"
                  "s3 = not s1 and select(indices, indices, !=); s4 = select(indices, 0, ==);"
                  "s5 = select(0, 1, ==);")
                  .ok());
  for (const Ints& input : inputs()) {
    const auto x = [&](int i) { return input[std::size_t(i)]; };
    const std::vector<std::function<bool(int, int)>> selectors = {
        [&](int q, int k) { return x(k) < x(q); }, [&](int q, int k) { return x(k) == q; },
        [&](int q, int k) { return x(k) >= x(q) && k != q; }, [&](int, int k) { return k == 0; },
        [](int, int) { return false; }};
    const int n = static_cast<int>(input.size());
    for (std::size_t s = 0; s < selectors.size(); ++s) {
      const auto width = [&](int q) {
        int sum = 0;
        for (int k = 0; k < n; ++k) sum += selectors[s](q, k) ? 1 : 0;
        return sum;
      };
      const std::string name = "s" + std::to_string(s + 1);
      EXPECT_EQ(on("selector_width(" + name + ")", input),
                each(input, [&](int q) { return std::to_string(width(q)); }));
      EXPECT_EQ(on("has_focus(" + name + ")", input),
                each(input, [&](int q) { return truth(width(q) > 0); }));
      EXPECT_EQ(on(name, input), grid(input, selectors[s]));
    }
  }
}

TEST_F(Stdlib, Moving) {
  for (const Ints& input : inputs()) {
    const int n = static_cast<int>(input.size());
    const auto x = [&](int i) { return std::to_string(input[std::size_t(i)]); };
    for (const int by : {-3, -1, 0, 1, 2, 20}) {
      EXPECT_EQ(on("shift(tokens_int, " + std::to_string(by) + ", -9)", input),
                each(input, [&](int i) { return i - by >= 0 && i - by < n ? x(i - by) : "-9"; }));
    }
    EXPECT_EQ(on("load_from_location(tokens_int, 1)", input),
              each(input, [&](int) { return n > 1 ? x(1) : "0"; }));
    EXPECT_EQ(on("load_from_location(tokens_int, length-1-indices)", input),
              each(input, [&](int i) { return x(n - 1 - i); }));
  }
}

TEST_F(Stdlib, FirstAndLast) {
  for (const Ints& x : inputs()) {
    const auto at = [&](int i) { return x[std::size_t(i)]; };
    const auto found = std::find(x.begin(), x.end(), 2);
    const int first = found == x.end() ? -1 : static_cast<int>(found - x.begin());
    int last = -1;
    for (int i = 0; i < static_cast<int>(x.size()); ++i) last = at(i) == 2 ? i : last;
    EXPECT_EQ(on("mark_first_instance(tokens_int, 2)", x),
              each(x, [&](int i) { return truth(i == first); }));
    EXPECT_EQ(on("mark_last_instance(tokens_int, 2)", x),
              each(x, [&](int i) { return truth(i == last); }));
    EXPECT_EQ(on("select_from_first(tokens_int, 2)", x),
              grid(x, [&](int, int k) { return k == first; }));
    EXPECT_EQ(on("select_from_last(tokens_int, 2)", x),
              grid(x, [&](int, int k) { return k == last; }));
    const auto next = [&](int q) {
      for (int k = q + 1; k < static_cast<int>(x.size()); ++k) {
        if (at(k) == at(q)) return k;
      }
      return -1;
    };
    EXPECT_EQ(on("select_next_identical(tokens_int)", x),
              grid(x, [&](int q, int k) { return k == next(q); }));
  }
}

TEST_F(Stdlib, SortIsStable) {
  for (const Ints& x : inputs()) {
    std::vector<int> order(x.size());
    std::iota(order.begin(), order.end(), 0);
    const auto key = [&](int i) { return x[std::size_t(i)]; };
    std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
    EXPECT_EQ(on("sort(indices, tokens_int)", x),
              each(x, [&](int i) { return std::to_string(order[std::size_t(i)]); }));
  }
}

TEST_F(Stdlib, MaxAndMinOfAtoms) {
  EXPECT_EQ(value("max(3, 9)"), "9");
  EXPECT_EQ(value("min(\"b\", \"a\")"), "'a'");
}

// Every module runs by itself, every public name says in a comment what it gives, and the names are
// exactly those of the language.
TEST_F(Stdlib, IsWhole) {
  std::vector<std::string> names;
  for (const LibraryModule& module : library()) {
    if (!is_core(module.name)) continue;
    for (const std::string& name : defined_names(module.text)) {
      names.push_back(name);
      Session fresh(sources, options());
      EXPECT_TRUE(fresh.lookup(name).has_value()) << name;
      EXPECT_TRUE(module.text.find("\n# " + name + ":") != std::string_view::npos ||
                  module.text.find("\n# " + name + "(") != std::string_view::npos)
          << name;
    }
  }
  std::ranges::sort(names);
  EXPECT_EQ(names, (std::vector<std::string>{
                       "average", "contains", "count", "full_s", "has_focus", "length",
                       "load_from_location", "mark_first_instance", "mark_last_instance", "max",
                       "min", "select_from_first", "select_from_last", "select_next_identical",
                       "selector_width", "shift", "sort"}));
}

}  // namespace
}  // namespace rasp::lang
