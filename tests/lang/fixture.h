// A session with the interpreter behind it, and short ways to look at what a text did.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "interpreter/interpreter.h"
#include "lang/function.h"
#include "lang/session.h"

namespace rasp::lang {

inline Applier interpreter_applier() {
  Applier applier;
  applier.sop = [](const graph::Graph& graph, graph::NodeId sop,
                   std::span<const value::Atom> input) {
    return interpreter::evaluate(graph, sop, input);
  };
  applier.selector =
      [](const graph::Graph& graph, graph::NodeId selector,
         std::span<const value::Atom> input) -> Result<std::vector<std::vector<bool>>> {
    RASP_TRY(const interpreter::Matrix matrix,
             interpreter::evaluate_selector(graph, selector, input));
    std::vector<std::vector<bool>> rows(matrix.size(), std::vector<bool>(matrix.size()));
    for (std::size_t q = 0; q < matrix.size(); ++q) {
      for (std::size_t k = 0; k < matrix.size(); ++k) rows[q][k] = matrix.at(q, k);
    }
    return rows;
  };
  return applier;
}

// Values as Python would print them; "s-op" and the like for what has no literal.
inline std::string repr(const Value& value) {
  if (const auto* atom = std::get_if<value::Atom>(&value.data)) return value::repr(*atom);
  std::string text;
  if (const auto* list = std::get_if<List>(&value.data)) {
    for (const Value& item : *list->items) text += (text.empty() ? "" : ", ") + repr(item);
    return "[" + text + "]";
  }
  if (const auto* dict = std::get_if<Dict>(&value.data)) {
    for (const auto& [key, item] : *dict->items) {
      text += (text.empty() ? "" : ", ") + value::repr(key) + ": " + repr(item);
    }
    return "{" + text + "}";
  }
  if (const auto* sequence = std::get_if<AppliedSequenceRef>(&value.data)) {
    for (const value::Atom& atom : (*sequence)->output) {
      text += (text.empty() ? "" : ", ") + value::repr(atom);
    }
    return "<" + text + ">";
  }
  if (const auto* matrix = std::get_if<AppliedMatrixRef>(&value.data)) {
    for (const auto& row : (*matrix)->rows) {
      if (!text.empty()) text += "/";
      for (const bool bit : row) text += bit ? '1' : '0';
    }
    return text;
  }
  return describe(value);
}

class LangTest : public testing::Test {
 protected:
  LangTest() : session(sources, options()) {}

  static Options options() {
    Options result;
    result.applier = interpreter_applier();
    return result;
  }

  Outcome run(const std::string& text) { return session.run(sources.add("<test>", text)); }

  // The first error, or "": "kind: message [marked text]", and the hint after " | ".
  std::string error_of(const Outcome& outcome) const {
    for (const Diagnostic& d : outcome.diagnostics) {
      if (d.level != Level::kError) continue;
      std::string text(name_of(d.kind));
      text += ": " + d.message;
      if (d.span.valid()) text += " [" + std::string(sources.text(d.span)) + "]";
      if (!d.hint.empty()) text += " | " + d.hint;
      return text;
    }
    return "";
  }
  std::string error(const std::string& text) { return error_of(run(text)); }

  // The value of an expression, run as a statement; "error: ..." when it fails.
  std::string value(const std::string& expression) {
    const Outcome outcome = run(expression + ";");
    if (!outcome.ok()) return "error: " + error_of(outcome);
    return repr(outcome.events.back().value);
  }
  std::string look(const std::string& name) {
    const auto found = session.lookup(name);
    return found ? repr(*found) : "undefined";
  }

  SourceMap sources;
  Session session;
};

// A folder that goes when the test ends.
class Folder {
 public:
  Folder() {
    const auto* info = testing::UnitTest::GetInstance()->current_test_info();
    path_ = std::filesystem::temp_directory_path() /
            ("rasp_" + std::string(info->test_suite_name()) + "_" + info->name() + "_" +
             std::to_string(reinterpret_cast<std::uintptr_t>(this)));
    std::filesystem::create_directories(path_);
  }
  ~Folder() {
    std::error_code code;
    std::filesystem::remove_all(path_, code);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;

  void write(const std::string& name, const std::string& text) const {
    const std::filesystem::path file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace rasp::lang
