#include "compiler/positional.h"

#include <functional>

namespace rasp::compiler {

using value::Atom;
using value::Number;

namespace {

using Values = std::vector<std::optional<Atom>>;
using Bits = std::vector<std::vector<bool>>;

// Tables of this many queries times keys are worked out; longer sequences leave it to the heads.
constexpr std::uint32_t kMaxPositions = 1024;

// Needed nodes below `root`, ascending; empty when something reads more than the position.
std::vector<IrId> needed_nodes(const Ir& ir, IrId root) {
  if (!ir.reads_only_positions(root)) return {};
  std::vector<bool> needed(root + 1, false);
  needed[root] = true;
  for (IrId id = root + 1; id-- > 0;) {
    if (!needed[id]) continue;
    const IrNode& node = ir[id];
    if (is_leaf(node.kind) && node.kind != IrKind::kPosition) return {};
    for (const IrId arg : node.args) needed[arg] = true;
  }
  std::vector<IrId> nodes;
  for (IrId id = 0; id <= root; ++id) {
    if (needed[id]) nodes.push_back(id);
  }
  return nodes;
}

}  // namespace

std::optional<Values> positional_values(const Ir& ir, IrId sop) {
  const std::vector<IrId> nodes = needed_nodes(ir, sop);
  if (nodes.empty() || is_selector(ir[sop].kind)) return std::nullopt;
  const std::uint32_t n = ir.max_length();
  std::map<IrId, Values> values;
  for (const IrId id : nodes) {
    const IrNode& node = ir[id];
    Values& result = values[id];
    result.reserve(n);
    std::vector<const std::optional<Atom>*> args(node.args.size());
    for (std::uint32_t p = 0; p < n; ++p) {
      if (node.kind == IrKind::kPosition) {
        result.emplace_back(value::make_int(p));
        continue;
      }
      for (std::size_t i = 0; i < args.size(); ++i) args[i] = &values[node.args[i]][p];
      result.push_back(evaluate(node, args));
    }
  }
  return std::move(values[sop]);
}

std::optional<Bits> positional_matrix(const Ir& ir, IrId selector) {
  const std::uint32_t n = ir.max_length();
  if (n > kMaxPositions || needed_nodes(ir, selector).empty()) return std::nullopt;
  const IrNode& node = ir[selector];
  switch (node.kind) {
    case IrKind::kTrue:
      return Bits(n, std::vector<bool>(n, true));
    case IrKind::kFalse:
      return Bits(n, std::vector<bool>(n, false));
    case IrKind::kSelect: {
      const auto keys = positional_values(ir, node.args[0]);
      const auto queries = positional_values(ir, node.args[1]);
      if (!keys || !queries) return std::nullopt;
      Bits bits(n, std::vector<bool>(n, false));
      for (std::uint32_t q = 0; q < n; ++q) {
        for (std::uint32_t k = 0; k < n; ++k) {
          const auto& key = (*keys)[k];
          const auto& query = (*queries)[q];
          bits[q][k] = key && query && related(node.relation, *key, *query).value_or(false);
        }
      }
      return bits;
    }
    case IrKind::kAnd:
    case IrKind::kOr: {
      auto bits = positional_matrix(ir, node.args[0]);
      for (std::size_t i = 1; bits && i < node.args.size(); ++i) {
        const auto part = positional_matrix(ir, node.args[i]);
        if (!part) return std::nullopt;
        for (std::uint32_t q = 0; q < n; ++q) {
          for (std::uint32_t k = 0; k < n; ++k) {
            (*bits)[q][k] = node.kind == IrKind::kAnd ? (*bits)[q][k] && (*part)[q][k]
                                                      : (*bits)[q][k] || (*part)[q][k];
          }
        }
      }
      return bits;
    }
    default:
      return std::nullopt;
  }
}

namespace {

// f(position, length) for every position below the length; nullopt: undefined there.
class PositionFunction {
 public:
  explicit PositionFunction(std::uint32_t n) : n_(n), values_(std::size_t{n} * n) {}

