#include "lang/limits.h"

#include <string>

namespace rasp::lang {

namespace {

// The address of a local would not do: AddressSanitizer may keep locals on the heap.
[[nodiscard]] inline std::uintptr_t frame() {
  return reinterpret_cast<std::uintptr_t>(__builtin_frame_address(0));
}

}  // namespace

void Meter::start(std::size_t steps, const std::atomic<bool>* interrupted) {
  left_ = steps_ = steps;
  interrupted_ = interrupted;
  stack_base_ = frame();
  call_depth = 0;
  load_depth = 0;
}

Result<void> Meter::charge(std::size_t steps, const Span& span) {
  if (!pay(steps)) return fail(refusal(span));
  return {};
}

Diagnostic Meter::refusal(const Span& span) const {
  if (interrupted_ != nullptr && interrupted_->load(std::memory_order_relaxed)) {
    return error(ErrorKind::kLimit, span, "interrupted here");
  }
  return error(ErrorKind::kLimit, span,
               "this takes more than " + std::to_string(steps_) +
                   " steps of work, the most that one run may take",
               "is there a recursion or a loop that grows without end?");
}

bool Meter::has_stack() const {
  const std::uintptr_t here = frame();
  const std::uintptr_t used = here < stack_base_ ? stack_base_ - here : here - stack_base_;
  return used < kStackBudget;
}

Diagnostic Meter::too_deep(const Span& span) {
  return error(ErrorKind::kLimit, span, "calls and expressions are nested too deeply here",
               "does a recursion lack the case that ends it?");
}

}  // namespace rasp::lang
