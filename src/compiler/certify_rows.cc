#include "compiler/certify_rows.h"

#include <algorithm>
#include <bit>

namespace rasp::compiler::checker {
namespace {

std::uint64_t hash_row(std::span<const double> row) {
  std::uint64_t hash = 0x9E3779B97F4A7C15u;
  for (double entry : row) {
    hash ^= std::bit_cast<std::uint64_t>(entry + 0.0);
    hash *= 0xD6E8FEB86659FD93u;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace

Range meet(const Range& a, const Range& b) {
  return {std::max(a.low, b.low), std::min(a.high, b.high)};
}

Range hull(const Range& a, const Range& b) {
  return {std::min(a.low, b.low), std::max(a.high, b.high)};
}

Place meet(const Place& a, const Place& b) {
  return {meet(a.position, b.position), meet(a.length, b.length)};
}

Place hull(const Place& a, const Place& b) {
  if (!a.possible()) return b;
  if (!b.possible()) return a;
  return {hull(a.position, b.position), hull(a.length, b.length)};
}

std::size_t RowSet::slot_of(std::span<const double> row) const {
  const std::size_t mask = slots_.size() - 1;
  std::size_t slot = hash_row(row) & mask;
  while (slots_[slot] != 0) {
    if (std::ranges::equal(this->row(static_cast<Index>(slots_[slot]) - 1), row)) break;
    slot = (slot + 1) & mask;
  }
  return slot;
}

void RowSet::grow() {
  slots_.assign(std::max<std::size_t>(16, 2 * slots_.size()), 0);
  for (Index i = 0; i < size(); ++i) slots_[slot_of(row(i))] = static_cast<std::uint32_t>(i + 1);
}

Index RowSet::add(std::span<const double> row, const Place& place) {
  if (2 * (places_.size() + 1) > slots_.size()) grow();
  std::uint32_t& slot = slots_[slot_of(row)];
  if (slot == 0) {
    for (double entry : row) data_.push_back(entry + 0.0);
    places_.push_back(place);
    slot = static_cast<std::uint32_t>(places_.size());
    return size() - 1;
  }
  places_[slot - 1] = hull(places_[slot - 1], place);
  return static_cast<Index>(slot) - 1;
}

Index RowSet::find(std::span<const double> row) const {
  if (slots_.empty()) return -1;
  return static_cast<Index>(slots_[slot_of(row)]) - 1;
}

std::optional<RowSet> sums(const RowSet& a, const RowSet& b, Index limit) {
  if (a.size() > 0 && b.size() > limit / a.size()) return std::nullopt;
  RowSet result(a.width());
  std::vector<double> row(static_cast<std::size_t>(a.width()));
  for (Index i = 0; i < a.size(); ++i) {
    for (Index j = 0; j < b.size(); ++j) {
      const Place place = meet(a.place(i), b.place(j));
      if (!place.possible()) continue;
      std::ranges::transform(a.row(i), b.row(j), row.begin(), std::plus<>());
      result.add(row, place);
    }
  }
  return result;
}

}  // namespace rasp::compiler::checker
