// How the answer leaves the stream. A number that heads add up is read as it is and decoded to the
// nearest value it can have: no MLP. Anything else is a categorical variable, and the unembedding
// has a logit for each of its values.
#include <algorithm>
#include <cmath>
#include <limits>

#include "compiler/lower.h"

namespace rasp::compiler {

using value::Atom;
using value::Number;

void Lowering::output_pattern(IrId selector) {
  HeadOp& op = head(selector, HeadKind::kMean, 0);
  circuit_.output.decoder.kind = model::Decoder::Kind::kPattern;
  circuit_.output.pattern_step = op.step;
}

void Lowering::output_value(IrId root) {
  if (!output_scalar(root)) output_categorical(root);
}

namespace {

// Answers with more values than this leave as a number, not as a logit each.
constexpr std::size_t kMostLogits = 128;

// Half the smallest distance between two fractions with denominators up to `most`.
double half_gap(std::int64_t most) {
  const auto q = static_cast<double>(most);
  return most <= 1 ? 0.5 : 0.5 / (q * (q - 1));
}

}  // namespace

// A code for every value that `source` can have, and what it means. Gives half the smallest
// distance between two; nothing where the answer is no function of `source`.
std::optional<double> Lowering::list_codes(IrId root, IrId source, model::Decoder& decoder) {
  const Domain& domain = domains_[source];
  const auto values = domains_.as_function_of(root, source, domain.values);
  if (!values) return std::nullopt;
  const auto some = std::find_if(values->begin(), values->end(),
                                 [](const auto& value) { return value.has_value(); });
  if (some == values->end()) return std::nullopt;
  double gap = std::numeric_limits<double>::infinity();
  for (std::size_t i = 0; i < values->size(); ++i) {
    const auto code = value::to_number(domain.values[i]);
    if (!decoder.codes.empty()) {
      gap = std::min(gap, (*code - decoder.codes.back()).to_double() / 2);
    }
    decoder.codes.push_back(*code);
    // Where the program has no value nobody reads it, and any will do.
    decoder.values.push_back((*values)[i] ? *(*values)[i] : **some);
  }
  return gap;
}

bool Lowering::output_scalar(IrId root) {
  while (domains_.is_whole_round(root)) root = ir_[root].args[0];
  const IrNode& node = ir_[root];
  const bool whole = is_leaf(node.kind) || node.kind == IrKind::kAffine;
  const IrId source = whole && domains_[root].numeric ? root : spine(root);
  if (source == kNoIr) return false;
  const IrNode& from = ir_[source];
  const auto of_head = [&](IrId id) {
    const IrKind kind = ir_[id].kind;
    return kind == IrKind::kWidth || kind == IrKind::kSum ||
           (kind == IrKind::kMean && !domains_.is_pick(id));
  };
  // Only what a head adds up; a function of one categorical variable has better readers.
  const bool sum = from.kind == IrKind::kAffine && (from.args.size() > 1 || of_head(from.args[0]));
  if (!of_head(source) && !sum) return false;
  const Domain& domain = domains_[source];
  model::Decoder decoder;
  decoder.kind = model::Decoder::Kind::kScalar;
  double gap = std::numeric_limits<double>::infinity();
  if (domain.listed) {
    const auto smallest = list_codes(root, source, decoder);
    if (!smallest) return false;
    gap = *smallest;
  } else {
    if (source != root || domain.denominator <= 0) {
      if (source != root) return false;
      throw Refusal{root, "its values have no common denominator to round them to",
                    "a shorter length or a smaller vocabulary"};
    }
    decoder.minimum = domain.minimum;
    decoder.maximum = domain.maximum;
    decoder.max_denominator = domain.denominator;
    decoder.multiples = !domain.fractions;
    gap = domain.fractions ? half_gap(domain.denominator)
                           : 0.5 / static_cast<double>(domain.denominator);
  }
  const Form form = linear(source);
  const double error = error_of(circuit_, form);
  if (!(error < gap) && from.kind == IrKind::kWidth && domain.listed) {
    return output_reciprocal(source, std::move(decoder));
  }
  if (!(error < gap)) {
    if (!domain.listed) {
      throw Refusal{root, "two of its values can lie closer together than the rounding of its sum",
                    "a shorter length, a smaller vocabulary or --dtype f64 sets them apart"};
    }
    return false;
  }
  circuit_.output.decoder = std::move(decoder);
  circuit_.output.columns = {form};
  return true;
}

// A width too large to add up exactly is read as 1 / (width + 1): BOS stands level with the
// selected keys, the weights are equal, their sum is whole, and the one division is off by one
// rounding, far less than neighbouring widths differ.
bool Lowering::output_reciprocal(IrId width, model::Decoder decoder) {
  model::Decoder reciprocal = decoder;
  reciprocal.codes.clear();
  reciprocal.values.clear();
  const Number one = Number::integer(1);
  for (std::size_t i = decoder.codes.size(); i-- > 0;) {
    reciprocal.codes.push_back(Number::divide(one, decoder.codes[i] + one));
    reciprocal.values.push_back(decoder.values[i]);
  }
  if (decoder.codes.front() >
      Number()) {  // no query is without a key, which the weights do not show
    reciprocal.codes.push_back(one);
    reciprocal.values.push_back(decoder.values.front());
  }
  HeadOp& op = head(ir_[width].args[0], HeadKind::kShare, 0);
  Var var;
  var.node = width;
  var.step = op.step;
  var.scalar = true;
  var.minimum = reciprocal.codes.front();
  var.maximum = Number::integer(1);
  var.bos_scalar = 1;
  var.error = 2 * circuit_.epsilon();
  circuit_.vars.push_back(std::move(var));
  HeadOutput output;
  output.target = static_cast<VarId>(circuit_.vars.size() - 1);
  output.bos = 1;
  Form form;
  form.terms.push_back({output.target, {}, 1.0});
  op.outputs.push_back(std::move(output));
  circuit_.output.decoder = std::move(reciprocal);
  circuit_.output.columns = {std::move(form)};
  return true;
}

void Lowering::output_categorical(IrId root) {
  const View view = categorical(root);
  model::Decoder& decoder = circuit_.output.decoder;
  decoder.kind = model::Decoder::Kind::kArgmax;
  decoder.values = domains_[root].values;
  if (decoder.values.empty()) {
    throw Refusal{root, "it has no value on any input over this vocabulary",
                  "check the vocabulary and the expression"};
  }
  if (ir_[root].kind == IrKind::kToken) decoder.values = circuit_.vars[view.var].values;
  if (decoder.values.size() > kMostLogits && view.var != kNoVar) {
    // One column with the number of the value, and a table to read it by.
    decoder.kind = model::Decoder::Kind::kScalar;
    View numbers{view.var, {}};
    for (const auto& own : view.values) {
      const auto at = own ? std::find_if(decoder.values.begin(), decoder.values.end(),
                                         [&](const Atom& v) { return value::identical(v, *own); })
                          : decoder.values.begin();
      numbers.values.emplace_back(value::make_int(at - decoder.values.begin()));
    }
    for (std::size_t i = 0; i < decoder.values.size(); ++i) {
      decoder.codes.push_back(Number::integer(static_cast<std::int64_t>(i)));
    }
    circuit_.output.columns = {scaled_view(numbers, 1.0)};
    return;
  }
  for (const Atom& value : decoder.values) {
    Form form;
    if (view.var == kNoVar) {
      form.offset = 1;
    } else {
      Term term{view.var, {}, 0.0};
      for (const auto& own : view.values) {
        const Atom& held = own ? *own : decoder.values.front();  // undefined: any value will do
        term.f.push_back(value::identical(held, value) ? 1.0 : 0.0);
      }
      form.terms.push_back(std::move(term));
    }
    circuit_.output.columns.push_back(std::move(form));
  }
}

// A column above 0.5 where the number is a float.
void Lowering::output_type(IrId test) {
  model::Decoder& decoder = circuit_.output.decoder;
  const IrNode& node = ir_[test];
  if (node.kind == IrKind::kConst) {
    decoder.number_type = value::truth(node.atom) ? model::Decoder::NumberType::kFloat
                                                  : model::Decoder::NumberType::kAsListed;
    return;
  }
  // Where every value is a fraction, or none is a number, there is nothing to tell.
  const auto ambiguous = [](const Atom& atom) {
    const auto* number = std::get_if<Number>(&atom);
    return number != nullptr && number->is_int();
  };
  if (!decoder.values.empty() &&
      std::none_of(decoder.values.begin(), decoder.values.end(), ambiguous)) {
    return;
  }
  decoder.type_output = static_cast<std::int32_t>(circuit_.output.columns.size());
  if (const IrId source = spine(test); source != kNoIr) {
    const Domain& domain = domains_[source];
    const auto values = domains_.as_function_of(test, source, domain.values);
    // False up to some number and True from there on (or the other way round): the number itself
    // decides.
    std::vector<std::pair<double, bool>> points;
    for (std::size_t i = 0; values && i < values->size(); ++i) {
      if ((*values)[i]) {
        points.emplace_back(value::to_number(domain.values[i])->to_double(),
                            value::truth(*(*values)[i]));
      }
    }
    std::size_t change = 0, changes = 0;
    for (std::size_t i = 1; i < points.size(); ++i) {
      if (points[i].second != points[i - 1].second) {
        change = i;
        ++changes;
      }
    }
    if (changes == 1) {
      const Form form = linear(source);
      const double gap = points[change].first - points[change - 1].first;
      if (error_of(circuit_, form) * 2 < gap) {
        const double sign = points[change].second ? 1.0 : -1.0;
        Form column;
        add(column, form, sign);
        column.offset += 0.5 - sign * (points[change - 1].first + gap / 2);
        circuit_.output.columns.push_back(std::move(column));
        return;
      }
    }
  }
  circuit_.output.columns.push_back(scaled_view(categorical(test), 1.0));
}

}  // namespace rasp::compiler
