// Rows that hold the same numbers, found by hashing.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

namespace rasp::runtime {

// Groups are numbered in the order of their first rows, so the groups of the first rows of a
// sequence are the first groups. -0.0 counts as 0.0; a row that holds NaN is alone. Buffers grow
// and are kept.
class RowGroups {
 public:
  // rows [count, width], `stride` apart. False, and the groups incomplete, when there would be more
  // than `most`.
  template <typename T>
  bool group(const T* rows, std::size_t count, std::size_t width, std::size_t stride,
             std::size_t most);
  template <typename T>
  void group(const T* rows, std::size_t count, std::size_t width) {
    group(rows, count, width, width, count);
  }
  // Every row its own group.
  void keep_apart(std::size_t count);

  [[nodiscard]] std::size_t size() const { return first_.size(); }
  [[nodiscard]] std::size_t of(std::size_t row) const { return of_[row]; }
  [[nodiscard]] std::size_t first(std::size_t group) const { return first_[group]; }

 private:
  std::vector<std::uint32_t> of_;     // [rows] its group
  std::vector<std::uint32_t> first_;  // [groups] its first row
  std::vector<std::uint32_t> table_;  // open addressing: 1 + group, 0 where free
};

namespace row_groups_internal {

template <typename T>
std::uint64_t bits_of(T value) {
  if constexpr (std::is_integral_v<T>) {
    return value;
  } else {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    return std::bit_cast<Bits>(value + T{0});  // -0.0 becomes 0.0
  }
}

template <typename T>
std::uint64_t hash_of(const T* row, std::size_t width) {
  constexpr std::uint64_t kFactor = 0x9E3779B97F4A7C15u;  // 2^64 / golden ratio (Knuth 6.4)
  std::uint64_t hash = width;
  for (std::size_t c = 0; c < width; ++c) {
    hash = (hash ^ bits_of(row[c])) * kFactor;
    hash ^= hash >> 32;
  }
  return hash;
}

}  // namespace row_groups_internal

template <typename T>
bool RowGroups::group(const T* rows, std::size_t count, std::size_t width, std::size_t stride,
                      std::size_t most) {
  const std::size_t slots = std::bit_ceil(2 * count + 1);
  table_.assign(slots, 0);
  of_.resize(count);
  first_.clear();
  first_.reserve(count);
  for (std::size_t r = 0; r < count; ++r) {
    const T* row = rows + r * stride;
    std::size_t slot = row_groups_internal::hash_of(row, width) & (slots - 1);
    while (table_[slot] != 0 &&
           !std::equal(row, row + width, rows + first_[table_[slot] - 1] * stride))
      slot = (slot + 1) & (slots - 1);
    if (table_[slot] == 0) {
      if (first_.size() == most) return false;
      first_.push_back(static_cast<std::uint32_t>(r));
      table_[slot] = static_cast<std::uint32_t>(first_.size());
    }
    of_[r] = table_[slot] - 1;
  }
  return true;
}

inline void RowGroups::keep_apart(std::size_t count) {
  of_.resize(count);
  first_.resize(count);
  for (std::size_t r = 0; r < count; ++r) of_[r] = first_[r] = static_cast<std::uint32_t>(r);
}

}  // namespace rasp::runtime
