#include "base/diagnostic.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/utf8.h"

namespace rasp {
namespace {

constexpr std::size_t kTabStop = 4;
constexpr std::size_t kContext = 48;       // columns shown around a place in a long line
constexpr std::size_t kExcerpt = 100;      // a line of at most this many columns is shown whole
constexpr std::size_t kLongestName = 100;  // longer names get no suggestion: it would be noise

struct Style {
  std::string_view strong, level, mark, hint, off;
};

Style style_for(Level level, bool colour) {
  if (!colour) return {};
  constexpr std::string_view kRed = "\033[1;31m", kMagenta = "\033[1;35m", kCyan = "\033[1;36m";
  const std::string_view tint = level == Level::kError     ? kRed
                                : level == Level::kWarning ? kMagenta
                                                           : kCyan;
  return {"\033[1m", tint, tint, kCyan, "\033[0m"};
}

// One code point of a source line as it is shown.
struct Cell {
  std::string text;
  std::size_t columns = 0;
  bool marked = false;
};

Cell cell_at(std::string_view line, std::size_t at, const CodePoint& point, std::size_t column) {
  if (point.value == U'\t') {
    const std::size_t columns = kTabStop - column % kTabStop;
    return {std::string(columns, ' '), columns, false};
  }
  Cell cell;
  append_printable(cell.text, line, at, point);
  const bool escaped = cell.text.size() > 1 && cell.text[0] == '\\';
  cell.columns = escaped ? cell.text.size() : static_cast<std::size_t>(display_width(point.value));
  return cell;
}

// Where a code point begins at or before `at`.
std::size_t code_point_start(std::string_view line, std::size_t at) {
  const std::size_t lowest = at < 3 ? 0 : at - 3;
  for (std::size_t start = lowest; start < at; ++start) {
    if (start + decode_utf8(line, start).bytes > at) return start;
  }
  return at;
}

struct Excerpt {
  std::string line;
  std::string marks;
};

// The part of `line` around bytes [begin, end), and the underline for it. Cost does not depend on
// the length of the line.
Excerpt excerpt(std::string_view line, std::size_t begin, std::size_t end) {
  begin = std::min(begin, line.size());
  end = std::clamp(end, begin, line.size());
  std::size_t first = 0;
  if (line.size() > kExcerpt && begin > kContext) {
    first = code_point_start(line, begin - kContext);
  }
  Excerpt out;
  const auto put = [&out](const Cell& cell) {
    out.line += cell.text;
    if (!cell.marked) {
      out.marks.append(cell.columns, ' ');
    } else if (cell.columns > 0) {
      const bool opening = out.marks.find('^') == std::string::npos;
      out.marks += opening ? '^' : '~';
      out.marks.append(cell.columns - 1, '~');
    }
  };
  if (first > 0) put({"…", 1, false});
  std::size_t column = 0;
  std::size_t at = first;
  while (at < line.size() && column < kExcerpt) {
    const CodePoint point = decode_utf8(line, at);
    Cell cell = cell_at(line, at, point, column);
    cell.marked = at + point.bytes > begin && at < std::max(end, begin + 1);
    put(cell);
    column += cell.columns + (cell.columns == 0 ? 1 : 0);  // combining marks cannot pile up
    at += point.bytes;
  }
  if (at < line.size()) put({"…", 1, false});
  if (out.marks.find('^') == std::string::npos) out.marks += '^';  // an empty span, or line end
  out.marks.erase(out.marks.find_last_not_of(' ') + 1);
  return out;
}

// Texts come from programs: one line each, nothing raw in them.
std::string title(const Diagnostic& diagnostic) {
  std::string text;
  if (diagnostic.level == Level::kError) {
    text += name_of(diagnostic.kind);
    text += ' ';
  }
  text += name_of(diagnostic.level);
  return text;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // Insertions, deletions, replacements, and swaps of neighbours; three rows of the table.
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  for (std::size_t j = 0; j <= b.size(); ++j) above[j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t replace = above[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
      row[j] = std::min({replace, above[j] + 1, row[j - 1] + 1});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before[j - 2] + 1);
      }
    }
    std::swap(before, above);
    std::swap(above, row);
  }
  return above[b.size()];
}

}  // namespace

std::string_view name_of(ErrorKind kind) {
  constexpr std::array<std::string_view, 10> kNames = {"syntax",     "name", "type",  "value",
                                                       "arithmetic", "load", "limit", "compile",
                                                       "model",      "input"};
  return kNames[static_cast<std::size_t>(kind)];
}

std::string_view name_of(Level level) {
  constexpr std::array<std::string_view, 3> kNames = {"error", "warning", "note"};
  return kNames[static_cast<std::size_t>(level)];
}

Diagnostic error(ErrorKind kind, const Span& span, std::string message, std::string hint) {
  return {Level::kError, kind, span, std::move(message), std::move(hint)};
}

Diagnostic warning(ErrorKind kind, const Span& span, std::string message, std::string hint) {
  return {Level::kWarning, kind, span, std::move(message), std::move(hint)};
}

Diagnostic note(const Span& span, std::string message) {
  return {Level::kNote, ErrorKind::kValue, span, std::move(message), {}};
}

std::string format(const Diagnostic& diagnostic, const SourceMap& sources,
                   const FormatOptions& options) {
  const Style style = style_for(diagnostic.level, options.colour);
  const auto styled = [&style](std::string_view with, std::string_view text) {
    std::string out(with);
    out += text;
    if (!with.empty()) out += style.off;
    return out;
  };
  const Span& span = diagnostic.span;
  const bool placed = span.valid() && span.file < sources.size();
  std::string out;
  if (placed) out += styled(style.strong, sources.describe(span) + ":") + " ";
  out += styled(style.level, title(diagnostic) + ":") + " ";
  out += printable(diagnostic.message) + "\n";
  if (placed) {
    const Place place = sources.place(span.file, span.begin);
    const std::string_view line = sources.line(span.file, place.line);
    const auto line_start = static_cast<std::size_t>(line.data() - sources.text(span.file).data());
    const std::size_t begin = span.begin < line_start ? 0 : span.begin - line_start;
    const std::size_t end = span.end < line_start ? 0 : span.end - line_start;
    const Excerpt shown = excerpt(line, begin, end);
    const std::string number = std::to_string(place.line);
    out.append(1, ' ').append(number).append(" | ").append(shown.line).append(1, '\n');
    out.append(number.size() + 1, ' ').append(" | ").append(styled(style.mark, shown.marks));
    out += '\n';
  }
  if (!diagnostic.hint.empty()) {
    out += "  " + styled(style.hint, "hint:") + " " + printable(diagnostic.hint) + "\n";
  }
  return out;
}

std::string closest(std::string_view name, const std::vector<std::string>& candidates) {
  if (name.size() > kLongestName) return {};
  std::size_t best = name.size() / 3 + 1;
  std::string_view found;
  for (const std::string& candidate : candidates) {
    if (candidate == name) continue;
    const std::size_t gap = candidate.size() > name.size() ? candidate.size() - name.size()
                                                           : name.size() - candidate.size();
    if (gap > best) continue;
    const std::size_t distance = edit_distance(name, candidate);
    // Ties go to the alphabet, so that the order of a hash table is never seen.
    if (distance < best || (distance == best && !found.empty() && candidate < found)) {
      best = distance;
      found = candidate;
    }
  }
  return std::string(found);
}

}  // namespace rasp
