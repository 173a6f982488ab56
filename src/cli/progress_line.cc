#include "cli/progress_line.h"

#include <algorithm>
#include <string>

namespace rasp::cli {
namespace {

constexpr double kSilentSeconds = 1;
constexpr std::size_t kBar = 20;

}  // namespace

ProgressLine::~ProgressLine() {
  if (shown_) output_->error("\r\x1b[K");
}

void ProgressLine::show(std::string_view title, const verify::Progress& progress) {
  if (!usable_ || progress.seconds < kSilentSeconds || progress.total == 0) return;
  shown_ = true;
  const double share = static_cast<double>(progress.done) / static_cast<double>(progress.total);
  const auto full = std::min(kBar, static_cast<std::size_t>(share * kBar));
  std::string bar;
  for (std::size_t i = 0; i < kBar; ++i) bar += i < full ? "█" : "░";
  const auto rate = static_cast<double>(progress.done) / progress.seconds;
  output_->error("\r\x1b[K" + std::string(title) + " " + bar + " " + std::to_string(progress.done) +
                 " of " + std::to_string(progress.total) + " inputs, " +
                 std::to_string(static_cast<std::uint64_t>(rate)) + " a second");
}

}  // namespace rasp::cli
