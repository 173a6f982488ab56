#include "compiler/certify_values.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

namespace rasp::compiler::checker {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
using Kind = Selection::Kind;

bool power_of_two(double value) { return unit_of(value) == std::abs(value); }

// Multiplies rows from the right, zeros skipped.
RowSet times(const RowSet& rows, const Matrix& weights) {
  RowSet result(weights.cols());
  Vector row(weights.cols());
  for (Index i = 0; i < rows.size(); ++i) {
    row.setZero();
    for (Index j = 0; j < weights.rows(); ++j) {
      const double x = rows.row(i)[static_cast<std::size_t>(j)];
      if (x != 0) row += x * weights.row(j);
    }
    result.add({row.data(), static_cast<std::size_t>(row.size())}, rows.place(i));
  }
  return result;
}

RowSet single_row(const Vector& row) {
  RowSet rows(row.size());
  rows.add({row.data(), static_cast<std::size_t>(row.size())});
  return rows;
}

// What tokens' values add to the slice; nullopt when there are too many.
std::optional<RowSet> token_rows(const Writer& writer) {
  std::optional<RowSet> all = single_row(writer.values->constant * writer.output);
  for (const Part& part : writer.values->parts) {
    all = sums(*all, times(part.rows, writer.output), most_rows(all->width()));
    if (!all) return std::nullopt;
  }
  return all;
}

// No rounding in what `writer` makes of equal values, from v to the slice; adds to `unit` and
// `magnitude` [width].
bool exact_rows(const Writer& writer, const Stream& stream, Vector& unit, Vector& magnitude) {
  const Precision& precision = stream.precision;
  const Reading& v = *writer.values;
  for (Index j = 0; j < v.width(); ++j) {
    if (writer.output.row(j).isZero(0)) continue;
    if (!v.exact(precision, j) || !v.exact_at_bos(precision, j)) return false;
    const double n = writer.selection->one_key ? 1 : stream.max_length;
    if (!precision.exact(n * v.magnitude[j], v.unit[j])) return false;
    for (Index c = 0; c < unit.size(); ++c) {
      const double weight = writer.output(j, c);
      if (weight == 0) continue;
      unit[c] = std::min(unit[c], std::min(v.unit[j], v.bos_unit[j]) * unit_of(weight));
      magnitude[c] += std::max(v.magnitude[j], v.bos_magnitude[j]) * std::abs(weight);
    }
  }
  return true;
}

// The rows that one writer can add, when every row of the softmax gives one value. A key's row
// stands in sequences of the same length as the key, at any position that sees it. `alike`: all
// keys have one row.
std::optional<RowSet> added_rows(const Writer& writer, bool causal, bool& alike) {
  const RowSet bos = single_row(writer.values->bos * writer.output);
  if (writer.selection->kind == Kind::kNothing) return bos;
  const std::optional<RowSet> keys = token_rows(writer);
  if (!keys) return std::nullopt;
  alike = keys->size() == 1;
  std::optional<RowSet> rows(bos.width());
  for (Index i = 0; i < keys->size(); ++i) {
    Place place;
    place.length = keys->place(i).length;
    if (causal) place.position.low = keys->place(i).position.low;
    rows->add(keys->row(i), place);
  }
  if (!writer.selection->never_empty) rows->add(bos.row(0));
  return rows;
}

std::string text(Real number) {
  std::ostringstream out;
  out << number;
  return out.str();
}

std::string range_text(Real low, Real high, Real error) {
  return "[" + text(low) + ", " + text(high) + "] within " + text(error);
}

Written fault(std::string text) { return {std::move(text), "", 0}; }

Written check_categorical(const model::Slice& slice, std::int32_t index,
                          const std::vector<Writer>& writers, Stream& stream) {
  const Index width = slice.features.cols();
  Vector unit = Vector::Constant(width, kInfinity);
  const Vector base = stream.token_base.segment(slice.begin, width);
  Vector magnitude = base.cwiseAbs();
  for (Index c = 0; c < width; ++c) unit[c] = unit_of(base[c]);
  std::optional<RowSet> rows = single_row(base);
  Written written;
  for (const Writer& writer : writers) {
    const Kind kind = writer.selection->kind;
    if (kind == Kind::kShared || kind == Kind::kSink)
      return fault("a head that counts cannot write rows");
    if (!exact_rows(writer, stream, unit, magnitude)) return fault("rows are rounded");
    bool alike = true;
    const std::optional<RowSet> added = added_rows(writer, stream.causal, alike);
    if (added) rows = sums(*rows, *added, most_rows(width));
    if (!added || !rows) return fault("too many rows to check");
    if (kind == Kind::kMean && !writer.selection->one_key && !alike)
      written.detail = "queries that select unequal values are taken to be undefined";
  }
  for (Index c = 0; c < width; ++c)
    if (!stream.precision.exact(magnitude[c], unit[c])) return fault("rows are rounded");
  const RowSet features = features_of(slice);
  std::vector<Place> places(static_cast<std::size_t>(features.size()), kNowhere);
  for (Index i = 0; i < rows->size(); ++i) {
    const Index value = features.find(rows->row(i));
    if (value < 0) return fault("can hold a row that it does not list");
    Place& place = places[static_cast<std::size_t>(value)];
    place = hull(place, rows->place(i));
  }
  set_row_places(slice, index, features, places, stream);
  return written;
}

// What one writer does to a scalar, and the rounding errors on the way.
struct ScalarShare {
  Outcomes outcomes;
  double error = 0;
  double magnitude = 0;
  std::string fault;
};

// BOS's value counts among those that add up where the head shares with it.
ValueColumn value_column(const Reading& v, Index j, double n, bool shared,
                         const Precision& precision) {
  double low = v.constant[j];
  double high = low;
  for (const Part& part : v.parts) {
    low += part.rows.matrix().col(j).minCoeff();
    high += part.rows.matrix().col(j).maxCoeff();
  }
  ValueColumn column;
  column.error = v.error[j] + v.rounding(precision, j);
  column.magnitude = std::max({std::abs(low), std::abs(high), std::abs(v.bos[j])}) + column.error;
  column.exact_sum = v.exact(precision, j) &&
                     precision.exact(n * column.magnitude, std::min(v.unit[j], v.bos_unit[j]));
  column.constant = v.exact(precision, j) && low == high && !shared;
  return column;
}

ScalarShare scalar_share(const Writer& writer, const Stream& stream) {
  const Precision& precision = stream.precision;
  const Reading& v = *writer.values;
  const Selection& selection = *writer.selection;
  const bool is_sink = selection.kind == Kind::kSink;
  const double n = stream.max_length + (is_sink ? 0.0 : 1.0);
  ScalarShare share;
  const double bos = v.bos.dot(writer.output.col(0));
  if (selection.kind == Kind::kNothing) {  // BOS alone, exactly
    share.outcomes = single_outcome(bos);
    share.magnitude = std::abs(bos);
    return share;
  }
  double roundings = 0;
  for (Index j = 0; j < v.width(); ++j) {
    const double weight = std::abs(writer.output(j, 0));
    if (weight == 0) continue;
    if (!v.exact_at_bos(precision, j)) share.fault = "BOS's value is rounded";
    if (is_sink && v.bos[j] != 0) share.fault = "a sink reads a BOS value that is not 0";
    const ValueColumn column = value_column(v, j, n, selection.kind == Kind::kShared, precision);
    const bool one_key = selection.one_key && selection.kind != Kind::kShared;
    const double error = is_sink ? sink_error(precision, column, n, selection.depth)
                                 : mean_error(precision, column, n, one_key);
    const double scale = is_sink ? n * std::exp(-selection.depth) : 1;
    share.error += weight * error;
    share.magnitude += weight * (scale * column.magnitude + error);
    roundings += power_of_two(weight) ? 1 : 2;
  }
  if (roundings > 1)  // with float64, ours too
    share.error += (precision.single ? 1 : 2) * precision.gamma(roundings - 1) * share.magnitude;
  const std::optional<RowSet> rows = token_rows(writer);
  if (!rows) {
    share.fault = "too many values to check";
    return share;
  }
  const bool is_listed = std::ranges::all_of(v.parts, &Part::listed);
  share.outcomes = head_outcomes(selection, *rows, is_listed, bos, stream.max_length);
  return share;
}

// A sum of equal values counts the selected tokens: a count of k stands only in sequences of at
// least k tokens, one of every token only in those of just k; with a causal mask, at such
// positions.
void place_count(const model::Slice& slice, std::int32_t index, const Writer& writer,
                 Stream& stream) {
  const std::optional<RowSet> rows = token_rows(writer);
  if (writer.selection->kind != Kind::kSink || !rows || rows->size() != 1) return;
  const double one = rows->row(0)[0] * std::exp(-writer.selection->depth);
  const Variable& variable =
      stream
          .variables[static_cast<std::size_t>(stream.variable_of[static_cast<std::size_t>(index)])];
  if (!variable.listed || !(slice.error < std::abs(one) / 4)) return;
  std::vector<Place> places;
  for (Index i = 0; i < variable.rows.rows(); ++i) {
    const double count = variable.rows(i, 0) / one;
    if (!(std::abs(count - std::round(count)) < 0x1p-10 && count > -0.5 &&
          count < stream.max_length + 0.5))
      return;
    const auto k = static_cast<std::uint32_t>(std::lround(count));
    Range range{k, stream.max_length};
    if (writer.selection->all_keys) range.high = k;
    Place& place = places.emplace_back();
    (stream.causal ? place.position : place.length) = range;
  }
  set_places(stream, index, std::move(places));
}

// Where BOS, level with the selected keys, alone has a value, the output is that whole value
// divided once by a whole number. Its error shrinks with it, far below that of the largest.
void place_quotient(const model::Slice& slice, std::int32_t index, const Writer& writer,
                    const Outcomes& outcomes, Stream& stream) {
  const Reading& v = *writer.values;
  if (writer.selection->kind != Kind::kShared || v.width() != 1 || v.error[0] != 0) return;
  if (!power_of_two(std::abs(writer.output(0, 0))) || outcomes.deviation != 0) return;
  const ValueColumn column = value_column(v, 0, stream.max_length + 1.0, true, stream.precision);
  if (!column.exact_sum || !v.exact_at_bos(stream.precision, 0)) return;
  Real relative = stream.precision.roundoff;
  const std::vector<Real> claimed = listed_values(slice);
  for (const Real value : outcomes.values) {
    if (value == 0) return;
    if (!claimed.empty())
      relative = std::max(relative,
                          stream.precision.roundoff + distance(claimed, value) / std::abs(value));
  }
  const auto variable = stream.variable_of[static_cast<std::size_t>(index)];
  stream.variables[static_cast<std::size_t>(variable)].relative =
      static_cast<double>(relative) * (1 + 0x1p-20);  // of the value claimed, and our own rounding
}

Written check_scalar_written(const model::Slice& slice, std::int32_t index,
                             const std::vector<Writer>& writers, Stream& stream) {
  const double base = stream.token_base[slice.begin];
  Outcomes outcomes = single_outcome(base);
  double error = 0;
  double magnitude = std::abs(base);
  double addends = base == 0 ? 0 : 1;
  for (const Writer& writer : writers) {
    const ScalarShare share = scalar_share(writer, stream);
    if (!share.fault.empty()) return fault(share.fault);
    outcomes = add(outcomes, share.outcomes);
    error += share.error;
    magnitude += share.magnitude;
    addends += 1;
  }
  // Heads add to the stream one after another.
  if (addends > 1) error += stream.precision.gamma(addends - 1) * magnitude;
  Written written = check_scalar(slice, index, outcomes, error, stream);
  if (written.fault.empty() && writers.size() == 1 && base == 0) {
    place_count(slice, index, writers[0], stream);
    place_quotient(slice, index, writers[0], outcomes, stream);
  }
  return written;
}

// BOS attends to itself alone, with weight 1; no sum on the way may be rounded.
bool bos_holds(const model::Slice& slice, const std::vector<Writer>& writers,
               const Stream& stream) {
  Vector bos = stream.bos_base.segment(slice.begin, slice.bos_value.size());
  Vector magnitude = bos.cwiseAbs();
  Vector unit = bos.unaryExpr(&unit_of);
  for (const Writer& writer : writers) {
    const Reading& v = *writer.values;
    for (Index j = 0; j < v.width(); ++j) {
      if (!v.exact_at_bos(stream.precision, j) && !writer.output.row(j).isZero(0)) return false;
      if (v.bos[j] == 0) continue;
      for (Index c = 0; c < bos.size(); ++c) {
        const double weight = writer.output(j, c);
        bos[c] += v.bos[j] * weight;
        magnitude[c] += std::abs(v.bos[j] * weight);
        unit[c] = std::min(unit[c], unit_of(v.bos[j]) * unit_of(weight));
      }
    }
  }
  for (Index c = 0; c < bos.size(); ++c)
    if (!stream.precision.exact(magnitude[c], unit[c])) return false;
  return bos == slice.bos_value;
}

}  // namespace

