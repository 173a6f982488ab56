// `load`: where files are looked for, what they hand on, cycles, and files that are none.
#include "fixture.h"

namespace rasp::lang {
namespace {

class Loading : public LangTest {
 protected:
  // Runs the file as the command would.
  Outcome run_file(const std::string& name) {
    const std::filesystem::path path = folder.path() / name;
    std::ifstream file(path, std::ios::binary);
    std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
    return session.run(sources.add(path.string(), text));
  }

  Folder folder;
};

TEST_F(Loading, HandsOnPublicNames) {
  folder.write("lib.rasp", "_secret = 5; shown = _secret + 1; def f(x) { return x + _secret; }");
  folder.write("main.rasp", "load \"lib\"; a = f(shown);");
  EXPECT_EQ(error_of(run_file("main.rasp")), "");
  EXPECT_EQ(look("a"), "11");
  EXPECT_EQ(look("_secret"), "undefined");
  EXPECT_FALSE(run("_secret;").ok());
}

TEST_F(Loading, PrivateNamesDoNotMeet) {
  folder.write("lib.rasp", "def f() { return _x; }");
  folder.write("own.rasp", "_x = 2; def g() { return _x; }");
  folder.write("main.rasp", "_x = 1; load \"own\"; load \"lib\"; a = g(); b = f();");
  EXPECT_NE(error_of(run_file("main.rasp")).find("unknown name '_x'"), std::string::npos);
  EXPECT_EQ(look("a"), "2");
  EXPECT_EQ(look("_x"), "1");
}

TEST_F(Loading, LooksBesideTheFileThenInTheWorkingDirectory) {
  folder.write("lib/a.rasp", "load \"b\"; x = b;");
  folder.write("lib/b.rasp", "b = 1;");
  folder.write("cwd/b.rasp", "b = 2;");
  folder.write("cwd/c.rasp", "c = 3;");
  folder.write("main.rasp", "load \"lib/a\"; load \"c\"; y = x + c;");
  Options options = LangTest::options();
  options.working_directory = folder.path() / "cwd";
  Session other(sources, options);
  const Outcome outcome = other.run(sources.add((folder.path() / "main.rasp").string(),
                                                "load \"lib/a\"; load \"c\"; y = x + c;"));
  EXPECT_EQ(error_of(outcome), "");
  EXPECT_EQ(repr(*other.lookup("y")), "4");
  const Outcome typed = other.run(sources.add("<stdin>", "load \"b\"; load \"sorting\";"));
  EXPECT_EQ(error_of(typed), "");
  EXPECT_EQ(repr(*other.lookup("b")), "2");
}

TEST_F(Loading, TheTokensOfTheLoaderReachTheFile) {
  folder.write("lib.rasp", "twice = tokens * 2;");
  folder.write("main.rasp", "tokens = tokens_int; load \"lib\"; a = twice([1,2]);");
  EXPECT_EQ(error_of(run_file("main.rasp")), "");
  EXPECT_EQ(look("a"), "<2, 4>");
}

TEST_F(Loading, CyclesAreNamed) {
  folder.write("a.rasp", "load \"b\";");
  folder.write("b.rasp", "x = 1;\nload \"c\";");
  folder.write("c.rasp", "load \"a\";");
  const Outcome outcome = run_file("a.rasp");
  EXPECT_EQ(error_of(outcome),
            "load: this file loads itself: a.rasp -> b.rasp -> c.rasp -> a.rasp [load \"a\";]");
  ASSERT_EQ(outcome.diagnostics.size(), 3u);
  EXPECT_EQ(sources.text(outcome.diagnostics[2].span), "load \"b\";");
  EXPECT_EQ(look("x"), "undefined");
  folder.write("self.rasp", "load \"self\";");
  EXPECT_EQ(error_of(run_file("self.rasp")),
            "load: this file loads itself: self.rasp -> self.rasp [load \"self\";]");
  EXPECT_EQ(error_of(session.load(folder.path() / "self.rasp")),
            "load: this file loads itself: self.rasp -> self.rasp [load \"self\";]");
}

TEST_F(Loading, ManyLoadsOfOneFileAreNoCycleAndReadOnce) {
  folder.write("d.rasp", "n = 1;");
  for (int i = 0; i < 12; ++i) {
    const std::string below = i == 0 ? "d" : "d" + std::to_string(i - 1);
    folder.write("d" + std::to_string(i) + ".rasp",
                 "load \"" + below + "\"; load \"" + below + "\";");
  }
  folder.write("main.rasp", "load \"d11\"; a = n;");
  const std::size_t before = sources.size();
  EXPECT_EQ(error_of(run_file("main.rasp")), "");
  EXPECT_EQ(look("a"), "1");
  EXPECT_EQ(sources.size() - before, 14u);
}

TEST_F(Loading, FilesThatAreNone) {
  std::filesystem::create_directories(folder.path() / "dir.rasp");
  std::filesystem::create_directories(folder.path() / "plain");
  folder.write("large.rasp", std::string((std::size_t{4} << 20) + 1, '#'));
  folder.write("broken.rasp", "x = ;\ny = 2;\nz = (;\n");
  folder.write("bytes.rasp", "x = \"\xFF\xFE\";");
  folder.write("nul.rasp", std::string("x = 1;\0y = 2;", 13));
  Options options = LangTest::options();
  options.working_directory = folder.path();
  Session other(sources, options);
  const auto problem = [&](const std::string& name) {
    return error_of(other.run(sources.add("<test>", "load \"" + name + "\";")));
  };
  EXPECT_NE(problem("dir").find("dir.rasp' is a directory, not a file"), std::string::npos);
  EXPECT_NE(problem("plain").find("plain' is a directory, and there is no file 'plain.rasp'"),
            std::string::npos);
  EXPECT_NE(problem("large").find("is larger than 4194304 bytes"), std::string::npos);
  EXPECT_TRUE(problem("none").starts_with("load: there is no file 'none.rasp' to load"));
  EXPECT_TRUE(problem("").starts_with("load: this is not the name of a file"));
  EXPECT_TRUE(problem(std::string(5000, 'x')).starts_with("load: this is not the name"));
  EXPECT_FALSE(problem("bytes").empty());
  EXPECT_FALSE(problem("nul").empty());
  const Outcome broken = other.run(sources.add("<test>", "load \"broken\";"));
  EXPECT_GE(broken.diagnostics.size(), 3u);  // each syntax error, then that of the load
  EXPECT_EQ(broken.diagnostics.back().kind, ErrorKind::kLoad);
  EXPECT_FALSE(other.lookup("y").has_value());
}

TEST_F(Loading, TellsNothingButWarnsOfExpectations) {
  folder.write("lib.rasp",
               "a = 1; a; expect a == 1; expect a == 2; for i in [1] { expect i == 2; }");
  folder.write("main.rasp", "load \"lib\";");
  const Outcome outcome = run_file("main.rasp");
  EXPECT_TRUE(outcome.ok());
  EXPECT_TRUE(outcome.events.empty());
  ASSERT_EQ(outcome.diagnostics.size(), 2u);
  EXPECT_EQ(outcome.diagnostics[0].level, Level::kWarning);
  EXPECT_EQ(outcome.diagnostics[0].message, "an expectation does not hold: expected 2, found 1");
  const Outcome loaded = session.load(folder.path() / "lib");
  EXPECT_TRUE(loaded.ok() && loaded.events.empty());
}

TEST_F(Loading, AFailingFileLeavesNothingBehind) {
  folder.write("lib.rasp", "a = 1;\ndef f() { return 1/0; }\nb = f();");
  const Outcome outcome = session.load(folder.path() / "lib.rasp");
  EXPECT_TRUE(error_of(outcome).starts_with("arithmetic: "));
  EXPECT_EQ(look("a"), "undefined");
  EXPECT_TRUE(error_of(session.load(folder.path() / "nothing")).starts_with("load: there is no"));
  EXPECT_TRUE(error_of(session.load(folder.path())).find("is a directory") != std::string::npos);
}

TEST_F(Loading, ReservedNamesAreReservedInFilesToo) {
  folder.write("lib.rasp", "length = 3;");
  EXPECT_TRUE(error_of(session.load(folder.path() / "lib")).starts_with("name: 'length' belongs"));
}

}  // namespace
}  // namespace rasp::lang
