// Random programs, most of them wrong somewhere: whatever a statement does, the session stays
// whole.
#include <random>

#include "fixture.h"

namespace rasp::lang {
namespace {

// Text that parses and means anything.
class RandomText {
 public:
  explicit RandomText(std::uint32_t seed) : random_(seed) {}

  std::string statement(int depth) {
    switch (pick(12)) {
      case 0:
      case 1:
      case 2:
      case 3:
        return variable() + " = " + expression(depth) + ";";
      case 4:
        return variable() + ", " + variable() + " = " + expression(depth) + ";";
      case 5:
        return variable() + ", " + variable() + " = " + expression(depth) + ", " +
               expression(depth) + ";";
      case 6:
        return "for " + loop_variables() + " in " + iterable(depth) + " { " + statement(depth - 1) +
               " " + statement(depth - 1) + " }";
      case 7:
        return "def " + function() + "(x, y) { " + statement(depth - 1) + " return " +
               expression(depth) + "; }";
      case 8:
        return "def " + function() + "(x, y) { " + (depth > 0 ? statement(depth - 2) : "") +
               " return " + expression(depth) + ", " + variable() + "; }";
      case 9:
        return "expect " + operand(depth) + " == " + operand(depth) + ";";
      default:
        return expression(depth) + ";";
    }
  }

 private:
  std::uint32_t pick(std::uint32_t n) { return static_cast<std::uint32_t>(random_() % n); }
  std::string one_of(std::initializer_list<const char*> texts) {
    return *(texts.begin() + pick(static_cast<std::uint32_t>(texts.size())));
  }

  std::string variable() { return one_of({"a", "b", "c", "d", "x", "i", "tokens", "_p"}); }
  std::string function() { return one_of({"f", "g", "a", "h"}); }
  std::string loop_variables() {
    return pick(3) == 0 ? variable() + ", " + variable() : variable();
  }
  std::string iterable(int depth) {
    return pick(2) == 0 ? "range(" + std::to_string(pick(4)) + ")" : operand(depth - 1);
  }

  std::string leaf() {
    switch (pick(5)) {
      case 0:
        return one_of(
            {"0", "1", "2", "3", "10", "0.5", "2.0", "\"\"", "\"a\"", "\"ab\"", "True", "False"});
      case 1:
        return one_of({"indices", "tokens", "tokens_int", "length", "full_s", "tokens_asis"});
      case 2:
        return one_of({"f", "g", "h", "max", "len", "out", "nosuch", "sort", "[]", "{}"});
      default:
        return variable();
    }
  }

  // What may stand beside any operator.
  std::string operand(int depth) {
    if (depth <= 0 || pick(4) == 0) return leaf();
    return "(" + expression(depth - 1) + ")";
  }

  std::string expression(int depth) {
    if (depth <= 0) return leaf();
    const std::string a = operand(depth - 1);
    const std::string b = operand(depth - 1);
    const std::string c = operand(depth - 1);
    switch (pick(16)) {
      case 0:
        return one_of({"-", "not ", "+"}) + a;
      case 1:
      case 2:
      case 3:
        return a + one_of({" + ", " - ", " * ", " / ", " % ", " ^ "}) + b;
      case 4:
        return a + one_of({" == ", " != ", " < ", " >= ", " and ", " or "}) + b;
      case 5:
        return a + " if " + b + " else " + c;
      case 6:
        return a + " in " + b;
      case 7:
        return a + "[" + b + "]";
      case 8:
        return one_of({"f", "g", "h", "max", "shift", "selector_width", "has_focus", "count"}) +
               "(" + a + (pick(3) == 0 ? "" : ", " + b) + ")";
      case 9:
        return one_of({"round", "indicator", "len", "range", "zip"}) + "(" + a + ")";
      case 10:
        return "select(" + a + ", " + b + one_of({", ==)", ", <)", ", !=)"});
      case 11:
        return "aggregate(" + one_of({"full_s", "a", "select(indices, indices, <)"}) + ", " + b +
               (pick(2) == 0 ? "" : ", " + c) + ")";
      case 12:
        return "[" + a + ", " + b + "]";
      case 13:
        return "{" + a + ": " + b + "}";
      case 14:
        return pick(2) == 0 ? "[" + a + " for " + loop_variables() + " in " + iterable(depth) + "]"
                            : "{" + a + ": " + b + " for x in " + iterable(depth) + "}";
      default:
        return a + one_of({"(\"ab\")", "([1,2])", "(\"a\")"});
    }
  }

  std::mt19937 random_;
};

class RandomPrograms : public LangTest {
 protected:
  static Options small() {
    Options result = options();
    result.max_steps = 30'000;
    return result;
  }

  // All that a session's user can see of it.
  static std::string seen(Session& session) {
    std::string text;
    for (const std::string& name : session.names()) {
      if (!session.is_user_defined(name)) continue;
      const auto value = session.lookup(name);
      text += name + "=" + repr(*value);
      if (const auto* sop = std::get_if<SOp>(&value->data)) text += std::to_string(sop->node);
      text += "; ";
    }
    const auto last = session.lookup("out");
    return text + "out=" + (last ? repr(*last) : "");
  }
};

// A failing statement changes nothing, the graph keeps its invariants, a second session does the
// same, and both succeed often enough for this to mean something.
TEST_F(RandomPrograms, LeaveTheSessionWhole) {
  int good = 0;
  int bad = 0;
  for (std::uint32_t seed = 0; seed < 200; ++seed) {
    RandomText text(seed);
    Session one(sources, small());
    Session two(sources, small());
    for (int i = 0; i < 40; ++i) {
      const FileId file = sources.add("<random>", text.statement(3));
      const std::string before = seen(one);
      const Outcome outcome = one.run(file);
      const std::string after = seen(one);
      ++(outcome.ok() ? good : bad);
      EXPECT_TRUE(outcome.ok() || before == after) << sources.text(file);
      const Outcome again = two.run(file);
      EXPECT_EQ(error_of(outcome), error_of(again)) << sources.text(file);
      EXPECT_EQ(after, seen(two)) << sources.text(file);
    }
    EXPECT_EQ(graph::verify(one.graph()), "");
  }
  EXPECT_GT(good, 500);
  EXPECT_GT(bad, 500);
}

// A check changes nothing, and what it refuses (names apart: it looks at branches that do not run)
// does not run either.
TEST_F(RandomPrograms, ChecksAgreeWithRuns) {
  int refused = 0;
  for (std::uint32_t seed = 100; seed < 250; ++seed) {
    RandomText text(seed);
    Session session(sources, small());
    for (int i = 0; i < 40; ++i) {
      const FileId file = sources.add("<random>", text.statement(3) + "\n" + text.statement(2));
      const std::string before = seen(session);
      const Outcome checked = session.check(file);
      EXPECT_EQ(before, seen(session)) << sources.text(file);
      const Outcome ran = session.run(file);
      for (const Diagnostic& d : checked.diagnostics) {
        if (d.level != Level::kError || d.kind == ErrorKind::kName) continue;
        ++refused;
        EXPECT_FALSE(ran.ok()) << sources.text(file) << "\n" << d.message;
      }
    }
  }
  EXPECT_GT(refused, 200);
}

}  // namespace
}  // namespace rasp::lang
