// Operators on plain words: what value/operators.cc means, for ints of 64 bits and bools. Whatever
// is irregular (overflow, a zero divisor, results of other types) is left to the general path.
#include "interpreter/run.h"

namespace rasp::interpreter {
namespace {

using value::Op;
using Form = Column::Form;

// Applies `f(x, y, result)` to every pair; `f` says whether there is no lane to hold the result.
template <typename F>
bool each_pair(const Column& a, const Column& b, std::size_t n, Column& out, F f) {
  const std::int64_t* x = a.lanes.data();
  const std::int64_t* y = b.lanes.data();
  std::int64_t* result = out.lanes.data();
  bool irregular = false;
  const auto loop = [&](auto x_step, auto y_step) {
    for (std::size_t i = 0; i < n; ++i) {
      irregular |= f(x[i * x_step()], y[i * y_step()], result[i]);
    }
  };
  constexpr std::integral_constant<std::size_t, 0> kSame;
  constexpr std::integral_constant<std::size_t, 1> kNext;
  if (a.step == 0) {
    b.step == 0 ? loop(kSame, kSame) : loop(kSame, kNext);
  } else {
    b.step == 0 ? loop(kNext, kSame) : loop(kNext, kNext);
  }
  return !irregular;
}

template <typename F>
bool each_total(const Column& a, const Column& b, std::size_t n, Column& out, F f) {
  return each_pair(a, b, n, out, [&](std::int64_t x, std::int64_t y, std::int64_t& result) {
    result = f(x, y);
    return false;
  });
}

// The sign of the divisor, as `%` has it. INT64_MIN % -1 would trap; the answer is 0.
bool floor_modulo(std::int64_t x, std::int64_t y, std::int64_t& result) {
  if (y == 0) return true;
  const std::int64_t remainder = y == -1 ? 0 : x % y;
  result = remainder != 0 && (remainder < 0) != (y < 0) ? remainder + y : remainder;
  return false;
}

bool arithmetic(Op op, const Column& a, const Column& b, std::size_t n, Column& out) {
  using Word = std::int64_t;
  switch (op) {
    case Op::kAdd:
      return each_pair(a, b, n, out, [](Word x, Word y, Word& result) {
        return __builtin_add_overflow(x, y, &result);
      });
    case Op::kSub:
      return each_pair(a, b, n, out, [](Word x, Word y, Word& result) {
        return __builtin_sub_overflow(x, y, &result);
      });
    case Op::kMul:
      return each_pair(a, b, n, out, [](Word x, Word y, Word& result) {
        return __builtin_mul_overflow(x, y, &result);
      });
    case Op::kMod:
      return each_pair(a, b, n, out, floor_modulo);
    default:
      return false;
  }
}

bool truths(Op op, const Column& a, const Column& b, std::size_t n, Column& out) {
  using Word = std::int64_t;
  switch (op) {
    case Op::kEq:
      return each_total(a, b, n, out, [](Word x, Word y) { return x == y; });
    case Op::kNe:
      return each_total(a, b, n, out, [](Word x, Word y) { return x != y; });
    case Op::kLt:
      return each_total(a, b, n, out, [](Word x, Word y) { return x < y; });
    case Op::kGt:
      return each_total(a, b, n, out, [](Word x, Word y) { return x > y; });
    case Op::kLe:
      return each_total(a, b, n, out, [](Word x, Word y) { return x <= y; });
    case Op::kGe:
      return each_total(a, b, n, out, [](Word x, Word y) { return x >= y; });
    case Op::kAnd:
      return each_total(a, b, n, out, [](Word x, Word y) { return (x != 0) & (y != 0); });
    case Op::kOr:
      return each_total(a, b, n, out, [](Word x, Word y) { return (x != 0) | (y != 0); });
    default:
      return false;
  }
}

bool unary(Op op, const Column& a, std::size_t n, Column& out) {
  using Word = std::int64_t;
  switch (op) {
    case Op::kNot:
      return each_total(a, a, n, out, [](Word x, Word) { return x == 0; });
    case Op::kNeg:
      return each_pair(a, a, n, out, [](Word x, Word, Word& result) {
        return __builtin_sub_overflow(Word{0}, x, &result);
      });
    case Op::kPos:
    case Op::kRound:
      return each_total(a, a, n, out, [](Word x, Word) { return x; });
    case Op::kIndicator:
      return a.form == Form::kBools && each_total(a, a, n, out, [](Word x, Word) { return x; });
    default:
      return false;
  }
}

}  // namespace

bool map_lanes(Op op, const Column& a, const Column* b, std::size_t n, Column& out) {
  if (!a.has_lanes() || (b != nullptr && !b->has_lanes())) return false;
  const bool logical =
      value::is_comparison(op) || op == Op::kAnd || op == Op::kOr || op == Op::kNot;
  out.begin_lanes(logical ? Form::kBools : Form::kInts, n);
  if (b == nullptr) {
    if (!unary(op, a, n, out)) return false;
    out.failures = a.failures;
    return true;
  }
  if (!(logical ? truths(op, a, *b, n, out) : arithmetic(op, a, *b, n, out))) return false;
  out.failures.merge(a.failures, b->failures, n);
  return true;
}

}  // namespace rasp::interpreter
