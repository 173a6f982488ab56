// Functions: closures over the scope that `def` ran in, and the five builtins.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/source.h"
#include "syntax/ast.h"

namespace rasp::lang {

class Scope;

enum class Builtin : std::uint8_t { kNone, kRound, kIndicator, kRange, kLen, kZip };

struct Function {
  std::string name;
  std::vector<std::string> parameters;
  Builtin builtin = Builtin::kNone;
  bool library = false;                                  // its errors are told at the call
  Span span;                                             // the whole `def`
  std::shared_ptr<const syntax::Program> program;        // owns `body`
  const std::vector<syntax::Statement>* body = nullptr;  // null for builtins
  Scope* closure = nullptr;                              // owned by the session
};

}  // namespace rasp::lang
