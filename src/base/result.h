// Results of what a user's input can make fail. Our own bugs are `assert`s; exceptions never cross
// a room's border.
#pragma once

#include <tl/expected.hpp>
#include <utility>

#include "base/diagnostic.h"

namespace rasp {

template <typename T>
using Result = tl::expected<T, Diagnostic>;

[[nodiscard]] inline tl::unexpected<Diagnostic> fail(Diagnostic diagnostic) {
  return tl::unexpected<Diagnostic>(std::move(diagnostic));
}

[[nodiscard]] inline tl::unexpected<Diagnostic> fail(ErrorKind kind, const Span& span,
                                                     std::string message, std::string hint = {}) {
  return tl::unexpected<Diagnostic>(error(kind, span, std::move(message), std::move(hint)));
}

}  // namespace rasp

// Evaluates `expression` (a Result); on failure returns its diagnostic from the calling function,
// else binds `declaration` to the value.
#define RASP_CONCAT_INNER(a, b) a##b
#define RASP_CONCAT(a, b) RASP_CONCAT_INNER(a, b)
#define RASP_TRY_IMPL(temporary, declaration, expression)                   \
  auto temporary = (expression);                                            \
  if (!temporary) return tl::make_unexpected(std::move(temporary).error()); \
  declaration = std::move(*temporary)
#define RASP_TRY(declaration, expression) \
  RASP_TRY_IMPL(RASP_CONCAT(rasp_result_, __LINE__), declaration, expression)
#define RASP_CHECK_OK(expression)                                 \
  do {                                                            \
    if (auto rasp_status = (expression); !rasp_status)            \
      return tl::make_unexpected(std::move(rasp_status).error()); \
  } while (false)
