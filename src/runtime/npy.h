// NumPy's array files (https://numpy.org/neps/nep-0001-npy-format.html), versions 1 to 3.
//
// A reader of our own, small and strict, since no library that Debian packages is safe on wrong
// files: the one there is (xtensor) takes sizes from the header on trust and wants its keys in one
// order. Arrays are little-endian float32, float64, bool or uint8, in C or Fortran order; anything
// else is an error that names what was found. Nothing is allocated beyond a small multiple of the
// bytes that are there.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace rasp::runtime {

enum class NpyType : std::uint8_t { kFloat32, kFloat64, kBool, kUint8 };
[[nodiscard]] std::string_view name_of(NpyType type);  // "float32"
[[nodiscard]] std::size_t size_of(NpyType type);       // bytes of an entry

// An array in C order. `data` holds the entries, aligned for any of the types.
struct NpyArray {
  NpyType type = NpyType::kFloat32;
  std::vector<std::size_t> shape;
  std::string data;

  [[nodiscard]] std::size_t size() const;  // entries
  // T is float, double or, for bool and uint8, std::uint8_t.
  template <typename T>
  [[nodiscard]] const T* entries() const {
    return reinterpret_cast<const T*>(data.data());
  }
};

inline constexpr std::uint64_t kMaxNpyBytes = std::uint64_t{16} << 30;  // of a file

[[nodiscard]] Result<NpyArray> parse_npy(std::string bytes);
// Errors name the file; one is a file of more than `limit` bytes.
[[nodiscard]] Result<NpyArray> load_npy(const std::string& path,
                                        std::uint64_t limit = kMaxNpyBytes);

// Version 1. `data` holds as many bytes as type and shape ask for.
[[nodiscard]] Result<void> save_npy(const std::string& path, NpyType type,
                                    const std::vector<std::size_t>& shape, const void* data);

// "[2, 8, 128, 64]".
[[nodiscard]] std::string shape_text(const std::vector<std::size_t>& shape);

}  // namespace rasp::runtime
