// What a name can stand for.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "graph/graph.h"
#include "value/atom.h"

namespace rasp::lang {

struct Value;
struct Function;  // lang/function.h: a closure or a builtin
class KeyIndex;   // lang/containers.h: finds the entry of a dict by its key

struct SOp {
  graph::NodeId node = graph::kNoNode;
};
struct Selector {
  graph::NodeId node = graph::kNoNode;
};

// Bounds of every list and dict that a program makes. Parts may be shared (`l = [l, l]`), so
// `total` counts a part as often as it occurs: what walks a value never meets more than
// kMaxListSize items.
inline constexpr std::size_t kMaxListSize = 1'000'000;
inline constexpr std::size_t kMaxStringBytes = 1'000'000;
inline constexpr std::uint32_t kMaxValueDepth = 200;  // lists in lists

// Lists and dicts are immutable and shared.
using ListItems = std::vector<Value>;
using DictItems =
    std::vector<std::pair<value::Atom, Value>>;  // insertion order, keys pairwise unequal

struct List {
  std::shared_ptr<const ListItems> items;
  std::uint32_t depth = 1;  // 1 more than that of the deepest part
  std::size_t total = 0;    // items, and the items of the parts
};
struct Dict {
  std::shared_ptr<const DictItems> items;
  std::uint32_t depth = 1;
  std::size_t total = 0;
  std::shared_ptr<const KeyIndex> index;  // null for small ones
};

// `sop(input)` is a list of atoms that remembers its input, since it prints as a sequence: "=  [0,
// 1, 2] (ints)".
struct AppliedSequence {
  value::Sequence input;
  value::Sequence output;
};
// `selector(input)`, printed as a grid with the input on both sides.
struct AppliedMatrix {
  value::Sequence input;
  std::vector<std::vector<bool>> rows;  // [query][key]
};

using FunctionRef = std::shared_ptr<const Function>;
using AppliedSequenceRef = std::shared_ptr<const AppliedSequence>;
using AppliedMatrixRef = std::shared_ptr<const AppliedMatrix>;

struct Value {
  std::variant<value::Atom, List, Dict, SOp, Selector, FunctionRef, AppliedSequenceRef,
               AppliedMatrixRef>
      data;
};

// Work out depth and total; the caller sees to the bounds. For equal keys the first keeps its place
// and the last gives the value, as in Python.
[[nodiscard]] List make_list(ListItems items);
[[nodiscard]] Dict make_dict(DictItems items);

// "an int", "a list", "an s-op", "a selector", "a function": for error messages.
[[nodiscard]] std::string describe(const Value& value);

}  // namespace rasp::lang
