#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>

#include "compiler/certify_checks.h"
#include "compiler/certify_joint.h"
#include "compiler/certify_outcomes.h"

namespace rasp::compiler::checker {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr double kLead = 0.5;  // of the best of outputs that are exact
using model::Decoder;

// What y can be: every combination of the parts, or nothing where they are too many.
std::optional<RowSet> outputs(const Reading& reading) {
  std::optional<RowSet> rows(reading.width());
  rows->add({reading.constant.data(), static_cast<std::size_t>(reading.width())});
  for (const Part& part : reading.parts) {
    rows = sums(*rows, part.rows, most_rows(reading.width()));
    if (!rows) return std::nullopt;
  }
  return rows;
}

// How far output j of the forward pass can be from the row.
double error_of(const Reading& reading, Index j, const Precision& precision) {
  return reading.error[j] + reading.rounding(precision, j) + 0x1p-51 * reading.magnitude[j];
}

// How far a value is from its code, errors included, and where the next code would be as near.
struct Nearness {
  double half = 0;
  double off = 0;
};

std::size_t nearest(const std::vector<Real>& codes, Real y) {
  const auto above = static_cast<std::size_t>(std::ranges::lower_bound(codes, y) - codes.begin());
  if (above == codes.size()) return above - 1;
  return above > 0 && y - codes[above - 1] < codes[above] - y ? above - 1 : above;
}

// Half the way to the neighbour that is nearest; 1 where there is none to tell apart.
double half_distance(const std::vector<Real>& codes, std::size_t c) {
  if (codes.size() == 1) return 1;
  Real gap = kInfinity;
  if (c > 0) gap = std::min(gap, codes[c] - codes[c - 1]);
  if (c + 1 < codes.size()) gap = std::min(gap, codes[c + 1] - codes[c]);
  return static_cast<double>(gap / 2);
}

class OutputCheck {
 public:
  OutputCheck(const model::Model& model, const Stream& stream)
      : model_(model), decoder_(model.decoder), stream_(stream), precision_(stream.precision) {
    line_.part = "output";
    line_.name = model.name;
  }

  model::CertificateLine check() {
    const Index columns = model_.unembedding.cols();
    const auto values = static_cast<Index>(decoder_.values.size());
    if (decoder_.kind == Decoder::Kind::kPattern) {
      check_pattern();
    } else if (decoder_.kind == Decoder::Kind::kArgmax) {
      if (values < 1 || values > columns)
        fault_ = "values and outputs do not match";
      else if (load(0, values))
        check_argmax();
    } else if (load(0, 1)) {
      check_scalar();
    }
    const Index type = decoder_.type_output;
    if (fault_.empty() && type >= columns) fault_ = "the decoder reads an output that is not there";
    if (fault_.empty() && type >= 0 && load(type, 1)) check_type();
    line_.holds = fault_.empty();
    if (!line_.holds) line_.detail = fault_;
    return std::move(line_);
  }

 private:
  // Reads some of the outputs; false when that is not possible.
  bool load(Index first, Index count) {
    reading_ = read(stream_, static_cast<std::uint32_t>(2 * model_.layers.size()),
                    model_.unembedding.middleCols(first, count));
    fault_ = reading_.fault;
    if (!fault_.empty()) return false;
    join_parts(stream_, reading_);
    listed_ = std::ranges::all_of(reading_.parts, &Part::listed);
    rows_ = outputs(reading_);
    return true;
  }

  void require(double margin, double bound, const std::string& otherwise) {
    line_.margin = margin;
    line_.bound = bound;
    if (!(margin > bound)) fault_ = otherwise;
  }

