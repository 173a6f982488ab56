#include "verify/search.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <limits>
#include <mutex>
#include <new>
#include <vector>

namespace rasp::verify {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSecondsBetweenReports = 0.1;
// What goes wrong is made smallest by trying every smaller input when those are so many at most.
constexpr std::uint64_t kSearchLimit = 200'000;
constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

// One pass over inputs, block by block. Blocks behind the first bad input so far are left out,
// those before it are not: the one that remains is the first there is, whatever the threads did.
class Sweep {
 public:
  Sweep(const Inputs& inputs, const Space& space, const Judge& judge, std::size_t workers)
      : inputs_(inputs),
        space_(space),
        judge_(judge),
        tokens_(workers),
        blocks_(static_cast<std::size_t>(inputs.blocks())) {}

  [[nodiscard]] Result<void> run(runtime::ThreadPool& pool) {
    start_ = Clock::now();
    pool.parallel_for(blocks_.size(), 1,
                      [this](std::size_t worker, std::size_t begin, std::size_t end) {
                        for (std::size_t block = begin; block < end; ++block) {
                          if (is_wanted(block)) work(worker, block);
                          if (worker == 0) report();
                        }
                      });
    if (problem_) return fail(*problem_);
    return {};
  }

  // What was tried up to the first bad input, which no number of threads changes.
  void tell(Found& found) const {
    for (std::size_t block = 0; block < blocks_.size(); ++block) {
      if (block * inputs_.block_size() > first_) break;
      found.tried += blocks_[block].tried;
      found.skipped += blocks_[block].skipped;
      found.finished = found.finished && blocks_[block].finished;
    }
    if (first_ != kNone) found.smallest = bad_;
  }

 private:
  struct Block {
    std::uint32_t tried = 0;
    std::uint32_t skipped = 0;
    bool finished = false;
  };

  [[nodiscard]] bool is_wanted(std::size_t block) const {
    return !failed_.load(std::memory_order_relaxed) && !space_.halt.is_due() &&
           block * inputs_.block_size() <= first_.load(std::memory_order_relaxed);
  }

  void work(std::size_t worker, std::size_t number) {
    std::vector<Tokens>& tokens = tokens_[worker];
    Inputs::Cursor cursor(inputs_, number);
    const std::uint64_t begin = cursor.number();
    std::size_t count = 0;
    for (; !cursor.done(); ++count) {
      if (count == tokens.size()) tokens.emplace_back();
      cursor.read(tokens[count]);
    }
    const auto outcomes = judged(worker, std::span(tokens).first(count));
    if (!outcomes) return end_with(outcomes.error());
    Block& block = blocks_[number];
    block.finished = outcomes->size() == count;
    for (const Outcome outcome : *outcomes) {
      const std::size_t i = block.tried++;
      block.skipped += outcome == Outcome::kUndefined;
      if (outcome != Outcome::kDifferent) continue;
      block.finished = true;
      found(begin + i, tokens[i]);
      break;
    }
    done_.fetch_add(outcomes->size(), std::memory_order_relaxed);
  }

  // Nothing may be thrown through the loop of the threads.
  Result<std::span<const Outcome>> judged(std::size_t worker, std::span<const Tokens> tokens) {
    try {
      return judge_(worker, tokens);
    } catch (const std::bad_alloc&) {
      return fail(ErrorKind::kLimit, {}, "there is not enough memory");
    }
  }

  void end_with(const Diagnostic& problem) {
    const std::lock_guard lock(mutex_);
    if (!problem_) problem_ = problem;
    failed_ = true;
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
  std::vector<std::vector<Tokens>> tokens_;  // by worker
  std::vector<Block> blocks_;
  std::atomic<std::uint64_t> done_ = 0;
  std::atomic<std::uint64_t> first_ = kNone;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;  // of what follows
  Tokens bad_;
  std::optional<Diagnostic> problem_;
  Clock::time_point start_;
  double reported_ = 0;
};

// Takes tokens away and makes them smaller as long as the input stays bad.
class Shrinker {
 public:
  Shrinker(const Space& space, const Judge& judge) : space_(space), judge_(judge) {}

