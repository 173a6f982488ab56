// Ctrl-C while a program runs. A signal handler can only reach state that has static storage: this
// is the one flag.
#pragma once

#include <atomic>

namespace rasp::cli {

// From now on Ctrl-C sets the flag; a second one, before the flag was cleared, ends the process.
[[nodiscard]] std::atomic<bool>& catch_interrupts();

}  // namespace rasp::cli
