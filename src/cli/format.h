// Values as text, without knowing how s-ops are evaluated.
#pragma once

#include <span>
#include <string>
#include <string_view>

#include "base/source.h"
#include "graph/graph.h"
#include "interpreter/interpreter.h"
#include "lang/value.h"
#include "value/atom.h"

namespace rasp::cli {

inline constexpr std::size_t kMaxGrid = 256;                     // rows and columns of a grid
inline constexpr std::size_t kMaxShown = std::size_t{16} << 20;  // bytes of one value's text
inline constexpr std::size_t kMaxNesting = 50;  // of lists in lists; deeper ones are cut

// One value repeated, of one type, printing alike: shown as "[v]*n".
[[nodiscard]] bool folds(std::span<const value::Atom> sequence);
[[nodiscard]] std::string more(std::size_t count);  // "… (3 more)"
// "[0, 1, 2] (ints)", "[a]*5 (strings)".
[[nodiscard]] std::string format_sequence(std::span<const value::Atom> sequence,
                                          std::size_t max_items = 0);
// Two lines, each indented: input and output in columns.
[[nodiscard]] std::string format_full_sequence(std::span<const value::Atom> input,
                                               std::span<const value::Atom> output,
                                               std::string_view indent, std::size_t max_items = 0);
// Rows are queries, columns keys; one line each, indented.
[[nodiscard]] std::string format_grid(std::span<const value::Atom> input,
                                      const interpreter::Matrix& matrix, std::string_view indent);
// "2.5", "\"text\"": a value by itself.
[[nodiscard]] std::string format_atom(const value::Atom& atom);
// "console function: f(x, y)".
[[nodiscard]] std::string format_function(const lang::Function& function, const SourceMap& sources);
// "[1, 'two']", "{1: 'x'}": a list or dict on one line; s-ops in it by their expression.
[[nodiscard]] std::string format_flat(const lang::Value& value, const graph::Graph& graph,
                                      std::size_t max_items = 0);
[[nodiscard]] interpreter::Matrix to_matrix(const std::vector<std::vector<bool>>& rows);

}  // namespace rasp::cli
