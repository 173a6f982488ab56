#include "compiler/lower.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <set>

#include "compiler/cover.h"
#include "compiler/halted.h"
#include "compiler/selectors.h"

namespace rasp::compiler {

using value::Atom;
using value::Number;

namespace {

constexpr std::size_t kMaxDepth = 2000;  // about two a layer; the stack holds several times as many

std::vector<std::optional<Atom>> defined(const std::vector<Atom>& values) {
  return {values.begin(), values.end()};
}

std::uint32_t index_of(const std::vector<Atom>& values, const Atom& value) {
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    if (value::identical(values[i], value)) return i;
  }
  return kUndefined;
}

}  // namespace

// One more level of recursion, while it lives.
class Lowering::Nested {
 public:
  Nested(Lowering& lowering, IrId id) : depth_(lowering.depth_) {
    heed(lowering.halt_);
    if (depth_ == kMaxDepth) {
      throw Refusal{id, "it takes too many layers, one after the other",
                    "a program of fewer steps takes fewer layers"};
    }
    ++depth_;
  }
  Nested(const Nested&) = delete;
  Nested& operator=(const Nested&) = delete;
  ~Nested() { --depth_; }

 private:
  std::size_t& depth_;
};

Lowering::Lowering(Ir& ir, Domains& domains, model::Dtype dtype, std::vector<IrId> keep,
                   const Halt& halt)
    : ir_(ir), domains_(domains), halt_(halt) {
  circuit_.dtype = dtype;
  circuit_.max_length = ir.max_length();
  keep_.resize(ir.size(), false);
  for (const IrId id : keep) keep_[id] = true;
}

VarId Lowering::new_categorical(IrId id, std::uint32_t step) {
  Var var;
  var.node = id;
  var.step = step;
  var.values = domains_[id].values;
  var.may_mix = domains_[id].may_mix;
  circuit_.vars.push_back(std::move(var));
  return static_cast<VarId>(circuit_.vars.size() - 1);
}

View Lowering::categorical(IrId id) {
  if (const auto known = views_.find(id); known != views_.end()) return known->second;
  const Nested nested(*this, id);
  View view = make_categorical(id);
  const bool keep = id < keep_.size() && keep_[id];
  if (keep && view.var != kNoVar && circuit_.vars[view.var].node != id) {
    // A function of another variable gets columns of its own.
    const VarId target = new_categorical(id, mlp_step(circuit_.vars[view.var].step));
    TableOp op{circuit_.vars[target].step, target, {view.var}, {}};
    for (const auto& value : view.values) {
      op.cells.push_back(value ? index_of(circuit_.vars[target].values, *value) : kUndefined);
    }
    if (circuit_.vars[view.var].may_mix) op.cells.push_back(kUndefined);
    circuit_.ops.emplace_back(std::move(op));
    view = View{target, defined(circuit_.vars[target].values)};
    circuit_.output.keep.push_back(target);
  } else if (keep && view.var != kNoVar) {
    circuit_.output.keep.push_back(view.var);
  }
  views_[id] = view;
  return view;
}

View Lowering::make_categorical(IrId id) {
  const IrNode& node = ir_[id];
  const Domain& domain = domains_[id];
  if (node.kind == IrKind::kConst) return View{kNoVar, {node.atom}};
  if (!domain.listed) {
    throw Refusal{id, "it can take too many different values to be told apart",
                  "a shorter length or a smaller vocabulary makes fewer"};
  }
  if (is_leaf(node.kind)) return leaf_variable(id);
  if (domain.values.empty()) return View{kNoVar, {std::nullopt}};  // never has a value
  if (domain.leaves.size() == 1) {
    const IrId leaf = domain.leaves[0];
    const View base = categorical(leaf);
    View view{base.var, {}};
    for (const auto& value : base.values) {
      const std::uint32_t row = value ? index_of(domains_[leaf].values, *value) : kUndefined;
      const std::uint32_t cell = row == kUndefined ? kUndefined : domain.cells[row];
      view.values.push_back(cell == kUndefined ? std::nullopt : std::optional(domain.values[cell]));
    }
    return view;
  }
  return materialise(id);
}

