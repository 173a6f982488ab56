#include "compiler/certify_logits.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <optional>

#include "compiler/certify_joint.h"

namespace rasp::compiler::checker {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kMaxPeaks = 0x1p22;
constexpr double kMaxOwn = 0x1p16;       // of combinations at one position
constexpr double kMaxProducts = 0x1p33;  // of a component's queries, keys and dimensions

// Query variables and key variables that meet in some dimension of the head, so that their shares
// in the logit cannot be told apart. Components share no variable of either side: over all
// combinations, their shares vary freely, and the logit is the sum.
struct Component {
  std::vector<std::size_t> queries;  // parts of the query reading
  std::vector<std::size_t> keys;
};

// The best and the second best of the distinct logit shares that a query meets.
struct Peak {
  double top = 0;
  double second = -kInfinity;
  bool one_key = false;  // all that reach the top are at one position
  bool first = true;     // every key that can be at the first position reaches the top
  bool own = true;       // so does the key at the query's own position
  friend auto operator<=>(const Peak&, const Peak&) = default;
};

// How far a part's rows go from its first one.
RowSet deviations(const Part& part) {
  RowSet result(part.rows.width());
  std::vector<double> row(static_cast<std::size_t>(part.rows.width()));
  for (Index i = 0; i < part.rows.size(); ++i) {
    std::ranges::transform(part.rows.row(i), part.rows.row(0), row.begin(), std::minus<>());
    result.add(row, part.rows.place(i));
  }
  return result;
}

std::vector<bool> varying(const RowSet& rows) {
  std::vector<bool> result(static_cast<std::size_t>(rows.width()));
  for (Index i = 0; i < rows.size(); ++i)
    for (std::size_t j = 0; j < result.size(); ++j)
      if (rows.row(i)[j] != 0) result[j] = true;
  return result;
}

bool meet(const std::vector<bool>& a, const std::vector<bool>& b) {
  for (std::size_t j = 0; j < a.size(); ++j)
    if (a[j] && b[j]) return true;
  return false;
}

std::vector<Component> components_of(const std::vector<std::vector<bool>>& queries,
                                     const std::vector<std::vector<bool>>& keys) {
  std::vector<std::size_t> label(queries.size() + keys.size());
  std::iota(label.begin(), label.end(), std::size_t{0});
  for (std::size_t q = 0; q < queries.size(); ++q) {
    for (std::size_t k = 0; k < keys.size(); ++k) {
      const std::size_t old = label[queries.size() + k];
      if (meet(queries[q], keys[k])) std::ranges::replace(label, old, label[q]);
    }
  }
  std::vector<Component> all(label.size());
  for (std::size_t i = 0; i < label.size(); ++i) {
    if (i < queries.size())
      all[label[i]].queries.push_back(i);
    else
      all[label[i]].keys.push_back(i - queries.size());
  }
  std::erase_if(all, [](const Component& c) { return c.queries.empty() && c.keys.empty(); });
  return all;
}

struct Ends {
  Vector low, high;
};

Ends ends_of(const Reading& reading) {
  Ends ends{reading.constant, reading.constant};
  for (const Part& part : reading.parts) {
    ends.low += part.rows.matrix().colwise().minCoeff();
    ends.high += part.rows.matrix().colwise().maxCoeff();
  }
  return {ends.low.cwiseMin(reading.bos), ends.high.cwiseMax(reading.bos)};
}

// Whether every addend of every logit is a multiple of a power of two, and the sums stay small
// enough, so that logits are exact in any order: the sum of the positive addends bounds every
// partial sum from above, that of the negative ones from below.
bool logits_exact(const Precision& precision, const Reading& q, const Reading& k, double scale) {
  const Ends q_ends = ends_of(q);
  const Ends k_ends = ends_of(k);
  double unit = kInfinity;
  double low = 0;
  double high = 0;
  for (Index j = 0; j < q.width(); ++j) {
    if (q.magnitude[j] + q.bos_magnitude[j] == 0) continue;
    if (k.magnitude[j] + k.bos_magnitude[j] == 0) continue;
    for (const Reading* side : {&q, &k})
      if (!side->exact(precision, j) || !side->exact_at_bos(precision, j)) return false;
    unit = std::min(unit, std::min(q.unit[j], q.bos_unit[j]) * std::min(k.unit[j], k.bos_unit[j]));
    const auto products = {q_ends.low[j] * k_ends.low[j], q_ends.low[j] * k_ends.high[j],
                           q_ends.high[j] * k_ends.low[j], q_ends.high[j] * k_ends.high[j]};
    low += std::min(0.0, std::min(products));
    high += std::max(0.0, std::max(products));
  }
  return unit_of(scale) == scale && precision.exact(std::max(high, -low), unit);
}

class Logits {
 public:
  Logits(const Stream& stream, const Reading& q, const Reading& k, double scale)
      : stream_(stream),
        q_(q),
        k_(k),
        scale_(scale),
        from_bos_(k.constant - k.bos),
        query_(q.constant) {
    base_ = 0;
    for (const Part& part : q.parts) {
      const auto first = part.rows.row(0);
      query_ += Eigen::Map<const Vector>(first.data(), part.rows.width());
      queries_.push_back(deviations(part));
    }
    for (const Part& part : k.parts) {
      const auto first = part.rows.row(0);
      from_bos_ += Eigen::Map<const Vector>(first.data(), part.rows.width());
      keys_.push_back(deviations(part));
    }
    base_ = scale_ * query_.dot(from_bos_);
  }

