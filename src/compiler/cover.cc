#include "compiler/cover.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace rasp::compiler {

namespace {

// Whole biases that every value below keeps at or under 0 and every value above lifts to 1 or more.
std::optional<std::vector<double>> biases_for(const BankOp& bank,
                                              const std::vector<std::uint32_t>& result,
                                              double origin, double slope, double error) {
  std::vector<double> biases;
  for (std::size_t i = 1; i < bank.points.size(); ++i) {
    if (result[i] == result[i - 1]) continue;
    const double low = std::ceil(slope * (bank.points[i - 1] - origin + error));
    const double high = std::floor(slope * (bank.points[i] - origin - error)) - 1;
    if (low > high) return std::nullopt;
    biases.push_back(std::max(0.0, std::floor((low + high) / 2)));
  }
  return biases;
}

}  // namespace

std::optional<Steps> place_steps(const Circuit& circuit, const BankOp& bank,
                                 const std::vector<std::uint32_t>& result) {
  const double origin = std::floor(bank.points.front());
  // The form's parts and the origin are added in one sum.
  const double reach = 2 * magnitude(circuit, bank.form) + std::abs(origin) + 1;
  const double error = bank.error == 0 ? 0 : bank.error + 4 * circuit.epsilon() * reach;
  for (double slope = 0x1p-10; slope * reach < circuit.exact_limit() / 4; slope *= 2) {
    if (bank.error == 0 && slope < 1 && !is_exact(circuit, bank.form, 1 / slope)) continue;
    if (auto biases = biases_for(bank, result, origin, slope, error)) {
      return Steps{origin, slope, std::move(*biases)};
    }
  }
  return std::nullopt;
}

std::size_t count_changes(const BankOp& bank) {
  std::size_t changes = 0;
  for (std::size_t i = 1; i < bank.result.size(); ++i) {
    changes += bank.result[i] != bank.result[i - 1] ? 1 : 0;
  }
  return changes;
}

std::uint32_t commonest(const std::vector<std::uint32_t>& cells) {
  std::map<std::uint32_t, std::size_t> count;
  for (const std::uint32_t cell : cells) {
    if (cell != kUndefined) ++count[cell];
  }
  std::uint32_t best = kUndefined;
  std::size_t most = 0;
  for (const auto& [cell, times] : count) {
    if (times > most) {
      best = cell;
      most = times;
    }
  }
  return best;
}

namespace {

// A sub-table: some of the dimensions, the first varying slowest.
struct Region {
  std::vector<std::size_t> dims;   // which inputs are left
  std::vector<std::size_t> sizes;  // their sizes
  std::vector<std::uint32_t> cells;
};

// Rows of a dimension whose slices agree wherever both are defined, with the slice they make
// together.
struct Group {
  std::vector<bool> rows;
  std::vector<std::uint32_t> slice;
};

class Coverer {
 public:
  Coverer(const std::vector<std::size_t>& sizes, const std::vector<bool>& mixes, std::uint32_t omit)
      : sizes_(sizes), mixes_(mixes), omit_(omit) {}

  std::vector<Box> run(const Region& region) {
    if (const auto constant = single_result(region.cells)) {
      if (*constant == omit_ || *constant == kUndefined) return {};
      return {Box{std::vector<std::vector<bool>>(sizes_.size()), *constant}};
    }
    // Small regions try every dimension first and keep the best; large ones split where the fewest
    // groups arise.
    const bool exhaustive = region.cells.size() <= 4096 && region.dims.size() <= 3;
    std::vector<Box> best;
    bool found = false;
    std::vector<std::pair<std::size_t, std::size_t>> order;  // groups, dimension
    for (std::size_t d = 0; d < region.dims.size(); ++d) {
      if (may_split(region, d)) order.emplace_back(groups_of(region, d).size(), d);
    }
    if (order.empty()) {
      throw Refusal{kNoIr, "which of its parts are read cannot be told before they are",
                    "write the conditions so that each is decided by what is always defined"};
    }
    std::sort(order.begin(), order.end());
    for (const auto& [groups, d] : order) {
      std::vector<Box> boxes = split(region, d);
      if (!found || boxes.size() < best.size()) best = std::move(boxes);
      found = true;
      if (!exhaustive) break;
    }
    return best;
  }

 private:
  static std::optional<std::uint32_t> single_result(const std::vector<std::uint32_t>& cells) {
    std::uint32_t result = kUndefined;
    for (const std::uint32_t cell : cells) {
      if (cell == kUndefined || cell == result) continue;
      if (result != kUndefined) return std::nullopt;
      result = cell;
    }
    return result;
  }

