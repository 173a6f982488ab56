// Every value vector: 265 programs of one rule each, 1,499 random ones, 60 that users of other
// tools reported. The outputs were worked out elsewhere: they are right, and a difference is our
// bug.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "interpreter/interpreter.h"
#include "lang/session.h"

namespace rasp {
namespace {

using nlohmann::json;
using value::Atom;
using value::Number;

json atom_json(const Atom& atom) {
  if (const auto* flag = std::get_if<bool>(&atom)) return *flag;
  if (const auto* text = std::get_if<std::string>(&atom)) return *text;
  const Number& number = std::get<Number>(atom);
  if (number.is_float()) return number.to_double();
  return number.to_int64().value();
}

Atom atom_of(const json& j) {
  if (j.is_boolean()) return j.get<bool>();
  if (j.is_string()) return j.get<std::string>();
  if (j.is_number_integer()) return Number::integer(j.get<std::int64_t>());
  return Number::parse(j.dump()).value();
}

std::vector<Atom> input_of(const json& j) {
  if (j.is_string()) return value::characters(j.get<std::string>());
  std::vector<Atom> atoms;
  for (const json& element : j) atoms.push_back(atom_of(element));
  return atoms;
}

// Equal in type and value; floats to 1e-9.
bool same(const json& want, const json& got) {
  if (want.is_array()) {
    return got.is_array() && std::equal(want.begin(), want.end(), got.begin(), got.end(), same);
  }
  if (want.is_number_float() && got.is_number_float()) {
    const double a = want.get<double>();
    const double b = got.get<double>();
    return std::abs(a - b) <= std::max(1e-9, 1e-9 * std::max(std::abs(a), std::abs(b)));
  }
  if (want.is_number_integer() && got.is_number_integer()) return want == got;
  return want.type() == got.type() && want == got;
}

struct Answer {
  std::string error;  // what was reported, when something was
  std::string kind;
  std::string type;
  json output;
};

json value_json(const lang::Value& value) {
  if (const auto* atom = std::get_if<Atom>(&value.data)) return atom_json(*atom);
  json result = json::array();
  if (const auto* list = std::get_if<lang::List>(&value.data)) {
    for (const lang::Value& item : *list->items) result.push_back(value_json(item));
  } else if (const auto* dict = std::get_if<lang::Dict>(&value.data)) {
    for (const auto& [key, item] : *dict->items) {
      result.push_back({atom_json(key), value_json(item)});
    }
  } else {
    ADD_FAILURE() << "cannot show " << lang::describe(value);
  }
  return result;
}

Answer sequence_answer(const lang::Session& session, graph::NodeId node, const json& input) {
  const auto sequence = interpreter::evaluate(session.graph(), node, input_of(input));
  if (!sequence) return {.error = sequence.error().message, .kind = {}, .type = {}, .output = {}};
  json output = json::array();
  for (const Atom& atom : *sequence) output.push_back(atom_json(atom));
  const auto type = value::sequence_type(*sequence);
  return {{}, "s-op", type ? std::string(value::name_of(*type)) : "", std::move(output)};
}

Answer selector_answer(const lang::Session& session, graph::NodeId node, const json& input) {
  const auto matrix = interpreter::evaluate_selector(session.graph(), node, input_of(input));
  if (!matrix) return {.error = matrix.error().message, .kind = {}, .type = {}, .output = {}};
  json rows = json::array();
  for (std::size_t query = 0; query < matrix->size(); ++query) {
    std::string row;
    for (std::size_t key = 0; key < matrix->size(); ++key)
      row += matrix->at(query, key) ? '1' : '0';
    rows.push_back(row);
  }
  return {{}, "selector", "", std::move(rows)};
}

// One program, run once, looked at on any number of inputs.
class Program {
 public:
  explicit Program(const std::string& text) : session_(sources_) {
    outcome_ = session_.run(sources_.add("<vector>", text));
  }

