#include "compiler/certify_stream.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rasp::compiler::checker {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
using Row = std::vector<double>;

std::string quoted(const model::Slice& slice) { return "the slice \"" + slice.name + "\""; }

std::string malformed(const model::Slice& slice, const model::Model& model) {
  const auto width = static_cast<Index>(slice.end) - static_cast<Index>(slice.begin);
  if (width < 1 || slice.end > model.d_model) return "has no columns";
  if (slice.first_step > 2 * model.layers.size()) return "begins after the last layer";
  if (slice.bos_value.size() != width) return "does not say what BOS holds";
  if (!slice.bos_value.allFinite()) return "claims a BOS value that is not finite";
  if (slice.encoding == model::Slice::Encoding::kFlag)
    return slice.first_step == 0 ? "" : "is a flag that the embedding does not write";
  if (!is_scalar(slice)) {
    if (slice.features.rows() < 1 || slice.features.cols() != width) return "lists no rows";
    return slice.features.allFinite() ? "" : "claims a row that is not finite";
  }
  if (width != 1) return "is a scalar of several columns";
  const bool ordered = std::isfinite(slice.minimum) && std::isfinite(slice.maximum) &&
                       std::isfinite(slice.error) && slice.minimum <= slice.maximum &&
                       slice.error >= 0;
  if (!ordered) return "claims no range";
  for (const value::Atom& atom : slice.values)
    if (!value::to_number(atom)) return "lists a value that is no number";
  return "";
}

// Claims the slice's columns; false when another slice has one of them.
bool claim_columns(Stream& stream, const model::Slice& slice, std::int32_t index) {
  for (std::uint32_t c = slice.begin; c < slice.end; ++c) {
    if (stream.columns[c].slice != -1) return false;
    stream.columns[c] = {Column::kNone, 0, slice.first_step, index};
  }
  stream.bos.segment(slice.begin, slice.end - slice.begin) = slice.bos_value;
  return true;
}

// What the embedding makes of a token's row and a position's: one rounded addition.
class Embedding {
 public:
  Embedding(const model::Model& model, const Precision& precision)
      : tokens_(model.token_embedding),
        positions_(model.position_embedding),
        precision_(precision) {}

  [[nodiscard]] Index tokens() const { return tokens_.rows() - 1; }
  [[nodiscard]] Index positions() const { return positions_.rows() - 1; }
  [[nodiscard]] double at(Index token, Index position, Index column) const {
    return precision_.round(tokens_(token, column) + positions_(position, column));
  }
  [[nodiscard]] double at_bos(Index column) const { return at(tokens(), 0, column); }
  [[nodiscard]] bool token_varies(Index begin, Index end) const {
    const auto block = tokens_.block(0, begin, tokens(), end - begin);
    return !(block.rowwise() - block.row(0)).isZero(0);
  }
  [[nodiscard]] bool position_varies(Index begin, Index end) const {
    const auto block = positions_.block(1, begin, positions(), end - begin);
    return !(block.rowwise() - block.row(0)).isZero(0);
  }

 private:
  const Matrix& tokens_;
  const Matrix& positions_;
  const Precision& precision_;
};

// Whether rows of columns are what a slice claims.
class Claim {
 public:
  explicit Claim(const model::Slice& slice) : slice_(slice), rows_(slice.features.cols()) {
    for (Index i = 0; i < slice.features.rows(); ++i)
      rows_.add({slice.features.row(i).data(), static_cast<std::size_t>(slice.features.cols())});
    if (is_scalar(slice)) values_ = listed_values(slice);
  }
  [[nodiscard]] bool holds(const Row& row) const {
    if (slice_.encoding == model::Slice::Encoding::kFlag) return true;
    if (!is_scalar(slice_)) return rows_.find(row) >= 0;
    if (row[0] < slice_.minimum - slice_.error || row[0] > slice_.maximum + slice_.error)
      return false;
    return values_.empty() || distance(values_, row[0]) <= slice_.error;
  }

 private:
  const model::Slice& slice_;
  RowSet rows_;
  std::vector<long double> values_;
};

// Gives the columns of a slice to a variable, at the end of its columns.
void append_columns(Stream& stream, std::int32_t variable, const model::Slice& slice) {
  Variable& target = stream.variables[static_cast<std::size_t>(variable)];
  for (std::uint32_t c = slice.begin; c < slice.end; ++c) {
    stream.columns[c].variable = variable;
    stream.columns[c].place = static_cast<std::uint32_t>(target.columns.size());
    target.columns.push_back(c);
  }
}

