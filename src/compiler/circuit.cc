#include "compiler/circuit.h"

#include <algorithm>
#include <cmath>

#include "compiler/encode.h"

namespace rasp::compiler {

std::uint32_t step_of(const Circuit& circuit, const Form& form) {
  std::uint32_t step = 0;
  for (const Term& term : form.terms) step = std::max(step, circuit.vars[term.var].step);
  return step;
}

void add(Form& form, const Form& other, double scale) {
  form.offset += scale * other.offset;
  for (const Term& term : other.terms) {
    auto own = std::find_if(form.terms.begin(), form.terms.end(),
                            [&](const Term& t) { return t.var == term.var; });
    if (own == form.terms.end()) {
      form.terms.push_back({term.var, std::vector<double>(term.f.size(), 0.0), 0.0});
      own = form.terms.end() - 1;
    }
    own->weight += scale * term.weight;
    for (std::size_t i = 0; i < term.f.size(); ++i) own->f[i] += scale * term.f[i];
  }
}

namespace {

double largest(const Circuit& circuit, const Term& term) {
  const Var& var = circuit.vars[term.var];
  if (var.scalar) {
    const double bound =
        std::max(std::abs(var.minimum.to_double()), std::abs(var.maximum.to_double()));
    return std::abs(term.weight) * (bound + var.error);
  }
  double most = 0;
  for (const double value : term.f) most = std::max(most, std::abs(value));
  return most;
}

}  // namespace

double magnitude(const Circuit& circuit, const Form& form) {
  double sum = std::abs(form.offset);
  for (const Term& term : form.terms) sum += largest(circuit, term);
  return sum;
}

double addends(const Circuit& circuit, const Form& form) {
  double sum = std::abs(form.offset);
  for (const Term& term : form.terms) {
    double most = largest(circuit, term);
    if (!circuit.vars[term.var].scalar) {
      const NormalFeature normal = normalise(term.f);
      double part = 0;
      for (const double value : normal.f) part = std::max(part, std::abs(normal.scale * value));
      most = std::max(most, part + std::abs(normal.offset));
    }
    sum += most;
  }
  return sum;
}

bool is_exact(const Circuit& circuit, const Form& form, double terms) {
  // The finest power of two that divides all coefficients, down to 2^-20.
  double unit = 1;
  const auto refine = [&](double value) {
    while (unit >= 0x1p-20 && std::remainder(value, unit) != 0) unit /= 2;
  };
  refine(form.offset);
  for (const Term& term : form.terms) {
    if (circuit.vars[term.var].scalar) return false;
    for (const double value : term.f) refine(value);
  }
  // Offsets and features are stored relative to one another: twice the magnitude covers the parts
  // of a sum.
  return unit >= 0x1p-20 && 2 * magnitude(circuit, form) * terms < circuit.exact_limit() * unit;
}

double error_of(const Circuit& circuit, const Form& form) {
  if (is_exact(circuit, form)) return 0;
  double error = 0;
  // Every addend is rounded once as a product and once in the sum; a lone one with a power of two
  // is not rounded at all.
  std::size_t roundings = form.offset != 0 ? 1 : 0;
  int exponent = 0;
  bool shifts = form.offset == 0 && form.terms.size() == 1;
  for (const Term& term : form.terms) {
    const Var& var = circuit.vars[term.var];
    if (var.scalar) error += std::abs(term.weight) * var.error;
    roundings += var.scalar ? 2 : 3;
    shifts = shifts && var.scalar && std::abs(std::frexp(term.weight, &exponent)) == 0.5;
  }
  if (shifts) return error;
  return error + static_cast<double>(roundings) * circuit.epsilon() * 1.01 * addends(circuit, form);
}

namespace {

std::string print(const Circuit& circuit, const Form& form) {
  std::string text;
  for (const Term& term : form.terms) {
    if (!text.empty()) text += " + ";
    const bool scalar = circuit.vars[term.var].scalar;
    text += scalar ? value::Number::inexact(term.weight).repr() + "*v" + std::to_string(term.var)
                   : "f(v" + std::to_string(term.var) + ")";
  }
  if (form.offset != 0 || text.empty()) {
    text += (text.empty() ? "" : " + ") + value::Number::inexact(form.offset).repr();
  }
  return text;
}

std::string print(const Circuit& circuit, const HeadOp& head) {
  std::string text = head.kind == HeadKind::kSum    ? "sum head"
                     : head.kind == HeadKind::kMean ? "mean head"
                                                    : "share head";
  text += ", " + std::to_string(head.logits.predicates) + " predicates, " +
          std::to_string(head.logits.dims.size()) + " dims:";
  for (const HeadOutput& output : head.outputs) {
    text += " v" + std::to_string(output.target) + " = ";
    text += circuit.vars[output.target].scalar ? print(circuit, output.form)
                                               : "pick v" + std::to_string(output.value.var);
    text += ';';
  }
  return text;
}

}  // namespace

std::string print(const Circuit& circuit) {
  std::string text;
  for (std::size_t i = 0; i < circuit.vars.size(); ++i) {
    const Var& var = circuit.vars[i];
    text += 'v' + std::to_string(i) + " step " + std::to_string(var.step) +
            (var.scalar ? ": scalar [" + var.minimum.repr() + ", " + var.maximum.repr() +
                              "], error " + value::Number::inexact(var.error).repr()
                        : ": " + std::to_string(var.values.size()) + " values") +
            '\n';
  }
  for (const Op& op : circuit.ops) {
    if (const auto* head = std::get_if<HeadOp>(&op)) {
      text += "step " + std::to_string(head->step) + ' ' + print(circuit, *head) + '\n';
    } else if (const auto* bank = std::get_if<BankOp>(&op)) {
      text += "step " + std::to_string(bank->step) + " bank: v" + std::to_string(bank->target) +
              " = F(" + print(circuit, bank->form) + "), " + std::to_string(bank->points.size()) +
              " points\n";
    } else if (const auto* table = std::get_if<TableOp>(&op)) {
      text += "step " + std::to_string(table->step) + " table: v" + std::to_string(table->target) +
              " =";
      for (const VarId input : table->inputs) text += " v" + std::to_string(input);
      text += ", " + std::to_string(table->cells.size()) + " cells\n";
    }
  }
  return text;
}

}  // namespace rasp::compiler
