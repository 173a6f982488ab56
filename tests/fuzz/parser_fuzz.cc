// Source text that may hold anything: it parses or is an error at a place inside it, and what
// parses prints to a text that parses to the same.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "syntax/parser.h"
#include "syntax/print.h"

namespace {

using namespace rasp;

void require(bool holds) {
  if (!holds) std::abort();
}

bool is_inside(const Span& inner, const Span& outer) {
  return inner.file == outer.file && outer.begin <= inner.begin && inner.begin <= inner.end &&
         inner.end <= outer.end;
}

std::string printed(const syntax::Program& program) {
  std::string out;
  for (const syntax::Statement& statement : program.statements) {
    out += syntax::to_text(program, statement) + '\n';
  }
  return out;
}

void check_places(const syntax::Parsed& parsed, const Span& whole) {
  for (const syntax::Expr& expr : parsed.program.exprs) {
    if (!expr.span.valid()) continue;  // a part that is in error
    require(is_inside(expr.span, whole));
    for (const syntax::ExprId child : expr.children) {
      const Span& span = parsed.program[child].span;
      require(!span.valid() || is_inside(span, expr.span));
    }
  }
  for (const Diagnostic& diagnostic : parsed.diagnostics) {
    require(is_inside(diagnostic.span, whole) && !diagnostic.message.empty());
  }
}

void check(const std::string& text, bool commands) {
  SourceMap sources;
  const FileId file = sources.add("fuzz", text);
  const syntax::ParseOptions options{.commands = commands};
  const syntax::Parsed parsed = syntax::parse(sources, file, options);
  check_places(parsed, {file, 0, static_cast<std::uint32_t>(text.size())});
  for (const Diagnostic& diagnostic : parsed.diagnostics) (void)format(diagnostic, sources);
  (void)syntax::is_complete(text, options);

  const auto& statements = parsed.program.statements;
  const bool plain = std::none_of(statements.begin(), statements.end(), [](const auto& statement) {
    return statement.kind == syntax::StatementKind::kCommand;
  });
  if (commands || !plain) return;
  if (parsed.ok()) require(syntax::is_complete(text, options));
  const std::string once = printed(parsed.program);
  const FileId again = sources.add("again", once);
  const syntax::Parsed reparsed = syntax::parse(sources, again, options);
  require(reparsed.ok() && printed(reparsed.program) == once);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  check(text, false);
  check(text, true);
  return 0;
}
