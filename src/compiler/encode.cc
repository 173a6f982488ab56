#include "compiler/encode.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <map>

#include "compiler/halted.h"

namespace rasp::compiler {

NormalFeature normalise(const std::vector<double>& f) {
  NormalFeature normal{f, 1.0, 0.0};
  if (f.empty()) return normal;
  const auto whole = [](double x) { return std::abs(x) < 0x1p22 && x == std::floor(x); };
  // Only differences that are exact may be taken.
  if (!std::all_of(f.begin(), f.end(), whole)) {
    return normal;
  }
  normal.offset = f[0];
  double step = 0;
  for (double& value : normal.f) {
    value -= normal.offset;
    if (step == 0) step = value;
  }
  if (step == 0) return normal;
  if (std::all_of(normal.f.begin(), normal.f.end(),
                  [&](double x) { return whole(x / step) && x / step * step == x; })) {
    normal.scale = step;
  } else if (step < 0) {
    normal.scale = -1;
  }
  for (double& value : normal.f) value = value / normal.scale + 0.0;
  return normal;
}

namespace {

bool small_whole(double x) { return std::abs(x) < 0x1p22 && x == std::floor(x); }
bool whole_feature(const std::vector<double>& f) {
  return std::all_of(f.begin(), f.end(), small_whole);
}
// For writers that put a value there in one piece: the embedding, a head that picks.
bool any_feature(const std::vector<double>&) { return true; }

class Encoder {
 public:
  Encoder(const Circuit& circuit, const Halt& halt)
      : circuit_(circuit),
        halt_(halt),
        requests_(circuit.vars.size()),
        wanted_(circuit.vars.size(), false) {
    result_.vars.resize(circuit.vars.size());
  }

  Encoded run() {
    for (const Form& column : circuit_.output.columns) request(column);
    for (const VarId var : circuit_.output.keep) request_all(var);
    std::vector<const Op*> order;
    for (const Op& op : circuit_.ops) order.push_back(&op);
    const auto step = [](const Op* op) {
      return std::visit([](const auto& o) { return o.step; }, *op);
    };
    std::stable_sort(order.begin(), order.end(),
                     [&](const Op* a, const Op* b) { return step(a) < step(b); });
    for (std::size_t i = order.size(); i-- > 0;) {
      heed(halt_);
      EncodedOp encoded;
      encoded.step = step(order[i]);
      const bool live = std::visit([&](const auto& op) { return expand(op, encoded); }, *order[i]);
      if (live) result_.ops.push_back(std::move(encoded));
    }
    std::reverse(result_.ops.begin(), result_.ops.end());
    for (VarId var = 0; var < circuit_.vars.size(); ++var) {
      if (circuit_.vars[var].step == 0) choose(var, any_feature);
    }
    return std::move(result_);
  }

 private:
  void request(const Form& form) {
    for (const Term& term : form.terms) request(term.var, term.f);
  }
  void request(VarId var, const std::vector<double>& f) {
    if (circuit_.vars[var].scalar) {
      wanted_[var] = true;
      return;
    }
    const NormalFeature normal = normalise(f);
    if (std::all_of(normal.f.begin(), normal.f.end(), [](double x) { return x == 0; })) return;
    wanted_[var] = true;
    requests_[var].try_emplace(normal.f, requests_[var].size());
  }
  void request_all(VarId var) {
    wanted_[var] = true;
    const std::size_t n = circuit_.vars[var].values.size();
    for (std::size_t i = 0; i < n && !circuit_.vars[var].scalar; ++i) {
      std::vector<double> f(n, 0.0);
      f[i] = 1.0;
      requests_[var].try_emplace(f, requests_[var].size());
    }
  }

