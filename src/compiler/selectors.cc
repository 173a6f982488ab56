#include "compiler/selectors.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

namespace rasp::compiler {

using value::Atom;
using value::Number;

namespace {

// Tuples of key-side (or query-side) values that one selector may distinguish, and comparisons of
// pairs of them.
constexpr std::size_t kMaxTuples = 20'000;
constexpr std::size_t kMaxPairs = std::size_t{1} << 23;

using Bits = std::vector<bool>;

Form indicator(VarId var, const Bits& set, double scale) {
  Form form;
  if (var == kNoVar) {
    form.offset = set[0] ? scale : 0.0;
    return form;
  }
  Term term{var, {}, 0.0};
  for (const bool bit : set) term.f.push_back(bit ? scale : 0.0);
  form.terms.push_back(std::move(term));
  return form;
}

std::vector<Bits> transposed(const std::vector<Bits>& rows) {
  if (rows.empty()) return {};
  std::vector<Bits> columns(rows[0].size(), Bits(rows.size()));
  for (std::size_t r = 0; r < rows.size(); ++r) {
    for (std::size_t c = 0; c < rows[r].size(); ++c) columns[c][r] = rows[r][c];
  }
  return columns;
}

// Rows that are alike, with the pattern they share; rows of zeros are left out. Ordered by first
// row.
struct RowClass {
  Bits rows;
  Bits pattern;
};
std::vector<RowClass> row_classes(const std::vector<Bits>& rows) {
  std::map<Bits, std::size_t> known;
  std::vector<RowClass> classes;
  for (std::size_t r = 0; r < rows.size(); ++r) {
    if (std::find(rows[r].begin(), rows[r].end(), true) == rows[r].end()) continue;
    const auto [slot, fresh] = known.try_emplace(rows[r], classes.size());
    if (fresh) classes.push_back({Bits(rows.size(), false), rows[r]});
    classes[slot->second].rows[r] = true;
  }
  return classes;
}

// Every comparison in a part, depth first.
void comparisons(const Ir& ir, IrId part, std::vector<IrId>& found) {
  const IrNode& node = ir[part];
  if (node.kind == IrKind::kSelect || node.kind == IrKind::kTable) {
    if (std::find(found.begin(), found.end(), part) == found.end()) found.push_back(part);
    return;
  }
  for (const IrId arg : node.args) comparisons(ir, arg, found);
}

bool compare(const IrNode& node, const Atom& key, const Atom& query) {
  if (node.kind == IrKind::kSelect) return related(node.relation, key, query).value_or(false);
  const auto row = std::get<Number>(key).to_int64().value_or(0);
  const auto column = std::get<Number>(query).to_int64().value_or(0);
  return node.rows[static_cast<std::size_t>(row)][static_cast<std::size_t>(column)];
}

// The combinations of the values of several s-ops, in mixed radix.
struct Side {
  std::vector<IrId> nodes;
  std::vector<std::vector<Atom>> tuples;

