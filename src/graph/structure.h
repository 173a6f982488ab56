// What makes two nodes one: everything but types (they follow) and span (the first one stays).
#pragma once

#include <algorithm>

#include "graph/graph.h"

namespace rasp::graph {

inline constexpr std::uint32_t kNoPayload = 0xFFFFFFFFu;

[[nodiscard]] inline std::size_t structural_hash(const Node& node) {
  const auto mix = [](std::size_t hash, std::size_t value) {
    hash ^= value + 0x9E3779B97F4A7C15u + (hash << 6) + (hash >> 2);
    return hash * 0xFF51AFD7ED558CCDu;
  };
  std::size_t hash = static_cast<std::size_t>(node.kind) | static_cast<std::size_t>(node.op) << 8 |
                     static_cast<std::size_t>(node.token_kind) << 16;
  hash = mix(hash, node.payload);
  for (NodeId arg : node.arguments()) hash = mix(hash, arg);
  return hash ^ (hash >> 32);
}

[[nodiscard]] inline bool same_structure(const Node& a, const Node& b) {
  return a.kind == b.kind && a.op == b.op && a.token_kind == b.token_kind &&
         a.payload == b.payload && std::ranges::equal(a.arguments(), b.arguments());
}

// Constants are one when they are identical and equally exact: 4^0.5 is inexact, and so is what is
// computed from it.
[[nodiscard]] inline bool same_constant(const value::Atom& a, const value::Atom& b) {
  const auto exact = [](const value::Atom& atom) {
    const auto* number = std::get_if<value::Number>(&atom);
    return number == nullptr || number->is_exact();
  };
  return value::identical(a, b) && exact(a) == exact(b);
}

[[nodiscard]] inline bool same_constant(const value::Table& a, const value::Table& b) {
  const auto same = [](const value::Atom& x, const value::Atom& y) { return same_constant(x, y); };
  return a.kind == b.kind && std::ranges::equal(a.keys, b.keys, same) &&
         std::ranges::equal(a.values, b.values, same);
}

}  // namespace rasp::graph
