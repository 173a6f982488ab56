// Words that messages are made of.
#pragma once

#include <string>
#include <string_view>

namespace rasp::lang {

// 'text'
[[nodiscard]] inline std::string in_quotes(std::string_view text) {
  std::string result(1, '\'');
  result.append(text);
  result.push_back('\'');
  return result;
}

// "1 item", "2 items"
[[nodiscard]] inline std::string count_of(std::size_t n, std::string_view what) {
  std::string result = std::to_string(n);
  result.push_back(' ');
  result.append(what);
  if (n != 1) result.push_back('s');
  return result;
}

}  // namespace rasp::lang
