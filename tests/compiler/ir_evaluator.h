// What the compiler's own program means on an input, as plainly as possible: what the passes are
// checked against. An element or a bit that has no value is nullopt; a selector's is false, since
// nobody may read it.
#pragma once

#include <optional>
#include <vector>

#include "compiler/ir.h"

namespace rasp::compiler {

class IrEvaluator {
 public:
  using Element = std::optional<value::Atom>;

  IrEvaluator(const Ir& ir, value::Sequence input)
      : ir_(ir), input_(std::move(input)), elements_(ir.size()), bits_(ir.size()) {
    for (IrId id = 0; id < ir.size(); ++id) {
      if (is_selector(ir[id].kind)) {
        bits_[id] = selector(ir[id]);
      } else {
        for (std::size_t i = 0; i < n(); ++i) elements_[id].push_back(element(ir[id], i));
      }
    }
  }

  [[nodiscard]] const std::vector<Element>& elements(IrId id) const { return elements_[id]; }
  // Row = query. Under a causal mask no key after the query is selected.
  [[nodiscard]] bool selects(IrId id, std::size_t query, std::size_t key) const {
    return bits_[id][query][key] && (!ir_.causal() || key <= query);
  }

 private:
  using Bits = std::vector<std::vector<bool>>;
  [[nodiscard]] std::size_t n() const { return input_.size(); }

  [[nodiscard]] Element element(const IrNode& node, std::size_t i) const {
    switch (node.kind) {
      case IrKind::kToken:
        return input_[i];
      case IrKind::kPosition:
        return value::make_int(static_cast<std::int64_t>(i));
      case IrKind::kWidth:
      case IrKind::kExists:
      case IrKind::kSum:
      case IrKind::kMean:
        return over_keys(node, i);
      default: {
        std::vector<const Element*> args;
        for (const IrId arg : node.args) args.push_back(&elements_[arg][i]);
        return evaluate(node, args);
      }
    }
  }

  [[nodiscard]] Element over_keys(const IrNode& node, std::size_t query) const {
    std::vector<std::size_t> keys;
    for (std::size_t k = 0; k < n(); ++k) {
      if (selects(node.args[0], query, k)) keys.push_back(k);
    }
    const auto count = static_cast<std::int64_t>(keys.size());
    if (node.kind == IrKind::kWidth) return value::make_int(count);
    if (node.kind == IrKind::kExists) return value::Atom(count > 0);
    if (node.kind == IrKind::kMean && count == 0) return node.atom;
    if (node.kind == IrKind::kMean && count == 1) return elements_[node.args[1]][keys[0]];
    value::Number sum;
    for (const std::size_t k : keys) {
      const Element& value = elements_[node.args[1]][k];
      const auto* number = value ? std::get_if<value::Number>(&*value) : nullptr;
      if (number == nullptr) return std::nullopt;
      sum = sum + *number;
    }
    if (node.kind == IrKind::kSum) return canonical(sum);
    return canonical(value::Number::divide(sum, value::Number::integer(count)));
  }

  [[nodiscard]] Bits selector(const IrNode& node) const {
    Bits bits(n(), std::vector<bool>(n(), false));
    for (std::size_t q = 0; q < n(); ++q) {
      for (std::size_t k = 0; k < n(); ++k) bits[q][k] = bit(node, q, k);
    }
    return bits;
  }

  [[nodiscard]] bool bit(const IrNode& node, std::size_t q, std::size_t k) const {
    switch (node.kind) {
      case IrKind::kTrue:
        return true;
      case IrKind::kSelect: {
        const Element& key = elements_[node.args[0]][k];
        const Element& query = elements_[node.args[1]][q];
        return key && query && related(node.relation, *key, *query).value_or(false);
      }
      case IrKind::kAnd:
        for (const IrId arg : node.args) {
          if (!bits_[arg][q][k]) return false;
        }
        return true;
      case IrKind::kOr:
        for (const IrId arg : node.args) {
          if (bits_[arg][q][k]) return true;
        }
        return false;
      default:
        return false;  // kFalse; tables appear later than this is used
    }
  }

  const Ir& ir_;
  value::Sequence input_;
  std::vector<std::vector<Element>> elements_;
  std::vector<Bits> bits_;
};

}  // namespace rasp::compiler
