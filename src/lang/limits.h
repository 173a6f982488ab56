// The budget of one run: work, memory (paid as work when it is taken) and C++ stack. Whatever a
// program does, it ends within it.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/result.h"

namespace rasp::lang {

inline constexpr std::size_t kMaxCallDepth = 1000;
inline constexpr std::size_t kStackBudget = std::size_t{4} << 20;  // of the 8 MiB of a main thread
inline constexpr std::size_t kMaxLoadDepth = 100;
inline constexpr std::size_t kMaxVocabulary = 1000;  // tokens that a puzzle is about

class Meter {
 public:
  // Starts a run: the stack is measured from the caller's frame.
  void start(std::size_t steps, const std::atomic<bool>* interrupted);

  // Pays; false when the budget is spent or the user asked to stop. One step is about 50 ns of work
  // or 16 bytes of memory.
  [[nodiscard]] bool pay(std::size_t steps = 1) {
    if (steps > left_) {
      left_ = 0;
      return false;
    }
    left_ -= steps;
    return interrupted_ == nullptr || !interrupted_->load(std::memory_order_relaxed);
  }
  [[nodiscard]] Result<void> charge(std::size_t steps, const Span& span);
  // Why `pay` refused.
  [[nodiscard]] Diagnostic refusal(const Span& span) const;

  // False when the C++ stack is nearly used up.
  [[nodiscard]] bool has_stack() const;
  [[nodiscard]] static Diagnostic too_deep(const Span& span);

  std::size_t call_depth = 0;
  std::size_t load_depth = 0;

 private:
  std::size_t left_ = 0;
  std::size_t steps_ = 0;
  const std::atomic<bool>* interrupted_ = nullptr;
  std::uintptr_t stack_base_ = 0;
};

}  // namespace rasp::lang
