// Atoms as JSON, without loss (model/safetensors.h says how), and the few readers that turn a JSON
// value of the wrong kind into an error with its place.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "value/atom.h"

namespace rasp::model {

using Json = nlohmann::json;

// Every error of this room that concerns a file's content.
[[nodiscard]] tl::unexpected<Diagnostic> bad_file(std::string message, std::string hint = {});

// Parses a text that may be hostile: bounded nesting and number of values, no key twice.
[[nodiscard]] Result<Json> parse_json(std::string_view text, std::string_view where);

[[nodiscard]] Json atom_to_json(const value::Atom& atom);
[[nodiscard]] Result<value::Atom> atom_from_json(const Json& json, const std::string& where);
[[nodiscard]] Json atoms_to_json(const std::vector<value::Atom>& atoms);
[[nodiscard]] Result<std::vector<value::Atom>> atoms_from_json(const Json& json,
                                                               const std::string& where);

// Finite reals are numbers; "inf", "-inf" and "nan" are strings.
[[nodiscard]] Json real_to_json(double value);

// A JSON object whose keys are exactly those asked for. `where` names it in errors.
class Fields {
 public:
  [[nodiscard]] static Result<Fields> of(const Json& json, std::size_t count, std::string where);

  [[nodiscard]] Result<const Json*> any(const char* key) const;
  [[nodiscard]] Result<const Json*> array(const char* key) const;
  [[nodiscard]] Result<std::string> text(const char* key) const;
  [[nodiscard]] Result<bool> boolean(const char* key) const;
  [[nodiscard]] Result<double> real(const char* key) const;
  [[nodiscard]] Result<std::int64_t> integer(const char* key, std::int64_t low,
                                             std::int64_t high) const;
  [[nodiscard]] Result<std::uint32_t> size(const char* key) const;  // 0 to 2^31 - 1
  [[nodiscard]] const std::string& where() const { return where_; }

 private:
  Fields(const Json* json, std::string where) : json_(json), where_(std::move(where)) {}
  const Json* json_;
  std::string where_;
};

}  // namespace rasp::model
