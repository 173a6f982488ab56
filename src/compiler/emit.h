// Passes 7 and 8: where every variable lives in the residual stream, and the weights. BOS stays
// clean: it attends to itself alone, hidden units are pushed below zero there, constants are
// written through the "token" flag, and a read of a variable that BOS holds a default in subtracts
// it again.
#pragma once

#include <string>
#include <vector>

#include "compiler/circuit.h"
#include "compiler/compiler.h"
#include "compiler/encode.h"
#include "model/model.h"

namespace rasp::compiler {

struct Layout {
  std::uint32_t d_model = 0;
  std::vector<std::uint32_t> begin;  // first column of each variable
};
inline constexpr std::uint32_t kBosColumn = 0;    // 1 at BOS
inline constexpr std::uint32_t kTokenColumn = 1;  // 1 at tokens

[[nodiscard]] Layout lay_out(const Circuit& circuit, const Encoded& encoded);
[[nodiscard]] std::string print(const Circuit& circuit, const Encoded& encoded,
                                const Layout& layout);

// Names of IR nodes for people: they label, and decide nothing.
struct Labels {
  std::vector<std::string> name;    // by IR node; "" where there is none
  std::vector<std::string> origin;  // "file:line:column"
};

// Shapes of what is emitted, and the lines of a certificate.
[[nodiscard]] std::string print(const model::Model& model);
[[nodiscard]] std::string print(const model::Certificate& certificate);

// The weights; everything in the model but its name, program and certificate. Of the options, the
// vocabulary, the causality, the largest number of weights and the halt are read.
[[nodiscard]] model::Model emit(const Circuit& circuit, const Encoded& encoded,
                                const Layout& layout, const Labels& labels, const Options& options);

}  // namespace rasp::compiler
