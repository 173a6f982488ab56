#include <algorithm>
#include <limits>
#include <numeric>
#include <sstream>

#include "compiler/certify_checks.h"
#include "compiler/certify_steps.h"
#include "compiler/certify_values.h"

namespace rasp::compiler::checker {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr std::size_t kMaxDepth = 64;                       // variables that a group may read
constexpr std::uint64_t kMaxWork = std::uint64_t{1} << 30;  // units met on the way through

// Goes through the combinations of what a group reads, variable by variable, and leaves a branch as
// soon as no unit can change any more.
class Walk {
 public:
  struct On {  // a unit that puts something out
    std::size_t unit = 0;
    double value = 0;
  };

  explicit Walk(const Group& group) : group_(group) {
    for (const Part& part : group.reading.parts) order_.push_back(&part);
    std::ranges::stable_sort(order_, {}, [](const Part* part) { return part->rows.size(); });
    const Index m = group.reading.width();
    least_.assign(order_.size() + 1, Vector::Zero(m));
    most_ = least_;
    for (std::size_t level = order_.size(); level-- > 0;) {
      const auto rows = order_[level]->rows.matrix();
      least_[level] = least_[level + 1] + rows.colwise().minCoeff();
      most_[level] = most_[level + 1] + rows.colwise().maxCoeff();
    }
  }

  // Calls `visit(on, place)` with the units that are on, in order, for every combination that can
  // stand somewhere; stops when it returns false. False when the work was too much.
  template <typename Visit>
  bool run(const std::vector<std::size_t>& units, Visit visit) {
    work_ = 0;
    stopped_ = false;
    std::vector<On> inputs, on;
    for (std::size_t i : units) {
      const Unit& unit = group_.units[i];
      sort(i, group_.reading.constant[unit.column] + unit.bias, 0, inputs, on);
    }
    return order_.size() <= kMaxDepth && descend(0, {}, inputs, on, visit);
  }

  [[nodiscard]] const std::string& fault() const { return fault_; }
  [[nodiscard]] double margin() const { return margin_; }
  [[nodiscard]] std::uint64_t combinations() const { return combinations_; }

 private:
  // Sorts a unit with the input so far among those that may still change or those that are on.
  void sort(std::size_t i, double input, std::size_t level, std::vector<On>& open,
            std::vector<On>& on) {
    const Unit& unit = group_.units[i];
    const double least = input + least_[level][unit.column];
    const double most = input + most_[level][unit.column];
    if (unit.kind == Unit::Kind::kStep) {
      if (most <= -unit.error) {
        margin_ = std::min(margin_, -most);
      } else if (least >= 1 + unit.error) {
        margin_ = std::min(margin_, least - 1);
        on.push_back({i, 1});
      } else if (least < most) {
        open.push_back({i, input});
      } else {
        fault_ = "a step is met in between 0 and 1";
        margin_ = std::min(margin_, std::max(-most, most - 1));
      }
    } else if (most + unit.error > 0) {
      if (least < most) {
        open.push_back({i, input});
      } else {
        on.push_back({i, std::max(most, 0.0)});
      }
    }
  }

  template <typename Visit>
  bool descend(std::size_t level, const Place& place, const std::vector<On>& open,
               std::vector<On>& on, Visit& visit) {
    if (stopped_ || !fault_.empty()) return true;
    if (open.empty()) {
      ++combinations_;
      std::vector<On> sorted = on;
      std::ranges::sort(sorted, {}, &On::unit);
      stopped_ = !visit(sorted, place);
      return true;
    }
    const RowSet& rows = order_[level]->rows;
    const std::size_t settled = on.size();
    std::vector<On> next;
    for (Index r = 0; r < rows.size(); ++r) {
      const Place here = meet(place, rows.place(r));
      if (!here.possible()) continue;
      work_ += open.size();
      if (work_ > kMaxWork) return false;
      next.clear();
      on.resize(settled);
      for (const On& unit : open) {
        const auto column = static_cast<std::size_t>(group_.units[unit.unit].column);
        sort(unit.unit, unit.value + rows.row(r)[column], level + 1, next, on);
      }
      if (!descend(level + 1, here, next, on, visit)) return false;
    }
    on.resize(settled);
    return true;
  }

  const Group& group_;
  std::vector<const Part*> order_;
  std::vector<Vector> least_, most_;  // [level][hidden unit]: what the variables from there on add
  std::string fault_;
  double margin_ = kInfinity;
  std::uint64_t work_ = 0;
  std::uint64_t combinations_ = 0;
  bool stopped_ = false;
};

class GroupCheck {
 public:
  GroupCheck(const model::Model& model, std::size_t l, std::size_t slice, Stream& stream)
      : slice_(model.slices[slice]),
        index_(static_cast<std::int32_t>(slice)),
        stream_(stream),
        group_(group_of(model.layers[l].mlp, stream, static_cast<std::uint32_t>(2 * l + 1),
                        slice_.begin, slice_.end)) {
    line_.part = "layer " + std::to_string(l) + " mlp";
    line_.name = slice_.name;
  }

  [[nodiscard]] bool writes() const { return !group_.output.isZero(0); }

  model::CertificateLine check() {
    fault_ = group_.fault;
    if (fault_.empty() &&
        stream_.bos_base.segment(slice_.begin, slice_.bos_value.size()) != slice_.bos_value)
      fault_ = "is not what it claims at BOS";
    for (const Part& part : group_.reading.parts)
      if (!part.listed && fault_.empty())
        fault_ = "reads " + names_of(part, stream_) + ", whose values are not known";
    if (fault_.empty()) walk();
    line_.holds = fault_.empty();
    if (!line_.holds) line_.detail = fault_;
    return std::move(line_);
  }

