// When long work ends early: at Ctrl-C, or when its time is up.
#pragma once

#include <atomic>
#include <chrono>

namespace rasp {

struct Halt {
  using Clock = std::chrono::steady_clock;

  const std::atomic<bool>* interrupted = nullptr;
  Clock::time_point deadline = Clock::time_point::max();

  [[nodiscard]] bool is_interrupted() const {
    return interrupted != nullptr && interrupted->load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool is_late() const {
    return deadline != Clock::time_point::max() && Clock::now() >= deadline;
  }
  [[nodiscard]] bool is_due() const { return is_interrupted() || is_late(); }
};

}  // namespace rasp
