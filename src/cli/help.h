// What `help` says.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rasp::cli {

// The overview for "", the text of a topic, or "" for an unknown one.
[[nodiscard]] std::string_view help_text(std::string_view topic);
[[nodiscard]] std::vector<std::string> help_topics();

}  // namespace rasp::cli