 private:
  void walk() {
    Walk walk(group_);
    std::vector<std::size_t> all(group_.units.size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    const bool complete = is_scalar(slice_) ? walk_scalar(walk, all) : walk_rows(walk, all);
    if (!complete) walk_alone(walk);
    if (!walk.fault().empty()) fault_ = walk.fault();
    line_.margin = walk.margin() == kInfinity ? 1 : walk.margin();
    for (const Unit& unit : group_.units)
      if (unit.kind == Unit::Kind::kStep) line_.bound = std::max(line_.bound, unit.error);
    std::ostringstream text;
    text << group_.reading.width() << " units, summed in ascending order; ";
    if (complete)
      text << walk.combinations() << (walk.combinations() == 1 ? " case" : " cases");
    else
      text << "too many combinations, each unit was checked alone";
    line_.detail = text.str();
  }

  bool walk_rows(Walk& walk, const std::vector<std::size_t>& all) {
    const Index width = slice_.features.cols();
    const RowSet features = features_of(slice_);
    std::vector<Place> places(static_cast<std::size_t>(features.size()), kNowhere);
    const Vector base = stream_.token_base.segment(slice_.begin, width);
    Accumulator sum(group_, stream_.precision);
    Vector row(width);
    const bool complete = walk.run(all, [&](const std::vector<Walk::On>& on, const Place& place) {
      sum.clear();
      for (const Walk::On& unit : on) sum.add(group_.units[unit.unit], unit.value);
      if (!sum.exact()) fault_ = "rows are rounded: " + sum.rounded();
      for (Index c = 0; c < width; ++c) {
        row[c] = base[c] + sum.sum()[c];
        if (!stream_.precision.exact_sum(base[c], sum.sum()[c])) fault_ = "rows are rounded";
      }
      const Index value = features.find({row.data(), static_cast<std::size_t>(width)});
      if (value < 0 && fault_.empty()) fault_ = "can hold a row that it does not list";
      if (!fault_.empty()) return false;
      Place& known = places[static_cast<std::size_t>(value)];
      known = hull(known, place);
      return true;
    });
    if (complete && fault_.empty() && walk.fault().empty()) {
      set_row_places(slice_, index_, features, places, stream_);
      record_function(slice_, index_, group_, stream_);
    }
    return complete;
  }

  bool walk_scalar(Walk& walk, const std::vector<std::size_t>& all) {
    const double base = stream_.token_base[slice_.begin];
    Accumulator sum(group_, stream_.precision);
    std::vector<Real> values;
    double bound = 0;
    const bool complete = walk.run(all, [&](const std::vector<Walk::On>& on, const Place&) {
      sum.clear();
      for (const Walk::On& unit : on) sum.add(group_.units[unit.unit], unit.value);
      const double value = base + sum.sum()[0];
      values.push_back(value);
      double error = sum.error();
      if (error > 0 || !stream_.precision.exact_sum(base, sum.sum()[0]))
        error += 2 * stream_.precision.roundoff * (std::abs(value) + error);
      bound = std::max(bound, error);
      return true;
    });
    if (!complete || !walk.fault().empty()) return complete;
    sort_distinct(values);
    const Outcomes outcomes{values, values.front(), values.back(), 0};
    const Written written = check_scalar(slice_, index_, outcomes, bound, stream_);
    fault_ = written.fault;
    line_.bound = written.bound;
    return true;
  }

  // Every step at least finds its input on one side or the other.
  void walk_alone(Walk& walk) {
    if (is_scalar(slice_)) fault_ = "too many combinations to check";
    for (std::size_t i = 0; i < group_.units.size() && fault_.empty(); ++i)
      if (!walk.run({i}, [](const std::vector<Walk::On>&, const Place&) { return true; }))
        fault_ = "too many combinations to check";
  }

  const model::Slice& slice_;
  std::int32_t index_;
  Stream& stream_;
  Group group_;
  std::string fault_;
  model::CertificateLine line_;
};

// Columns that no slice of this step owns must stay as they are.
std::string stray_output(const model::Mlp& mlp, const Stream& stream, std::uint32_t step) {
  for (Index c = 0; c < mlp.w_out.cols(); ++c) {
    const Column& column = stream.columns[static_cast<std::size_t>(c)];
    if (zero_columns(mlp.w_out, c, 1)) continue;
    if (column.slice < 0 || column.first_step != step)
      return "units write column " + std::to_string(c) + ", which is not of this layer";
  }
  return "";
}

}  // namespace

std::vector<model::CertificateLine> check_units(const model::Model& model, std::size_t l,
                                                Stream& stream) {
  const auto step = static_cast<std::uint32_t>(2 * l + 2);
  std::vector<model::CertificateLine> lines;
  const std::string stray = stray_output(model.layers[l].mlp, stream, step);
  if (!stray.empty()) {
    model::CertificateLine& line = lines.emplace_back();
    line.part = "layer " + std::to_string(l) + " mlp";
    line.detail = stray;
  }
  for (std::size_t i = 0; i < model.slices.size(); ++i) {
    if (model.slices[i].first_step != step) continue;
    GroupCheck group(model, l, i, stream);
    if (group.writes()) lines.push_back(group.check());
  }
  return lines;
}

}  // namespace rasp::compiler::checker