View Lowering::leaf_variable(IrId id) {
  const IrNode& node = ir_[id];
  switch (node.kind) {
    case IrKind::kToken:
      return View{new_categorical(id, 0), defined(domains_[id].values)};
    case IrKind::kPosition:
      circuit_.position = new_categorical(id, 0);
      return View{circuit_.position, defined(domains_[id].values)};
    case IrKind::kExists:
      return pick_of_head(id);
    case IrKind::kMean:
      if (domains_.is_pick(id)) return pick_of_head(id);
      return materialise(id);
    default:
      return materialise(id);
  }
}

HeadOp& Lowering::head(IrId selector, HeadKind kind, std::uint32_t value_step) {
  auto known = logits_.find(selector);
  if (known == logits_.end()) {
    known = logits_.emplace(selector, SelectorLowering(*this).logits(selector)).first;
  }
  const std::uint32_t step = head_step(std::max(known->second.step, value_step));
  const auto [slot, fresh] = heads_.try_emplace({selector, kind, step}, circuit_.ops.size());
  if (fresh) circuit_.ops.emplace_back(HeadOp{step, selector, kind, known->second, {}});
  return std::get<HeadOp>(circuit_.ops[slot->second]);
}

View Lowering::pick_of_head(IrId id) {
  const IrNode node = ir_[id];
  HeadOutput output;
  std::uint32_t step = 0;
  Atom otherwise = node.atom;
  if (node.kind == IrKind::kExists) {
    output.value = View{kNoVar, {Atom(true)}};
    otherwise = false;
  } else {
    output.value = categorical(node.args[1]);
    if (output.value.var != kNoVar) step = circuit_.vars[output.value.var].step;
  }
  HeadOp& op = head(node.args[0], HeadKind::kMean, step);
  output.target = new_categorical(id, op.step);
  Var& target = circuit_.vars[output.target];
  target.bos_value = index_of(target.values, canonical(otherwise));
  op.outputs.push_back(output);
  return View{output.target, defined(target.values)};
}

VarId Lowering::scalar_of_head(IrId id) {
  if (const auto known = scalars_.find(id); known != scalars_.end()) return known->second;
  const Nested nested(*this, id);
  const IrNode node = ir_[id];
  const Domain& domain = domains_[id];
  HeadOutput output;
  if (node.kind == IrKind::kWidth) {
    output.form.offset = 1;
  } else {
    output.form = linear(node.args[1]);
  }
  const bool sink = node.kind != IrKind::kMean;
  HeadOp& op =
      head(node.args[0], sink ? HeadKind::kSum : HeadKind::kMean, step_of(circuit_, output.form));
  Var var;
  var.node = id;
  var.step = op.step;
  var.scalar = true;
  var.minimum = domain.minimum;
  var.maximum = domain.maximum;
  const double u = circuit_.epsilon();
  const double most = addends(circuit_, output.form);
  const double n = circuit_.max_length;
  if (sink) {
    // n terms of weight exp(-depth), each with the same relative error (the exponential's 4 ulp, 8
    // roundings), rounded with the product, n - 1 times in the sum and once in the division by a
    // sum of 1 + n * exp(-depth); the scale exp(depth) is rounded too.
    const double value_error = error_of(circuit_, output.form);
    const double rounding = (n + 12) * u * 1.01;
    const double excess = n * std::exp(-kSinkDepth) * 1.01;
    var.error = n * (value_error +
                     (rounding + (excess > u ? excess + rounding : 0)) * (most + value_error));
  } else {
    output.bos = value::to_number(node.atom)->to_double();
    const double bound = std::max(most, std::abs(output.bos));
    var.bos_scalar = output.bos;
    // Equal weights of exactly 1; where the sum is exact, one division rounds once.
    const bool exact = is_exact(circuit_, output.form, n) &&
                       output.bos == static_cast<double>(static_cast<float>(output.bos));
    var.error =
        exact ? 2 * u * bound : error_of(circuit_, output.form) + (n + 8) * u * bound * 1.01;
  }
  circuit_.vars.push_back(std::move(var));
  output.target = static_cast<VarId>(circuit_.vars.size() - 1);
  op.outputs.push_back(std::move(output));
  scalars_[id] = static_cast<VarId>(circuit_.vars.size() - 1);
  return scalars_[id];
}

