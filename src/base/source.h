// Source texts and places in them. A `Span` is three numbers; what it means is known by the
// `SourceMap` that handed out its file id, so nodes and diagnostics stay small and never dangle.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace rasp {

using FileId = std::uint32_t;
inline constexpr FileId kNoFile = 0xFFFFFFFFu;

// Half-open range of byte offsets in one source text. `kNoFile` means "no place".
struct Span {
  FileId file = kNoFile;
  std::uint32_t begin = 0;
  std::uint32_t end = 0;

  [[nodiscard]] bool valid() const { return file != kNoFile; }
  friend bool operator==(const Span&, const Span&) = default;
};

// The smallest span that covers both; the first decides when they are in different files.
[[nodiscard]] Span join(const Span& first, const Span& last);

// One-based line, and one-based column counted in code points.
struct Place {
  std::size_t line = 0;
  std::size_t column = 0;
};

// Owns every source text of a session. Ids are indices: they never change and are never reused.
class SourceMap {
 public:
  FileId add(std::string name, std::string text);

  [[nodiscard]] std::size_t size() const { return files_.size(); }
  [[nodiscard]] const std::string& name(FileId file) const { return files_[file]->name; }
  [[nodiscard]] const std::string& text(FileId file) const { return files_[file]->text; }
  [[nodiscard]] std::string_view text(const Span& span) const;  // the characters the span covers
  [[nodiscard]] Place place(FileId file, std::uint32_t offset) const;
  [[nodiscard]] std::string_view line(FileId file,
                                      std::size_t line) const;  // without its line break
  [[nodiscard]] std::string describe(const Span& span) const;   // "file:line:column", or ""

 private:
  struct File {
    std::string name;
    std::string text;
    std::vector<std::uint32_t> line_starts;
  };
  std::vector<std::unique_ptr<File>> files_;  // stable addresses: `text` hands out views
};

}  // namespace rasp