  // The best output leads the second, further than the errors of both reach.
  void check_argmax() {
    const Index count = reading_.width();
    if (!rows_ || !listed_) {
      fault_ = rows_ ? "reads a scalar whose values are not known" : "too many rows to check";
      return;
    }
    double error = 0;
    bool exact = true;
    for (Index j = 0; j < count; ++j) {
      exact = exact && reading_.exact(precision_, j);
      error = std::max(error, error_of(reading_, j, precision_));
    }
    double lead = kInfinity;
    for (Index i = 0; i < rows_->size(); ++i) {
      double best = -kInfinity;
      double second = -kInfinity;
      for (double y : rows_->row(i)) {
        second = std::max(second, std::min(y, best));
        best = std::max(best, y);
      }
      lead = std::min(lead, best - second);
    }
    if (lead == kInfinity) lead = 1;  // one value alone
    require(lead, exact ? 0 : 2 * error, "two outputs are too close");
    if (exact && lead < kLead) fault_ = "two outputs are too close";
    line_.detail = "argmax of " + std::to_string(count);
  }

  // Selected keys share the attention of a query, the others have exactly none: the head's own line
  // says so, and this one repeats its margin.
  void check_pattern() {
    if (decoder_.pattern_layer >= model_.layers.size() ||
        decoder_.pattern_head >= model_.layers[decoder_.pattern_layer].heads.size()) {
      fault_ = "the decoder reads a head that does not exist";
      return;
    }
    const model::Head& head = model_.layers[decoder_.pattern_layer].heads[decoder_.pattern_head];
    const Selection selection =
        check_logits(stream_, 2 * decoder_.pattern_layer, head.wq, head.wk, model_.attention_scale);
    fault_ = selection.fault;
    line_.margin = selection.margin;
    line_.detail = "where layer " + std::to_string(decoder_.pattern_layer) + " head " +
                   std::to_string(decoder_.pattern_head) + " attends";
  }

  void check_scalar() {
    const double error = error_of(reading_, 0, precision_);
    if (!decoder_.codes.empty() || !decoder_.values.empty()) return check_codes(error);
    if (decoder_.max_denominator < 1) {
      fault_ = "the decoder has no denominator";
      return;
    }
    // Two fractions of denominators up to q are at least 1 / (q (q - 1)) apart, whole numbers 1.
    const auto q = static_cast<double>(decoder_.max_denominator);
    const double gap = decoder_.multiples || q < 2 ? 1 / q : 1 / (q * (q - 1));
    const std::string which =
        std::string(decoder_.multiples ? "multiples of 1/" : "fractions of denominators up to ") +
        std::to_string(decoder_.max_denominator);
    double off = 0;
    if (rows_ && listed_) {
      off = off_fractions();
      line_.detail = "every value checked: " + which;
    } else {
      line_.detail = "taken to be " + which;
    }
    check_range(error);
    if (fault_.empty()) require(gap / 2, error + off, "outputs may be nearer to another fraction");
  }

  void check_range(double error) {
    Real low = reading_.constant[0];
    Real high = low;
    for (const Part& part : reading_.parts) {
      low += part.rows.matrix().col(0).minCoeff();
      high += part.rows.matrix().col(0).maxCoeff();
    }
    const double slack = error + 0x1p-40;
    if (low < decoder_.minimum.to_double() - slack || high > decoder_.maximum.to_double() + slack)
      fault_ = "outputs leave the decoder's range";
  }

  // How far outputs are from the fractions that they must be decoded to.
  double off_fractions() const {
    double worst = 0;
    for (Index i = 0; i < rows_->size(); ++i)
      worst = std::max(worst, off_fraction(rows_->row(i)[0]));
    return worst;
  }

