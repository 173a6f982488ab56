// Errors: the kind, the sentence, the marked text, the hint.
#include "fixture.h"

namespace rasp::lang {
namespace {

using Errors = LangTest;

TEST_F(Errors, UnknownNamesSuggest) {
  EXPECT_EQ(error("token;"), "name: unknown name 'token' [token] | did you mean 'tokens'?");
  EXPECT_EQ(error("x = lenght + 1;"),
            "name: unknown name 'lenght' [lenght] | did you mean 'length'?");
  EXPECT_EQ(error("my_value = 1; my_vaule;"),
            "name: unknown name 'my_vaule' [my_vaule] | did you mean 'my_value'?");
  EXPECT_EQ(error("zzzzzzzz;"), "name: unknown name 'zzzzzzzz' [zzzzzzzz]");
}

TEST_F(Errors, WhatCannotBeAssigned) {
  for (const std::string name :
       {"indices", "True", "False", "out", "tokens_str", "tokens_int", "tokens_asis",
        "tokens_float", "tokens_bool", "round", "len", "range", "zip", "indicator"}) {
    EXPECT_EQ(error(name + " = 1;"), "name: '" + name + "' is built in and cannot be assigned [" +
                                         name + "] | choose another name, such as 'my_" + name +
                                         "'");
  }
  for (const std::string name :
       {"length", "full_s", "selector_width", "has_focus", "count", "contains", "max", "min",
        "average", "load_from_location", "shift", "mark_last_instance", "mark_first_instance",
        "select_from_last", "select_from_first", "sort", "select_next_identical"}) {
    const std::string sentence = "name: '" + name + "' belongs to the standard library and cannot";
    EXPECT_TRUE(error(name + " = 1;").starts_with(sentence));
    EXPECT_TRUE(error("a, " + name + " = 1, 2;").starts_with(sentence));
    EXPECT_TRUE(error("def " + name + "() { return 1; }").starts_with(sentence));
    EXPECT_TRUE(error("for " + name + " in [1] { a = 1; }").starts_with(sentence));
    EXPECT_TRUE(error("def f() { " + name + " = 1; return 1; } f();").starts_with(sentence));
  }
  EXPECT_EQ(error("tokens = tokens_int; t = tokens;"), "");
}

TEST_F(Errors, SelectorsStayAmongThemselves) {
  EXPECT_EQ(error("full_s + 1;"),
            "type: '+' works on atoms and s-ops; this is a selector [full_s] | selectors combine "
            "with 'and', 'or' and 'not' only");
  EXPECT_EQ(error("full_s and tokens==\"a\";"),
            "type: 'and' needs selectors on both sides; this is an s-op [tokens==\"a\"]");
  EXPECT_EQ(error("True or full_s;"),
            "type: 'or' needs selectors on both sides; this is a bool [True]");
  EXPECT_EQ(error("aggregate(tokens, tokens);"),
            "type: 'aggregate' needs a selector first, not an s-op [tokens]");
  EXPECT_EQ(error("select(full_s, 1, ==);"),
            "type: the key of 'select' must be an s-op or an atom, not a selector [full_s]");
  EXPECT_EQ(error("full_s if indices == 0 else full_s;"),
            "type: a branch of 'if' with an s-op as its condition must be an s-op or an atom, not "
            "a selector [full_s]");
}

TEST_F(Errors, WrongTypes) {
  EXPECT_EQ(error("1 + [1];"), "type: '+' cannot combine an int and a list [1 + [1]]");
  EXPECT_EQ(error("tokens == [\"a\"];"),
            "type: '==' cannot combine an s-op and a list [tokens == [\"a\"]]");
  EXPECT_EQ(error("-[1];"), "type: '-' needs an atom or an s-op, not a list [-[1]]");
  EXPECT_EQ(error("5(\"hi\");"),
            "type: an int cannot be called; a function, an s-op or a selector can [5]");
  EXPECT_EQ(error("{indices: 1};"),
            "type: the key of a dict must be an atom, not an s-op "
            "[indices]");
  EXPECT_EQ(error("1 if [1] else 2;"),
            "type: the condition of 'if' must be an atom or an s-op, not a list [[1]]");
  EXPECT_EQ(error("[p for p in 3];"),
            "type: what a comprehension goes over must be a list or a dict, not an int [3]");
  EXPECT_EQ(error("for i in \"abc\" { a = i; }"),
            "type: what 'for' goes over must be a list or a dict, not a string [\"abc\"]");
  EXPECT_EQ(error("aggregate(full_s, indices, tokens);"),
            "type: the default of 'aggregate' must be an atom, not an s-op [tokens]");
  EXPECT_EQ(error("[1,[2]][indices];"),
            "type: a list indexed by an s-op must hold atoms only; this one holds a list "
            "[[1,[2]]]");
  EXPECT_EQ(error("\"a\" in \"abc\";"),
            "type: the right side of 'in' must be a list, a dict or an s-op, not a string "
            "[\"abc\"]");
  EXPECT_EQ(error("1 in [indices];"),
            "type: the list of 'in' must hold atoms; this one holds an s-op [[indices]]");
}

TEST_F(Errors, TheTableOfOperatorsSpeaksWithTheUsersPlace) {
  const std::string division = error("x = 1 + 7/(3-3);");
  EXPECT_TRUE(division.starts_with("arithmetic: ")) << division;
  EXPECT_NE(division.find("[7/(3-3)]"), std::string::npos) << division;
  const std::string types = error("y = 2 * (1 - \"a\");");
  EXPECT_TRUE(types.starts_with("type: ")) << types;
  EXPECT_NE(types.find("[(1 - \"a\")]"), std::string::npos) << types;
}

TEST_F(Errors, WhatNoInputCouldMakeRightDefinesNothing) {
  const std::string minus = error("x = 1 + (tokens - 1);");
  EXPECT_TRUE(minus.starts_with("type: ")) << minus;
  EXPECT_NE(minus.find("[(tokens - 1)]"), std::string::npos) << minus;
  EXPECT_EQ(look("x"), "undefined");
  EXPECT_FALSE(run("x = indices / 0;").ok());
  EXPECT_TRUE(run("x = tokens_int + 1;").ok());
}

TEST_F(Errors, Unpacking) {
  EXPECT_EQ(error("a, b = [1,2,3];"), "value: 2 names cannot take a list of 3 items [[1,2,3]]");
  EXPECT_EQ(error("a, b = 5;"), "type: 2 names need a list of 2 to unpack, not an int [5]");
  EXPECT_EQ(error("for a, b in [[1,2],[3]] { c = a; }"),
            "value: 2 loop variables need lists of 2 here, but an item is a list of 1 "
            "[[[1,2],[3]]]");
  EXPECT_EQ(error("[a for a, b in [1]];"),
            "type: 2 loop variables need lists of 2 here, but an item is an int [[1]]");
  EXPECT_EQ(look("a"), "undefined");
}

TEST_F(Errors, Calls) {
  ASSERT_TRUE(run("def f(x, y) { return x; } def g() { return 1; }").ok());
  EXPECT_EQ(error("f(1);"), "type: f(x, y) takes 2 arguments, but 1 is given [f(1)]");
  EXPECT_EQ(error("g(1,2);"), "type: g() takes 0 arguments, but 2 are given [g(1,2)]");
  EXPECT_EQ(error("tokens(\"a\",\"b\");").substr(0, 8), "type: an");
  EXPECT_EQ(error("tokens(5);"), "type: an input is a text or a list of atoms, not an int [5]");
  EXPECT_EQ(error("tokens(\"\");"),
            "value: an input has at least one token; this one is empty [\"\"]");
  EXPECT_EQ(error("tokens([[1]]);"),
            "type: an input is a text or a list of atoms; this list holds a list [[[1]]]");
}

TEST_F(Errors, TheLibraryPointsAtTheCall) {
  EXPECT_EQ(error("y = 1 + sort(full_s, 1);"),
            "type: in 'sort': the value of 'aggregate' must be an s-op or an atom, not a selector "
            "[sort(full_s, 1)]");
  const std::string strings = error("average(tokens)(\"ab\");");
  EXPECT_NE(strings.find("average(tokens)"), std::string::npos) << strings;
}

TEST_F(Errors, NotesSayThroughWhichCalls) {
  const Outcome outcome = run("def f(x) { return x + nosuch; }\ndef g(x) { return f(x); }\ng(1);");
  ASSERT_EQ(outcome.diagnostics.size(), 3u);
  EXPECT_EQ(outcome.diagnostics[0].message, "unknown name 'nosuch'");
  EXPECT_EQ(outcome.diagnostics[1].message, "in this call of 'f'");
  EXPECT_EQ(outcome.diagnostics[2].message, "in this call of 'g'");
  EXPECT_EQ(outcome.diagnostics[2].level, Level::kNote);
  EXPECT_EQ(sources.text(outcome.diagnostics[2].span), "g(1)");
}

TEST_F(Errors, ASyntaxErrorRunsNothing) {
  const Outcome outcome = run("a = 1;\nb = ;\nc = 2;\nd = (;\n");
  EXPECT_FALSE(outcome.ok());
  EXPECT_TRUE(outcome.events.empty());
  EXPECT_GE(outcome.diagnostics.size(), 2u);
  EXPECT_EQ(look("a"), "undefined");
}

}  // namespace
}  // namespace rasp::lang