Form Lowering::scaled_view(const View& view, double scale) {
  Form form;
  // Where the node has no value nobody reads it, and it holds one that it could have.
  const auto some = std::find_if(view.values.begin(), view.values.end(),
                                 [](const auto& value) { return value.has_value(); });
  const auto number = [&](const std::optional<Atom>& value) {
    const auto& held = value || some == view.values.end() ? value : *some;
    const auto n = held ? value::to_number(*held) : std::nullopt;
    return n ? scale * n->to_double() : 0.0;
  };
  if (view.var == kNoVar) {
    form.offset = number(view.values[0]);
    return form;
  }
  Term term{view.var, {}, 0.0};
  for (const auto& value : view.values) term.f.push_back(number(value));
  form.terms.push_back(std::move(term));
  return form;
}

Form Lowering::sum_of_terms(IrId affine) {
  const IrNode& node = ir_[affine];
  Form form;
  form.offset = node.offset.to_double();
  for (std::size_t i = 0; i < node.args.size(); ++i) {
    add(form, linear(node.args[i]), node.weights[i].to_double());
  }
  return form;
}

Form Lowering::linear(IrId id) {
  const IrNode& node = ir_[id];
  const bool kept = id < keep_.size() && keep_[id];
  if (node.kind == IrKind::kAffine && !kept) return sum_of_terms(id);
  if (domains_.is_whole_round(id)) return linear(node.args[0]);
  const bool of_head = node.kind == IrKind::kWidth || node.kind == IrKind::kSum ||
                       (node.kind == IrKind::kMean && !domains_.is_pick(id));
  if (!of_head) return scaled_view(categorical(id), 1.0);
  const VarId var = scalar_of_head(id);
  if (kept) circuit_.output.keep.push_back(var);
  Form form;
  form.terms.push_back({var, {}, 1.0});
  return form;
}

IrId Lowering::spine(IrId id) const {
  std::set<IrId> stops;
  std::vector<IrId> open{id};
  std::set<IrId> seen;
  while (!open.empty()) {
    const IrId at = open.back();
    open.pop_back();
    if (!seen.insert(at).second) continue;
    const IrNode& node = ir_[at];
    if (node.kind == IrKind::kConst) continue;
    const bool sum =
        node.kind == IrKind::kAffine && (node.args.size() > 1 || is_leaf(ir_[node.args[0]].kind));
    if (is_leaf(node.kind) || sum) {
      stops.insert(at);
      if (stops.size() > 1) return kNoIr;
    } else {
      open.insert(open.end(), node.args.begin(), node.args.end());
    }
  }
  if (stops.size() != 1) return kNoIr;
  const IrId stop = *stops.begin();
  return domains_[stop].numeric && domains_[stop].listed ? stop : kNoIr;
}

std::optional<BankOp> Lowering::bank(IrId id, IrId spine) {
  const auto values = domains_.as_function_of(id, spine, domains_[spine].values);
  if (!values) return std::nullopt;
  BankOp op;
  // A sum that stays readable becomes a variable here, from its terms.
  op.form = id == spine && ir_[id].kind == IrKind::kAffine ? sum_of_terms(id) : linear(spine);
  for (const Term& term : op.form.terms) {
    if (circuit_.vars[term.var].may_mix) return std::nullopt;
  }
  op.error = error_of(circuit_, op.form);
  op.step = mlp_step(step_of(circuit_, op.form));
  for (std::size_t i = 0; i < values->size(); ++i) {
    if (!(*values)[i]) continue;
    const std::uint32_t result = index_of(domains_[id].values, *(*values)[i]);
    if (result == kUndefined) continue;  // a value that the joint table knows cannot occur
    op.points.push_back(value::to_number(domains_[spine].values[i])->to_double());
    op.result.push_back(result);
  }
  if (op.points.empty() || !place_steps(circuit_, op, op.result)) return std::nullopt;
  return op;
}

