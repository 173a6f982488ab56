#include "syntax/reading.h"

#include <algorithm>
#include <vector>

namespace rasp::syntax {
namespace {

// Longer readings would hide what they should show.
constexpr std::size_t kMaxReading = 200;

class Reader {
 public:
  Reader(std::span<const ItemTokens> places, std::span<const Token> tokens, std::string_view source)
      : places_(places), tokens_(tokens), source_(source) {}

  // The text of `part` with parentheses around the operators' subtrees listed in `grouped`.
  [[nodiscard]] std::string text(const Extent& part, const std::vector<Extent>& grouped) const {
    std::vector<int> opened(places_.size(), 0);
    std::vector<int> closed(places_.size(), 0);
    for (const Extent& extent : grouped) {
      ++opened[extent.first];
      ++closed[extent.last - 1];
    }
    std::string out;
    for (std::uint32_t at = part.first; at < part.last; ++at) {
      const ItemTokens& place = places_[at];
      if (at > part.first) append_between(out, places_[at - 1].last, place.first);
      out.append(static_cast<std::size_t>(opened[at]), '(');
      append(out, place.first, place.last);
      out.append(static_cast<std::size_t>(closed[at]), ')');
      if (out.size() > kMaxReading) return {};
    }
    return out;
  }

 private:
  // Tokens [first, last), with a space where the source has a gap.
  void append(std::string& out, std::size_t first, std::size_t last) const {
    for (std::size_t at = first; at < last && out.size() <= kMaxReading; ++at) {
      if (at > first && gap_before(at)) out += ' ';
      out += tokens_[at].text(source_);
    }
  }

  // A choice's condition stands between its `if` and the next item.
  void append_between(std::string& out, std::size_t first, std::size_t last) const {
    if (first < last && gap_before(first)) out += ' ';
    append(out, first, last);
    if (gap_before(last)) out += ' ';
  }

  [[nodiscard]] bool gap_before(std::size_t at) const {
    return tokens_[at].begin > tokens_[at - 1].end;
  }

  std::span<const ItemTokens> places_;
  std::span<const Token> tokens_;
  std::string_view source_;
};

bool is_inside(const Extent& inner, const Extent& outer) {
  return outer.first <= inner.first && inner.last <= outer.last;
}

Extent cover(const Extent& a, const Extent& b) {
  if (a.none()) return b;
  if (b.none()) return a;
  return {std::min(a.first, b.first), std::max(a.last, b.last)};
}

// The operators that one grouping joins otherwise than the other, as `mine` joins them, but for the
// one that is the whole part.
std::vector<Extent> parentheses(const Grouping& mine, const Grouping& other, const Extent& part) {
  std::vector<Extent> extents;
  for (std::size_t at = 0; at < mine.extents.size(); ++at) {
    const Extent& extent = mine.extents[at];
    if (extent != other.extents[at] && extent != part && !extent.none()) extents.push_back(extent);
  }
  return extents;
}

}  // namespace

std::optional<Surprise> surprising_reading(std::span<const Item> items, const Grouping& rasp,
                                           std::span<const ItemTokens> places,
                                           std::span<const Token> tokens, std::string_view source) {
  Grouping python;
  group(items, Dialect::kPython, python);
  if (rasp.extents == python.extents) return std::nullopt;

  Extent different;
  bool chained = false;
  for (std::size_t at = 0; at < items.size(); ++at) {
    if (rasp.extents[at] == python.extents[at]) continue;
    different = cover(different, cover(rasp.extents[at], python.extents[at]));
    if (python.extents[at].none()) {  // with the comparison that chains on to it
      chained = true;
      different.last = std::max(different.last, rasp.extents[at].last + 1);
    }
  }
  Extent part{0, static_cast<std::uint32_t>(items.size())};
  for (const Extent& extent : rasp.extents) {
    if (is_inside(different, extent) && is_inside(extent, part)) part = extent;
  }

  Surprise surprise;
  surprise.begin = tokens[places[part.first].first].begin;
  surprise.end = tokens[places[part.last - 1].last - 1].end;
  const Reader reader(places, tokens, source);
  const std::string ours = reader.text(part, parentheses(rasp, python, part));
  if (ours.empty()) {
    surprise.message = "this groups in another way than in Python";
  } else {
    surprise.message = "this reads as '" + ours + "', which is not how Python reads it";
  }
  const std::string theirs =
      chained ? std::string() : reader.text(part, parentheses(python, rasp, part));
  if (theirs.empty()) {
    surprise.hint = "parentheses make it plain";
  } else {
    surprise.hint = "Python reads '" + theirs + "'; parentheses make it plain";
  }
  return surprise;
}

}  // namespace rasp::syntax
