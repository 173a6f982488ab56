// Keys of a head that are equal, taken as one.
#pragma once

#include "runtime/attention.h"
#include "runtime/cpu/aligned_buffer.h"
#include "runtime/cpu/row_groups.h"

namespace rasp::runtime {

// A head's distinct keys with the sums of their values: what attention reads instead of every key
// when all are visible. The result is that of the plain sums where weights are 0 or 1, else within
// their rounding.
template <typename T>
class EqualKeys {
 public:
  // Of the first `length` keys of kv head h. `used` only where it pays, keys and values are finite
  // and no sum of values rounds.
  void find(const View<const T>& k, const View<const T>& v, std::size_t b, std::size_t h,
            std::size_t length);
  void leave() { used_ = false; }

  [[nodiscard]] bool used() const { return used_; }
  [[nodiscard]] std::size_t size() const { return groups_.size(); }
  [[nodiscard]] std::size_t first(std::size_t group) const { return groups_.first(group); }
  // [size, width]: the sum of a group's values, and in column d_v its number of keys.
  [[nodiscard]] const T* values() const { return values_.data(); }
  // Of the rows of values: d_v + 1, padded.
  [[nodiscard]] static std::size_t width(std::size_t d_v);

 private:
  [[nodiscard]] bool add_values(const View<const T>& v, std::size_t b, std::size_t h,
                                std::size_t length);

  bool used_ = false;
  RowGroups groups_, sample_;
  AlignedBuffer<T> values_;
};

}  // namespace rasp::runtime
