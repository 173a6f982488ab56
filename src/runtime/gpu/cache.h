// Files that spare work the next time: built kernels and tuned sizes, under
// $XDG_CACHE_HOME/raspkit (~/.cache without it). Whatever goes wrong here only costs that time
// again.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace rasp::runtime::gpu {

// What was stored under the key; nothing when there is no such file or it is damaged.
[[nodiscard]] std::optional<std::string> cached(std::string_view key);
// Written under a temporary name and renamed, so that a reader sees all of it or nothing.
void cache(std::string_view key, std::string_view value);
// Where that is: "" when there is no home for caches.
[[nodiscard]] std::string cache_path(std::string_view key);

}  // namespace rasp::runtime::gpu
