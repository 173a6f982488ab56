#include "compiler/certify_steps.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "compiler/certify_joint.h"
#include "compiler/certify_values.h"

namespace rasp::compiler::checker {
namespace {

bool power_of_two(double value) { return unit_of(value) == std::abs(value); }

double ulp_of(double value, const Precision& precision) {
  return std::ldexp(2 * precision.roundoff, std::ilogb(value));
}

// Units `u` and `u + 1` of the layer, columns `i` and `i + 1` of the group, are a step.
bool is_step(const model::Mlp& mlp, const Group& group, Index u, Index i) {
  const double bias = -mlp.b_in[u];
  return bias >= 0 && bias == std::floor(bias) && mlp.b_in[u + 1] == mlp.b_in[u] - 1 &&
         mlp.w_in.col(u) == mlp.w_in.col(u + 1) && group.output.row(i) == -group.output.row(i + 1);
}

// The units read x W_in + b_in, the bias added last.
std::vector<Unit> classify(const model::Mlp& mlp, const Group& group,
                           const std::vector<Index>& hidden, const Precision& precision) {
  std::vector<Unit> units;
  for (std::size_t n = 0; n < hidden.size(); ++n) {
    const auto i = static_cast<Index>(n);
    const Index u = hidden[n];
    const Reading& reading = group.reading;
    Unit unit{Unit::Kind::kExact, i, mlp.b_in[u], 0, 0};
    const double magnitude = reading.magnitude[i] + std::abs(unit.bias);
    const bool exact = reading.exact(precision, i) &&
                       precision.exact(magnitude, std::min(reading.unit[i], unit_of(unit.bias)));
    if (!exact) {
      // The last term is our own rounding, in doubles.
      unit.error = reading.error[i] + reading.rounding(precision, i) + 0x1p-51 * magnitude;
      const bool next = n + 1 < hidden.size() && hidden[n + 1] == u + 1;
      if (next && is_step(mlp, group, u, i) && reading.magnitude[i] < precision.largest) {
        unit.kind = Unit::Kind::kStep;
        unit.ulp = ulp_of(reading.magnitude[i], precision);
        ++n;
      } else {
        unit.kind = Unit::Kind::kAnalog;
        unit.error += precision.roundoff * (magnitude + unit.error);
      }
    }
    units.push_back(unit);
  }
  return units;
}

// Every unit must be off at BOS: its input at most 0, whatever the order of the sum.
bool off_at_bos(const Group& group, const model::Mlp& mlp, const std::vector<Index>& hidden,
                const Precision& precision) {
  for (std::size_t n = 0; n < hidden.size(); ++n) {
    const auto i = static_cast<Index>(n);
    const double bias = mlp.b_in[hidden[n]];
    const double error = group.reading.exact_at_bos(precision, i)
                             ? 0
                             : 2 * precision.gamma(static_cast<double>(mlp.w_in.rows())) *
                                   group.reading.bos_magnitude[i];
    if (group.reading.bos[i] + error > -bias) return false;
  }
  return true;
}

// Units of a bank read one form s, each with a slope and an offset of its own: then what they read
// is one variable, s, and combinations that give the same s are one. nullopt when the group is not
// of that kind. `slopes` [hidden units] are relative to the first unit.
std::optional<Vector> common_slopes(const Reading& reading) {
  const Part& widest = reading.parts.front();
  const auto rows = widest.rows.matrix();
  Index r = 0;
  while (r < rows.rows() && rows(r, 0) == 0) ++r;
  if (r == rows.rows()) return std::nullopt;
  const Vector slopes = rows.row(r) / rows(r, 0);
  for (const Part& part : reading.parts)
    for (Index i = 0; i < part.rows.size(); ++i)
      for (Index u = 0; u < reading.width(); ++u)
        if (part.rows.matrix()(i, u) != part.rows.matrix()(i, 0) * slopes[u]) return std::nullopt;
  return slopes;
}

// A bank's parts as one.
void merge_parts(Reading& reading) {
  if (reading.parts.size() < 2 || !std::ranges::all_of(reading.parts, &Part::listed)) return;
  const std::optional<Vector> slopes = common_slopes(reading);
  if (!slopes) return;
  std::optional<RowSet> form(1);
  form->add(std::vector<double>{0});
  for (const Part& part : reading.parts) {
    RowSet own(1);
    for (Index i = 0; i < part.rows.size(); ++i)
      own.add(part.rows.row(i).first(1), part.rows.place(i));
    form = sums(*form, own, most_rows(1));
    if (!form) return;
  }
  if (form->size() > most_rows(reading.width())) return;
  Part merged;
  merged.rows = RowSet(reading.width());
  for (Index i = 0; i < form->size(); ++i) {
    const Vector row = form->row(i)[0] * *slopes;
    merged.rows.add({row.data(), static_cast<std::size_t>(row.size())}, form->place(i));
  }
  reading.parts.assign(1, std::move(merged));
}

// x W_in under an assignment of what the group reads; nullopt where that cannot be.
std::optional<Vector> input_of(const Group& group, const Assignment& assignment,
                               const Stream& stream) {
  Vector input = group.reading.constant;
  Place place = assignment.place();
  for (const Part& part : group.inputs) {
    const Index row = row_of(part, assignment, stream);
    if (row < 0) return std::nullopt;
    place = meet(place, part.rows.place(row));
    input += Eigen::Map<const Vector>(part.rows.row(row).data(), input.size());
  }
  if (!place.possible()) return std::nullopt;
  return input;
}

}  // namespace

Group group_of(const model::Mlp& mlp, const Stream& stream, std::uint32_t step, Index begin,
               Index end) {
  std::vector<Index> hidden;
  for (Index u = 0; u < mlp.w_out.rows(); ++u)
    if (!mlp.w_out.row(u).segment(begin, end - begin).isZero(0)) hidden.push_back(u);
  Group group;
  const auto count = static_cast<Index>(hidden.size());
  Matrix input(mlp.w_in.rows(), count);
  group.output.resize(count, end - begin);
  for (Index i = 0; i < count; ++i) {
    const Index u = hidden[static_cast<std::size_t>(i)];
    input.col(i) = mlp.w_in.col(u);
    group.output.row(i) = mlp.w_out.row(u).segment(begin, end - begin);
  }
  group.reading = read(stream, step, input);
  group.fault = group.reading.fault;
  if (!group.fault.empty()) return group;
  if (!off_at_bos(group, mlp, hidden, stream.precision)) group.fault = "a unit is on at BOS";
  group.units = classify(mlp, group, hidden, stream.precision);
  join_parts(stream, group.reading);
  group.inputs = group.reading.parts;
  merge_parts(group.reading);
  return group;
}

Accumulator::Accumulator(const Group& group, const Precision& precision)
    : group_(group), precision_(precision), sum_(Vector::Zero(group.output.cols())) {
  outputs_.resize(static_cast<std::size_t>(group.output.rows()));
  for (Index i = 0; i < group.output.rows(); ++i)
    for (Index c = 0; c < group.output.cols(); ++c)
      if (group.output(i, c) != 0)
        outputs_[static_cast<std::size_t>(i)].push_back({c, group.output(i, c)});
}

void Accumulator::clear() {
  sum_.setZero();
  rounded_.clear();
  error_ = magnitude_ = addends_ = 0;
}

void Accumulator::add(const Unit& unit, double value) {
  for (const Output& output : outputs_[static_cast<std::size_t>(unit.column)]) {
    if (unit.kind == Unit::Kind::kStep) {
      add_step(unit, output);
      continue;
    }
    double& sum = sum_[output.column];
    const double added = output.weight * value;
    if (unit.kind == Unit::Kind::kAnalog)
      rounded_ = "a unit whose input is not exact is no step (biases whole, at most 0 and 1 apart)";
    else if (!precision_.exact_product(output.weight, value) || !precision_.exact_sum(sum, added))
      rounded_ = "a sum is rounded";
    sum += added;
    error_ += std::abs(output.weight) * unit.error;
    magnitude_ += std::abs(added);
    addends_ += 1;
  }
}

// sum + w (t - b), then less w (t - b - 1): all are multiples of |w| ulp(t), and none is larger
// than |w| t when the sum is at most |w| b, or has the other sign and is at most |w| (b + 1) <= |w|
// t.
void Accumulator::add_step(const Unit& unit, const Output& output) {
  double& sum = sum_[output.column];
  const double weight = output.weight;
  const double size = std::abs(weight);
  const double room = -unit.bias + (sum * weight > 0 ? 0 : 1);
  if (!power_of_two(weight))
    rounded_ = "a step's weight is no power of two";
  else if (std::abs(sum) > size * room || unit_of(sum) < size * unit.ulp ||
           !precision_.exact_sum(sum, weight))
    rounded_ = "a step's bias is small beside the sum that it adds to";
  sum += weight;
  magnitude_ += 2 * size * group_.reading.magnitude[unit.column];
  addends_ += 2;
}

double Accumulator::error() const {
  return exact() ? 0 : error_ + 2 * precision_.gamma(2 * addends_) * magnitude_;
}

void record_function(const model::Slice& slice, std::int32_t slice_index, const Group& group,
                     Stream& stream) {
  constexpr double kMaxWork = 0x1p24;  // assignments times hidden units
  std::vector<std::int32_t> read;
  for (const Part& part : group.inputs) std::ranges::copy(part.variables, std::back_inserter(read));
  const std::vector<std::int32_t> roots = roots_of(stream, read);
  Assignment assignment(stream, roots);
  const Reading& reading = group.reading;
  if (assignment.count() * static_cast<double>(reading.width()) > kMaxWork) return;
  const RowSet features = features_of(slice);
  std::vector<Index> value_of(
      static_cast<std::size_t>(features.size()));  // of rows, the last value
  for (Index i = 0; i < slice.features.rows(); ++i)
    value_of[static_cast<std::size_t>(features.find(
        {slice.features.row(i).data(), static_cast<std::size_t>(features.width())}))] = i;
  const Vector base = stream.token_base.segment(slice.begin, features.width());
  Accumulator sum(group, stream.precision);
  std::vector<Index> table;
  do {
    const std::optional<Vector> input = input_of(group, assignment, stream);
    table.push_back(-1);
    if (!input) continue;
    sum.clear();
    for (const Unit& unit : group.units) {
      const double x = (*input)[unit.column] + unit.bias;
      if (x > unit.error) sum.add(unit, unit.kind == Unit::Kind::kStep ? 1 : x);
    }
    const Vector row = base + sum.sum();
    const Index found = features.find({row.data(), static_cast<std::size_t>(row.size())});
    if (found >= 0) table.back() = value_of[static_cast<std::size_t>(found)];
  } while (assignment.next());
  const std::int32_t index = stream.variable_of[static_cast<std::size_t>(slice_index)];
  stream.variables[static_cast<std::size_t>(index)].roots = roots;
  stream.variables[static_cast<std::size_t>(index)].table = std::move(table);
}

}  // namespace rasp::compiler::checker
