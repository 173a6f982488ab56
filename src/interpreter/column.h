// What the evaluator holds of one node on one input: the elements of an s-op or the rows of a
// selector, and why some of them have no value.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.h"
#include "value/atom.h"
#include "value/operators.h"

namespace rasp::interpreter {

// Why an element or a row is undefined: `node` at `position` has no value.
struct Failure {
  graph::NodeId node = graph::kNoNode;
  std::size_t position = 0;
  value::OpError error;
};

using FailureId = std::uint32_t;  // index into the run's list of failures
inline constexpr FailureId kDefined = 0xFFFFFFFFu;

// One id a position; empty, the common case, when every position is defined.
class Failures {
 public:
  void clear() { ids_.clear(); }
  [[nodiscard]] bool any() const { return !ids_.empty(); }
  [[nodiscard]] FailureId at(std::size_t position) const {
    return ids_.empty() ? kDefined : ids_[position];
  }
  [[nodiscard]] bool defined(std::size_t position) const { return at(position) == kDefined; }
  void set(std::size_t position, FailureId id, std::size_t n) {
    if (ids_.empty()) ids_.resize(n, kDefined);
    ids_[position] = id;
  }
  void set_all(FailureId id, std::size_t n) { ids_.assign(n, id); }
  // Those of `first`, and of `second` where `first` is defined.
  void merge(const Failures& first, const Failures& second, std::size_t n);
  // The first failure there is.
  [[nodiscard]] FailureId first() const;
  [[nodiscard]] std::size_t bytes() const { return ids_.capacity() * sizeof(FailureId); }

 private:
  std::vector<FailureId> ids_;
};

// The elements of an s-op. Ints of 64 bits and bools, most of what programs compute with, lie as
// plain words ("lanes"); anything else as atoms. A uniform column holds one element for all
// positions (step 0). Undefined positions hold 0, or some atom.
struct Column {
  enum class Form : std::uint8_t { kBools, kInts, kAtoms } form = Form::kAtoms;
  std::size_t step = 1;
  std::vector<std::int64_t> lanes;
  std::vector<value::Atom> atoms;
  Failures failures;
  std::size_t heap_bytes = 0;  // what its atoms hold elsewhere

  [[nodiscard]] bool has_lanes() const { return form != Form::kAtoms; }
  [[nodiscard]] value::Type lane_type() const {
    return form == Form::kBools ? value::Type::kBool : value::Type::kInt;
  }
  void begin_lanes(Form lane_form, std::size_t n);
  void begin_atoms(std::size_t n);
  [[nodiscard]] std::size_t bytes() const;

  // The element at `position`; `scratch` holds it when it is no atom yet.
  [[nodiscard]] const value::Atom& at(std::size_t position, value::Atom& scratch) const;
  [[nodiscard]] bool truth(std::size_t position) const;
  // Turns atoms into lanes when all of them are bools, or ints of 64 bits; says whether it did.
  bool compact(std::size_t n);
  void drop_heap();
};

[[nodiscard]] std::size_t heap_bytes(const value::Atom& atom);

// The rows of a selector: n x ceil(n/64) words, row = query, column = key; bits from n on are 0.
struct Rows {
  std::size_t words = 0;
  std::vector<std::uint64_t> bits;
  Failures failures;

  void begin(std::size_t n);
  void mask_future(std::size_t n);  // keys after their query are not selected
  [[nodiscard]] std::span<std::uint64_t> row(std::size_t query) {
    return {bits.data() + query * words, words};
  }
  [[nodiscard]] std::span<const std::uint64_t> row(std::size_t query) const {
    return {bits.data() + query * words, words};
  }
  [[nodiscard]] std::size_t bytes() const {
    return bits.capacity() * sizeof(std::uint64_t) + failures.bytes();
  }
};

// The word of a row of n bits that holds only its last bits; all ones when n fills it.
[[nodiscard]] constexpr std::uint64_t last_word_mask(std::size_t n) {
  return n % 64 == 0 ? ~std::uint64_t{0} : (std::uint64_t{1} << (n % 64)) - 1;
}

}  // namespace rasp::interpreter
