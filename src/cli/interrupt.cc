#include "cli/interrupt.h"

#include <unistd.h>

#include <csignal>

#include "cli/output.h"

namespace rasp::cli {
namespace {

std::atomic<bool> interrupted{false};
static_assert(std::atomic<bool>::is_always_lock_free);

void on_interrupt(int) {
  if (interrupted.exchange(true)) _exit(kInterrupted);
}

}  // namespace

std::atomic<bool>& catch_interrupts() {
  struct sigaction action = {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  sigaction(SIGINT, &action, nullptr);
  return interrupted;
}

}  // namespace rasp::cli
