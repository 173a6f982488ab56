// Scopes: names and what they stand for. Scopes are owned by the session (those that a closure
// captured) or live on the stack, and never by values: so no chain or cycle of owners can form.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "base/source.h"
#include "lang/value.h"

namespace rasp::lang {

struct Binding {
  Value value;
  Span span;                 // of the statement that bound it
  std::uint64_t serial = 0;  // later bindings have greater ones
  bool unknown = false;      // `check` could not know the value without an input
};

struct NameHash {
  using is_transparent = void;
  std::size_t operator()(std::string_view name) const {
    return std::hash<std::string_view>{}(name);
  }
};
using Names = std::unordered_map<std::string, Binding, NameHash, std::equal_to<>>;

[[nodiscard]] inline bool is_private(std::string_view name) { return name.starts_with('_'); }

class Scope {
 public:
  // A file's own scope hides the private names of the scopes around it.
  explicit Scope(Scope* parent, bool of_file = false) : parent_(parent), of_file_(of_file) {}

  [[nodiscard]] Scope* parent() const { return parent_; }
  [[nodiscard]] const Binding* find_here(std::string_view name) const;
  [[nodiscard]] const Binding* find(std::string_view name) const;  // here or in a scope around
  void bind(std::string_view name, Binding binding);
  void unbind(std::string_view name);
  void clear() { names_.clear(); }
  [[nodiscard]] const Names& names() const { return names_; }

  bool captured = false;  // a closure refers to it: it outlives the call

 private:
  Scope* parent_;
  bool of_file_;
  Names names_;
};

}  // namespace rasp::lang