  // From the nearest p / q with q up to the decoder's largest denominator, by continued fraction:
  // the first convergent that is as near as a double can tell, or the last that is allowed.
  [[nodiscard]] double off_fraction(double value) const {
    const auto most = static_cast<Real>(decoder_.max_denominator);
    if (decoder_.multiples)
      return static_cast<double>(std::abs(value - std::round(value * most) / most));
    Real rest = value;
    Real p0 = 1, q0 = 0;
    Real p1 = std::floor(rest), q1 = 1;
    double off = static_cast<double>(std::abs(value - p1 / q1));
    for (int i = 0; i < 64 && off > 0; ++i) {
      const Real fraction = rest - std::floor(rest);
      if (fraction <= 0) break;
      rest = 1 / fraction;
      const Real a = std::floor(rest);
      const Real p2 = a * p1 + p0;
      const Real q2 = a * q1 + q0;
      if (!(q2 <= most)) break;
      p0 = p1, q0 = q1, p1 = p2, q1 = q2;
      off = std::min(off, static_cast<double>(std::abs(value - p1 / q1)));
    }
    return off;
  }

  void check_codes(double error) {
    std::vector<Real> codes;
    for (const value::Number& code : decoder_.codes)
      codes.push_back(static_cast<Real>(code.to_double()));
    if (codes.empty() || codes.size() != decoder_.values.size() ||
        std::ranges::adjacent_find(codes, std::greater_equal<>()) != codes.end()) {
      fault_ = "codes do not ascend, or are not one for each value";
      return;
    }
    if (!rows_ || !listed_) {
      fault_ = "the outputs' values are not known";
      return;
    }
    Index without = 0;
    std::vector<bool> met(codes.size());
    Nearness tightest{kInfinity, 0};
    for (Index i = 0; i < rows_->size(); ++i) {
      const Real y = rows_->row(i)[0];
      const std::size_t c = nearest(codes, y);
      const double off = static_cast<double>(std::abs(codes[c] - y)) + error_at(y, error);
      const double half = half_distance(codes, c);
      if (off < half) {
        met[c] = true;
        if (half - off < tightest.half - tightest.off) tightest = {half, off};
      } else {
        ++without;
      }
    }
    line_.detail = std::to_string(codes.size()) + " codes";
    if (without > 0) {
      // A sum of variables may have combinations on which the program has no value.
      if (variables() < 2 || std::ranges::find(met, false) != met.end()) {
        fault_ = "an output is not near any code";
        return;
      }
      line_.detail += "; " + std::to_string(without) + " of " + std::to_string(rows_->size()) +
                      " outputs have none: taken to be undefined";
    }
    require(tightest.half, tightest.off, "outputs may be nearer to another code");
  }

  // How far output 0 can be from its value y: within `error`, or in proportion to y where the
  // output is one variable, scaled without rounding, of which that is known.
  [[nodiscard]] double error_at(Real y, double error) const {
    if (reading_.parts.size() != 1 || reading_.parts[0].variables.size() != 1) return error;
    const Variable& variable =
        stream_.variables[static_cast<std::size_t>(reading_.parts[0].variables[0])];
    if (variable.relative == 0 || reading_.constant[0] != 0 || reading_.roundings[0] > 1)
      return error;
    const auto size = static_cast<double>(std::abs(y));
    return std::min(error, (variable.relative + 0x1p-51) * size);
  }

  [[nodiscard]] std::size_t variables() const {
    std::size_t count = 0;
    for (const Part& part : reading_.parts) count += part.variables.size();
    return count;
  }

  void check_type() {
    if (!rows_ || !listed_) {
      fault_ = "the type's output cannot be checked";
      return;
    }
    double margin = kInfinity;
    for (Index i = 0; i < rows_->size(); ++i)
      margin = std::min(margin, std::abs(rows_->row(i)[0] - 0.5));
    if (!(margin > error_of(reading_, 0, precision_))) fault_ = "the type is not clear";
  }

  const model::Model& model_;
  const Decoder& decoder_;
  const Stream& stream_;
  const Precision& precision_;
  Reading reading_;
  std::optional<RowSet> rows_;
  bool listed_ = false;
  std::string fault_;
  model::CertificateLine line_;
};

}  // namespace

model::CertificateLine check_output(const model::Model& model, const Stream& stream) {
  return OutputCheck(model, stream).check();
}

}  // namespace rasp::compiler::checker