class StreamBuilder {
 public:
  explicit StreamBuilder(const model::Model& model)
      : model_(model), stream_(start(model)), embedding_(model, stream_.precision) {}

  Stream build() && {
    for (std::size_t i = 0; i < model_.slices.size(); ++i) {
      const model::Slice& slice = model_.slices[i];
      const std::string problem = malformed(slice, model_);
      if (!problem.empty()) {
        fault(slice, problem);
      } else if (!claim_columns(stream_, slice, static_cast<std::int32_t>(i))) {
        fault(slice, "overlaps another");
      } else if (slice.first_step == 0) {
        add_embedded(slice, i);
      } else {
        add_later(slice, i);
      }
    }
    if (stream_.faults.empty()) fill_rows();
    return std::move(stream_);
  }

 private:
  static Stream start(const model::Model& model) {
    Stream stream;
    stream.precision = precision_of(model.dtype);
    stream.max_length = model.max_length;
    stream.causal = model.causal;
    stream.columns.resize(model.d_model);
    stream.variable_of.assign(model.slices.size(), Column::kNone);
    stream.token_base = Vector::Zero(model.d_model);
    stream.bos_base = Vector::Zero(model.d_model);
    stream.bos = Vector::Zero(model.d_model);
    return stream;
  }

  void fault(const model::Slice& slice, const std::string& problem) {
    stream_.faults.push_back(quoted(slice) + " " + problem);
  }

  std::int32_t new_variable(std::string name, std::uint32_t first_step) {
    Variable& made = stream_.variables.emplace_back();
    made.name = std::move(name);
    made.first_step = first_step;
    return static_cast<std::int32_t>(stream_.variables.size() - 1);
  }

  std::int32_t constant_columns(const model::Slice& slice) {
    for (std::uint32_t c = slice.begin; c < slice.end; ++c) {
      stream_.columns[c].variable = Column::kConstant;
      stream_.token_base[c] = embedding_.at(0, 1, c);
    }
    return Column::kConstant;
  }

  void add_embedded(const model::Slice& slice, std::size_t index) {
    for (std::uint32_t c = slice.begin; c < slice.end; ++c) {
      if (embedding_.at_bos(c) == stream_.bos[c]) continue;
      return fault(slice, "is not what it claims at BOS");
    }
    const bool by_token = embedding_.token_varies(slice.begin, slice.end);
    const bool by_position = embedding_.position_varies(slice.begin, slice.end);
    if (slice.encoding == model::Slice::Encoding::kFlag && (by_token || by_position))
      return fault(slice, "is a flag that varies");
    if (by_token && by_position) return fault(slice, "mixes the token and the position");
    if (!embeds_claim(slice, by_token ? embedding_.tokens() : 1,
                      by_position ? embedding_.positions() : 1))
      return fault(slice, "is not embedded as it claims");
    std::int32_t& variable = stream_.variable_of[index];
    if (!by_token && !by_position) {
      variable = constant_columns(slice);
      return;
    }
    std::int32_t& shared = by_token ? token_ : position_;
    if (shared < 0) shared = new_variable(by_token ? "the token" : "the position", 0);
    variable = shared;
    append_columns(stream_, shared, slice);
  }

  bool embeds_claim(const model::Slice& slice, Index tokens, Index positions) {
    const Claim claim(slice);
    Row row(slice.end - slice.begin);
    for (Index t = 0; t < tokens; ++t) {
      for (Index p = 1; p <= positions; ++p) {
        for (std::size_t c = 0; c < row.size(); ++c)
          row[c] = embedding_.at(t, p, slice.begin + static_cast<Index>(c));
        if (!claim.holds(row)) return false;
      }
    }
    return true;
  }

  void add_later(const model::Slice& slice, std::size_t index) {
    if (embedding_.token_varies(slice.begin, slice.end) ||
        embedding_.position_varies(slice.begin, slice.end))
      return fault(slice, "is embedded before its first step");
    for (std::uint32_t c = slice.begin; c < slice.end; ++c) {
      stream_.token_base[c] = embedding_.at(0, 1, c);
      stream_.bos_base[c] = embedding_.at_bos(c);
    }
    const std::int32_t variable = new_variable(slice.name, slice.first_step);
    stream_.variable_of[index] = variable;
    append_columns(stream_, variable, slice);
    Variable& made = stream_.variables.back();
    if (!is_scalar(slice)) {
      made.rows = slice.features;
      return;
    }
    made.error = slice.error;
    std::vector<long double> values = listed_values(slice);
    made.listed = !values.empty();
    if (!made.listed) values = {slice.minimum, slice.maximum};
    made.rows.resize(static_cast<Index>(values.size()), 1);
    for (std::size_t i = 0; i < values.size(); ++i)
      made.rows(static_cast<Index>(i), 0) = static_cast<double>(values[i]);
  }

