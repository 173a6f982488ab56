// How a compilation ends early: passes look at the caller's Halt once a node, a layer, or whatever
// else can take them milliseconds.
#pragma once

#include "base/halt.h"

namespace rasp::compiler {

struct Halted {};  // thrown; `compile` catches it

inline void heed(const Halt& halt) {
  if (halt.is_due()) throw Halted{};
}

}  // namespace rasp::compiler
