#include <algorithm>
#include <array>
#include <cassert>

#include "lang/machine.h"
#include "syntax/parser.h"

namespace rasp::lang {

namespace {

using value::TokenKind;

constexpr std::array kTokenKinds = {TokenKind::kAsIs, TokenKind::kString, TokenKind::kInt,
                                    TokenKind::kFloat, TokenKind::kBool};

struct BuiltinName {
  std::string_view name;
  Builtin builtin;
  std::array<std::string_view, 3> parameters;  // as `help` and errors show them
  std::size_t count;
};
constexpr std::array<BuiltinName, 5> kBuiltins = {{
    {"round", Builtin::kRound, {"x"}, 1},
    {"indicator", Builtin::kIndicator, {"x"}, 1},
    {"range", Builtin::kRange, {"start", "stop", "step"}, 3},
    {"len", Builtin::kLen, {"list"}, 1},
    {"zip", Builtin::kZip, {"list1", "list2"}, 2},
}};

[[nodiscard]] const BuiltinName* find_builtin(std::string_view name) {
  for (const BuiltinName& builtin : kBuiltins) {
    if (builtin.name == name) return &builtin;
  }
  return nullptr;
}

[[nodiscard]] Value builtin_value(const BuiltinName& builtin) {
  auto function = std::make_shared<Function>();
  function->name = builtin.name;
  function->builtin = builtin.builtin;
  function->library = true;
  for (std::size_t i = 0; i < builtin.count; ++i) {
    function->parameters.emplace_back(builtin.parameters[i]);
  }
  return Value{FunctionRef(std::move(function))};
}

// What the name means before anything is defined; nullopt for names that are not built in.
[[nodiscard]] Result<std::optional<Value>> built_in(Machine& m, std::string_view name) {
  if (name == "True") return Value{value::Atom(true)};
  if (name == "False") return Value{value::Atom(false)};
  if (name == "indices") {
    RASP_TRY(const graph::NodeId node, m.graph.indices({}));
    return Value{SOp{node}};
  }
  for (const TokenKind kind : kTokenKinds) {
    if (name == value::name_of(kind) || (name == "tokens" && kind == TokenKind::kString)) {
      RASP_TRY(const graph::NodeId node, m.graph.tokens(kind, {}));
      return Value{SOp{node}};
    }
  }
  if (const BuiltinName* builtin = find_builtin(name)) return builtin_value(*builtin);
  return std::nullopt;
}

[[nodiscard]] bool is_built_in(std::string_view name) {
  const auto is_tokens = [&](TokenKind kind) { return name == value::name_of(kind); };
  return name == "True" || name == "False" || name == "indices" || name == "out" ||
         find_builtin(name) != nullptr || std::ranges::any_of(kTokenKinds, is_tokens);
}

// The library is our own text: that it runs is what its tests show, so a failure here can only be
// a limit.
[[nodiscard]] Result<void> load_module(Machine& m, const LibraryModule& module) {
  const FileId file =
      m.sources.add("stdlib/" + std::string(module.name) + ".rasp", std::string(module.text));
  syntax::Parsed parsed = syntax::parse(m.sources, file);
  if (!parsed.ok()) return tl::make_unexpected(parsed.diagnostics.front());
  const auto program = std::make_shared<const syntax::Program>(std::move(parsed.program));
  auto scope = std::make_unique<Scope>(&m.base, true);
  const std::filesystem::path nowhere;
  Context context{.program = &program, .scope = scope.get(), .directory = &nowhere};
  context.library = true;
  RASP_CHECK_OK(run_block(m, context, program->statements));
  for (const auto& [name, binding] : scope->names()) {
    if (!is_private(name)) m.base.bind(name, binding);
  }
  m.library_scopes.push_back(std::move(scope));
  m.modules.emplace(&module, file);
  return {};
}

void add_names(const Scope& scope, std::vector<std::string>& names) {
  for (const auto& entry : scope.names()) names.push_back(entry.first);
}

// A puzzle frees its name: whoever solves it defines what the library may have already.
[[nodiscard]] bool is_asked_for(const Machine& m, std::string_view name) {
  const auto asks = [&](const KnownPuzzle& known) { return known.puzzle.name.text == name; };
  return std::ranges::any_of(m.puzzles, asks);
}

}  // namespace

Result<const Binding*> find_base(Machine& m, std::string_view name) {
  if (const Binding* found = m.base.find_here(name)) return found;
  RASP_TRY(std::optional<Value> value, built_in(m, name));
  if (value) {
    m.base.bind(name, Binding{*std::move(value), {}, ++m.serial, false});
    return m.base.find_here(name);
  }
  if (const auto module = m.index.find(std::string(name)); module != m.index.end()) {
    RASP_CHECK_OK(load_module(m, *module->second));
    return m.base.find_here(name);
  }
  return nullptr;
}

Result<Value> look_up(Machine& m, const Context& c, std::string_view name, const Span& span) {
  const Binding* binding = c.scope->find(name);
  if (binding == nullptr && name == "out" && m.last) return *m.last;
  if (binding == nullptr) {
    RASP_TRY(binding, find_base(m, name));
  }
  if (binding == nullptr) return fail(unknown_name(m, *c.scope, name, c.place(span)));
  if (binding->unknown) return fail(unknown_value(span));
  return binding->value;
}

std::vector<std::string> base_names(const Machine& m) {
  std::vector<std::string> names = {"True", "False", "indices", "tokens", "out"};
  for (const TokenKind kind : kTokenKinds) names.emplace_back(value::name_of(kind));
  for (const BuiltinName& builtin : kBuiltins) names.emplace_back(builtin.name);
  for (const auto& entry : m.index) names.push_back(entry.first);
  std::ranges::sort(names);
  return names;
}

bool is_base_name(const Machine& m, std::string_view name) {
  return is_built_in(name) || name == "tokens" || m.index.contains(std::string(name));
}

Diagnostic unknown_name(const Machine& m, const Scope& scope, std::string_view name,
                        const Span& span) {
  if (name == "out") {
    return error(ErrorKind::kName, span, "'out' is the last value, and there is none yet");
  }
  std::vector<std::string> known;
  for (const Scope* at = &scope; at != nullptr && at != &m.base; at = at->parent()) {
    add_names(*at, known);
  }
  std::ranges::sort(known);
  const std::vector<std::string> base = base_names(m);
  known.insert(known.end(), base.begin(), base.end());
  const std::string meant = closest(name, known);
  return error(ErrorKind::kName, span, "unknown name " + in_quotes(name),
               meant.empty() ? "" : "did you mean " + in_quotes(meant) + "?");
}

Result<void> check_assignable(const Machine& m, std::string_view name, const Span& span,
                              bool shadows_library) {
  const std::string hint = "choose another name, such as " + in_quotes("my_" + std::string(name));
  if (is_built_in(name)) {
    return fail(ErrorKind::kName, span, in_quotes(name) + " is built in and cannot be assigned",
                hint);
  }
  if (!shadows_library && !is_asked_for(m, name) && m.index.contains(std::string(name))) {
    return fail(ErrorKind::kName, span,
                in_quotes(name) + " belongs to the standard library and cannot be assigned", hint);
  }
  return {};
}

void assign(Machine& m, Scope& scope, std::string_view name, Binding binding) {
  if (&scope == &m.global && !m.journal.replaced.contains(std::string(name))) {
    const Binding* old = scope.find_here(name);
    m.journal.replaced.emplace(name, old == nullptr ? std::nullopt : std::optional(*old));
  }
  binding.serial = ++m.serial;
  scope.bind(name, std::move(binding));
}

Diagnostic unknown_value(const Span& span) {
  return note(span, "the value depends on an input, and a check applies nothing to an input");
}

bool is_unknown(const Diagnostic& diagnostic) { return diagnostic.level == Level::kNote; }

}  // namespace rasp::lang
