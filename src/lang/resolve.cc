// Names that nothing defines, found without running: what the parts of a text that did not run
// refer to.
#include <algorithm>
#include <deque>
#include <string_view>
#include <unordered_set>

#include "lang/machine.h"

namespace rasp::lang {

namespace {

using syntax::Expr;
using syntax::ExprId;
using syntax::ExprKind;
using syntax::Statement;
using syntax::StatementKind;

// The names of a function, a comprehension, or a puzzle, and those around it.
struct Around {
  std::unordered_set<std::string_view> names;
  bool open = false;  // it loads a file: any name may be in it
  const Around* parent = nullptr;

  [[nodiscard]] bool knows(std::string_view name) const {
    for (const Around* at = this; at != nullptr; at = at->parent) {
      if (at->open || at->names.contains(name)) return true;
    }
    return false;
  }
};

// Names that statements bind in the scope they run in.
void collect(const std::vector<Statement>& body, Around& into) {
  for (const Statement& s : body) {
    if (s.kind == StatementKind::kDef) {
      into.names.insert(s.names[0].text);
    } else {
      for (const syntax::Name& name : s.names) into.names.insert(name.text);
    }
    if (s.kind == StatementKind::kFor) collect(s.body, into);
    if (s.kind == StatementKind::kLoad) into.open = true;
  }
}

class Resolver {
 public:
  Resolver(const Machine& m, const Scope& scope, const syntax::Program& program)
      : m_(m), scope_(scope), program_(program) {}

  // As deep as the text is nested, which the parser bounds.
  void statement(const Statement& s, const Around* around) {
    for (const ExprId id : s.exprs) expression(id, around);
    if (s.kind == StatementKind::kDef) {
      Around& inner = add(around);
      for (std::size_t i = 1; i < s.names.size(); ++i) inner.names.insert(s.names[i].text);
      collect(s.body, inner);
      for (const Statement& part : s.body) statement(part, &inner);
    } else {
      for (const Statement& part : s.body) statement(part, around);
    }
    for (const syntax::Puzzle& puzzle : s.puzzle) check(puzzle, around);
  }

  std::vector<Diagnostic> found;

 private:
  Around& add(const Around* parent) {
    Around& inner = frames_.emplace_back();
    inner.parent = parent;
    return inner;
  }

  void check(const syntax::Puzzle& puzzle, const Around* around) {
    Around& inner = add(around);
    inner.names.insert(puzzle.name.text);
    for (const syntax::Name& name : puzzle.parameters) inner.names.insert(name.text);
    if (puzzle.vocabulary != syntax::kNoExpr) expression(puzzle.vocabulary, around);
    for (const auto* checks : {&puzzle.expects, &puzzle.specs}) {
      for (const auto& pair : *checks) {
        expression(pair.left, &inner);
        expression(pair.right, &inner);
      }
    }
  }

  void expression(ExprId root, const Around* around) {
    std::vector<std::pair<ExprId, const Around*>> todo = {{root, around}};
    while (!todo.empty()) {
      const auto [id, outside] = todo.back();
      todo.pop_back();
      const Expr& e = program_[id];
      if (e.kind == ExprKind::kName) name(e, outside);
      const bool loop = e.kind == ExprKind::kListComp || e.kind == ExprKind::kDictComp;
      const Around* inside = outside;
      if (loop) {
        Around& inner = add(outside);
        inner.names.insert(e.names.begin(), e.names.end());
        inside = &inner;
      }
      for (std::size_t i = e.children.size(); i-- > 0;) {  // the last child is the iterable
        todo.emplace_back(e.children[i], loop && i + 1 == e.children.size() ? outside : inside);
      }
    }
  }

  void name(const Expr& e, const Around* around) {
    if (around != nullptr && around->knows(e.text)) return;
    if (scope_.find(e.text) != nullptr || is_base_name(m_, e.text)) return;
    found.push_back(unknown_name(m_, scope_, e.text, e.span));
  }

  const Machine& m_;
  const Scope& scope_;
  const syntax::Program& program_;
  std::deque<Around> frames_;
};

}  // namespace

std::vector<Diagnostic> unresolved_names(const Machine& m, const Scope& scope,
                                         const syntax::Program& program,
                                         const Statement& statement) {
  Resolver resolver(m, scope, program);
  resolver.statement(statement, nullptr);
  std::ranges::stable_sort(resolver.found, {}, [](const Diagnostic& d) { return d.span.begin; });
  return std::move(resolver.found);
}

}  // namespace rasp::lang