  [[nodiscard]] std::size_t index_of(IrId node) const {
    return static_cast<std::size_t>(std::find(nodes.begin(), nodes.end(), node) - nodes.begin());
  }
};

Side side_of(const Ir& ir, const Domains& domains, const std::vector<IrId>& parts,
             std::size_t which, IrId selector) {
  Side side;
  for (const IrId part : parts) {
    const IrId node = ir[part].args[which];
    if (std::find(side.nodes.begin(), side.nodes.end(), node) == side.nodes.end()) {
      side.nodes.push_back(node);
    }
  }
  side.tuples = {{}};
  for (const IrId node : side.nodes) {
    const Domain& domain = domains[node];
    if (!domain.listed || domain.values.size() * side.tuples.size() > kMaxTuples) {
      throw Refusal{selector, "the selector tells apart too many combinations of values",
                    "a shorter length or a smaller vocabulary makes fewer"};
    }
    std::vector<std::vector<Atom>> longer;
    for (const auto& tuple : side.tuples) {
      for (const Atom& value : domain.values) {
        longer.push_back(tuple);
        longer.back().push_back(value);
      }
    }
    side.tuples = std::move(longer);
  }
  return side;
}

// Numbers the distinct rows; the class of each row.
std::vector<std::size_t> number_rows(const std::vector<Bits>& rows, std::vector<Bits>& distinct) {
  std::map<Bits, std::size_t> known;
  std::vector<std::size_t> classes;
  for (const Bits& row : rows) {
    const auto [slot, fresh] = known.try_emplace(row, distinct.size());
    if (fresh) distinct.push_back(row);
    classes.push_back(slot->second);
  }
  return classes;
}

IrId class_node(Ir& ir, const Side& side, const std::vector<std::size_t>& classes) {
  IrNode node;
  node.kind = IrKind::kClass;
  node.args = side.nodes;
  for (std::size_t i = 0; i < side.tuples.size(); ++i) {
    node.classes.emplace(side.tuples[i], value::make_int(static_cast<std::int64_t>(classes[i])));
  }
  return make_elementwise(ir, std::move(node));
}

}  // namespace

std::size_t SelectorLowering::values_of(VarId var) const {
  return var == kNoVar ? 1 : lowering_.circuit_.vars[var].values.size();
}

IrId SelectorLowering::classify(IrId part) {
  Ir& ir = lowering_.ir_;
  std::vector<IrId> selects;
  comparisons(ir, part, selects);
  const Side keys = side_of(ir, lowering_.domains_, selects, 0, part);
  const Side queries = side_of(ir, lowering_.domains_, selects, 1, part);
  if (keys.tuples.empty() || queries.tuples.empty()) {  // never has a value, so nobody reads it
    IrNode never;
    never.kind = IrKind::kTable;
    const IrId zero = make_const(ir, value::make_int(0));
    never.args = {zero, zero};
    never.rows = {{false}};
    const IrId result = ir.intern(std::move(never));
    lowering_.domains_.extend();
    return result;
  }
  if (keys.tuples.size() * queries.tuples.size() > kMaxPairs) {
    throw Refusal{part, "the selector compares too many combinations of values",
                  "a shorter length or a smaller vocabulary makes fewer"};
  }
  std::vector<std::pair<std::size_t, std::size_t>> at;
  for (const IrId select : selects) {
    at.emplace_back(keys.index_of(ir[select].args[0]), queries.index_of(ir[select].args[1]));
  }
  const std::function<bool(IrId, const std::vector<Atom>&, const std::vector<Atom>&)> holds =
      [&](IrId id, const std::vector<Atom>& key, const std::vector<Atom>& query) -> bool {
    const IrNode& node = ir[id];
    const auto sub = [&](IrId arg) { return holds(arg, key, query); };
    if (node.kind == IrKind::kAnd) return std::all_of(node.args.begin(), node.args.end(), sub);
    if (node.kind == IrKind::kOr) return std::any_of(node.args.begin(), node.args.end(), sub);
    const auto i =
        static_cast<std::size_t>(std::find(selects.begin(), selects.end(), id) - selects.begin());
    return compare(node, key[at[i].first], query[at[i].second]);
  };
  std::vector<Bits> rows;
  for (const auto& key : keys.tuples) {
    Bits row;
    for (const auto& query : queries.tuples) row.push_back(holds(part, key, query));
    rows.push_back(std::move(row));
  }
  std::vector<Bits> key_rows, query_rows;
  const auto key_classes = number_rows(rows, key_rows);
  const auto query_classes = number_rows(transposed(key_rows), query_rows);
  IrNode table;
  table.kind = IrKind::kTable;
  table.args = {class_node(ir, keys, key_classes), class_node(ir, queries, query_classes)};
  table.rows = transposed(query_rows);
  const IrId result = ir.intern(std::move(table));
  lowering_.domains_.extend();
  return result;
}

SelectorLowering::Predicate SelectorLowering::predicate(IrId part) {
  const IrKind kind = lowering_.ir_[part].kind;
  if (kind != IrKind::kSelect && kind != IrKind::kTable) part = classify(part);
  const IrNode& node = lowering_.ir_[part];
  Predicate result;
  result.key_view = lowering_.categorical(node.args[0]);
  result.query_view = lowering_.categorical(node.args[1]);
  result.key = result.key_view.var;
  result.query = result.query_view.var;
  for (const auto& key : result.key_view.values) {
    Bits row;
    for (const auto& query : result.query_view.values) {
      row.push_back(key && query && compare(node, *key, *query));
    }
    result.truth.push_back(std::move(row));
  }
  result.single_equality = node.kind == IrKind::kSelect && node.relation == kEqual;
  return result;
}

void SelectorLowering::merge(std::vector<Predicate>& predicates, Predicate next) const {
  for (Predicate& known : predicates) {
    if (known.key != next.key || known.query != next.query) continue;
    for (std::size_t r = 0; r < known.truth.size(); ++r) {
      for (std::size_t c = 0; c < known.truth[r].size(); ++c) {
        known.truth[r][c] = known.truth[r][c] && next.truth[r][c];
      }
    }
    known.single_equality = false;
    return;
  }
  predicates.push_back(std::move(next));
}

// q == k over whole multiples of a unit: C - C (q - k)^2 is C where they are equal and at most 0
// elsewhere. Three dimensions: 2q * k, -1 * k^2 and (1 - q^2) * 1, every term a whole multiple of
// C.
bool SelectorLowering::emit_equality(const Predicate& predicate, std::size_t budget,
                                     Logits& logits) {
  if (!predicate.single_equality || budget <= 3 || predicate.key == kNoVar ||
      predicate.query == kNoVar) {
    return false;
  }
  std::int64_t unit = 1;
  std::vector<Number> numbers;
  for (const View* view : {&predicate.key_view, &predicate.query_view}) {
    for (const auto& value : view->values) {
      if (!value) continue;
      const auto number = value::to_number(*value);
      if (!number || !number->is_exact()) return false;
      const value::BigInt den = boost::multiprecision::denominator(number->to_rational());
      if (den > 4096) return false;
      unit = std::lcm(unit, den.convert_to<std::int64_t>());
      if (unit > 4096) return false;
      numbers.push_back(*number);
    }
  }
  const auto [low, high] = std::minmax_element(numbers.begin(), numbers.end());
  const Number scale = Number::integer(unit);
  const auto middle =
      Number::round_half_even(Number::divide((*low + *high) * scale, Number::integer(2)));
  const double reach = std::max(std::abs(((*low * scale) - middle).to_double()),
                                std::abs(((*high * scale) - middle).to_double()));
  // Terms as multiples of C: 2qk, k^2 and 1 - q^2 and all their partial sums.
  if (4 * reach * reach + 2 >= lowering_.circuit_.exact_limit()) return false;
  const double c = lowering_.circuit_.logit_unit();
  const auto read = [&](VarId var, const View& view, const std::function<double(double)>& f) {
    Form form;
    Term term{var, {}, 0.0};
    for (const auto& value : view.values) {
      const double x = value ? ((*value::to_number(*value) * scale) - middle).to_double() : 0.0;
      term.f.push_back(f(x));
    }
    form.terms.push_back(std::move(term));
    return form;
  };
  const View& k = predicate.key_view;
  const View& q = predicate.query_view;
  Form one;
  one.offset = 1;
  logits.dims.push_back({read(predicate.key, k, [](double x) { return x; }),
                         read(predicate.query, q, [&](double x) { return 2 * c * x; })});
  Form minus;
  minus.offset = -c;
  logits.dims.push_back({read(predicate.key, k, [](double x) { return x * x; }), minus});
  logits.dims.push_back({one, read(predicate.query, q, [&](double x) { return c * (1 - x * x); })});
  ++logits.predicates;
  return true;
}

void SelectorLowering::emit(const Predicate& predicate, Logits& logits) {
  const bool always =
      std::all_of(predicate.truth.begin(), predicate.truth.end(),
                  [](const Bits& r) { return std::find(r.begin(), r.end(), false) == r.end(); });
  if (always) return;
  const auto by_key = row_classes(predicate.truth);
  const auto by_query = row_classes(transposed(predicate.truth));
  if (emit_equality(predicate, std::min(by_key.size(), by_query.size()), logits)) return;
  const double c = lowering_.circuit_.logit_unit();
  if (by_key.size() <= by_query.size()) {
    for (const RowClass& part : by_key) {
      logits.dims.push_back(
          {indicator(predicate.key, part.rows, 1.0), indicator(predicate.query, part.pattern, c)});
    }
  } else {
    for (const RowClass& part : by_query) {
      logits.dims.push_back(
          {indicator(predicate.key, part.pattern, 1.0), indicator(predicate.query, part.rows, c)});
    }
  }
  ++logits.predicates;
}

Logits SelectorLowering::logits(IrId selector) {
  const IrNode node = lowering_.ir_[selector];
  std::vector<IrId> parts{selector};
  if (node.kind == IrKind::kAnd) parts = node.args;
  Logits result;
  std::vector<Predicate> predicates;
  for (const IrId part : parts) {
    const IrKind kind = lowering_.ir_[part].kind;
    if (kind == IrKind::kTrue) continue;
    if (kind == IrKind::kFalse) {  // a predicate that never holds
      ++result.predicates;
      continue;
    }
    merge(predicates, predicate(part));
  }
  for (const Predicate& predicate : predicates) {
    for (const VarId var : {predicate.key, predicate.query}) {
      if (var != kNoVar) {
        result.step = std::max(result.step, lowering_.circuit_.vars[var].step);
      }
    }
    emit(predicate, result);
  }
  return result;
}

}  // namespace rasp::compiler