  // Nothing when the tables are too large to go through.
  std::optional<std::vector<Peak>> peaks() const {
    std::vector<std::vector<bool>> q_varying, k_varying;
    for (const RowSet& rows : queries_) q_varying.push_back(varying(rows));
    for (const RowSet& rows : keys_) k_varying.push_back(varying(rows));
    std::vector<Peak> all{{base_, -kInfinity, false, true, true}};
    for (const Component& component : components_of(q_varying, k_varying)) {
      const auto own = peaks_of(component);
      if (!own || static_cast<double>(own->size()) * static_cast<double>(all.size()) > kMaxPeaks)
        return std::nullopt;
      all = combine(all, *own);
    }
    return all;
  }

 private:
  static std::optional<RowSet> merge(const std::vector<RowSet>& parts,
                                     const std::vector<std::size_t>& chosen, Index width) {
    std::optional<RowSet> merged(width);
    merged->add(std::vector<double>(static_cast<std::size_t>(width)));
    for (std::size_t i : chosen) {
      merged = sums(*merged, parts[i], most_rows(width));
      if (!merged) return std::nullopt;
    }
    return merged;
  }

  // The best shares add up to the best logit; the next best gives way in one component only.
  static std::vector<Peak> combine(const std::vector<Peak>& a, const std::vector<Peak>& b) {
    std::vector<Peak> result;
    for (const Peak& x : a)
      for (const Peak& y : b)
        result.push_back({x.top + y.top, std::max(x.top + y.second, x.second + y.top),
                          x.one_key || y.one_key, x.first && y.first, x.own && y.own});
    sort_distinct(result);
    return result;
  }

  std::optional<std::vector<Peak>> peaks_of(const Component& component) const {
    const Index width = from_bos_.size();
    const auto queries = merge(queries_, component.queries, width);
    const auto keys = merge(keys_, component.keys, width);
    if (!queries || !keys) return std::nullopt;
    const double products = static_cast<double>(queries->size()) *
                            static_cast<double>(keys->size()) * static_cast<double>(width + 1);
    if (products > kMaxProducts) return std::nullopt;
    // (query_ + dq) (from_bos_ + dk) less query_ from_bos_, which is base_.
    std::vector<Peak> result;
    const Index block = std::max<Index>(1, 65536 / keys->size());
    const Matrix k = keys->matrix();
    for (Index begin = 0; begin < queries->size(); begin += block) {
      const Index count = std::min(block, queries->size() - begin);
      const Matrix dq = queries->matrix().middleRows(begin, count);
      Matrix share = (dq.rowwise() + query_) * k.transpose();
      share.colwise() += dq * from_bos_.transpose();
      share *= scale_;
      for (Index i = 0; i < count; ++i)
        result.push_back(peak_of(share.row(i), queries->place(begin + i), *keys));
    }
    find_own(component, *queries, *keys, result);
    sort_distinct(result);
    return result;
  }

  template <typename Shares>
  Peak peak_of(const Shares& shares, const Place& query, const RowSet& keys) const {
    Peak peak{-kInfinity, -kInfinity, false, true, true};
    Range at;
    double first = kInfinity;
    for (Index k = 0; k < keys.size(); ++k) {
      const Place& place = keys.place(k);
      const Range& key = place.position;
      const Range length = meet(place.length, query.length);
      if (length.empty() || key.low > length.high) continue;
      if (stream_.causal && key.low > query.position.high) continue;
      const double share = shares[k];
      if (key.low <= 1) first = std::min(first, share);
      if (share > peak.top) {
        peak.second = peak.top;
        peak.top = share;
        at = key;
      } else if (share == peak.top) {
        at = {std::min(at.low, key.low), std::max(at.high, key.high)};
      } else {
        peak.second = std::max(peak.second, share);
      }
    }
    peak.one_key = at.low == at.high;
    peak.first = first == peak.top;
    return peak;
  }

  // Goes through what the component's variables can be at one position, which gives a query and the
  // key at its own place. With too many such combinations nothing is known.
  void find_own(const Component& component, const RowSet& queries, const RowSet& keys,
                std::vector<Peak>& peaks) const {
    std::vector<std::int32_t> variables;
    for (std::size_t i : component.queries)
      std::ranges::copy(q_.parts[i].variables, std::back_inserter(variables));
    for (std::size_t i : component.keys)
      std::ranges::copy(k_.parts[i].variables, std::back_inserter(variables));
    Assignment assignment(stream_, roots_of(stream_, variables));
    if (assignment.count() > kMaxOwn) {
      std::ranges::for_each(peaks, [](Peak& peak) { peak.own = false; });
      return;
    }
    do {
      Place place = assignment.place();
      const auto query = row_at(q_, queries_, component.queries, assignment, place);
      const auto key = row_at(k_, keys_, component.keys, assignment, place);
      if (!query || !key || !place.possible()) continue;
      Peak& peak = peaks[static_cast<std::size_t>(queries.find(*query))];
      peak.own = peak.own && keys.find(*key) >= 0 && share(*query, *key) == peak.top;
    } while (assignment.next());
  }

