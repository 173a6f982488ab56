#include "base/source.h"

#include <algorithm>
#include <utility>

#include "base/utf8.h"

namespace rasp {

Span join(const Span& first, const Span& last) {
  if (!first.valid()) return last;
  if (first.file != last.file) return first;
  return {first.file, std::min(first.begin, last.begin), std::max(first.end, last.end)};
}

FileId SourceMap::add(std::string name, std::string text) {
  auto file = std::make_unique<File>();
  file->name = std::move(name);
  file->text = std::move(text);
  file->line_starts.push_back(0);
  for (std::size_t at = file->text.find('\n'); at != std::string::npos;
       at = file->text.find('\n', at + 1)) {
    file->line_starts.push_back(static_cast<std::uint32_t>(at + 1));
  }
  files_.push_back(std::move(file));
  return static_cast<FileId>(files_.size() - 1);
}

std::string_view SourceMap::text(const Span& span) const {
  if (span.file >= files_.size()) return {};
  const std::string_view all = files_[span.file]->text;
  const std::size_t begin = std::min<std::size_t>(span.begin, all.size());
  const std::size_t end = std::clamp<std::size_t>(span.end, begin, all.size());
  return all.substr(begin, end - begin);
}

Place SourceMap::place(FileId file, std::uint32_t offset) const {
  if (file >= files_.size()) return {};
  const File& source = *files_[file];
  offset = std::min(offset, static_cast<std::uint32_t>(source.text.size()));
  const auto after = std::upper_bound(source.line_starts.begin(), source.line_starts.end(), offset);
  const auto line = static_cast<std::size_t>(after - source.line_starts.begin());
  std::size_t column = 1;
  for (std::size_t at = source.line_starts[line - 1]; at < offset; ++column) {
    at += decode_utf8(source.text, at).bytes;
    if (at > offset) break;  // an offset inside a code point is that code point's place
  }
  return {line, column};
}

std::string_view SourceMap::line(FileId file, std::size_t line) const {
  if (file >= files_.size()) return {};
  const File& source = *files_[file];
  if (line == 0 || line > source.line_starts.size()) return {};
  const std::size_t begin = source.line_starts[line - 1];
  std::size_t end =
      line < source.line_starts.size() ? source.line_starts[line] - 1u : source.text.size();
  if (end > begin && source.text[end - 1] == '\r') --end;
  return std::string_view(source.text).substr(begin, end - begin);
}

std::string SourceMap::describe(const Span& span) const {
  if (span.file >= files_.size()) return {};
  const Place at = place(span.file, span.begin);
  return printable(name(span.file)) + ":" + std::to_string(at.line) + ":" +
         std::to_string(at.column);
}

}  // namespace rasp
