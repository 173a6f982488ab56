#include "cli/text.h"

#include "base/utf8.h"

namespace rasp::cli {

std::string pad_left(std::string text, std::size_t width) {
  const std::size_t used = display_width(text);
  return used < width ? std::string(width - used, ' ') + text : text;
}

std::string pad_right(std::string text, std::size_t width) {
  const std::size_t used = display_width(text);
  if (used < width) text.append(width - used, ' ');
  return text;
}

}  // namespace rasp::cli
