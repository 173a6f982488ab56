// What expressions are worth: atoms, lists, dicts, indexing, membership, builtins.
#include "fixture.h"

namespace rasp::lang {
namespace {

using Values = LangTest;

TEST_F(Values, PrecedenceIsTheLanguagesNotPythons) {
  EXPECT_EQ(value("2^3^2"), "64");
  EXPECT_EQ(value("-2^2"), "4");
  EXPECT_EQ(value("2*3%4"), "2");
  EXPECT_EQ(value("7%3*2"), "1");
  EXPECT_EQ(value("not 1==2"), "False");
  EXPECT_EQ(value("True or False and False"), "False");
  EXPECT_EQ(value("1 if False else 2 in [3]"), "False");
  EXPECT_EQ(value("1 in [1] in [True]"), "True");
  EXPECT_EQ(value("1 != 2 and 3"), "3");
}

TEST_F(Values, LogicOnAtomsGivesAnOperand) {
  EXPECT_EQ(value("\"\" or \"x\""), "'x'");
  EXPECT_EQ(value("0 and 5"), "0");
  EXPECT_EQ(value("3 and 0.0"), "0.0");
  EXPECT_EQ(value("not \"\""), "True");
}

TEST_F(Values, NumbersAreExact) {
  EXPECT_EQ(value("0.1+0.2 == 0.3"), "True");
  EXPECT_EQ(value("1/3*3 == 1"), "True");
  EXPECT_EQ(value("2^200 - 2^200 + 1"), "1");
  EXPECT_EQ(value("6/3"), "2.0");
}

TEST_F(Values, ListsAndDicts) {
  EXPECT_EQ(value("[1,2]+[3]"), "[1, 2, 3]");
  EXPECT_EQ(value("2*[1,\"a\"]"), "[1, 'a', 1, 'a']");
  EXPECT_EQ(value("[1]*0"), "[]");
  EXPECT_EQ(value("[1]*-3"), "[]");
  EXPECT_EQ(value("{1:\"x\",True:\"y\",2:[]}"), "{1: 'y', 2: []}");
  EXPECT_EQ(value("[x*y for x,y in zip([1,2],[3,4])]"), "[3, 8]");
  EXPECT_EQ(value("{k:k+1 for k in {5:0,7:0}}"), "{5: 6, 7: 8}");
  EXPECT_EQ(value("[[1],[2,3]] == [[1.0],[2,3]]"), "True");
  EXPECT_EQ(value("{1:2} != {1:3}"), "True");
  EXPECT_EQ(value("[y for y in [x for x in range(3)]]"), "[0, 1, 2]");
}

TEST_F(Values, LargeDictsFindEveryKey) {
  ASSERT_TRUE(run("d = {k*k: k for k in range(1000)};"
                  "l = [d[k*k] for k in range(1000)]; ok = l == range(1000);"
                  "e = {str: 1 for str in [\"a\",\"b\",\"a\"]*100};")
                  .ok());
  EXPECT_EQ(look("ok"), "True");
  EXPECT_EQ(look("e"), "{'a': 1, 'b': 1}");
  EXPECT_EQ(error("d[2];").substr(0, 31), "value: this dict has no key 2 [");
}

TEST_F(Values, Indexing) {
  EXPECT_EQ(value("\"h\xC3\xA9llo\"[1]"), "'\xC3\xA9'");
  EXPECT_EQ(value("\"h\xC3\xA9llo\"[-4]"), "'\xC3\xA9'");
  EXPECT_EQ(value("[4,5,6][True]"), "5");
  EXPECT_EQ(value("{\"a\":[7]}[\"a\"][0]"), "7");
  EXPECT_EQ(value("indices(\"abc\")[2]"), "2");
  EXPECT_EQ(error("[1,2][5];"), "value: index 5 is out of range; this list has 2 elements [5]");
  EXPECT_EQ(error("\"a\"[-2];"), "value: index -2 is out of range; this string has 1 element [-2]");
  EXPECT_EQ(error("[1,2][0.5];"),
            "type: this list is indexed by an int or an s-op, not by a float [0.5]");
  EXPECT_EQ(error("{\"alpha\":1}[\"alpa\"];"),
            "value: this dict has no key 'alpa' [\"alpa\"] | did you mean 'alpha'?");
  EXPECT_EQ(error("3[0];"),
            "type: an int cannot be indexed; a list, a dict, a string or an s-op can [3]");
}

TEST_F(Values, Membership) {
  EXPECT_EQ(value("1.0 in [1]"), "True");
  EXPECT_EQ(value("\"1\" in [1]"), "False");
  EXPECT_EQ(value("2 in {2:0}"), "True");
  EXPECT_EQ(value("\"b\" in tokens(\"abc\")"), "True");
  EXPECT_EQ(value("(\"b\" in tokens)(\"abc\")"), "<True, True, True>");
  EXPECT_EQ(value("(\"b\" in tokens)(\"acc\")"), "<False, False, False>");
  EXPECT_EQ(value("(tokens in {\"a\":1})(\"abc\")"), "<True, False, False>");
}

TEST_F(Values, Builtins) {
  EXPECT_EQ(value("range(5,0,-2)"), "[5, 3, 1]");
  EXPECT_EQ(value("range(3,3)"), "[]");
  EXPECT_EQ(value("range(2^70, 2^70+2)[1] - 2^70"), "1");
  EXPECT_EQ(value("len(zip([1,2,3],\"a\" if False else [4,5,6]))"), "3");
  EXPECT_EQ(value("len(tokens(\"hello\"))"), "5");
  EXPECT_EQ(value("round(2.5)"), "2");
  EXPECT_EQ(error("range(1,2,0);"), "value: the step of 'range' must not be 0 [0]");
  EXPECT_EQ(error("len(tokens);"),
            "type: 'len' needs a list, not an s-op [tokens] | the number of tokens is the s-op "
            "'length'");
  EXPECT_EQ(error("zip([1],[1,2]);"),
            "value: 'zip' needs lists of one length; the first has 1 items, this one 2 [[1,2]]");
  EXPECT_EQ(error("indicator(1);"), "type: 'indicator' needs an s-op, not an int [1]");
}

TEST_F(Values, AppliedSequencesAreLists) {
  EXPECT_EQ(value("indices(\"ab\") + [9]"), "[0, 1, 9]");
  EXPECT_EQ(value("indices(\"ab\")*2"), "[0, 1, 0, 1]");
  EXPECT_EQ(value("[x+1 for x in indices(\"abc\")]"), "[1, 2, 3]");
  EXPECT_EQ(value("tokens(indices(\"abc\"))"), "<'0', '1', '2'>");
  EXPECT_EQ(value("indices(\"ab\") == [0,1]"), "True");
  EXPECT_EQ(value("([5,6] + tokens_int(\"78\"))[indices](\"abcd\")"), "<5, 6, 7, 8>");
  EXPECT_EQ(value("tokens(\"xyz\")[indices](\"ab\")"), "<'x', 'y'>");
  ASSERT_TRUE(run("a, b, c = tokens(\"xyz\");").ok());
  EXPECT_EQ(look("b"), "'y'");
}

TEST_F(Values, ReadingAPosition) {
  EXPECT_EQ(value("tokens[0](\"abc\")"), "<'a', 'a', 'a'>");
  EXPECT_EQ(value("tokens[-1](\"abc\")"), "<'c', 'c', 'c'>");
  EXPECT_EQ(value("tokens[7](\"abc\")"), "<0, 0, 0>");
  EXPECT_EQ(value("indices[-4](\"abc\")"), "<0, 0, 0>");
  EXPECT_EQ(value("tokens[10^30](\"abc\")"), "<0, 0, 0>");
  EXPECT_EQ(error("tokens[indices];"),
            "type: an s-op is indexed by an int, not by an s-op [indices] | to read at computed "
            "positions: aggregate(select(indices, i, ==), s)");
}

TEST_F(Values, OutHoldsTheLastValue) {
  EXPECT_EQ(error("out;"), "name: 'out' is the last value, and there is none yet [out]");
  EXPECT_EQ(value("3"), "3");
  EXPECT_EQ(value("out + 1"), "4");
  ASSERT_TRUE(run("x = 7;").ok());
  EXPECT_EQ(value("out"), "7");
  ASSERT_FALSE(run("1/0;").ok());
  EXPECT_EQ(value("out"), "7");
  ASSERT_TRUE(run("a, b = 1, 2;").ok());
  EXPECT_EQ(look("out"), "[1, 2]");
  ASSERT_TRUE(run("def f(x) { y = 99; return y; } z = 5; for i in [1] { q = i; }").ok());
  EXPECT_EQ(look("out"), "5");
}

TEST_F(Values, LongChainsNeedNoStack) {
  std::string sum = "0";
  std::string sops = "indices";
  for (int i = 0; i < 15'000; ++i) {
    sum += "+1";
    sops += "+1";
  }
  EXPECT_EQ(value(sum), "15000");
  EXPECT_EQ(value("(" + sops + ")(\"a\")"), "<15000>");
}

TEST_F(Values, MixedOperandsLiftTheAtom) {
  EXPECT_EQ(value("(2-indices)(\"abc\")"), "<2, 1, 0>");
  EXPECT_EQ(value("(indices>0 and True)(\"ab\")"), "<False, True>");
  EXPECT_EQ(value("(3 or indices)(\"ab\")"), "<True, True>");
  EXPECT_EQ(value("select(indices,1,==)(\"ab\")"), "01/01");
  EXPECT_EQ(value("(tokens if indices==0 else \"-\")(\"ab\")"), "<'a', '-'>");
  EXPECT_EQ(value("(full_s if True else 1)(\"a\")"), "1");
}

}  // namespace
}  // namespace rasp::lang
