#include <algorithm>
#include <limits>

#include "compiler/certify_stream.h"

namespace rasp::compiler::checker {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

// The weights that one column of the stream meets, zeros left out.
struct Weight {
  Index output = 0;
  double weight = 0;
};
using WeightRow = std::vector<Weight>;

WeightRow weights_of(const Matrix& weights, Index column) {
  WeightRow row;
  for (Index j = 0; j < weights.cols(); ++j)
    if (weights(column, j) != 0) row.push_back({j, weights(column, j)});
  return row;
}

struct Use {  // of one column of a variable
  Index place = 0;
  WeightRow weights;
};

// Of an addend that is not 0: an addition, and a product unless by a power of two. The first
// addition is to 0.
double roundings_of(const Weight& w) { return unit_of(w.weight) == std::abs(w.weight) ? 1 : 2; }

Part part_of(const Variable& variable, std::int32_t index, const std::vector<Use>& uses,
             Reading& reading) {
  const Index m = reading.width();
  Part part;
  part.variables = {index};
  part.rows = RowSet(m);
  part.error = Vector::Zero(m);
  part.magnitude = Vector::Zero(m);
  part.listed = variable.listed;
  for (const Use& use : uses) {
    double unit = kInfinity;
    for (Index r = 0; r < variable.rows.rows(); ++r)
      unit = std::min(unit, unit_of(variable.rows(r, use.place)));
    // Between two ends, or around a value that is not exact, there is no coarsest unit.
    if (!variable.listed || variable.error > 0) unit = 0;
    for (const Weight& w : use.weights) {
      if (unit == kInfinity) continue;
      reading.unit[w.output] = std::min(reading.unit[w.output], unit * unit_of(w.weight));
      part.error[w.output] += variable.error * std::abs(w.weight);
    }
  }
  Vector row(m);
  Vector magnitude(m);
  Vector roundings(m);
  Vector most = Vector::Zero(m);
  for (Index r = 0; r < variable.rows.rows(); ++r) {
    row.setZero();
    magnitude.setZero();
    roundings.setZero();
    for (const Use& use : uses) {
      const double x = variable.rows(r, use.place);
      if (x == 0 && variable.error == 0) continue;
      for (const Weight& w : use.weights) {
        row[w.output] += x * w.weight;
        magnitude[w.output] += std::abs(x * w.weight);
        roundings[w.output] += roundings_of(w);
      }
    }
    most = most.cwiseMax(roundings);
    part.magnitude = part.magnitude.cwiseMax(magnitude);
    const Place place =
        variable.places.empty() ? Place{} : variable.places[static_cast<std::size_t>(r)];
    part.row_of.push_back(
        place.possible() ? part.rows.add({row.data(), static_cast<std::size_t>(m)}, place) : -1);
  }
  reading.roundings += most;
  part.magnitude += part.error;
  reading.magnitude += part.magnitude;
  reading.error += part.error;
  return part;
}

void add_constant(Reading& reading, double x, const WeightRow& weights) {
  if (x == 0) return;
  for (const Weight& w : weights) {
    reading.constant[w.output] += x * w.weight;
    reading.magnitude[w.output] += std::abs(x * w.weight);
    reading.unit[w.output] = std::min(reading.unit[w.output], unit_of(x) * unit_of(w.weight));
    reading.roundings[w.output] += roundings_of(w);
  }
}

void add_bos(Reading& reading, double x, const WeightRow& weights) {
  if (x == 0) return;
  for (const Weight& w : weights) {
    reading.bos[w.output] += x * w.weight;
    reading.bos_magnitude[w.output] += std::abs(x * w.weight);
    reading.bos_unit[w.output] =
        std::min(reading.bos_unit[w.output], unit_of(x) * unit_of(w.weight));
  }
}

}  // namespace

std::string names_of(const Part& part, const Stream& stream) {
  std::string names;
  for (std::int32_t v : part.variables)
    names +=
        (names.empty() ? "\"" : ", \"") + stream.variables[static_cast<std::size_t>(v)].name + "\"";
  return names;
}

bool Reading::exact(const Precision& precision, Index j) const {
  return error[j] == 0 && precision.exact(magnitude[j], unit[j]);
}

bool Reading::exact_at_bos(const Precision& precision, Index j) const {
  return precision.exact(bos_magnitude[j], bos_unit[j]);
}

double Reading::rounding(const Precision& precision, Index j) const {
  if (precision.exact(magnitude[j], unit[j]) || roundings[j] <= 1) return 0;
  return (precision.single ? 1 : 2) * precision.gamma(roundings[j] - 1) * magnitude[j];
}

Reading read(const Stream& stream, std::uint32_t step, const Matrix& weights) {
  const Index m = weights.cols();
  Reading reading;
  for (Vector* zero : {&reading.constant, &reading.bos, &reading.magnitude, &reading.bos_magnitude,
                       &reading.roundings, &reading.error})
    *zero = Vector::Zero(m);
  reading.unit = reading.bos_unit = Vector::Constant(m, kInfinity);
  std::vector<std::vector<Use>> uses(stream.variables.size());
  for (Index c = 0; c < weights.rows(); ++c) {
    WeightRow row = weights_of(weights, c);
    if (row.empty()) continue;
    const Column& column = stream.columns[static_cast<std::size_t>(c)];
    if (column.variable == Column::kNone || column.first_step > step) {
      reading.fault = "reads column " + std::to_string(c) + ", which holds nothing yet";
      return reading;
    }
    add_bos(reading, stream.bos[c], row);
    if (column.variable == Column::kConstant)
      add_constant(reading, stream.token_base[c], row);
    else
      uses[static_cast<std::size_t>(column.variable)].push_back({column.place, std::move(row)});
  }
  for (std::size_t v = 0; v < uses.size(); ++v) {
    if (uses[v].empty()) continue;
    reading.parts.push_back(
        part_of(stream.variables[v], static_cast<std::int32_t>(v), uses[v], reading));
  }
  return reading;
}

}  // namespace rasp::compiler::checker
