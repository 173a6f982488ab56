// `load`: finding a file, reading it, running it in a scope of its own, and handing its public
// names on.
#include <algorithm>
#include <fstream>
#include <string>
#include <system_error>

#include "lang/machine.h"
#include "syntax/parser.h"

namespace rasp::lang {

namespace {

namespace fs = std::filesystem;

constexpr std::size_t kMaxPath = 4096;

struct Found {
  fs::path path;
  std::string name;  // as messages show it
  const std::string_view* library = nullptr;
};

[[nodiscard]] Result<std::string> read_file(const fs::path& path, const std::string& name,
                                            const Span& span) {
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (!fs::exists(status)) {
    return fail(ErrorKind::kLoad, span, "there is no file " + in_quotes(name));
  }
  if (fs::is_directory(status)) {
    return fail(ErrorKind::kLoad, span, in_quotes(name) + " is a directory, not a file");
  }
  if (!fs::is_regular_file(status)) {
    return fail(ErrorKind::kLoad, span, in_quotes(name) + " is not a regular file");
  }
  std::ifstream file(path, std::ios::binary);
  std::string text(syntax::kMaxSourceBytes + 1, '\0');
  if (file) file.read(text.data(), static_cast<std::streamsize>(text.size()));
  if (file.bad() || (!file.eof() && file.fail())) {
    return fail(ErrorKind::kLoad, span, in_quotes(name) + " cannot be read");
  }
  text.resize(static_cast<std::size_t>(file.gcount()));
  if (text.size() > syntax::kMaxSourceBytes) {
    return fail(ErrorKind::kLoad, span,
                in_quotes(name) + " is larger than " + std::to_string(syntax::kMaxSourceBytes) +
                    " bytes, the most that a source file may have");
  }
  return text;
}

[[nodiscard]] fs::path canonical_path(const fs::path& path) {
  std::error_code code;
  fs::path result = fs::weakly_canonical(path, code);
  return code ? path : result;
}

// The tree of a file, read and parsed once a run.
[[nodiscard]] Result<ProgramRef> program_of(Machine& m, const fs::path& path,
                                            const std::string& name, const Span& span) {
  const std::string key = canonical_path(path).string();
  if (const auto known = m.parsed.find(key); known != m.parsed.end()) return known->second;
  RASP_TRY(std::string text, read_file(path, name, span));
  RASP_CHECK_OK(m.meter.charge(text.size() / 16, span));
  const FileId file = m.sources.add(name, std::move(text));
  syntax::Parsed parsed = syntax::parse(m.sources, file);
  const bool ok = parsed.ok();
  std::ranges::move(parsed.diagnostics, std::back_inserter(m.remarks));
  if (!ok) {
    return fail(ErrorKind::kLoad, span,
                in_quotes(name) + " is not loaded, since it has syntax errors");
  }
  auto program = std::make_shared<const syntax::Program>(std::move(parsed.program));
  m.parsed.emplace(key, program);
  return program;
}

[[nodiscard]] Result<void> check_cycle(const Machine& m, const fs::path& path, const Span& span) {
  const auto start = std::ranges::find(m.loading, path);
  if (start != m.loading.end()) {
    std::string cycle;
    for (auto at = start; at != m.loading.end(); ++at) cycle += at->filename().string() + " -> ";
    return fail(ErrorKind::kLoad, span,
                "this file loads itself: " + cycle + path.filename().string());
  }
  if (m.loading.size() >= kMaxLoadDepth) {
    return fail(ErrorKind::kLimit, span,
                "files load files more than " + std::to_string(kMaxLoadDepth) + " deep here");
  }
  return {};
}

// Runs the statements of a loaded file; in a check, what depends on an input is passed over.
[[nodiscard]] Result<void> run_file(Machine& m, Context& c, const syntax::Program& program) {
  for (const syntax::Statement& statement : program.statements) {
    auto flow = run_statement(m, c, statement);
    if (flow) continue;
    if (!m.checking || !is_unknown(flow.error())) return fail(std::move(flow.error()));
    mark_unknown(m, *c.scope, statement);
  }
  return {};
}

// The public names of a file's scope, in the order in which they were bound.
void hand_on(Machine& m, const Scope& from, Scope& to) {
  std::vector<const Names::value_type*> entries;
  for (const auto& entry : from.names()) {
    if (!is_private(entry.first)) entries.push_back(&entry);
  }
  std::ranges::sort(entries, {}, [](const auto* entry) { return entry->second.serial; });
  for (const auto* entry : entries) assign(m, to, entry->first, entry->second);
}

// What asks must not change with who answers: a file of puzzles does not see its loader's names.
[[nodiscard]] bool asks(const syntax::Program& program) {
  return std::ranges::any_of(program.statements, [](const syntax::Statement& s) {
    return s.kind == syntax::StatementKind::kPuzzle;
  });
}

[[nodiscard]] Result<void> run_loaded(Machine& m, Scope& into, const ProgramRef& program,
                                      const fs::path& directory, const std::string& name,
                                      const Span& span) {
  if (!m.meter.has_stack()) return fail(Meter::too_deep(span));
  auto scope = std::make_unique<Scope>(asks(*program) ? &m.base : &into, true);
  Context context{.program = &program, .scope = scope.get(), .directory = &directory};
  if (auto done = run_file(m, context, *program); !done) {
    if (span.valid()) m.trail.push_back(note(span, "while loading " + in_quotes(name) + " here"));
    return done;
  }
  RASP_CHECK_OK(m.meter.charge(10 * scope->names().size() + 10, span));
  hand_on(m, *scope, into);
  if (scope->captured) {
    into.captured = true;  // the closures of the file see what is around it
    m.kept.push_back(std::move(scope));
  }
  return {};
}

[[nodiscard]] Result<void> load_found(Machine& m, Scope& into, const fs::path& path,
                                      const std::string& name, const Span& span) {
  const fs::path place = canonical_path(path);
  RASP_CHECK_OK(check_cycle(m, place, span));
  RASP_TRY(const ProgramRef program, program_of(m, path, name, span));
  m.loading.push_back(place);
  auto done = run_loaded(m, into, program, path.parent_path(), name, span);
  m.loading.pop_back();
  return done;
}

[[nodiscard]] bool file_exists(const fs::path& path) {
  std::error_code code;
  return fs::exists(path, code);
}

[[nodiscard]] Result<ProgramRef> program_of_module(Machine& m, const std::string& name,
                                                   std::string_view text, const Span& span) {
  if (const auto known = m.parsed.find(name); known != m.parsed.end()) return known->second;
  RASP_CHECK_OK(m.meter.charge(text.size() / 16, span));
  syntax::Parsed parsed = syntax::parse(m.sources, m.sources.add(name, std::string(text)));
  if (!parsed.ok()) return tl::make_unexpected(parsed.diagnostics.front());
  auto program = std::make_shared<const syntax::Program>(std::move(parsed.program));
  m.parsed.emplace(name, program);
  return program;
}

// Runs a module of the library beside the user's names, not among them: what the user calls
// `tokens` does not reach it.
[[nodiscard]] Result<void> load_module(Machine& m, Scope& into, std::string_view module,
                                       std::string_view text, const Span& span) {
  if (is_core(module)) return {};  // its names are there
  const std::string name = "stdlib/" + std::string(module) + ".rasp";
  RASP_CHECK_OK(check_cycle(m, name, span));
  RASP_TRY(const ProgramRef program, program_of_module(m, name, text, span));
  if (!m.meter.has_stack()) return fail(Meter::too_deep(span));
  auto scope = std::make_unique<Scope>(&m.base, true);
  const fs::path nowhere;
  Context context{.program = &program, .scope = scope.get(), .directory = &nowhere};
  context.library = true;
  m.loading.emplace_back(name);
  auto done = run_file(m, context, *program);
  m.loading.pop_back();
  RASP_CHECK_OK(std::move(done));
  RASP_CHECK_OK(m.meter.charge(10 * scope->names().size() + 10, span));
  hand_on(m, *scope, into);
  if (scope->captured) m.kept.push_back(std::move(scope));
  return {};
}

[[nodiscard]] Diagnostic not_found(const std::vector<fs::path>& tried, const std::string& path,
                                   const Span& span) {
  std::error_code code;
  for (const fs::path& candidate : tried) {
    fs::path bare = candidate;
    bare.replace_extension();
    if (fs::is_directory(bare, code)) {
      return error(ErrorKind::kLoad, span,
                   in_quotes(bare.string()) + " is a directory, and there is no file " +
                       in_quotes(path + ".rasp") + " to load");
    }
  }
  std::string list;
  std::vector<std::string> modules;
  for (const std::string_view module : library_modules()) {
    if (module.find('/') != std::string_view::npos) continue;  // puzzle packs are not for loading
    modules.emplace_back(module);
    list += (list.empty() ? "" : ", ") + modules.back();
  }
  const std::string meant = closest(path, modules);
  return error(ErrorKind::kLoad, span, "there is no file " + in_quotes(path + ".rasp") + " to load",
               (meant.empty() ? "" : "did you mean " + in_quotes(meant) + "? ") +
                   "looked beside the loading file, in the working directory, and among the "
                   "library's modules (" +
                   list + ")");
}

}  // namespace

fs::path directory_of(const Machine& m, FileId file) {
  const std::string& name = m.sources.name(file);
  return name.starts_with('<') ? m.options.working_directory : fs::path(name).parent_path();
}

void enter_file(Machine& m, FileId file) {
  m.loading.clear();
  const fs::path path(m.sources.name(file));
  if (file_exists(path)) m.loading.push_back(canonical_path(path));
}

Result<void> load(Machine& m, const Context& c, std::string_view path, const Span& span) {
  if (path.empty() || path.size() > kMaxPath || path.find('\0') != std::string_view::npos) {
    return fail(ErrorKind::kLoad, span, "this is not the name of a file");
  }
  const std::string text(path);
  const std::optional<std::string_view> module = library_text(path);
  // The library loads itself alone, whatever lies in the working directory.
  if (c.library && module) return load_module(m, *c.scope, path, *module, span);
  std::vector<fs::path> tried;
  for (const fs::path& directory : {*c.directory, m.options.working_directory}) {
    fs::path candidate = directory / (text.ends_with(".rasp") ? text : text + ".rasp");
    if (file_exists(candidate)) {
      const std::string name = candidate.lexically_normal().string();
      return load_found(m, *c.scope, candidate, name, span);
    }
    tried.push_back(std::move(candidate));
  }
  if (module) return load_module(m, *c.scope, path, *module, span);
  return fail(not_found(tried, text, span));
}

Result<void> load_file(Machine& m, Scope& into, const fs::path& path, const Span& span) {
  fs::path found = path;
  std::error_code code;
  if (!fs::is_regular_file(found, code)) {
    fs::path longer = path;
    longer += ".rasp";
    if (file_exists(longer)) found = longer;
  }
  return load_found(m, into, found, found.lexically_normal().string(), span);
}

void mark_unknown(Machine& m, Scope& scope, const syntax::Statement& s) {
  using syntax::StatementKind;
  const bool binds = s.kind == StatementKind::kAssign || s.kind == StatementKind::kFor;
  if (!binds && s.kind != StatementKind::kDef) return;
  const std::size_t count = s.kind == StatementKind::kDef ? 1 : s.names.size();
  for (std::size_t i = 0; i < count; ++i) {
    if (!is_base_name(m, s.names[i].text) || s.names[i].text == "tokens") {
      assign(m, scope, s.names[i].text, Binding{{}, s.span, 0, true});
    }
  }
  if (s.kind == StatementKind::kFor) {
    for (const syntax::Statement& inner : s.body) mark_unknown(m, scope, inner);
  }
}

}  // namespace rasp::lang
