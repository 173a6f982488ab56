// The commands of the REPL as statements, and when what was typed is whole.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "parsed_text.h"

namespace rasp::syntax {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::ParsedText;

constexpr ParseOptions kRepl{.commands = true};

// "c:TEXT" for a command, the printed statement otherwise.
std::vector<std::string> read(const std::string& text, const ParseOptions& options = kRepl) {
  const ParsedText parsed(text, options);
  EXPECT_THAT(parsed.errors(), IsEmpty()) << text;
  std::vector<std::string> out;
  for (const Statement& statement : parsed.statements()) {
    if (statement.kind == StatementKind::kCommand) {
      EXPECT_EQ(parsed.sources().text(statement.span), statement.text);
      out.push_back("c:" + statement.text);
    } else {
      out.push_back(to_text(parsed.program(), statement));
    }
  }
  return out;
}

const std::vector<std::string>& commands() {
  static const std::vector<std::string> all = {
      "set example \"hey\"",
      "set example [1, 2]",
      "set s-op example \"abcd\"",
      "set selector example \"xy\"",
      "set example tokens + \"a;b\"",
      "show example",
      "show s-op example",
      "show selector example",
      "examples on",
      "examples off",
      "s-op examples off",
      "selector examples on",
      "full seq display on",
      "full seq display off",
      "exit",
      "quit",
      "exit()",
      "quit ( )",
      "show(example)",
      "set(example, \"hey\")",
      "examples(off)",
      "help",
      "help select",
      "help s-op",
      "help ==",
      "help(sort)",
      "help()",
      "help :type",
      ":type indices + 1",
      ":depth sort(tokens, tokens)",
      ":compile",
      ":source f",
      ":reset",
      ": anything ) at all {",
  };
  return all;
}

TEST(Commands, AreStatementsWhereTheyStand) {
  for (const std::string& command : commands()) {
    EXPECT_THAT(read(command), ElementsAre("c:" + command));
    EXPECT_THAT(read(command + ";"), ElementsAre("c:" + command));
    EXPECT_THAT(read(command + " # note"), ElementsAre("c:" + command));
    EXPECT_THAT(read("a; " + command + "; b;\n" + command + "\nc;"),
                ElementsAre("a;", "c:" + command, "b;", "c:" + command, "c;"));
  }
}

TEST(Commands, AreOnlyInTheRepl) {
  for (const std::string& command : commands()) {
    const ParsedText parsed(command);
    EXPECT_FALSE(parsed.parsed().ok()) << command;
    for (const Statement& statement : parsed.statements()) {
      EXPECT_NE(statement.kind, StatementKind::kCommand) << command;
    }
  }
  EXPECT_FALSE(ParsedText("def f() { exit\n return 1; }", kRepl).parsed().ok());
}

TEST(Commands, TheirWordsStayNames) {
  const std::vector<std::string> statements = {
      "show = 3;",        "set(1);",   "exit = 1;",          "quit + 1;", "help = 2;",
      "help + 1;",        "examples;", "example = 3;",       "full;",     "set, show = 1, 2;",
      "selector = f(x);", "s - op;",   "show(example, 1) ;", "exit(1);",  "examples(x);",
      "full(seq);",       "help[0];"};
  for (const std::string& statement : statements) {
    if (statement == "show(example, 1) ;") continue;  // reads as the command
    const ParsedText parsed(statement, kRepl);
    EXPECT_THAT(parsed.errors(), IsEmpty()) << statement;
    EXPECT_EQ(parsed.printed(), ParsedText(statement).printed()) << statement;
  }
}

TEST(Complete, WholeStatementsAre) {
  for (const std::string text :
       {"", "  \n", "# only a comment", "a;", "a = 1; b = 2;", "a; # end", "def f() { return 1; }",
        "for i in l { a = i; }", "puzzle p() { \"d\" }", "a;;", "def f() { return 1; };"}) {
    EXPECT_TRUE(is_complete(text, kRepl)) << text;
    EXPECT_TRUE(is_complete(text)) << text;
  }
  for (const std::string& command : commands()) {
    EXPECT_TRUE(is_complete(command, kRepl)) << command;
    EXPECT_TRUE(is_complete("a; " + command + "\n", kRepl)) << command;
  }
}

TEST(Complete, PartsAreNot) {
  for (const std::string text :
       {"a", "a =", "a +\n\n", "f(", "f(x", "[1,\n2", "x = {1: 2}", "def f(x)", "def f(x) {",
        "def f(x) { return x;", "for i in {1: 2}", "for i in l {\n a = i;\n", "a; b", "\"abc\"",
        "a # ;", "def f() { def g() { return 1; }", "puzzle p() {\n \"d\"", "x if y\n"}) {
    EXPECT_FALSE(is_complete(text, kRepl)) << text;
  }
  for (const std::string text : {"show example", "exit", "help"}) EXPECT_FALSE(is_complete(text));
}

// More text would not mend these: the error is due now.
TEST(Complete, WhatCannotBecomeRightIs) {
  using std::string_literals::operator""s;
  for (const std::string& text :
       {"a }"s, "}"s, "x = \"abc"s, "f(\"abc\n"s, "a\0"s, "\xFF"s, "f(x;"s, "[1;"s}) {
    EXPECT_TRUE(is_complete(text, kRepl)) << text;
    EXPECT_FALSE(ParsedText(text, kRepl).parsed().ok()) << text;
  }
}

// Line by line, as the REPL reads: no prefix of a program is whole inside a statement.
TEST(Complete, ProgramsAreWholeExactlyAfterTheirStatements) {
  const std::string text =
      "a = 1;\ndef f(x) {\n  for i in [1,\n 2] {\n    x = x + i;\n  }\n  return x;\n}\nf(a,\n2);\n";
  std::vector<bool> whole;
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\n') whole.push_back(is_complete(text.substr(0, at + 1), kRepl));
  }
  EXPECT_THAT(whole,
              ElementsAre(true, false, false, false, false, false, false, true, false, true));
}

}  // namespace
}  // namespace rasp::syntax
