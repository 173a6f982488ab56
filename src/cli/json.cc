#include "cli/json.h"

#include <cmath>
#include <nlohmann/json.hpp>

namespace rasp::cli {
namespace {

std::string json_number(const value::Number& number) {
  std::string text = number.repr();
  // Beyond the range of doubles there is no shortest text; its whole part is a valid JSON number.
  if (text.find_first_not_of("+-.0123456789eE") != std::string::npos) {
    text = number.as_int().repr();
  }
  if (number.is_float() && text.find_first_of(".eE") == std::string::npos) text += ".0";
  return text;
}

}  // namespace

std::string json_string(std::string_view text) {
  return nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string json_atom(const value::Atom& atom) {
  if (const bool* flag = std::get_if<bool>(&atom)) return *flag ? "true" : "false";
  if (const auto* number = std::get_if<value::Number>(&atom)) return json_number(*number);
  return json_string(std::get<std::string>(atom));
}

std::string json_atoms(std::span<const value::Atom> atoms) { return json_list(atoms, json_atom); }

std::string json_input(const Example& example) {
  if (!example.text) return json_atoms(example.tokens);
  std::string text;
  for (const value::Atom& atom : example.tokens) text += value::to_text(atom);
  return json_string(text);
}

std::string json_matrix(const interpreter::Matrix& matrix) {
  std::string text = "[";
  for (std::size_t query = 0; query < matrix.size(); ++query) {
    text += query == 0 ? "\"" : ", \"";
    for (std::size_t key = 0; key < matrix.size(); ++key) text += matrix.at(query, key) ? '1' : '0';
    text += '"';
  }
  return text + "]";
}

std::string json_matrix(const model::Matrix& matrix) {
  std::string text = "[";
  for (Eigen::Index row = 0; row < matrix.rows(); ++row) {
    text += row == 0 ? "[" : ", [";
    for (Eigen::Index column = 0; column < matrix.cols(); ++column) {
      text += (column == 0 ? "" : ", ") + json_real(matrix(row, column));
    }
    text += "]";
  }
  return text + "]";
}

std::string json_real(double value) {
  return std::isfinite(value) ? nlohmann::json(value).dump() : "null";
}

std::string json_diagnostic(const Diagnostic& diagnostic, const SourceMap& sources) {
  JsonObject object;
  object.text("kind", name_of(diagnostic.kind)).text("message", diagnostic.message);
  if (!diagnostic.hint.empty()) object.text("hint", diagnostic.hint);
  if (diagnostic.span.valid()) {
    const Place place = sources.place(diagnostic.span.file, diagnostic.span.begin);
    object.text("file", sources.name(diagnostic.span.file))
        .add("line", std::to_string(place.line))
        .add("column", std::to_string(place.column));
  } else {
    object.add("file", "null").add("line", "null").add("column", "null");
  }
  return JsonObject().add(name_of(diagnostic.level), object.str()).str();
}

JsonObject& JsonObject::add(std::string_view key, std::string_view json) {
  if (!body_.empty()) body_ += ", ";
  body_ += json_string(key);
  body_ += ": ";
  body_ += json;
  return *this;
}

}  // namespace rasp::cli
