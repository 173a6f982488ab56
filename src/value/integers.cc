#include "value/integers.h"

#include <algorithm>
#include <utility>

namespace rasp::value {
namespace {
namespace mp = boost::multiprecision;

using Limb = mp::limb_type;
static_assert(sizeof(Limb) == sizeof(std::uint64_t));

// The 62 bits of `value` that start `top` bits up: 62, so that cofactors and sums stay signed.
constexpr std::size_t kLeadingBits = 62;
std::int64_t leading(const BigInt& value, std::size_t top) {
  const std::size_t shift = top - kLeadingBits;
  const std::size_t limb = shift / 64;
  const auto offset = static_cast<unsigned>(shift % 64);
  const Limb* limbs = value.backend().limbs();
  const auto at = [&](std::size_t i) { return i < value.backend().size() ? limbs[i] : Limb{0}; };
  Limb bits = at(limb) >> offset;
  if (offset != 0) bits |= at(limb + 1) << (64 - offset);
  return static_cast<std::int64_t>(bits & ((Limb{1} << kLeadingBits) - 1));
}

// One row of the matrix of a run of Euclid's steps: the new value is p * a + q * b. The signs of p
// and q differ, unless one is zero.
struct Row {
  std::int64_t p = 0;
  std::int64_t q = 0;
};

// p * x - q * y, known to be no less than zero and no longer than x and y.
void subtract_products(BigInt& out, const BigInt& x, std::uint64_t p, const BigInt& y,
                       std::uint64_t q) {
  const unsigned x_size = x.backend().size();
  const unsigned y_size = y.backend().size();
  const unsigned size = std::max(x_size, y_size);
  const Limb* xs = x.backend().limbs();
  const Limb* ys = y.backend().limbs();
  out.backend().resize(size, size);
  Limb* to = out.backend().limbs();
  unsigned __int128 carry_x = 0;
  unsigned __int128 carry_y = 0;
  std::uint64_t borrow = 0;
  for (unsigned i = 0; i < size; ++i) {
    if (i < x_size) carry_x += static_cast<unsigned __int128>(xs[i]) * p;
    if (i < y_size) carry_y += static_cast<unsigned __int128>(ys[i]) * q;
    std::uint64_t difference = 0;
    const bool under = __builtin_sub_overflow(static_cast<std::uint64_t>(carry_x),
                                              static_cast<std::uint64_t>(carry_y), &difference);
    std::uint64_t limb = 0;
    const bool under_again = __builtin_sub_overflow(difference, borrow, &limb);
    to[i] = limb;
    borrow = under || under_again ? 1 : 0;
    carry_x >>= 64;
    carry_y >>= 64;
  }
  out.backend().sign(false);
  out.backend().normalize();
}

void combine(BigInt& out, const BigInt& a, const BigInt& b, const Row& row) {
  if (row.q <= 0) {
    subtract_products(out, a, magnitude(row.p), b, magnitude(row.q));
  } else {
    subtract_products(out, b, magnitude(row.q), a, magnitude(row.p));
  }
}

// Runs Euclid on the leading bits for as long as the quotients are surely those of a and b.
std::pair<Row, Row> leading_steps(const BigInt& a, const BigInt& b, std::size_t top) {
  std::int64_t x = leading(a, top);
  std::int64_t y = leading(b, top);
  Row upper{1, 0};
  Row lower{0, 1};
  while (y + lower.p != 0 && y + lower.q != 0) {
    const std::int64_t quotient = (x + upper.p) / (y + lower.p);
    if (quotient != (x + upper.q) / (y + lower.q)) break;
    const Row next{upper.p - quotient * lower.p, upper.q - quotient * lower.q};
    upper = lower;
    lower = next;
    x = std::exchange(y, x - quotient * y);
  }
  return {upper, lower};
}

}  // namespace

// Lehmer's algorithm (Knuth, The Art of Computer Programming 4.5.2, algorithm L) on 62-bit leading
// parts: about 30 bits of quotients for each pass over the limbs.
BigInt gcd(const BigInt& first, const BigInt& second) {
  BigInt a = mp::abs(first);
  BigInt b = mp::abs(second);
  if (a < b) a.swap(b);
  BigInt a_next;
  BigInt b_next;
  while (b.backend().size() > 1) {
    const auto [upper, lower] = leading_steps(a, b, bit_length(a));
    if (upper.q == 0) {  // b is much shorter, or the first quotient was not sure
      a %= b;
      a.swap(b);
      continue;
    }
    combine(a_next, a, b, upper);
    combine(b_next, a, b, lower);
    a.swap(a_next);
    b.swap(b_next);
  }
  if (b.is_zero()) return a;
  const auto short_side = static_cast<std::uint64_t>(b);
  return gcd(static_cast<std::uint64_t>(a % short_side), short_side);
}

}  // namespace rasp::value