  // The component's row under an assignment; nullopt when it has none. Narrows `place`.
  std::optional<std::vector<double>> row_at(const Reading& reading,
                                            const std::vector<RowSet>& parts,
                                            const std::vector<std::size_t>& chosen,
                                            const Assignment& assignment, Place& place) const {
    std::vector<double> row(static_cast<std::size_t>(from_bos_.size()));
    for (std::size_t i : chosen) {
      const Index r = row_of(reading.parts[i], assignment, stream_);
      if (r < 0) return std::nullopt;
      place = meet(place, reading.parts[i].rows.place(r));
      std::ranges::transform(row, parts[i].row(r), row.begin(), std::plus<>());
    }
    return row;
  }

  double share(const std::vector<double>& query, const std::vector<double>& key) const {
    double sum = 0;
    for (std::size_t j = 0; j < query.size(); ++j) {
      const auto i = static_cast<Index>(j);
      sum += (query[j] + query_[i]) * key[j] + query[j] * from_bos_[i];
    }
    return scale_ * sum;
  }

  const Stream& stream_;
  const Reading& q_;
  const Reading& k_;
  double scale_;
  Vector from_bos_;  // a key's vector less BOS's, at each part's first row
  Vector query_;     // a query's vector, at each part's first row
  double base_;
  std::vector<RowSet> queries_, keys_;
};

// The logits, relative to BOS's own, that BOS gives to tokens at most.
double best_of_bos(const Reading& q, const Reading& k, double scale) {
  double best = scale * q.bos.dot(k.constant - k.bos);
  for (const Part& part : k.parts) {
    double most = -kInfinity;
    for (Index i = 0; i < part.rows.size(); ++i) {
      const Eigen::Map<const Vector> row(part.rows.row(i).data(), part.rows.width());
      most = std::max(most, scale * q.bos.dot(row));
    }
    best += most;
  }
  return best;
}

std::string unusable(const Reading& reading, const Stream& stream) {
  if (!reading.fault.empty()) return reading.fault;
  for (const Part& part : reading.parts)
    if (!part.listed || !part.error.isZero(0))
      return "a logit reads " + names_of(part, stream) + ", which is not exact: ties may break";
  return "";
}

void classify(const Peak& peak, const Precision& precision, Selection& selection) {
  using Kind = Selection::Kind;
  const double zero = precision.exp_zero;
  selection.all_keys = selection.all_keys && peak.second == -kInfinity && peak.top > -zero;
  selection.never_empty = selection.never_empty && (peak.first || peak.own) && peak.top > -zero;
  if (peak.top <= -zero) {
    selection.margin = std::min(selection.margin, -zero - peak.top);
    return;
  }
  selection.one_key = selection.one_key && peak.one_key;
  selection.margin = std::min(selection.margin, -zero - peak.second);
  Kind kind = Kind::kShared;
  if (peak.top > 0) {
    kind = Kind::kMean;
    selection.margin = std::min(selection.margin, peak.top - zero);
  } else if (peak.top < 0) {
    kind = Kind::kSink;
    selection.margin = std::min(selection.margin, precision.sink_limit + peak.top);
  }
  const double depth = kind == Kind::kSink ? -peak.top : 0;
  const bool agrees = selection.kind == kind && selection.depth == depth;
  if (selection.kind != Kind::kNothing && !agrees)
    selection.fault = "selected keys are not at one distance from BOS";
  selection.kind = kind;
  selection.depth = depth;
}

}  // namespace

Selection check_logits(const Stream& stream, std::uint32_t step, const Matrix& wq, const Matrix& wk,
                       double scale) {
  Selection selection;
  const Reading q = read(stream, step, wq);
  const Reading k = read(stream, step, wk);
  selection.fault = unusable(q, stream);
  if (selection.fault.empty()) selection.fault = unusable(k, stream);
  if (!selection.fault.empty()) return selection;
  if (!logits_exact(stream.precision, q, k, scale)) {
    selection.fault = "logits are rounded: ties may break";
    return selection;
  }
  const auto peaks = Logits(stream, q, k, scale).peaks();
  if (!peaks) {
    selection.fault = "too many combinations of queries and keys to check";
    return selection;
  }
  selection.margin = kInfinity;
  for (const Peak& peak : *peaks) classify(peak, stream.precision, selection);
  if (!stream.causal)  // else BOS sees no token
    selection.margin =
        std::min(selection.margin, -stream.precision.exp_zero - best_of_bos(q, k, scale));
  if (selection.fault.empty() && !(selection.margin >= 0)) {
    selection.fault = "a logit leaks: exp of its distance is not 0";
  }
  if (selection.margin == kInfinity) selection.margin = stream.precision.exp_zero;
  return selection;
}

}  // namespace rasp::compiler::checker
