// What a backend that keeps no keys and values says.
#include "runtime/backend.h"

namespace rasp::runtime {

Result<std::unique_ptr<Generation>> Executable::start() const {
  return fail(ErrorKind::kInput, {},
              "this model cannot run position by position: it is not causal, or its backend runs "
              "whole sequences only",
              "compile with --causal, and run on the CPU");
}

}  // namespace rasp::runtime
