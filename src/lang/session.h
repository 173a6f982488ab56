// Running RASP text: scopes, functions, loops, loading, the standard library. A session turns
// source texts into named values and a graph; it evaluates s-ops only where the program applies
// them to an input (`s("abc")`, `expect`).
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/diagnostic.h"
#include "base/result.h"
#include "graph/graph.h"
#include "lang/value.h"
#include "syntax/ast.h"

namespace rasp::lang {

// How an s-op or a selector is applied to an input. The caller brings it (the interpreter, under
// its options), since this room does not know what is behind the graph. Rows of a selector are
// queries.
struct Applier {
  std::function<Result<value::Sequence>(const graph::Graph&, graph::NodeId sop,
                                        std::span<const value::Atom> input)>
      sop;
  std::function<Result<std::vector<std::vector<bool>>>(const graph::Graph&, graph::NodeId selector,
                                                       std::span<const value::Atom> input)>
      selector;
};

struct Options {
  Applier applier;                          // for `s(input)` and `expect`
  std::filesystem::path working_directory;  // for `load`; empty: the process's
  std::size_t max_steps =
      20'000'000;  // work of one `run`, in about one step an operation or element
  const std::atomic<bool>* interrupted = nullptr;  // set by Ctrl-C: the run ends in a limit error
  bool commands = false;                           // the REPL's commands are statements
};

// What one top-level statement did, for whoever prints. `a, b = ...;` gives an event a name. In a
// loop at the top only `expect` and `draw` tell; in functions and loaded files nothing does.
struct Event {
  enum class Kind {
    kValue,    // `expr;` (name "out", or the name when the expression is a bare name) or `name =
               // expr;`
    kDefined,  // `def`: value is the function
    kDraw,     // `draw(sop);` or `draw(sop, input);`
    kExpect,   // `expect a == b;`: `holds`, and when it does not, `message` says where they differ
    kPuzzle,   // a puzzle block, checked and kept in `puzzles()`
    kCommand,  // a command of the REPL, `text` as written; the session does not know its meaning
  };
  Kind kind = Kind::kValue;
  std::string name;  // kDraw: the s-op's when it is a bare name, else ""
  Value value;
  std::optional<value::Sequence> input;  // kDraw
  bool holds = true;
  std::string message;
  std::string text;  // kCommand, kExpect: as written
  Span span;
};

class Scope;

// A puzzle block, and the program and the scope that its expressions are in. While a session knows
// a puzzle, its name may be defined even if the library has it.
struct KnownPuzzle {
  syntax::Puzzle puzzle;
  std::shared_ptr<const syntax::Program> program;
  Scope* scope = nullptr;  // owned by the session
};

struct Outcome {
  std::vector<Event> events;  // in program order
  // Errors, warnings, notes. After the error of a statement come notes that say through which calls
  // and files it was reached, innermost first.
  std::vector<Diagnostic> diagnostics;
  [[nodiscard]] bool ok() const;  // no errors
};

class Session {
 public:
  explicit Session(SourceMap& sources, Options options = {});
  ~Session();

  // Runs every statement of a text; stops at the first that fails, whose effects are undone. A text
  // with syntax errors is not begun: all of them are in the outcome.
  // `on_event`, when given, is called as each statement ends, before the next one runs, and may
  // refuse the statement (returning a diagnostic undoes it and ends the run): the REPL prints,
  // obeys commands, and checks definitions on its example there. It may look names up; it must not
  // run or load.
  using OnEvent = std::function<std::optional<Diagnostic>(const Event&)>;
  Outcome run(FileId file, const OnEvent& on_event = {});
  // Like `load`: runs a file with its top-level events dropped, private names kept private, and an
  // `expect` that does not hold a warning.
  Outcome load(const std::filesystem::path& path);
  // Runs a text that sees the library and nothing of the user's, and of which only the puzzles are
  // kept: the user's names cannot change what those mean.
  Outcome run_apart(FileId file);
  // Syntax and static checks only: parses, resolves names (those in functions that nothing calls as
  // well) and builds the graph without evaluating on any input. Goes on after an error, so that the
  // outcome holds all it could find, and leaves the session as it was.
  Outcome check(FileId file);

  [[nodiscard]] std::optional<Value> lookup(
      std::string_view name);  // loads the library's module when needed
  [[nodiscard]] std::vector<std::string> names()
      const;  // the user's, then the library's; for completion
  [[nodiscard]] std::optional<Span> definition(
      std::string_view name);  // where it was defined, for `:source`
  [[nodiscard]] bool is_user_defined(std::string_view name) const;
  void reset();  // forget what the user defined; ids of nodes handed out before mean nothing then

  [[nodiscard]] const graph::Graph& graph() const;
  // The latest of each name, in the order of their first appearance.
  [[nodiscard]] const std::vector<KnownPuzzle>& puzzles() const;

  // One side of a puzzle's `expect` or `spec`, or its vocabulary. It is read where the puzzle
  // stands: of what the user defined it sees the puzzle's own name only (an error when there is
  // none), so that a solution cannot change what it is compared with.
  [[nodiscard]] Result<Value> evaluate(const KnownPuzzle& puzzle, syntax::ExprId side);

  // The latest name given to each node (user's names before the library's), for pictures, heads and
  // slices.
  struct Named {
    graph::NodeId node;
    std::string name;
  };
  [[nodiscard]] std::vector<Named> named_nodes() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// An input as the command and `sop(...)` take it: a text is its characters; a JSON-like list gives
// atoms.
[[nodiscard]] Result<value::Sequence> to_input(const Value& value, const Span& span);

// The names of the standard library's modules, and the text of one (without ".rasp"); nullopt when
// there is none.
[[nodiscard]] std::vector<std::string_view> library_modules();
[[nodiscard]] std::optional<std::string_view> library_text(std::string_view module);

}  // namespace rasp::lang