  std::optional<Atom>& at(std::uint32_t position, std::uint32_t length) {
    return values_[std::size_t{position} * n_ + (length - 1)];
  }
  [[nodiscard]] const std::optional<Atom>& at(std::uint32_t position, std::uint32_t length) const {
    return values_[std::size_t{position} * n_ + (length - 1)];
  }

  // As a function of the position alone, where the length makes no difference.
  [[nodiscard]] std::optional<Values> of_position() const {
    Values result(n_);
    for (std::uint32_t p = 0; p < n_; ++p) {
      for (std::uint32_t length = p + 1; length <= n_; ++length) {
        const auto& value = at(p, length);
        if (!value) continue;
        if (result[p] && !value::identical(*result[p], *value)) return std::nullopt;
        result[p] = value;
      }
    }
    return result;
  }

  // Coefficients of position, length and 1, where the function is linear in them.
  struct Linear {
    Number position, length, offset;
  };
  [[nodiscard]] std::optional<Linear> linear() const {
    if (n_ < 2) return std::nullopt;
    const auto number = [&](std::uint32_t p, std::uint32_t length) -> std::optional<Number> {
      const auto& value = at(p, length);
      if (!value || !std::holds_alternative<Number>(*value)) return std::nullopt;
      return std::get<Number>(*value);
    };
    const auto a = number(0, 1), b = number(0, 2), c = number(1, 2);
    if (!a || !b || !c) return std::nullopt;
    Linear fit;
    fit.length = *b - *a;
    fit.position = *c - *b;
    fit.offset = *a - fit.length;
    for (std::uint32_t p = 0; p < n_; ++p) {
      for (std::uint32_t length = p + 1; length <= n_; ++length) {
        if (!at(p, length)) continue;
        const auto value = number(p, length);
        const Number expected =
            fit.position * Number::integer(p) + fit.length * Number::integer(length) + fit.offset;
        if (!value || *value != expected) return std::nullopt;
      }
    }
    return fit;
  }