  Answer show(const std::string& name, const json& input) {
    if (!outcome_.ok()) {
      return {outcome_.diagnostics.back().message + " (the program failed)", {}, {}, {}};
    }
    const auto value = session_.lookup(name);
    if (!value) return {"the name is not defined", {}, {}, {}};
    if (const auto* sop = std::get_if<lang::SOp>(&value->data)) {
      return sequence_answer(session_, sop->node, input);
    }
    if (const auto* selector = std::get_if<lang::Selector>(&value->data)) {
      return selector_answer(session_, selector->node, input);
    }
    const std::string kind = std::holds_alternative<lang::List>(value->data)   ? "list"
                             : std::holds_alternative<lang::Dict>(value->data) ? "dict"
                                                                               : "value";
    return {{}, kind, "", value_json(*value)};
  }

 private:
  SourceMap sources_;
  lang::Session session_;
  lang::Outcome outcome_;
};

std::vector<json> vectors(const std::string& file) {
  std::ifstream lines(std::string(RASP_TEST_DATA) + "/conformance/" + file);
  std::vector<json> result;
  for (std::string line; std::getline(lines, line);) result.push_back(json::parse(line));
  return result;
}

void check(const json& vector) {
  const std::string text = vector["program"].get<std::string>();
  Program program(text);
  for (const json& one : vector["cases"]) {
    const Answer answer = program.show(vector["name"], one.value("input", json()));
    const std::string where = vector["id"].get<std::string>() + ": " + text + "\non " + one.dump() +
                              "\ngot " + answer.kind + " " + answer.type + " " +
                              answer.output.dump() + " " + answer.error;
    if (one.contains("error")) {
      EXPECT_FALSE(answer.error.empty()) << where;
      continue;
    }
    EXPECT_EQ(answer.error, "") << where;
    EXPECT_EQ(answer.kind, vector["kind"].get<std::string>()) << where;
    EXPECT_EQ(answer.type, one.value("type", answer.type)) << where;
    EXPECT_TRUE(same(one["output"], answer.output)) << where;
  }
}

TEST(Conformance, Language) {
  const std::vector<json> all = vectors("language.jsonl");
  ASSERT_EQ(all.size(), 265u);
  std::set<std::string> kinds;
  for (const json& vector : all) {
    ASSERT_FALSE(vector["cases"].empty());
    kinds.insert(vector["kind"].get<std::string>());
    check(vector);
  }
  EXPECT_EQ(kinds, (std::set<std::string>{"dict", "error", "list", "s-op", "selector", "value"}));
}

TEST(Conformance, Random) {
  const std::vector<json> all = vectors("random.jsonl");
  ASSERT_EQ(all.size(), 1499u);
  for (const json& vector : all) {
    ASSERT_FALSE(vector["cases"].empty());
    check(vector);
  }
}

// Two reports write the means of whole numbers as ints, which language.jsonl says are floats.
const std::set<std::string> kMeansAsInts = {"C03.0", "E04.0"};

bool same_value(const json& want, const json& got) {
  if (want.is_array()) {
    return got.is_array() &&
           std::equal(want.begin(), want.end(), got.begin(), got.end(), same_value);
  }
  if (want.is_number() && got.is_number()) return same(want.get<double>(), got.get<double>());
  return same(want, got);
}

TEST(Conformance, Reports) {
  const std::vector<json> all = vectors("reports.jsonl");
  ASSERT_EQ(all.size(), 60u);
  for (const json& vector : all) {
    const std::string text = vector["program"].get<std::string>();
    Program program(text);
    const Answer answer = program.show(vector["name"], vector["input"]);
    const bool loose = kMeansAsInts.contains(vector["id"].get<std::string>());
    EXPECT_EQ(answer.error, "") << vector["id"];
    EXPECT_TRUE(loose ? same_value(vector["output"], answer.output)
                      : same(vector["output"], answer.output))
        << vector["id"] << ": " << text << "\nexpected " << vector["output"] << "\ngot "
        << answer.output.dump() << " " << answer.error;
  }
}

}  // namespace
}  // namespace rasp
