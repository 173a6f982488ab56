#include "cli/json_value.h"

#include <algorithm>

#include "cli/format.h"
#include "cli/json.h"
#include "interpreter/interpreter.h"
#include "lang/function.h"

namespace rasp::cli {
namespace {

std::string type_text(std::span<const value::Atom> sequence) {
  const auto type = value::sequence_type(sequence);
  return type ? json_string(value::name_of(*type)) : "null";
}

bool depends_on_input(const lang::Value& value, std::size_t depth = 0) {
  if (depth > kMaxJsonNesting) return false;  // an error later on
  if (const auto* list = std::get_if<lang::List>(&value.data)) {
    return std::any_of(list->items->begin(), list->items->end(), [depth](const lang::Value& item) {
      return depends_on_input(item, depth + 1);
    });
  }
  if (const auto* dict = std::get_if<lang::Dict>(&value.data)) {
    return std::any_of(dict->items->begin(), dict->items->end(), [depth](const auto& entry) {
      return depends_on_input(entry.second, depth + 1);
    });
  }
  return std::holds_alternative<lang::SOp>(value.data) ||
         std::holds_alternative<lang::Selector>(value.data);
}

// Turns one value into JSON on one example.
class Converter {
 public:
  Converter(const Example& example, const Workspace& workspace)
      : example_(example), workspace_(workspace) {}

  // The members of the object behind "name".
  Result<void> describe(const lang::Value& value, JsonObject& object) {
    depth_ = 0;
    bytes_ = 0;
    return members(value, object);
  }

 private:
  Result<void> members(const lang::Value& value, JsonObject& object) {
    if (const auto* sop = std::get_if<lang::SOp>(&value.data)) {
      RASP_TRY(const value::Sequence output,
               interpreter::evaluate(workspace_.session().graph(), sop->node, example_.tokens,
                                     workspace_.interpreter()));
      return sequence("s-op", example_, output, object);
    }
    if (const auto* selector = std::get_if<lang::Selector>(&value.data)) {
      RASP_TRY(const interpreter::Matrix matrix,
               interpreter::evaluate_selector(workspace_.session().graph(), selector->node,
                                              example_.tokens, workspace_.interpreter()));
      return this->matrix(example_, matrix, object);
    }
    if (const auto* applied = std::get_if<lang::AppliedSequenceRef>(&value.data)) {
      return sequence("list", as_example((*applied)->input), (*applied)->output, object);
    }
    if (const auto* applied = std::get_if<lang::AppliedMatrixRef>(&value.data)) {
      return matrix(as_example((*applied)->input), to_matrix((*applied)->rows), object);
    }
    if (const auto* function = std::get_if<lang::FunctionRef>(&value.data)) {
      object.text("kind", "function")
          .text("output", format_function(**function, workspace_.sources()));
      return {};
    }
    const auto* atom = std::get_if<value::Atom>(&value.data);
    object.text("kind", atom != nullptr                                  ? "value"
                        : std::holds_alternative<lang::List>(value.data) ? "list"
                                                                         : "dict");
    if (atom != nullptr) object.text("type", value::name_of(value::type_of(*atom)));
    RASP_TRY(const std::string output, element(value));
    object.add("output", output);
    return {};
  }

  Result<void> sequence(std::string_view kind, const Example& input, const value::Sequence& output,
                        JsonObject& object) {
    const std::string text = json_atoms(output);
    RASP_CHECK_OK(charge(text.size()));
    object.text("kind", kind).add("input", json_input(input)).add("type", type_text(output));
    object.add("output", text);
    return {};
  }

  Result<void> matrix(const Example& input, const interpreter::Matrix& matrix, JsonObject& object) {
    RASP_CHECK_OK(charge(matrix.size() * (matrix.size() + 4)));
    object.text("kind", "selector").add("input", json_input(input));
    object.add("output", json_matrix(matrix));
    return {};
  }

  // A value inside a list or dict, or a whole atom, list or dict.
  Result<std::string> element(const lang::Value& value) {
    if (const auto* atom = std::get_if<value::Atom>(&value.data)) {
      std::string text = json_atom(*atom);
      RASP_CHECK_OK(charge(text.size()));
      return text;
    }
    if (const auto* list = std::get_if<lang::List>(&value.data)) return items(*list->items);
    if (const auto* dict = std::get_if<lang::Dict>(&value.data)) return items(*dict->items);
    if (const auto* applied = std::get_if<lang::AppliedSequenceRef>(&value.data)) {
      std::string text = json_atoms((*applied)->output);
      RASP_CHECK_OK(charge(text.size()));
      return text;
    }
    JsonObject object;
    RASP_CHECK_OK(members(value, object));
    return object.str();
  }

  Result<std::string> one(const lang::Value& item) { return element(item); }
  Result<std::string> one(const std::pair<value::Atom, lang::Value>& entry) {
    RASP_TRY(const std::string value, element(entry.second));
    const std::string key = json_atom(entry.first);
    RASP_CHECK_OK(charge(key.size()));
    return "[" + key + ", " + value + "]";
  }

  template <typename Items>
  Result<std::string> items(const Items& all) {
    if (++depth_ > kMaxJsonNesting) {
      return fail(ErrorKind::kLimit, {},
                  "the value is nested more than " + std::to_string(kMaxJsonNesting) +
                      " deep, which --json does not print");
    }
    std::string text = "[";
    for (const auto& item : all) {
      if (text.size() > 1) text += ", ";
      RASP_TRY(const std::string json, one(item));
      text += json;
    }
    --depth_;
    return text + "]";
  }

  Result<void> charge(std::size_t bytes) {
    bytes_ += bytes + 2;
    if (bytes_ <= kMaxJsonBytes) return {};
    return fail(ErrorKind::kLimit, {},
                "the value is too large to print: more than " +
                    std::to_string(kMaxJsonBytes >> 20) + " MiB");
  }

  const Example& example_;
  const Workspace& workspace_;
  std::size_t depth_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace

Result<std::vector<std::string>> json_lines(std::string_view name, const lang::Value& value,
                                            const std::vector<Example>& examples,
                                            const Workspace& workspace) {
  std::vector<std::string> lines;
  const std::size_t count = depends_on_input(value) ? examples.size() : 1;
  for (std::size_t i = 0; i < count; ++i) {
    JsonObject object;
    object.text("name", name);
    RASP_CHECK_OK(Converter(examples[i], workspace).describe(value, object));
    lines.push_back(object.str());
  }
  return lines;
}

}  // namespace rasp::cli