  [[nodiscard]] Result<Tokens> shrink(Tokens tokens) const {
    for (bool smaller = true; smaller;) {
      RASP_TRY(const bool shorter, shorten(tokens));
      RASP_TRY(const bool lower, lower_tokens(tokens));
      smaller = shorter || lower;
    }
    return tokens;
  }

 private:
  [[nodiscard]] Result<bool> is_bad(const Tokens& tokens) const {
    if (space_.halt.is_due()) return false;
    RASP_TRY(const auto outcomes, judge_(0, std::span(&tokens, 1)));
    return !outcomes.empty() && outcomes.front() == Outcome::kDifferent;
  }

  // Whole stretches first: a long input loses half of its tokens at once where it can.
  Result<bool> shorten(Tokens& tokens) const {
    bool any = false;
    for (std::size_t stretch = std::max<std::size_t>(tokens.size() / 2, 1); stretch > 0;
         stretch /= 2) {
      for (std::size_t begin = 0; begin + stretch <= tokens.size();) {
        if (tokens.size() - stretch < space_.min_length) break;
        Tokens candidate = tokens;
        const auto from = candidate.begin() + static_cast<std::ptrdiff_t>(begin);
        candidate.erase(from, from + static_cast<std::ptrdiff_t>(stretch));
        RASP_TRY(const bool still, is_bad(candidate));
        any = any || still;
        if (still) {
          tokens = std::move(candidate);
        } else {
          ++begin;
        }
      }
    }
    return any;
  }

  Result<bool> lower_tokens(Tokens& tokens) const {
    bool any = false;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      Tokens candidate = tokens;
      for (candidate[i] = 0; candidate[i] < tokens[i]; ++candidate[i]) {
        RASP_TRY(const bool still, is_bad(candidate));
        if (!still) continue;
        tokens = candidate;
        any = true;
        break;
      }
    }
    return any;
  }

  const Space& space_;
  const Judge& judge_;
};

// From a random bad input to a small one; to the smallest, where all that are smaller can be tried.
Result<Tokens> smallest(Tokens tokens, const Space& space, const Judge& judge,
                        runtime::ThreadPool& pool) {
  RASP_TRY(tokens, Shrinker(space, judge).shrink(std::move(tokens)));
  if (count_inputs(space.vocabulary, tokens.size(), kSearchLimit) > kSearchLimit) return tokens;
  Space quiet = space;
  quiet.progress = nullptr;
  const Inputs inputs = Inputs::all(space.vocabulary, space.min_length, tokens.size());
  Sweep sweep(inputs, quiet, judge, pool.workers());
  RASP_CHECK_OK(sweep.run(pool));
  Found found;
  sweep.tell(found);
  return found.smallest.value_or(std::move(tokens));
}

}  // namespace

Result<Found> search(const Space& space, runtime::ThreadPool& pool, const Judge& judge) {
  Found found;
  const std::uint64_t limit = space.exhaustive_limit;
  found.exhaustive = count_inputs(space.vocabulary, space.max_length, limit) <= limit;
  const Inputs inputs = found.exhaustive
                            ? Inputs::all(space.vocabulary, space.min_length, space.max_length)
                            : Inputs::random(space.vocabulary, space.min_length, space.max_length,
                                             std::max<std::uint64_t>(space.samples, 1), space.seed);
  found.total = inputs.count();
  found.finished = true;
  Sweep sweep(inputs, space, judge, pool.workers());
  RASP_CHECK_OK(sweep.run(pool));
  sweep.tell(found);
  if (found.smallest && !found.exhaustive) {
    RASP_TRY(found.smallest, smallest(*std::move(found.smallest), space, judge, pool));
  }
  return found;
}

}  // namespace rasp::verify
