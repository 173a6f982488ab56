// The state that running a program works on, and the steps of running it: plain functions over it,
// a file a topic. Used by session.cc alone.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/result.h"
#include "graph/graph.h"
#include "lang/function.h"
#include "lang/library.h"
#include "lang/limits.h"
#include "lang/scope.h"
#include "lang/session.h"
#include "lang/value.h"
#include "lang/words.h"
#include "syntax/ast.h"

namespace rasp::lang {

using ProgramRef = std::shared_ptr<const syntax::Program>;

// Which statements tell what they did.
enum class Telling : std::uint8_t {
  kAll,     // at the top of the text that runs
  kChecks,  // in its loops: only `expect` and `draw`
  kNone,    // in functions and loaded files
};

// Where a statement or expression runs.
struct Context {
  const ProgramRef* program = nullptr;
  Scope* scope = nullptr;
  const std::filesystem::path* directory = nullptr;  // of the file, for `load`
  Telling telling = Telling::kNone;
  Span call = {};        // of the library function that runs; invalid elsewhere
  bool library = false;  // in the library's own text, which may define its names
  Value result = {};     // of `return`

  [[nodiscard]] const syntax::Expr& operator[](syntax::ExprId id) const { return (**program)[id]; }
  // The place to name for something written at `span`: inside the library, the user's call.
  [[nodiscard]] const Span& place(const Span& span) const { return call.valid() ? call : span; }
};

// What a statement would leave behind, to be taken back when it fails.
struct Journal {
  std::unordered_map<std::string, std::optional<Binding>> replaced;  // in the global scope
  std::optional<Value> last;
  std::size_t kept = 0;
  std::optional<std::vector<KnownPuzzle>> puzzles;  // when the statement touched them
};

struct Machine {
  Machine(SourceMap& source_map, Options session_options);

  SourceMap& sources;
  Options options;
  graph::Graph graph;
  Meter meter;
  LibraryIndex index;

  Scope base{nullptr};        // what is built in and the public names of the loaded modules
  Scope global{&base, true};  // the user's
  std::vector<std::unique_ptr<Scope>> library_scopes;
  std::unordered_map<const LibraryModule*, FileId> modules;  // those that were loaded
  std::vector<std::unique_ptr<Scope>> kept;                  // captured by closures
  std::vector<KnownPuzzle> puzzles;
  std::optional<Value> last;  // `out`
  std::uint64_t serial = 0;

  // Of the run.
  bool checking = false;            // `check`: nothing is applied to an input
  std::vector<Event> events;        // of the statement
  std::vector<Diagnostic> remarks;  // warnings of loaded files, and of their `expect`s
  std::vector<Diagnostic> trail;    // the calls and loads that the error came through
  std::vector<std::filesystem::path> loading;
  std::unordered_map<std::string, ProgramRef> parsed;  // files loaded in this run
  Journal journal;
};

// --- names.cc
[[nodiscard]] Result<Value> look_up(Machine& m, const Context& c, std::string_view name,
                                    const Span& span);
// Found without a message; loads the library's module when needed.
[[nodiscard]] Result<const Binding*> find_base(Machine& m, std::string_view name);
[[nodiscard]] std::vector<std::string> base_names(const Machine& m);
[[nodiscard]] bool is_base_name(const Machine& m, std::string_view name);
[[nodiscard]] Diagnostic unknown_name(const Machine& m, const Scope& scope, std::string_view name,
                                      const Span& span);
// Why a name cannot be assigned; `shadows_library`: a parameter or a comprehension's variable,
// which may be called like something in the library.
[[nodiscard]] Result<void> check_assignable(const Machine& m, std::string_view name,
                                            const Span& span, bool shadows_library = false);
void assign(Machine& m, Scope& scope, std::string_view name, Binding binding);
// In `check`: the failure of what depends on an input; it is no error.
[[nodiscard]] Diagnostic unknown_value(const Span& span);
[[nodiscard]] bool is_unknown(const Diagnostic& diagnostic);

// --- evaluate.cc
[[nodiscard]] Result<Value> evaluate(Machine& m, const Context& c, syntax::ExprId id);
// A value as an s-op: an atom is the same at every position. `role` names it in the error.
[[nodiscard]] Result<graph::NodeId> to_sop(Machine& m, const Value& value, const Span& span,
                                           std::string_view role);

// --- operators.cc
struct Places {  // of an operator and its sides
  Span whole;
  Span left;
  Span right;
};
[[nodiscard]] Result<Value> unary(Machine& m, value::Op op, const Value& operand, const Span& span);
[[nodiscard]] Result<Value> binary(Machine& m, value::Op op, const Value& left, const Value& right,
                                   const Places& at);
[[nodiscard]] Result<Value> contains(Machine& m, const Value& element, const Value& container,
                                     const Places& at);
[[nodiscard]] Result<Value> from_table(value::OpResult result, const Span& span);

// --- index.cc
[[nodiscard]] Result<Value> index_value(Machine& m, const Value& base, const Value& index,
                                        const Places& at);

// --- calls.cc
struct Argument {
  Value value;
  Span span;
};
[[nodiscard]] Result<Value> call(Machine& m, const Context& c, const Value& callee,
                                 std::vector<Argument> arguments, const Places& at);

// --- builtins.cc
[[nodiscard]] Result<Value> call_builtin(Machine& m, Builtin builtin,
                                         const std::vector<Argument>& arguments, const Span& span);

// --- statements.cc
enum class Flow : std::uint8_t { kNext, kReturn };
[[nodiscard]] Result<Flow> run_statement(Machine& m, Context& c, const syntax::Statement& s);
[[nodiscard]] Result<Flow> run_block(Machine& m, Context& c,
                                     const std::vector<syntax::Statement>& body);
// Binds the variables of a loop to an item: one name to the item, several to its parts.
[[nodiscard]] Result<void> bind_item(Machine& m, Scope& scope,
                                     std::span<const std::string_view> names, const Value& item,
                                     const Span& item_span, const Span& statement);

// --- expect.cc
[[nodiscard]] Result<Event> check_expectation(Machine& m, const Value& found, const Value& expected,
                                              const Places& at);

// --- loading.cc
[[nodiscard]] Result<void> load(Machine& m, const Context& c, std::string_view path,
                                const Span& span);
// A file by its own path rather than by the search of `load`; its public names go to `into`.
[[nodiscard]] Result<void> load_file(Machine& m, Scope& into, const std::filesystem::path& path,
                                     const Span& span);
// Where `load` looks for the files that a source text names first.
[[nodiscard]] std::filesystem::path directory_of(const Machine& m, FileId file);
// Notes the file that runs, so that it cannot load itself.
void enter_file(Machine& m, FileId file);
// Binds what a statement assigns to unknown values, after it failed in a check.
void mark_unknown(Machine& m, Scope& scope, const syntax::Statement& statement);

// --- resolve.cc
// The names that a statement uses, in functions and branches that did not run as well, and that
// neither `scope` nor anything else defines.
[[nodiscard]] std::vector<Diagnostic> unresolved_names(const Machine& m, const Scope& scope,
                                                       const syntax::Program& program,
                                                       const syntax::Statement& statement);

}  // namespace rasp::lang