  // Settles a variable's columns. `allowed` says which features its writer can write exactly.
  void choose(VarId id, const std::function<bool(const std::vector<double>&)>& allowed) {
    const Var& var = circuit_.vars[id];
    Encoding& encoding = result_.vars[id];
    encoding.live = wanted_[id];
    if (!encoding.live || var.scalar) return;
    std::vector<const std::vector<double>*> features(requests_[id].size());
    for (const auto& [f, index] : requests_[id]) features[index] = &f;
    // Values that every reader treats alike are one class.
    std::map<std::vector<double>, std::size_t> classes;
    std::vector<std::size_t> class_of(var.values.size());
    for (std::size_t v = 0; v < var.values.size(); ++v) {
      std::vector<double> row;
      for (const auto* f : features) row.push_back((*f)[v]);
      class_of[v] = classes.try_emplace(std::move(row), classes.size()).first->second;
    }
    const bool exact =
        std::all_of(features.begin(), features.end(), [&](const auto* f) { return allowed(*f); });
    encoding.one_hot = !exact || features.size() >= classes.size();
    if (encoding.one_hot) {
      encoding.columns.assign(classes.size(), std::vector<double>(var.values.size(), 0.0));
      encoding.representative.resize(classes.size());
      for (std::size_t v = var.values.size(); v-- > 0;) {
        encoding.columns[class_of[v]][v] = 1.0;
        encoding.representative[class_of[v]] = v;
      }
    } else {
      for (const auto* f : features) encoding.columns.push_back(*f);
    }
    encoding.base.assign(encoding.columns.size(), 0.0);
  }

  bool expand(const HeadOp& head, EncodedOp& encoded) {
    encoded.head = &head;
    for (std::size_t i = 0; i < head.outputs.size(); ++i) {
      const HeadOutput& output = head.outputs[i];
      choose(output.target, any_feature);
      if (!result_.vars[output.target].live) continue;
      encoded.outputs.push_back(i);
      if (circuit_.vars[output.target].scalar) {
        request(output.form);
      } else {
        for (const auto& column : result_.vars[output.target].columns) {
          request(pick_form(circuit_, output, column));
        }
      }
    }
    if (encoded.outputs.empty() && !head.outputs.empty()) return false;
    for (const Logits::Dim& dim : head.logits.dims) {
      request(dim.key);
      request(dim.query);
    }
    return true;
  }

  // The distinct rows of a target's columns: what a writer has to tell apart.
  [[nodiscard]] std::vector<std::uint32_t> row_classes(VarId target) const {
    const Encoding& encoding = result_.vars[target];
    std::map<std::vector<double>, std::uint32_t> known;
    std::vector<std::uint32_t> classes;
    for (std::size_t v = 0; v < circuit_.vars[target].values.size(); ++v) {
      std::vector<double> row;
      for (const auto& column : encoding.columns) row.push_back(column[v]);
      // Named by its first value.
      classes.push_back(
          known.try_emplace(std::move(row), static_cast<std::uint32_t>(v)).first->second);
    }
    return classes;
  }

  void set_base(VarId target, std::uint32_t value) {
    Encoding& encoding = result_.vars[target];
    for (std::size_t c = 0; c < encoding.columns.size(); ++c) {
      encoding.base[c] = encoding.columns[c][value];
    }
  }

  bool expand(const BankOp& bank, EncodedOp& encoded) {
    // A column that moves by one at a step adds or subtracts a pair of units as they are; other
    // factors would round.
    choose(bank.target, [&](const std::vector<double>& f) {
      for (std::size_t i = 1; i < bank.result.size(); ++i) {
        if (std::abs(f[bank.result[i]] - f[bank.result[i - 1]]) > 1) return false;
      }
      return whole_feature(f);
    });
    const Encoding& encoding = result_.vars[bank.target];
    if (!encoding.live) return false;
    encoded.target = bank.target;
    const std::vector<std::uint32_t> classes = row_classes(bank.target);
    std::vector<std::uint32_t> result;
    for (const std::uint32_t value : bank.result) result.push_back(classes[value]);
    set_base(bank.target, result[0]);
    const auto steps = place_steps(circuit_, bank, result);
    assert(steps && "checked when the bank was made");
    Form scaled;
    add(scaled, bank.form, steps->slope);
    scaled.offset -= steps->slope * steps->origin;
    std::size_t change = 0;
    for (std::size_t i = 1; i < result.size(); ++i) {
      if (result[i] == result[i - 1]) continue;
      const double bias = steps->biases[change++];
      Unit up{scaled, -bias, {}};
      for (const auto& column : encoding.columns) {
        up.out.push_back(column[result[i]] - column[result[i - 1]]);
      }
      Unit down{scaled, -bias - 1, up.out};
      for (double& value : down.out) value = -value + 0.0;
      encoded.units.push_back(std::move(up));
      encoded.units.push_back(std::move(down));
    }
    request(scaled);
    return true;
  }

