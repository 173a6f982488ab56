// Whole files in and out. Reading never hangs on a pipe, and a file that is written is either the
// old one or the whole new one.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"

namespace rasp {

// A regular file of at most `limit` bytes; `what` names its kind where it is larger ("a model
// file").
[[nodiscard]] Result<std::string> read_regular_file(const std::string& path, std::uint64_t limit,
                                                    std::string_view what);

// The pieces, one after the other, under a temporary name beside `path`, which is then renamed.
// What is no regular file (/dev/null) is written in place.
[[nodiscard]] Result<void> write_whole_file(const std::string& path,
                                            std::span<const std::string_view> pieces);

}  // namespace rasp
