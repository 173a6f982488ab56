#include "verify/search.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <mutex>
#include <vector>

#include "runtime/thread_pool.h"

namespace rasp::verify {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSecondsBetweenReports = 0.1;
constexpr std::uint64_t kSearchLimit = 200'000;  // smaller inputs, of which all are tried
constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

// One pass over inputs, block by block. Blocks behind the first bad input so far are left out,
// those before it are not: what remains is the first there is.
class Sweep {
 public:
  Sweep(const Inputs& inputs, const Space& space, const Judge& judge, std::size_t workers)
      : inputs_(inputs), space_(space), judge_(judge), tokens_(workers) {
    const auto blocks = static_cast<std::size_t>(inputs.blocks());
    counts_.resize(blocks);
  }

  void run(runtime::ThreadPool& pool) {
    start_ = Clock::now();
    pool.parallel_for(counts_.size(), 1,
                      [this](std::size_t worker, std::size_t begin, std::size_t end) {
                        for (std::size_t block = begin; block < end; ++block) {
                          work(worker, block);
                          if (worker == 0) report();
                        }
                      });
  }

  void tell(Found& found) const {
    found.total = 0;
    for (const Counts& counts : counts_) {
      found.tried += counts.tried;
      found.skipped += counts.skipped;
    }
    found.finished = !stopped_;
    if (first_ != kNone) found.smallest = bad_;
  }

 private:
  struct Counts {
    std::uint32_t tried = 0;
    std::uint32_t skipped = 0;
  };

  void work(std::size_t worker, std::size_t block) {
    Tokens& tokens = tokens_[worker];
    for (Inputs::Cursor cursor(inputs_, block); !cursor.done();) {
      const std::uint64_t number = cursor.number();
      if (stopped_.load(std::memory_order_relaxed) || number >= first_) return;
      cursor.read(tokens);
      if (tokens.size() < space_.min_length) continue;
      if (space_.stop && space_.stop()) {
        stopped_ = true;
        return;
      }
      const Outcome outcome = judge_(worker, tokens);
      ++counts_[block].tried;
      counts_[block].skipped += outcome == Outcome::kUndefined;
      done_.fetch_add(1, std::memory_order_relaxed);
      if (outcome == Outcome::kDifferent) return found(number, tokens);
    }
  }

  void found(std::uint64_t number, const Tokens& tokens) {
    const std::lock_guard lock(mutex_);
    if (number >= first_) return;
    first_ = number;
    bad_ = tokens;
  }

  void report() {
    const double seconds = std::chrono::duration<double>(Clock::now() - start_).count();
    if (!space_.progress || seconds - reported_ < kSecondsBetweenReports) return;
    reported_ = seconds;
    space_.progress({done_.load(std::memory_order_relaxed), inputs_.count(), seconds});
  }

  const Inputs& inputs_;
  const Space& space_;
  const Judge& judge_;
  std::vector<Tokens> tokens_;  // by worker
  std::vector<Counts> counts_;  // by block
  std::atomic<std::uint64_t> done_ = 0;
  std::atomic<std::uint64_t> first_ = kNone;
  std::atomic<bool> stopped_ = false;
  std::mutex mutex_;  // of what follows
  Tokens bad_;
  Clock::time_point start_;
  double reported_ = 0;
};

// Takes tokens away and makes them smaller as long as the input stays bad.
class Shrinker {
 public:
  Shrinker(const Space& space, const Judge& judge) : space_(space), judge_(judge) {}

  [[nodiscard]] Tokens shrink(Tokens tokens) const {
    while (shorten(tokens) || lower(tokens)) {
    }
    return tokens;
  }

 private:
  [[nodiscard]] bool is_bad(const Tokens& tokens) const {
    return !(space_.stop && space_.stop()) && judge_(0, tokens) == Outcome::kDifferent;
  }

  bool shorten(Tokens& tokens) const {
    for (std::size_t i = 0; tokens.size() > space_.min_length && i < tokens.size(); ++i) {
      Tokens candidate = tokens;
      candidate.erase(candidate.begin() + static_cast<std::ptrdiff_t>(i));
      if (!is_bad(candidate)) continue;
      tokens = std::move(candidate);
      return true;
    }
    return false;
  }

  bool lower(Tokens& tokens) const {
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      Tokens candidate = tokens;
      for (candidate[i] = 0; candidate[i] < tokens[i]; ++candidate[i]) {
        if (!is_bad(candidate)) continue;
        tokens = std::move(candidate);
        return true;
      }
    }
    return false;
  }

  const Space& space_;
  const Judge& judge_;
};

// From a random bad input to a small one; to the smallest, where all that are smaller can be tried.
Tokens smallest(Tokens tokens, const Space& space, const Judge& judge, std::size_t workers,
                runtime::ThreadPool& pool) {
  tokens = Shrinker(space, judge).shrink(std::move(tokens));
  if (count_inputs(space.vocabulary, tokens.size(), kSearchLimit) > kSearchLimit) return tokens;
  Space quiet = space;
  quiet.progress = nullptr;
  const Inputs inputs = Inputs::all(space.vocabulary, tokens.size());
  Sweep sweep(inputs, quiet, judge, workers);
  sweep.run(pool);
  Found found;
  sweep.tell(found);
  return found.smallest.value_or(std::move(tokens));
}

}  // namespace

Found search(const Space& space, std::size_t workers, const Judge& judge) {
  Found found;
  const std::uint64_t limit = space.exhaustive_limit;
  found.exhaustive = count_inputs(space.vocabulary, space.max_length, limit) <= limit;
  const Inputs inputs = found.exhaustive ? Inputs::all(space.vocabulary, space.max_length)
                                         : Inputs::random(space.vocabulary, space.max_length,
                                                          space.samples, space.seed);
  runtime::ThreadPool pool(workers);
  Sweep sweep(inputs, space, judge, workers);
  sweep.run(pool);
  sweep.tell(found);
  found.total = inputs.count();
  if (found.exhaustive && space.min_length > 1) {
    found.total -= count_inputs(space.vocabulary, space.min_length - 1, limit);
  }
  if (found.smallest && !found.exhaustive) {
    found.smallest = smallest(*std::move(found.smallest), space, judge, workers, pool);
  }
  return found;
}

}  // namespace rasp::verify
