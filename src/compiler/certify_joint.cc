#include "compiler/certify_joint.h"

#include <algorithm>

namespace rasp::compiler::checker {
namespace {

constexpr double kMaxCells = 0x1p22;  // assignments times columns of a joint part

const Variable& variable(const Stream& stream, std::int32_t index) {
  return stream.variables[static_cast<std::size_t>(index)];
}

bool share(const std::vector<std::int32_t>& a, const std::vector<std::int32_t>& b) {
  return std::ranges::any_of(a, [&](std::int32_t v) { return std::ranges::find(b, v) != b.end(); });
}

// Parts as one, row by row of what they depend on; false when that is too much.
bool join(const Stream& stream, const std::vector<Part>& parts,
          const std::vector<std::int32_t>& roots, Part& joint) {
  const Index m = parts.front().rows.width();
  Assignment assignment(stream, roots);
  if (assignment.count() * static_cast<double>(m) > kMaxCells) return false;
  joint.variables = roots;
  joint.rows = RowSet(m);
  joint.error = joint.magnitude = Vector::Zero(m);
  for (const Part& part : parts) {
    joint.error += part.error;
    joint.magnitude += part.magnitude;
    joint.listed = joint.listed && part.listed;
  }
  std::vector<double> sum(static_cast<std::size_t>(m));
  do {
    Place place = assignment.place();
    std::ranges::fill(sum, 0);
    bool possible = true;
    for (const Part& part : parts) {
      const Index row = row_of(part, assignment, stream);
      possible = possible && row >= 0;
      if (!possible) break;
      place = meet(place, part.rows.place(row));
      std::ranges::transform(sum, part.rows.row(row), sum.begin(), std::plus<>());
    }
    joint.row_of.push_back(possible && place.possible() ? joint.rows.add(sum, place) : -1);
  } while (assignment.next());
  return joint.rows.size() > 0;
}

}  // namespace

Assignment::Assignment(const Stream& stream, std::vector<std::int32_t> variables)
    : stream_(stream), variables_(std::move(variables)), rows_(variables_.size()) {}

double Assignment::count() const {
  double count = 1;
  for (std::int32_t v : variables_) count *= static_cast<double>(variable(stream_, v).rows.rows());
  return count;
}

Place Assignment::place() const {
  Place place;
  for (std::size_t i = 0; i < variables_.size(); ++i) {
    const std::vector<Place>& places = variable(stream_, variables_[i]).places;
    if (!places.empty()) place = meet(place, places[static_cast<std::size_t>(rows_[i])]);
  }
  return place;
}

Index Assignment::row_of(std::int32_t index) const {
  const auto own = std::ranges::find(variables_, index);
  if (own != variables_.end()) return rows_[static_cast<std::size_t>(own - variables_.begin())];
  const Variable& of = variable(stream_, index);
  if (of.table.empty()) return -1;
  Index cell = 0;
  for (std::int32_t root : of.roots) {
    const Index row = row_of(root);  // a root: no function itself
    if (row < 0) return -1;
    cell = cell * variable(stream_, root).rows.rows() + row;
  }
  return of.table[static_cast<std::size_t>(cell)];
}

bool Assignment::next() {
  for (std::size_t i = variables_.size(); i-- > 0;) {
    if (++rows_[i] < variable(stream_, variables_[i]).rows.rows()) return true;
    rows_[i] = 0;
  }
  return false;
}

std::vector<std::int32_t> roots_of(const Stream& stream, std::span<const std::int32_t> variables) {
  std::vector<std::int32_t> roots;
  for (std::int32_t v : variables) {
    const Variable& of = variable(stream, v);
    if (of.table.empty())
      roots.push_back(v);
    else
      roots.insert(roots.end(), of.roots.begin(), of.roots.end());
  }
  sort_distinct(roots);
  return roots;
}

Index row_of(const Part& part, const Assignment& assignment, const Stream& stream) {
  Index cell = 0;
  for (std::int32_t v : part.variables) {
    const Index row = assignment.row_of(v);
    if (row < 0) return -1;
    cell = cell * variable(stream, v).rows.rows() + row;
  }
  return part.row_of[static_cast<std::size_t>(cell)];
}

void join_parts(const Stream& stream, Reading& reading) {
  std::vector<Part> joined;
  while (!reading.parts.empty()) {
    std::vector<Part> group{std::move(reading.parts.front())};
    reading.parts.erase(reading.parts.begin());
    std::vector<std::int32_t> roots = roots_of(stream, group.front().variables);
    for (std::size_t i = 0; i < reading.parts.size();) {
      const auto own = roots_of(stream, reading.parts[i].variables);
      if (!share(roots, own)) {
        ++i;
        continue;
      }
      group.push_back(std::move(reading.parts[i]));
      reading.parts.erase(reading.parts.begin() + static_cast<std::ptrdiff_t>(i));
      std::ranges::copy(own, std::back_inserter(roots));
      roots = roots_of(stream, roots);
      i = 0;  // what did not share before may do so now
    }
    Part joint;
    if (group.size() > 1 && join(stream, group, roots, joint))
      joined.push_back(std::move(joint));
    else
      std::ranges::move(group, std::back_inserter(joined));
  }
  reading.parts = std::move(joined);
}

}  // namespace rasp::compiler::checker