std::optional<TableOp> Lowering::table(IrId id) {
  const Domain& domain = domains_[id];
  if (!domain.has_table()) return std::nullopt;
  const std::vector<IrId> leaves = domain.leaves;
  // Leaves that are functions of one variable share a dimension.
  std::vector<View> views;
  TableOp op;
  for (const IrId leaf : leaves) {
    views.push_back(categorical(leaf));
    const VarId var = views.back().var;
    if (var != kNoVar && std::find(op.inputs.begin(), op.inputs.end(), var) == op.inputs.end()) {
      op.inputs.push_back(var);
    }
  }
  std::sort(op.inputs.begin(), op.inputs.end());
  std::size_t cells = 1;
  std::vector<std::size_t> sizes;
  for (const VarId var : op.inputs) {
    const Var& input = circuit_.vars[var];
    sizes.push_back(input.values.size() + (input.may_mix ? 1 : 0));
    cells *= sizes.back();
    op.step = std::max(op.step, input.step);
    if (cells > kMaxCells) return std::nullopt;
  }
  op.step = mlp_step(op.step);
  // Leaf rows by value of their variable.
  std::vector<std::vector<std::uint32_t>> row_of(leaves.size());
  for (std::size_t l = 0; l < leaves.size(); ++l) {
    const Domain& leaf = domains_[leaves[l]];
    for (const auto& value : views[l].values) {
      row_of[l].push_back(value ? index_of(leaf.values, *value) : kUndefined);
    }
    if (leaf.may_mix) row_of[l].push_back(static_cast<std::uint32_t>(leaf.values.size()));
  }
  const Domain& now = domains_[id];  // `categorical` may have extended the domains
  std::vector<std::size_t> row(op.inputs.size(), 0);
  for (std::size_t cell = 0; cell < cells; ++cell) {
    std::size_t rest = cell;
    for (std::size_t d = op.inputs.size(); d-- > 0;) {
      row[d] = rest % sizes[d];
      rest /= sizes[d];
    }
    std::size_t index = 0;
    bool known = true;
    for (std::size_t l = 0; l < leaves.size() && known; ++l) {
      const auto input = std::find(op.inputs.begin(), op.inputs.end(), views[l].var);
      const std::size_t at =
          input == op.inputs.end() ? 0 : row[static_cast<std::size_t>(input - op.inputs.begin())];
      known = at < row_of[l].size() && row_of[l][at] != kUndefined;
      if (known) index = index * domains_.rows(leaves[l]) + row_of[l][at];
    }
    op.cells.push_back(known ? now.cells[index] : kUndefined);
  }
  return op;
}

View Lowering::materialise(IrId id) {
  std::optional<BankOp> steps;
  const IrId source = is_leaf(ir_[id].kind) ? id : spine(id);
  if (source != kNoIr) steps = bank(id, source);
  std::optional<TableOp> boxes;
  const bool scalar =
      steps && std::any_of(steps->form.terms.begin(), steps->form.terms.end(),
                           [&](const Term& t) { return circuit_.vars[t.var].scalar; });
  // Steps on a sum that no head computed are as early as a table; the table has fewer units when
  // its boxes are few.
  if (!is_leaf(ir_[id].kind) && !scalar) boxes = table(id);
  if (steps && boxes && boxes->step <= steps->step) {
    const std::size_t units = 2 * count_changes(*steps);
    if (boxes->cells.size() <= 20'000 && count_boxes(circuit_, *boxes) < units) steps.reset();
  }
  if (!steps && !boxes) {
    if (!is_leaf(ir_[id].kind)) boxes = table(id);
    if (!boxes) {
      throw Refusal{id, "its values lie too close together for the arithmetic of the model",
                    "a shorter length, a smaller vocabulary or --dtype f64 sets them apart"};
    }
  }
  const std::uint32_t step = steps ? steps->step : boxes->step;
  const VarId target = new_categorical(id, step);
  if (steps) {
    steps->target = target;
    circuit_.ops.emplace_back(std::move(*steps));
  } else {
    boxes->target = target;
    circuit_.ops.emplace_back(std::move(*boxes));
  }
  return View{target, defined(circuit_.vars[target].values)};
}

Circuit Lowering::run(IrId root, IrId root_is_float) {
  if (is_selector(ir_[root].kind)) {
    output_pattern(root);
  } else {
    output_value(root);
    if (root_is_float != kNoIr) output_type(root_is_float);
  }
  for (IrId id = 0; id < keep_.size(); ++id) {
    if (!keep_[id] || is_selector(ir_[id].kind)) continue;
    if (domains_[id].listed) {
      categorical(id);
    } else if (domains_[id].numeric) {
      (void)linear(id);
    }
  }
  return std::move(circuit_);
}

}  // namespace rasp::compiler
