#include "interpreter/column.h"

#include <algorithm>

namespace rasp::interpreter {
namespace {

constexpr std::size_t kKeptElements = 4096;  // a buffer this short may idle while the other is used
constexpr std::size_t kInlineText = 15;  // strings of libstdc++ and libc++ this short own no heap

}  // namespace

void Failures::merge(const Failures& first, const Failures& second, std::size_t n) {
  if (!first.any() && !second.any()) {
    ids_.clear();
    return;
  }
  ids_.resize(n);
  for (std::size_t i = 0; i < n; ++i) {
    ids_[i] = first.defined(i) ? second.at(i) : first.at(i);
  }
}

FailureId Failures::first() const {
  const auto found = std::ranges::find_if(ids_, [](FailureId id) { return id != kDefined; });
  return found == ids_.end() ? kDefined : *found;
}

void Column::begin_lanes(Form lane_form, std::size_t n) {
  form = lane_form;
  step = 1;
  heap_bytes = 0;
  failures.clear();
  if (atoms.size() > kKeptElements) atoms = {};
  lanes.resize(n);
}

void Column::begin_atoms(std::size_t n) {
  form = Form::kAtoms;
  step = 1;
  heap_bytes = 0;
  failures.clear();
  if (lanes.size() > kKeptElements) lanes = {};
  atoms.resize(n);
}

std::size_t Column::bytes() const {
  return lanes.capacity() * sizeof(std::int64_t) + atoms.capacity() * sizeof(value::Atom) +
         heap_bytes + failures.bytes();
}

void Column::drop_heap() {
  if (heap_bytes == 0) return;
  atoms = {};
  heap_bytes = 0;
}

const value::Atom& Column::at(std::size_t position, value::Atom& scratch) const {
  const std::size_t i = position * step;
  if (form == Form::kAtoms) return atoms[i];
  if (form == Form::kBools) {
    scratch = lanes[i] != 0;
  } else {
    scratch = value::make_int(lanes[i]);
  }
  return scratch;
}

bool Column::truth(std::size_t position) const {
  const std::size_t i = position * step;
  return form == Form::kAtoms ? value::truth(atoms[i]) : lanes[i] != 0;
}

bool Column::compact(std::size_t n) {
  const std::size_t count = step == 0 ? 1 : n;
  bool bools = true;
  bool ints = true;
  bool any = false;
  for (std::size_t i = 0; i < count && (bools || ints); ++i) {
    if (!failures.defined(i)) continue;
    any = true;
    const auto* number = std::get_if<value::Number>(&atoms[i]);
    ints = ints && number != nullptr && number->is_int() && number->is_small();
    bools = bools && std::holds_alternative<bool>(atoms[i]);
  }
  if (!any || (!bools && !ints)) return false;
  form = bools ? Form::kBools : Form::kInts;
  lanes.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    if (!failures.defined(i)) {
      lanes[i] = 0;
    } else if (bools) {
      lanes[i] = std::get<bool>(atoms[i]) ? 1 : 0;
    } else {
      lanes[i] = *std::get<value::Number>(atoms[i]).to_int64();
    }
  }
  if (atoms.size() > kKeptElements) atoms = {};
  return true;
}

std::size_t heap_bytes(const value::Atom& atom) {
  if (const auto* number = std::get_if<value::Number>(&atom)) {
    return number->is_small() || !number->is_exact() ? 0 : number->bits() / 4;
  }
  const auto* text = std::get_if<std::string>(&atom);
  return text == nullptr || text->size() <= kInlineText ? 0 : text->capacity();
}

void Rows::begin(std::size_t n) {
  words = (n + 63) / 64;
  failures.clear();
  bits.assign(n * words, 0);
}

void Rows::mask_future(std::size_t n) {
  for (std::size_t query = 0; query < n; ++query) {
    const std::span<std::uint64_t> bits_of_row = row(query);
    bits_of_row[query / 64] &= last_word_mask(query + 1);
    std::fill(bits_of_row.begin() + static_cast<std::ptrdiff_t>(query / 64 + 1), bits_of_row.end(),
              0);
  }
}

}  // namespace rasp::interpreter
