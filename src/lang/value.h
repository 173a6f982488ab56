// What a name can stand for.
#pragma once

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

struct SOp {
  graph::NodeId node = graph::kNoNode;
};
struct Selector {
  graph::NodeId node = graph::kNoNode;
};

// Lists and dicts are immutable and shared.
using ListItems = std::vector<Value>;
using DictItems =
    std::vector<std::pair<value::Atom, Value>>;  // insertion order, keys pairwise unequal

struct List {
  std::shared_ptr<const ListItems> items;
};
struct Dict {
  std::shared_ptr<const DictItems> items;
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

// "an int", "a list", "an s-op", "a selector", "a function": for error messages.
[[nodiscard]] std::string describe(const Value& value);

}  // namespace rasp::lang