  // The joint rows of everything that the token, or the position, determines: what the stream
  // holds, to the bit, whatever a slice's error allows.
  void fill_rows() {
    if (token_ >= 0) fill(token_, embedding_.tokens(), 1, 0);
    if (position_ < 0) return;
    fill(position_, embedding_.positions(), 0, 1);
    Variable& variable = stream_.variables[static_cast<std::size_t>(position_)];
    for (std::uint32_t p = 1; p <= stream_.max_length; ++p)
      variable.places.push_back({{p, p}, {p, stream_.max_length}});
  }

  void fill(std::int32_t index, Index count, Index token_step, Index position_step) {
    Variable& variable = stream_.variables[static_cast<std::size_t>(index)];
    variable.rows.resize(count, static_cast<Index>(variable.columns.size()));
    for (Index i = 0; i < count; ++i)
      for (std::size_t c = 0; c < variable.columns.size(); ++c)
        variable.rows(i, static_cast<Index>(c)) =
            embedding_.at(i * token_step, 1 + i * position_step, variable.columns[c]);
  }

  const model::Model& model_;
  Stream stream_;
  Embedding embedding_;
  std::int32_t token_ = -1;
  std::int32_t position_ = -1;
};

}  // namespace

double Precision::gamma(double roundings) const {
  const double product = roundings * roundoff;
  return product < 1 ? product / (1 - product) : kInfinity;
}

double Precision::round(double value) const {
  return single ? static_cast<double>(static_cast<float>(value)) : value;
}

bool Precision::exact_sum(double a, double b) const {
  const double sum = a + b;
  const double most = std::abs(a) < std::abs(b) ? b : a;
  const double least = std::abs(a) < std::abs(b) ? a : b;
  return sum - most == least && round(sum) == sum;  // the difference is exact (Dekker)
}

bool Precision::exact_product(double a, double b) const {
  const double product = a * b;
  return std::fma(a, b, -product) == 0 && round(product) == product;
}

Precision precision_of(model::Dtype dtype) {
  Precision made;
  made.single = dtype == model::Dtype::kF32;
  made.roundoff = std::ldexp(1.0, made.single ? -24 : -53);
  made.largest = 1 / made.roundoff;
  // Below half of the smallest subnormal number: ln 2^-150 = -103.97, ln 2^-1075 = -745.13.
  made.exp_zero = made.single ? 104 : 746;
  made.sink_limit = made.single ? 87 : 700;
  return made;
}

double unit_of(double value) {
  if (value == 0) return kInfinity;
  int exponent = 0;
  const double fraction = std::frexp(std::abs(value), &exponent);
  const auto digits = static_cast<std::uint64_t>(std::ldexp(fraction, 53));
  return std::ldexp(1.0, exponent - 53 + std::countr_zero(digits));
}

void set_places(Stream& stream, std::int32_t slice, std::vector<Place> places) {
  const std::int32_t index = stream.variable_of[static_cast<std::size_t>(slice)];
  if (std::ranges::any_of(places, &Place::possible))
    stream.variables[static_cast<std::size_t>(index)].places = std::move(places);
}

bool is_scalar(const model::Slice& slice) {
  return slice.encoding == model::Slice::Encoding::kScalar;
}

std::vector<long double> listed_values(const model::Slice& slice) {
  std::vector<long double> values;
  for (const value::Atom& atom : slice.values) {
    const auto number = value::to_number(atom);
    if (!number) continue;
    const auto fraction = number->to_fraction();
    values.push_back(fraction ? static_cast<long double>(fraction->num) /
                                    static_cast<long double>(fraction->den)
                              : static_cast<long double>(number->to_double()));
  }
  sort_distinct(values);
  return values;
}

long double distance(const std::vector<long double>& values, long double value) {
  const auto above = std::ranges::lower_bound(values, value);
  long double best = std::numeric_limits<long double>::infinity();
  if (above != values.end()) best = *above - value;
  if (above != values.begin()) best = std::min(best, value - *std::prev(above));
  return best;
}

Stream build_stream(const model::Model& model) { return StreamBuilder(model).build(); }

}  // namespace rasp::compiler::checker
