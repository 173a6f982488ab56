// Memory for vectors: aligned to a cache line, grown and never shrunk, its content lost on growth.
#pragma once

#include <cstddef>
#include <memory>
#include <new>

namespace rasp::runtime {

template <typename T>
class AlignedBuffer {
 public:
  // At least `count` elements, uninitialised.
  T* reserve(std::size_t count) {
    if (count > count_) {
      data_.reset();
      data_.reset(static_cast<T*>(::operator new(count * sizeof(T), kAlignment)));
      count_ = count;
    }
    return data_.get();
  }
  [[nodiscard]] T* data() const { return data_.get(); }

 private:
  static constexpr std::align_val_t kAlignment{64};
  struct Free {
    void operator()(T* data) const { ::operator delete(data, kAlignment); }
  };
  std::unique_ptr<T, Free> data_;
  std::size_t count_ = 0;
};

}  // namespace rasp::runtime