  bool expand(const TableOp& table, EncodedOp& encoded) {
    choose(table.target, whole_feature);
    const Encoding& encoding = result_.vars[table.target];
    if (!encoding.live) return false;
    encoded.target = table.target;
    const std::vector<std::uint32_t> classes = row_classes(table.target);
    std::vector<std::uint32_t> cells;
    for (const std::uint32_t cell : table.cells) {
      cells.push_back(cell == kUndefined ? kUndefined : classes[cell]);
    }
    std::vector<std::size_t> sizes;
    std::vector<bool> mixes;
    for (const VarId input : table.inputs) {
      const Var& var = circuit_.vars[input];
      sizes.push_back(var.values.size() + (var.may_mix ? 1 : 0));
      mixes.push_back(var.may_mix);
    }
    const std::uint32_t omit = commonest(cells);
    if (omit == kUndefined) return true;  // never read
    set_base(table.target, omit);
    for (const Box& box : cover(sizes, mixes, cells, omit)) {
      Unit unit;
      double mentioned = 0;
      for (std::size_t d = 0; d < box.sets.size(); ++d) {
        if (box.sets[d].empty()) continue;
        mentioned += 1;
        Term term{table.inputs[d], {}, 0.0};
        for (std::size_t v = 0; v < circuit_.vars[table.inputs[d]].values.size(); ++v) {
          term.f.push_back(box.sets[d][v] ? 1.0 : 0.0);
        }
        request(term.var, term.f);
        unit.form.terms.push_back(std::move(term));
      }
      unit.bias = mentioned == 0 ? 1.0 : 1.0 - mentioned;
      for (const auto& column : encoding.columns) {
        unit.out.push_back(column[box.result] - column[omit]);
      }
      encoded.units.push_back(std::move(unit));
    }
    return true;
  }

  const Circuit& circuit_;
  Halt halt_;
  std::vector<std::map<std::vector<double>, std::size_t>> requests_;
  std::vector<bool> wanted_;
  Encoded result_;
};

}  // namespace

Form pick_form(const Circuit& circuit, const HeadOutput& output,
               const std::vector<double>& column) {
  const Var& target = circuit.vars[output.target];
  const auto at = [&](const std::optional<value::Atom>& value) {
    if (!value) return column[0];  // read by nobody: any value will do
    for (std::size_t v = 0; v < target.values.size(); ++v) {
      if (value::identical(target.values[v], *value)) return column[v];
    }
    return 0.0;
  };
  Form form;
  if (output.value.var == kNoVar) {
    form.offset = at(output.value.values[0]);
    return form;
  }
  Term term{output.value.var, {}, 0.0};
  for (const auto& value : output.value.values) term.f.push_back(at(value));
  form.terms.push_back(std::move(term));
  return form;
}

Encoded encode(const Circuit& circuit, const Halt& halt) { return Encoder(circuit, halt).run(); }

std::string print(const Circuit& circuit, const Encoded& encoded) {
  std::string text;
  for (VarId id = 0; id < circuit.vars.size(); ++id) {
    const Encoding& encoding = encoded.vars[id];
    if (!encoding.live) continue;
    const Var& var = circuit.vars[id];
    text += 'v' + std::to_string(id) + ": " + std::to_string(encoding.width(var)) + " columns, " +
            (var.scalar         ? "scalar"
             : encoding.one_hot ? "one-hot"
                                : "features") +
            ", from step " + std::to_string(var.step) + '\n';
  }
  for (const EncodedOp& op : encoded.ops) {
    text += "step " + std::to_string(op.step) + ": ";
    text += op.head != nullptr ? "head, " + std::to_string(op.outputs.size()) + " outputs\n"
                               : std::to_string(op.units.size()) + " units for v" +
                                     std::to_string(op.target) + '\n';
  }
  return text;
}

}  // namespace rasp::compiler
