// What the command prints with --json: one object a line. Numbers are written by us, so that 1, 1.0
// and true stay apart and integers of any size are exact; strings are escaped by nlohmann.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/source.h"
#include "cli/input.h"
#include "interpreter/interpreter.h"
#include "model/model.h"
#include "value/atom.h"

namespace rasp::cli {

[[nodiscard]] std::string json_string(std::string_view text);
// Ints in full; floats as the shortest text that reads back as the same double, always with a '.'
// or an exponent.
[[nodiscard]] std::string json_atom(const value::Atom& atom);
[[nodiscard]] std::string json_atoms(std::span<const value::Atom> atoms);
// As it was written: a string or a list.
[[nodiscard]] std::string json_input(const Example& example);
// One string of 0 and 1 a query.
[[nodiscard]] std::string json_matrix(const interpreter::Matrix& matrix);
[[nodiscard]] std::string json_matrix(const model::Matrix& matrix);  // a list a row
[[nodiscard]] std::string json_real(double value);  // "null" where it is not finite

// {"error": {...}} or {"warning": {...}}, {"note": {...}}; file, line and column are null where
// there is no place.
[[nodiscard]] std::string json_diagnostic(const Diagnostic& diagnostic, const SourceMap& sources);

// An object or a list in the making.
class JsonObject {
 public:
  JsonObject& add(std::string_view key, std::string_view json);  // `json` is a finished value
  JsonObject& text(std::string_view key, std::string_view value) {
    return add(key, json_string(value));
  }
  [[nodiscard]] std::string str() const { return "{" + body_ + "}"; }

 private:
  std::string body_;
};

template <typename Range, typename Function>
[[nodiscard]] std::string json_list(const Range& range, const Function& item) {
  std::string text = "[";
  for (const auto& element : range) {
    if (text.size() > 1) text += ", ";
    text += item(element);
  }
  return text + "]";
}

}  // namespace rasp::cli
