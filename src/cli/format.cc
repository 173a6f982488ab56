#include "cli/format.h"

#include <algorithm>
#include <filesystem>

#include "base/utf8.h"
#include "lang/function.h"
#include "visual/text.h"

namespace rasp::cli {

using visual::pad_left;
namespace {

std::string type_word(std::span<const value::Atom> sequence) {
  const auto type = value::sequence_type(sequence);
  return type ? "(" + std::string(value::name_of(*type)) + "s)" : "(mixed)";
}

std::string cell(const value::Atom& atom) { return printable(value::brief(atom)); }

}  // namespace

bool folds(std::span<const value::Atom> sequence) {
  return sequence.size() > 1 &&
         std::all_of(sequence.begin(), sequence.end(), [&](const value::Atom& atom) {
           return value::type_of(atom) == value::type_of(sequence.front()) &&
                  value::brief(atom) == value::brief(sequence.front());
         });
}

std::string more(std::size_t count) { return "… (" + std::to_string(count) + " more)"; }

std::string format_atom(const value::Atom& atom) {
  if (const auto* text = std::get_if<std::string>(&atom)) return "\"" + printable(*text) + "\"";
  return value::repr(atom);
}

std::string format_sequence(std::span<const value::Atom> sequence, std::size_t max_items) {
  if (folds(sequence)) {
    return "[" + cell(sequence.front()) + "]*" + std::to_string(sequence.size()) + " " +
           type_word(sequence);
  }
  std::string text = "[";
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    if (i > 0) text += ", ";
    if ((max_items != 0 && i == max_items) || text.size() > kMaxShown) {
      text += more(sequence.size() - i);
      break;
    }
    text += cell(sequence[i]);
  }
  return text + "] " + type_word(sequence);
}

std::string format_full_sequence(std::span<const value::Atom> input,
                                 std::span<const value::Atom> output, std::string_view indent,
                                 std::size_t max_items) {
  const std::size_t count = max_items == 0 ? output.size() : std::min(output.size(), max_items);
  std::vector<std::string> cells;
  std::size_t width = 1;
  for (std::size_t i = 0; i < 2 * count; ++i) {
    // The whole value of a float: columns are for looking closely.
    const value::Atom& atom = i < count ? input[i] : output[i - count];
    cells.push_back(value::type_of(atom) == value::Type::kFloat ? value::repr(atom) : cell(atom));
    width = std::max(width, display_width(cells.back()));
  }
  const auto line = [&](std::string_view title, std::size_t first, std::string_view type) {
    std::string text = std::string(indent) + std::string(title);
    for (std::size_t i = first; i < first + count; ++i) text += " " + pad_left(cells[i], width);
    if (count < output.size()) text += " " + more(output.size() - count);
    return text + " \t " + std::string(type) + "\n";
  };
  return line("input:  ", 0, "(strings)") + line("output: ", count, type_word(output));
}

std::string format_grid(std::span<const value::Atom> input, const interpreter::Matrix& matrix,
                        std::string_view indent) {
  const std::size_t count = std::min(matrix.size(), kMaxGrid);
  std::vector<std::string> labels;
  std::vector<std::size_t> widths;
  std::size_t label_width = 1;
  for (std::size_t i = 0; i < count; ++i) {
    labels.push_back(cell(input[i]));
    widths.push_back(std::max<std::size_t>(1, display_width(labels.back())));
    label_width = std::max(label_width, widths.back());
  }
  const std::string rest = count < matrix.size() ? " " + more(matrix.size() - count) : "";
  std::string text = std::string(indent) + std::string(label_width + 2, ' ');
  for (std::size_t key = 0; key < count; ++key) text += " " + pad_left(labels[key], widths[key]);
  text += rest + "\n";
  for (std::size_t query = 0; query < count; ++query) {
    std::string line = std::string(indent) + pad_left(labels[query], label_width) + " |";
    for (std::size_t key = 0; key < count; ++key) {
      line += " " + pad_left(matrix.at(query, key) ? "1" : " ", widths[key]);
    }
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  if (!rest.empty()) text += std::string(indent) + rest + "\n";
  return text;
}

std::string format_function(const lang::Function& function, const SourceMap& sources) {
  std::string home = "builtin";
  if (function.library && function.builtin == lang::Builtin::kNone) {
    home = "library";
  } else if (function.span.valid()) {
    home = std::filesystem::path(sources.name(function.span.file)).stem().string();
  }
  std::string text = printable(home) + " function: " + function.name + "(";
  for (const std::string& parameter : function.parameters) {
    if (!text.ends_with('(')) text += ", ";
    text += parameter;
  }
  return text + ")";
}

interpreter::Matrix to_matrix(const std::vector<std::vector<bool>>& rows) {
  interpreter::Matrix matrix(rows.size());
  for (std::size_t query = 0; query < rows.size(); ++query) {
    for (std::size_t key = 0; key < rows.size(); ++key) {
      if (rows[query][key]) matrix.set(query, key);
    }
  }
  return matrix;
}

namespace {

void append_flat(std::string& text, const lang::Value& value, const graph::Graph& graph,
                 std::size_t max_items, std::size_t depth);

template <typename Items, typename One>
void append_items(std::string& text, const Items& items, std::size_t max_items, const One& one) {
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) text += ", ";
    if ((max_items != 0 && i == max_items) || text.size() > kMaxShown) {
      text += more(items.size() - i);
      return;
    }
    one(items[i]);
  }
}

struct FlatVisitor {
  std::string& text;
  const graph::Graph& graph;
  std::size_t max_items;
  std::size_t depth;

  void operator()(const value::Atom& atom) const { text += printable(value::repr(atom)); }
  void operator()(const lang::List& list) const {
    if (depth == 0) {
      text += "[…]";
      return;
    }
    text += '[';
    append_items(text, *list.items, max_items, [this](const lang::Value& item) {
      append_flat(text, item, graph, max_items, depth - 1);
    });
    text += ']';
  }
  void operator()(const lang::Dict& dict) const {
    if (depth == 0) {
      text += "{…}";
      return;
    }
    text += '{';
    append_items(text, *dict.items, max_items, [this](const auto& entry) {
      text += printable(value::repr(entry.first)) + ": ";
      append_flat(text, entry.second, graph, max_items, depth - 1);
    });
    text += '}';
  }
  void operator()(const lang::SOp& sop) const { text += graph::expression(graph, sop.node); }
  void operator()(const lang::Selector& s) const { text += graph::expression(graph, s.node); }
  void operator()(const lang::FunctionRef& function) const { text += function->name; }
  void operator()(const lang::AppliedSequenceRef& applied) const {
    text += '[';
    append_items(text, applied->output, max_items,
                 [this](const value::Atom& atom) { text += printable(value::repr(atom)); });
    text += ']';
  }
  void operator()(const lang::AppliedMatrixRef& applied) const {
    text += "a " + std::to_string(applied->rows.size()) + "x" +
            std::to_string(applied->rows.size()) + " selection";
  }
};

void append_flat(std::string& text, const lang::Value& value, const graph::Graph& graph,
                 std::size_t max_items, std::size_t depth) {
  std::visit(FlatVisitor{text, graph, max_items, depth}, value.data);
}

}  // namespace

std::string format_flat(const lang::Value& value, const graph::Graph& graph,
                        std::size_t max_items) {
  std::string text;
  append_flat(text, value, graph, max_items, kMaxNesting);
  return text;
}

}  // namespace rasp::cli
