#include "lang/session.h"

#include <algorithm>
#include <exception>
#include <unordered_set>

#include "lang/machine.h"
#include "syntax/parser.h"

namespace rasp::lang {

Machine::Machine(SourceMap& source_map, Options session_options)
    : sources(source_map), options(std::move(session_options)), index(library_index()) {}

struct Session::State {
  State(SourceMap& sources, Options options) : m(sources, std::move(options)) {}
  Machine m;
};

namespace {

void begin_run(Machine& m, bool checking) {
  m.meter.start(m.options.max_steps, m.options.interrupted);
  m.checking = checking;
  m.events.clear();
  m.remarks.clear();
  m.trail.clear();
  m.loading.clear();
  m.parsed.clear();
}

void begin_statement(Machine& m) {
  m.journal.replaced.clear();
  m.journal.last = m.last;
  m.journal.kept = m.kept.size();
  m.journal.puzzles.reset();
  m.events.clear();
  m.trail.clear();
}

void undo(Machine& m) {
  for (auto& [name, binding] : m.journal.replaced) {
    if (binding) {
      m.global.bind(name, *std::move(binding));
    } else {
      m.global.unbind(name);
    }
  }
  m.journal.replaced.clear();
  m.last = std::move(m.journal.last);
  if (m.journal.puzzles) m.puzzles = *std::move(m.journal.puzzles);
  m.kept.resize(m.journal.kept);
  m.events.clear();
}

void move_to(std::vector<Diagnostic>& from, std::vector<Diagnostic>& to) {
  std::ranges::move(from, std::back_inserter(to));
  from.clear();
}

// The remarks, the error, and how it was reached.
void report(Machine& m, Diagnostic problem, Outcome& outcome) {
  move_to(m.remarks, outcome.diagnostics);
  outcome.diagnostics.push_back(std::move(problem));
  move_to(m.trail, outcome.diagnostics);
}

// Nothing that runs here throws on purpose; memory may still be short.
template <typename Work>
[[nodiscard]] auto guarded(const Span& span, Work&& work) -> decltype(work()) {
  try {
    return work();
  } catch (const std::bad_alloc&) {
    return fail(ErrorKind::kLimit, span, "there is not enough memory for this");
  } catch (const std::exception& problem) {
    return fail(ErrorKind::kLimit, span,
                std::string("this could not be carried out: ") + problem.what());
  }
}

// The caller hears of every event of a statement that ended well, and may refuse it.
[[nodiscard]] Result<void> announce(Machine& m, const Session::OnEvent& on_event) {
  if (!on_event) return {};
  for (const Event& event : m.events) {
    if (auto refusal = on_event(event)) return fail(*std::move(refusal));
  }
  return {};
}

// The text's tree, or nothing when it has syntax errors.
[[nodiscard]] ProgramRef parse_into(Machine& m, FileId file, Outcome& outcome) {
  syntax::Parsed parsed = syntax::parse(m.sources, file, {.commands = m.options.commands});
  const bool ok = parsed.ok();
  move_to(parsed.diagnostics, outcome.diagnostics);
  return ok ? std::make_shared<const syntax::Program>(std::move(parsed.program)) : nullptr;
}

[[nodiscard]] bool has_place(const std::vector<Diagnostic>& diagnostics, const Span& span) {
  return std::ranges::any_of(diagnostics, [&](const Diagnostic& d) { return d.span == span; });
}

// The names and nodes of a scope, in the order in which they were bound.
[[nodiscard]] std::vector<Session::Named> nodes_of(const Scope& scope) {
  struct Entry {
    std::uint64_t serial;
    Session::Named named;
  };
  std::vector<Entry> entries;
  for (const auto& [name, binding] : scope.names()) {
    graph::NodeId node = graph::kNoNode;
    if (const auto* sop = std::get_if<SOp>(&binding.value.data)) node = sop->node;
    if (const auto* selector = std::get_if<Selector>(&binding.value.data)) node = selector->node;
    if (node != graph::kNoNode) entries.push_back({binding.serial, {node, name}});
  }
  std::ranges::sort(entries, {}, &Entry::serial);
  std::vector<Session::Named> named;
  for (Entry& entry : entries) named.push_back(std::move(entry.named));
  return named;
}

}  // namespace

bool Outcome::ok() const {
  return std::ranges::none_of(diagnostics,
                              [](const Diagnostic& d) { return d.level == Level::kError; });
}

Session::Session(SourceMap& sources, Options options)
    : state_(std::make_unique<State>(sources, std::move(options))) {}
Session::~Session() = default;

Outcome Session::run(FileId file, const OnEvent& on_event) {
  Machine& m = state_->m;
  Outcome outcome;
  begin_run(m, false);
  const ProgramRef program = parse_into(m, file, outcome);
  if (program == nullptr) return outcome;
  const std::filesystem::path directory = directory_of(m, file);
  enter_file(m, file);
  Context context{.program = &program, .scope = &m.global, .directory = &directory};
  context.telling = Telling::kAll;
  for (const syntax::Statement& statement : program->statements) {
    begin_statement(m);
    auto done = guarded(statement.span, [&]() -> Result<void> {
      RASP_CHECK_OK(run_statement(m, context, statement));
      return {};
    });
    if (done) done = announce(m, on_event);
    if (!done) {
      undo(m);
      report(m, std::move(done.error()), outcome);
      break;
    }
    move_to(m.remarks, outcome.diagnostics);
    std::ranges::move(m.events, std::back_inserter(outcome.events));
  }
  return outcome;
}

Outcome Session::load(const std::filesystem::path& path) {
  Machine& m = state_->m;
  Outcome outcome;
  begin_run(m, false);
  begin_statement(m);
  auto done = guarded({}, [&] { return load_file(m, m.global, path, {}); });
  if (!done) {
    undo(m);
    report(m, std::move(done.error()), outcome);
  }
  move_to(m.remarks, outcome.diagnostics);
  return outcome;
}

Outcome Session::run_apart(FileId file) {
  Machine& m = state_->m;
  Outcome outcome;
  begin_run(m, false);
  begin_statement(m);
  const ProgramRef program = parse_into(m, file, outcome);
  if (program == nullptr) return outcome;
  const std::filesystem::path directory = directory_of(m, file);
  enter_file(m, file);
  auto scope = std::make_unique<Scope>(&m.base, true);
  Context context{.program = &program, .scope = scope.get(), .directory = &directory};
  for (const syntax::Statement& statement : program->statements) {
    auto done = guarded(statement.span, [&]() -> Result<void> {
      RASP_CHECK_OK(run_statement(m, context, statement));
      return {};
    });
    if (done) continue;
    undo(m);
    report(m, std::move(done.error()), outcome);
    return outcome;
  }
  move_to(m.remarks, outcome.diagnostics);
  m.library_scopes.push_back(std::move(scope));
  return outcome;
}

Outcome Session::check(FileId file) {
  Machine& m = state_->m;
  Outcome outcome;
  begin_run(m, true);
  const ProgramRef program = parse_into(m, file, outcome);
  if (program == nullptr) return outcome;
  const std::filesystem::path directory = directory_of(m, file);
  enter_file(m, file);
  Context context{.program = &program, .scope = &m.global, .directory = &directory};
  context.telling = Telling::kAll;
  begin_statement(m);
  bool whole = true;  // every statement was looked at
  for (const syntax::Statement& statement : program->statements) {
    m.trail.clear();
    auto done = guarded(statement.span, [&] { return run_statement(m, context, statement); });
    move_to(m.remarks, outcome.diagnostics);
    m.events.clear();
    if (done) continue;
    mark_unknown(m, m.global, statement);
    if (is_unknown(done.error())) continue;
    const bool last =
        done.error().kind == ErrorKind::kLimit || statement.kind == syntax::StatementKind::kLoad;
    report(m, std::move(done.error()), outcome);
    whole = !last;
    if (last) break;
  }
  for (const syntax::Statement& statement : program->statements) {
    if (!whole) break;
    for (Diagnostic& problem : unresolved_names(m, m.global, *program, statement)) {
      if (!has_place(outcome.diagnostics, problem.span)) {
        outcome.diagnostics.push_back(std::move(problem));
      }
    }
  }
  undo(m);
  m.checking = false;
  return outcome;
}

std::optional<Value> Session::lookup(std::string_view name) {
  Machine& m = state_->m;
  if (const Binding* binding = m.global.find_here(name)) return binding->value;
  if (name == "out") return m.last;
  const Meter meter = m.meter;  // of the run in whose events this may be
  m.meter.start(m.options.max_steps, nullptr);
  const auto found = find_base(m, name);
  m.meter = meter;
  if (!found || *found == nullptr) return std::nullopt;
  return (*found)->value;
}

std::vector<std::string> Session::names() const {
  const Machine& m = state_->m;
  std::vector<std::string> names;
  for (const auto& entry : m.global.names()) names.push_back(entry.first);
  std::ranges::sort(names);
  for (std::string& name : base_names(m)) {
    if (m.global.find_here(name) == nullptr) names.push_back(std::move(name));
  }
  return names;
}

std::optional<Span> Session::definition(std::string_view name) {
  Machine& m = state_->m;
  if (!lookup(name)) return std::nullopt;
  const Binding* binding = m.global.find_here(name);
  if (binding == nullptr) binding = m.base.find_here(name);
  if (binding == nullptr || !binding->span.valid()) return std::nullopt;
  return binding->span;
}

bool Session::is_user_defined(std::string_view name) const {
  return state_->m.global.find_here(name) != nullptr;
}

void Session::reset() {
  SourceMap& sources = state_->m.sources;
  Options options = std::move(state_->m.options);
  state_ = std::make_unique<State>(sources, std::move(options));
}

const graph::Graph& Session::graph() const { return state_->m.graph; }

const std::vector<KnownPuzzle>& Session::puzzles() const { return state_->m.puzzles; }

Result<Value> Session::evaluate(const KnownPuzzle& puzzle, syntax::ExprId side) {
  Machine& m = state_->m;
  begin_run(m, false);
  begin_statement(m);
  const syntax::Name& name = puzzle.puzzle.name;
  const Span& span = (*puzzle.program)[side].span;
  auto scope = std::make_unique<Scope>(puzzle.scope);
  if (const Binding* solution = m.global.find_here(name.text)) {
    scope->bind(name.text, *solution);
  } else if (side != puzzle.puzzle.vocabulary) {
    return fail(ErrorKind::kName, name.span,
                "there is no solution: nothing defines " + in_quotes(name.text));
  }
  const std::filesystem::path nowhere;
  const Context context{.program = &puzzle.program, .scope = scope.get(), .directory = &nowhere};
  auto value = guarded(span, [&] { return lang::evaluate(m, context, side); });
  if (scope->captured) m.kept.push_back(std::move(scope));
  return value;
}

std::vector<Session::Named> Session::named_nodes() const {
  const Machine& m = state_->m;
  std::vector<Named> result;
  std::unordered_set<graph::NodeId> seen;
  for (const Scope* scope : {&m.global, &m.base}) {
    std::vector<Named> named = nodes_of(*scope);
    for (auto at = named.rbegin(); at != named.rend(); ++at) {  // the latest name counts
      if (seen.insert(at->node).second) result.push_back(std::move(*at));
    }
  }
  return result;
}

}  // namespace rasp::lang