RowSet features_of(const model::Slice& slice) {
  RowSet features(slice.features.cols());
  for (Index i = 0; i < slice.features.rows(); ++i)
    features.add({slice.features.row(i).data(), static_cast<std::size_t>(slice.features.cols())});
  return features;
}

void set_row_places(const model::Slice& slice, std::int32_t slice_index, const RowSet& features,
                    const std::vector<Place>& places, Stream& stream) {
  std::vector<Place> of_values;
  for (Index i = 0; i < slice.features.rows(); ++i) {
    const Index row = features.find(
        {slice.features.row(i).data(), static_cast<std::size_t>(slice.features.cols())});
    of_values.push_back(places[static_cast<std::size_t>(row)]);
  }
  set_places(stream, slice_index, std::move(of_values));
}

Written check_scalar(const model::Slice& slice, std::int32_t slice_index, const Outcomes& outcomes,
                     double bound, Stream& stream) {
  Written written;
  const std::vector<Real> claimed = listed_values(slice);
  if (outcomes.low - bound < slice.minimum - slice.error ||
      outcomes.high + bound > slice.maximum + slice.error)
    return fault("leaves its range, " + range_text(slice.minimum, slice.maximum, slice.error) +
                 ": takes " + range_text(outcomes.low, outcomes.high, bound));
  if (!claimed.empty() && outcomes.values.empty()) return fault("takes too many values to check");
  Real worst = 0;
  for (Real value : outcomes.values) {
    if (claimed.empty()) break;
    const Real off = distance(claimed, value);
    if (off > slice.error) return fault("takes a value that it does not list");
    worst = std::max(worst, off);
  }
  written.bound = static_cast<double>(worst + outcomes.deviation) + bound;
  if (!(written.bound <= slice.error))
    return fault("claims too small an error: it can be " + text(written.bound));
  if (!claimed.empty() || outcomes.values.empty()) return written;
  const auto variable =
      static_cast<std::size_t>(stream.variable_of[static_cast<std::size_t>(slice_index)]);
  Variable& target = stream.variables[variable];
  target.listed = true;
  target.rows.resize(static_cast<Index>(outcomes.values.size()), 1);
  for (std::size_t i = 0; i < outcomes.values.size(); ++i)
    target.rows(static_cast<Index>(i), 0) = static_cast<double>(outcomes.values[i]);
  return written;
}

Written check_written(const model::Slice& slice, std::int32_t slice_index,
                      const std::vector<Writer>& writers, Stream& stream) {
  if (!bos_holds(slice, writers, stream)) return fault("is not what it claims at BOS");
  return is_scalar(slice) ? check_scalar_written(slice, slice_index, writers, stream)
                          : check_categorical(slice, slice_index, writers, stream);
}

}  // namespace rasp::compiler::checker