  static std::vector<std::uint32_t> slice(const Region& region, std::size_t d, std::size_t row) {
    std::size_t inner = 1;
    for (std::size_t i = d + 1; i < region.sizes.size(); ++i) inner *= region.sizes[i];
    std::vector<std::uint32_t> result;
    result.reserve(region.cells.size() / region.sizes[d]);
    for (std::size_t start = row * inner; start < region.cells.size();
         start += inner * region.sizes[d]) {
      result.insert(result.end(), region.cells.begin() + static_cast<std::ptrdiff_t>(start),
                    region.cells.begin() + static_cast<std::ptrdiff_t>(start + inner));
    }
    return result;
  }

  // A mixture that some reader may rely on not to matter forbids to look at the dimension here.
  [[nodiscard]] bool may_split(const Region& region, std::size_t d) const {
    if (!mixes_[region.dims[d]]) return true;
    const auto mixture = slice(region, d, region.sizes[d] - 1);
    return std::all_of(mixture.begin(), mixture.end(),
                       [](std::uint32_t cell) { return cell == kUndefined; });
  }

  // Which cells of a dimension's slices stand for a mixture of some other dimension.
  [[nodiscard]] std::vector<bool> mixture_cells(const Region& region, std::size_t d) const {
    std::vector<bool> mixed{false};
    for (std::size_t i = 0; i < region.dims.size(); ++i) {
      if (i == d) continue;
      std::vector<bool> longer;
      for (const bool cell : mixed) {
        for (std::size_t row = 0; row < region.sizes[i]; ++row) {
          longer.push_back(cell || (mixes_[region.dims[i]] && row + 1 == region.sizes[i]));
        }
      }
      mixed = std::move(longer);
    }
    return mixed;
  }

  // Slices that agree may share a box, but not one that reads a dimension and one that relies on
  // its mixture: together they could not be split any more.
  static bool agree(const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b,
                    const std::vector<bool>& mixed) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      if (a[i] == b[i]) continue;
      if (mixed[i] || (a[i] != kUndefined && b[i] != kUndefined)) return false;
    }
    return true;
  }

  [[nodiscard]] std::vector<Group> groups_of(const Region& region, std::size_t d) const {
    std::vector<Group> groups;
    const std::vector<bool> mixed = mixture_cells(region, d);
    // The dimension's own mixture is never defined where it may be split: it joins any group.
    const std::size_t rows = region.sizes[d] - (mixes_[region.dims[d]] ? 1 : 0);
    for (std::size_t row = 0; row < rows; ++row) {
      auto cells = slice(region, d, row);
      const auto group = std::find_if(groups.begin(), groups.end(), [&](const Group& known) {
        return agree(cells, known.slice, mixed);
      });
      if (group == groups.end()) {
        groups.push_back({std::vector<bool>(region.sizes[d], false), std::move(cells)});
        groups.back().rows[row] = true;
        continue;
      }
      for (std::size_t i = 0; i < cells.size(); ++i) {
        if (group->slice[i] == kUndefined) group->slice[i] = cells[i];
      }
      group->rows[row] = true;
    }
    return groups;
  }

  std::vector<Box> split(const Region& region, std::size_t d) {
    std::vector<Box> boxes;
    for (Group& group : groups_of(region, d)) {
      Region rest = region;
      rest.dims.erase(rest.dims.begin() + static_cast<std::ptrdiff_t>(d));
      rest.sizes.erase(rest.sizes.begin() + static_cast<std::ptrdiff_t>(d));
      rest.cells = std::move(group.slice);
      for (Box& box : run(rest)) {
        box.sets[region.dims[d]] = group.rows;
        boxes.push_back(std::move(box));
      }
    }
    return boxes;
  }

  const std::vector<std::size_t>& sizes_;
  const std::vector<bool>& mixes_;
  std::uint32_t omit_;
};

}  // namespace

std::vector<Box> cover(const std::vector<std::size_t>& sizes, const std::vector<bool>& mixes,
                       const std::vector<std::uint32_t>& cells, std::uint32_t omit) {
  Region whole;
  for (std::size_t d = 0; d < sizes.size(); ++d) whole.dims.push_back(d);
  whole.sizes = sizes;
  whole.cells = cells;
  return Coverer(sizes, mixes, omit).run(whole);
}

std::size_t count_boxes(const Circuit& circuit, const TableOp& table) {
  std::vector<std::size_t> sizes;
  std::vector<bool> mixes;
  for (const VarId input : table.inputs) {
    const Var& var = circuit.vars[input];
    sizes.push_back(var.values.size() + (var.may_mix ? 1 : 0));
    mixes.push_back(var.may_mix);
  }
  return cover(sizes, mixes, table.cells, commonest(table.cells)).size();
}

}  // namespace rasp::compiler
