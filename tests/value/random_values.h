// Random numbers and atoms that crowd where things go wrong: around the borders of 64 bits.
#pragma once

#include <cstdint>
#include <random>
#include <string>
#include <vector>

#include "value/atom.h"
#include "value/number.h"

namespace rasp::value {

using Random = std::mt19937_64;

inline std::size_t below(Random& random, std::size_t n) { return random() % n; }

inline std::int64_t random_int64(Random& random) {
  const std::int64_t near[] = {
      0,         1,        10, std::int64_t{1} << 31, std::int64_t{1} << 53, std::int64_t{1} << 62,
      INT64_MAX, INT64_MIN};
  switch (below(random, 4)) {
    case 0:
      return static_cast<std::int64_t>(below(random, 41)) - 20;
    case 1:
      return static_cast<std::int64_t>(random());
    default: {
      const auto base = static_cast<std::uint64_t>(near[below(random, std::size(near))]);
      const std::uint64_t offset = below(random, 7) - 3;
      const std::uint64_t value = base + offset;
      return static_cast<std::int64_t>(below(random, 2) == 0 ? value : ~value + 1);
    }
  }
}

inline BigInt random_big(Random& random) {
  BigInt value = random_int64(random);
  for (std::size_t i = below(random, 4); i > 0; --i) value = value * random_int64(random) + 1;
  return value;
}

// A number and, apart, what it is.
struct Known {
  Number number;
  BigRational exact;
};

inline Known random_known(Random& random) {
  switch (below(random, 6)) {
    case 0:
    case 1: {
      const std::int64_t value = random_int64(random);
      return {Number::integer(value), BigRational(BigInt(value))};
    }
    case 2: {
      const BigInt value = random_big(random);
      return {Number::integer(value), BigRational(value)};
    }
    case 3: {
      const BigInt num = random_big(random);
      BigInt den = random_big(random);
      if (den <= 0) den = 7 - den;
      return {Number::rational(BigRational(num, den)), BigRational(num, den)};
    }
    default: {
      const std::int64_t num = random_int64(random);
      std::int64_t den = random_int64(random);
      if (den == 0) den = 3;
      return {Number::rational(num, den), BigRational(BigInt(num)) / BigRational(BigInt(den))};
    }
  }
}

inline double random_double(Random& random) {
  const double mantissa = static_cast<double>(random() >> 11) * 0x1p-53 - 0.5;
  return std::ldexp(mantissa, static_cast<int>(below(random, 200)) - 100);
}

inline std::string random_text(Random& random) {
  const std::string_view pieces[] = {"a", "b", "é", "漢", "😀", "1", "-", ".", "e", " ", "'", "\""};
  std::string text;
  for (std::size_t i = below(random, 5); i > 0; --i)
    text += pieces[below(random, std::size(pieces))];
  return text;
}

inline Atom random_atom(Random& random, Type type) {
  switch (type) {
    case Type::kBool:
      return below(random, 2) == 0;
    case Type::kString:
      return random_text(random);
    case Type::kInt:
      if (below(random, 2) == 0) return make_int(static_cast<std::int64_t>(below(random, 9)) - 4);
      return below(random, 4) == 0 ? Number::integer(random_big(random))
                                   : Number::integer(random_int64(random));
    case Type::kFloat:
      break;
  }
  if (below(random, 2) == 0) {
    return Number::rational(static_cast<std::int64_t>(below(random, 9)) - 4,
                            static_cast<std::int64_t>(below(random, 4)) + 1);
  }
  if (below(random, 3) == 0) return Number::inexact(random_double(random));
  return random_known(random).number.as_float();
}

inline Type random_type(Random& random) { return static_cast<Type>(1u << below(random, 4)); }
inline Atom random_atom(Random& random) { return random_atom(random, random_type(random)); }

}  // namespace rasp::value