 private:
  std::uint32_t n_;
  Values values_;
};

// The node for a function of the position given by its values.
IrId node_of_values(Ir& ir, const Values& values) {
  const IrId position = make_leaf(ir, IrKind::kPosition);
  IrNode node;
  node.kind = IrKind::kClass;
  node.args = {position};
  bool constant = true;
  for (std::uint32_t p = 0; p < values.size(); ++p) {
    if (!values[p]) continue;
    node.classes.emplace(std::vector<Atom>{value::make_int(p)}, canonical(*values[p]));
    constant = constant && value::identical(canonical(*values[p]), node.classes.begin()->second);
  }
  if (constant && !node.classes.empty()) return make_const(ir, node.classes.begin()->second);
  const IrId table = make_elementwise(ir, std::move(node));
  return positional_affine(ir, table).value_or(table);
}

std::optional<IrId> node_of_function(Ir& ir, const PositionFunction& function) {
  if (const auto values = function.of_position()) return node_of_values(ir, *values);
  if (const auto linear = function.linear()) {
    return make_affine(
        ir,
        {{make_leaf(ir, IrKind::kPosition), linear->position}, {make_length(ir), linear->length}},
        linear->offset);
  }
  return std::nullopt;
}

// Calls `step(position, length, key)` for every key below the length that the selector selects,
// keys ascending; then `done(position, length)`. What is accumulated over keys carries over from
// one length to the next.
PositionFunction accumulate(const Ir& ir, const Bits& bits,
                            const std::function<void(std::uint32_t key)>& add,
                            const std::function<void()>& clear,
                            const std::function<std::optional<Atom>()>& result) {
  const std::uint32_t n = ir.max_length();
  PositionFunction function(n);
  for (std::uint32_t q = 0; q < n; ++q) {
    clear();
    for (std::uint32_t length = 1; length <= n; ++length) {
      const std::uint32_t key = length - 1;
      if (bits[q][key] && (!ir.causal() || key <= q)) add(key);
      if (q < length) function.at(q, length) = result();
    }
  }
  return function;
}

}  // namespace

std::optional<IrId> positional_affine(Ir& ir, IrId sop) {
  const IrNode& node = ir[sop];
  const bool plain = node.kind == IrKind::kAffine && node.args.size() == 1 &&
                     ir[node.args[0]].kind == IrKind::kPosition;
  if (plain || ir.max_length() < 3) return std::nullopt;
  const auto values = positional_values(ir, sop);
  if (!values) return std::nullopt;
  std::vector<Number> numbers;
  for (const auto& value : *values) {
    if (!value || !std::holds_alternative<Number>(*value)) return std::nullopt;
    numbers.push_back(std::get<Number>(*value));
  }
  const Number slope = numbers[1] - numbers[0];
  for (std::size_t p = 1; p < numbers.size(); ++p) {
    if (numbers[p] - numbers[p - 1] != slope) return std::nullopt;
  }
  return make_affine(ir, {{make_leaf(ir, IrKind::kPosition), slope}}, numbers[0]);
}

namespace {

// A selector that asks the same of every query and selects as many keys in sequences of every
// length.
std::optional<IrId> constant_width(Ir& ir, IrId selector) {
  const IrNode& node = ir[selector];
  if (ir.causal() || node.kind != IrKind::kSelect || ir[node.args[1]].kind != IrKind::kConst) {
    return std::nullopt;
  }
  const auto keys = positional_values(ir, node.args[0]);
  if (!keys) return std::nullopt;
  std::int64_t count = 0;
  for (std::size_t k = 0; k < keys->size(); ++k) {
    const bool selects =
        (*keys)[k] && related(node.relation, *(*keys)[k], ir[node.args[1]].atom).value_or(false);
    if (selects && k > 0) return std::nullopt;
    count += selects ? 1 : 0;
  }
  return make_const(ir, value::make_int(count));
}

}  // namespace

std::optional<IrId> positional_width(Ir& ir, IrId selector) {
  if (ir[selector].kind == IrKind::kTrue) {
    if (!ir.causal()) return make_leaf(ir, IrKind::kWidth, {selector});
    return make_affine(ir, {{make_leaf(ir, IrKind::kPosition), Number::integer(1)}},
                       Number::integer(1));
  }
  if (const auto only = constant_width(ir, selector)) return only;
  const auto bits = positional_matrix(ir, selector);
  if (!bits) return std::nullopt;
  std::int64_t count = 0;
  const PositionFunction function = accumulate(
      ir, *bits, [&](std::uint32_t) { ++count; }, [&] { count = 0; },
      [&]() -> std::optional<Atom> { return value::make_int(count); });
  return node_of_function(ir, function);
}

std::optional<IrId> positional_exists(Ir& ir, IrId selector) {
  const auto bits = positional_matrix(ir, selector);
  if (!bits) return std::nullopt;
  bool some = false;
  const PositionFunction function = accumulate(
      ir, *bits, [&](std::uint32_t) { some = true; }, [&] { some = false; },
      [&]() -> std::optional<Atom> { return some; });
  const auto values = function.of_position();
  if (!values) return std::nullopt;
  return node_of_values(ir, *values);
}

std::optional<IrId> positional_mean(Ir& ir, IrId selector, IrId value, const Atom& otherwise) {
  const auto bits = positional_matrix(ir, selector);
  const auto values = positional_values(ir, value);
  if (!bits || !values) return std::nullopt;
  std::int64_t count = 0;
  Number sum;
  std::optional<Atom> single;
  bool undefined = false;
  const PositionFunction function = accumulate(
      ir, *bits,
      [&](std::uint32_t key) {
        ++count;
        single = (*values)[key];
        const auto number = single ? value::to_number(*single) : std::nullopt;
        undefined = undefined || !single;
        if (number) sum = sum + *number;
      },
      [&] {
        count = 0;
        sum = Number();
        undefined = false;
      },
      [&]() -> std::optional<Atom> {
        if (count == 0) return canonical(otherwise);
        if (undefined) return std::nullopt;
        if (count == 1) return single;
        if (!std::holds_alternative<Number>(*single)) return std::nullopt;
        return canonical(Number::divide(sum, Number::integer(count)));
      });
  return node_of_function(ir, function);
}

}  // namespace rasp::compiler
