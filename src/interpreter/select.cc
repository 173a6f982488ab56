// Selectors as bit rows.
#include <algorithm>
#include <string_view>
#include <utility>

#include "interpreter/run.h"

namespace rasp::interpreter {
namespace {

using value::Atom;
using value::Op;

constexpr std::size_t kCodedText = 7;   // bytes of a text that fits a word with its length
constexpr std::size_t kPlainLoop = 64;  // below, n x n comparisons are cheaper than sorting

// One word a position, compared as the elements are.
struct Codes {
  const std::int64_t* key = nullptr;
  const std::int64_t* query = nullptr;
  std::size_t key_step = 1;
  std::size_t query_step = 1;
};

template <typename Holds>
void fill_plainly(const Codes& codes, const Failures& skip, Rows& out, std::size_t n, Holds holds) {
  for (std::size_t q = 0; q < n; ++q) {
    if (!skip.defined(q)) continue;
    const std::int64_t query = codes.query[q * codes.query_step];
    const std::span<std::uint64_t> row = out.row(q);
    for (std::size_t base = 0; base < n; base += 64) {
      std::uint64_t word = 0;
      const std::size_t count = std::min<std::size_t>(64, n - base);
      for (std::size_t k = 0; k < count; ++k) {
        const bool bit = holds(codes.key[(base + k) * codes.key_step], query);
        word |= std::uint64_t{bit} << k;
      }
      row[base / 64] = word;
    }
  }
}

void fill_plainly(Op op, const Codes& codes, Rows& out, std::size_t n) {
  using Word = std::int64_t;
  const auto fill = [&](auto holds) { fill_plainly(codes, out.failures, out, n, holds); };
  switch (op) {
    case Op::kEq:
      return fill([](Word k, Word q) { return k == q; });
    case Op::kNe:
      return fill([](Word k, Word q) { return k != q; });
    case Op::kLt:
      return fill([](Word k, Word q) { return k < q; });
    case Op::kGt:
      return fill([](Word k, Word q) { return k > q; });
    case Op::kLe:
      return fill([](Word k, Word q) { return k <= q; });
    default:
      return fill([](Word k, Word q) { return k >= q; });
  }
}

std::vector<std::uint32_t> sorted_positions(const std::int64_t* codes, std::size_t step,
                                            std::size_t n) {
  std::vector<std::uint32_t> order(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = static_cast<std::uint32_t>(i);
  std::ranges::stable_sort(
      order, [&](std::uint32_t a, std::uint32_t b) { return codes[a * step] < codes[b * step]; });
  return order;
}

// Queries in ascending order, with the row of the keys below the query and the row of those equal
// to it: every comparison is one of the two, their union or its complement. O(n log n + n^2/64).
void fill_by_sweep(Op op, const Codes& codes, Rows& out, std::size_t n) {
  const std::vector<std::uint32_t> keys = sorted_positions(codes.key, codes.key_step, n);
  const std::vector<std::uint32_t> queries = sorted_positions(codes.query, codes.query_step, n);
  std::vector<std::uint64_t> below(out.words);
  std::vector<std::uint64_t> same(out.words);
  std::size_t below_count = 0;
  std::size_t same_end = 0;
  const auto key_at = [&](std::size_t i) { return codes.key[keys[i] * codes.key_step]; };
  for (std::uint32_t q : queries) {
    const std::int64_t query = codes.query[q * codes.query_step];
    for (; below_count < n && key_at(below_count) < query; ++below_count) {
      below[keys[below_count] / 64] |= std::uint64_t{1} << (keys[below_count] % 64);
      same[keys[below_count] / 64] &= ~(std::uint64_t{1} << (keys[below_count] % 64));
    }
    for (same_end = std::max(same_end, below_count); same_end < n && key_at(same_end) == query;
         ++same_end) {
      same[keys[same_end] / 64] |= std::uint64_t{1} << (keys[same_end] % 64);
    }
    if (!out.failures.defined(q)) continue;
    const std::span<std::uint64_t> row = out.row(q);
    const bool reads_below = op != Op::kEq && op != Op::kNe;
    const bool reads_same = op != Op::kLt && op != Op::kGe;
    const bool complement = op == Op::kNe || op == Op::kGt || op == Op::kGe;
    for (std::size_t w = 0; w < out.words; ++w) {
      const std::uint64_t bits = (reads_below ? below[w] : 0) | (reads_same ? same[w] : 0);
      row[w] = complement ? ~bits : bits;
    }
    row.back() &= last_word_mask(n);
  }
}

void fill(Op op, const Codes& codes, Rows& out, std::size_t n) {
  if (n <= kPlainLoop) {
    fill_plainly(op, codes, out, n);
  } else {
    fill_by_sweep(op, codes, out, n);
  }
}

// Ranks of keys (first n) and queries (last n) in one order; undefined queries rank anywhere.
template <typename Value>
std::vector<std::int64_t> ranks(const std::vector<Value>& values) {
  std::vector<std::uint32_t> order(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<std::uint32_t>(i);
  std::ranges::sort(order, [&](std::uint32_t a, std::uint32_t b) { return values[a] < values[b]; });
  std::vector<std::int64_t> rank(values.size());
  for (std::size_t i = 1; i < order.size(); ++i) {
    rank[order[i]] = rank[order[i - 1]] + (values[order[i - 1]] < values[order[i]] ? 1 : 0);
  }
  return rank;
}

bool all_text(const Column& column, std::size_t position) {
  Atom scratch;
  return std::holds_alternative<std::string>(column.at(position, scratch));
}

std::vector<std::int64_t> ranks_of(const Column& key, const Column& query, bool text,
                                   std::size_t n) {
  Atom scratch;
  if (text) {
    std::vector<std::string_view> values(2 * n);
    for (std::size_t i = 0; i < n; ++i) values[i] = std::get<std::string>(key.atoms[i * key.step]);
    for (std::size_t i = 0; i < n; ++i) {
      if (query.failures.defined(i)) {
        values[n + i] = std::get<std::string>(query.atoms[i * query.step]);
      }
    }
    return ranks(values);
  }
  std::vector<value::Number> values(2 * n);
  for (std::size_t i = 0; i < n; ++i) values[i] = *value::to_number(key.at(i, scratch));
  for (std::size_t i = 0; i < n; ++i) {
    if (query.failures.defined(i)) values[n + i] = *value::to_number(query.at(i, scratch));
  }
  return ranks(values);
}

// A text of up to 7 bytes as a word that compares as the text does: its bytes, the first in front,
// then its length, which tells "a" from "a" and a zero byte.
std::int64_t code_of(std::string_view text) {
  std::uint64_t code = 0;
  for (std::size_t i = 0; i < kCodedText; ++i) {
    code = code << 8 | (i < text.size() ? static_cast<unsigned char>(text[i]) : 0u);
  }
  code = code << 8 | text.size();
  return static_cast<std::int64_t>(code ^ (std::uint64_t{1} << 63));  // signed order
}

// False where some defined element is no text, or a longer one.
bool code_texts(const Column& column, std::size_t n, std::vector<std::int64_t>& codes) {
  if (column.has_lanes()) return false;
  const std::size_t count = column.step == 0 ? 1 : n;
  codes.resize(count);
  for (std::size_t i = 0; i < count; ++i) {
    const auto* text = std::get_if<std::string>(&column.atoms[i]);
    const bool coded = text != nullptr && text->size() <= kCodedText;
    if (!coded && column.failures.defined(i)) return false;
    codes[i] = coded ? code_of(*text) : 0;
  }
  return true;
}

bool select_texts(Op op, const Column& key, const Column& query, Rows& out, Run& run) {
  if (!code_texts(key, run.n, run.key_codes)) return false;
  const bool same = &key == &query;
  if (!same && !code_texts(query, run.n, run.query_codes)) return false;
  const std::vector<std::int64_t>& queries = same ? run.key_codes : run.query_codes;
  fill(op, {run.key_codes.data(), queries.data(), key.step, query.step}, out, run.n);
  return true;
}

void compare_plainly(Op op, const Column& key, const Column& query, Rows& out, const Run& run) {
  const std::size_t n = run.n;
  Atom scratch_key;
  Atom scratch_query;
  for (std::size_t q = 0; q < n && !run.must_end(); ++q) {
    if (!out.failures.defined(q)) continue;
    const Atom& query_atom = query.at(q, scratch_query);
    for (std::size_t k = 0; k < n; ++k) {
      // The types were seen to compare, so there is a value.
      if (value::compare(op, key.at(k, scratch_key), query_atom).value_or(false)) {
        out.row(q)[k / 64] |= std::uint64_t{1} << (k % 64);
      }
    }
  }
}

// Either all elements of a sequence are strings or none is: one pair decides whether they compare.
void select_atoms(Op op, const Column& key, const Column& query, graph::NodeId node, Rows& out,
                  Run& run) {
  const std::size_t n = run.n;
  std::size_t first = 0;
  while (first < n && !out.failures.defined(first)) ++first;
  if (first == n) return;
  Atom scratch_key;
  Atom scratch_query;
  const Atom& some_key = key.at(0, scratch_key);
  const Atom& some_query = query.at(first, scratch_query);
  value::OpResult tried = value::apply(op, some_key, some_query);
  if (!tried) {
    Failures all;
    all.set_all(run.fail(node, first, std::move(tried.error())), n);
    out.failures.merge(Failures(out.failures), all, n);
    return;
  }
  const bool text = all_text(key, 0);
  if (n <= kPlainLoop || text != all_text(query, first)) {
    compare_plainly(op, key, query, out, run);
    return;
  }
  const std::vector<std::int64_t> rank = ranks_of(key, query, text, n);
  fill(op, {rank.data(), rank.data() + n, 1, 1}, out, n);
}

}  // namespace

void select(Op op, const Column& key, const Column& query, graph::NodeId node, Rows& out,
            Run& run) {
  out.begin(run.n);
  if (key.failures.any()) {  // every row reads every key
    out.failures.set_all(key.failures.first(), run.n);
    return;
  }
  out.failures = query.failures;
  if (key.has_lanes() && query.has_lanes()) {
    fill(op, {key.lanes.data(), query.lanes.data(), key.step, query.step}, out, run.n);
  } else if (!select_texts(op, key, query, out, run)) {
    select_atoms(op, key, query, node, out, run);
  }
  if (run.causal) out.mask_future(run.n);
}

void combine(graph::Kind kind, const Rows& a, const Rows* b, Rows& out, Run& run) {
  out.begin(run.n);
  out.failures.merge(a.failures, b == nullptr ? a.failures : b->failures, run.n);
  const std::size_t count = out.bits.size();
  if (kind == graph::Kind::kSelectorAnd) {
    for (std::size_t i = 0; i < count; ++i) out.bits[i] = a.bits[i] & b->bits[i];
  } else if (kind == graph::Kind::kSelectorOr) {
    for (std::size_t i = 0; i < count; ++i) out.bits[i] = a.bits[i] | b->bits[i];
  } else {
    for (std::size_t i = 0; i < count; ++i) out.bits[i] = ~a.bits[i];
    for (std::size_t q = 0; q < run.n; ++q) out.row(q).back() &= last_word_mask(run.n);
  }
  if (run.causal) out.mask_future(run.n);
}

}  // namespace rasp::interpreter
