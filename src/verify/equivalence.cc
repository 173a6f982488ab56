#include "verify/equivalence.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <mutex>
#include <utility>

#include "runtime/thread_pool.h"
#include "verify/divergence.h"
#include "verify/inputs.h"
#include "verify/oracle.h"

namespace rasp::verify {
namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSecondsBetweenReports = 0.1;
// A counterexample is made smallest by trying every smaller input when those are so many at most.
constexpr std::uint64_t kSearchLimit = 200'000;
constexpr std::uint64_t kNone = std::numeric_limits<std::uint64_t>::max();

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// One pass over inputs, block by block on several threads. Blocks behind the first mismatch so far
// are left out, those before it are not: the mismatch that remains is the first there is, whatever
// the threads did.
class Pass {
 public:
  Pass(const Inputs& inputs, const Options& options, std::vector<Oracle>& oracles)
      : inputs_(inputs),
        options_(options),
        oracles_(oracles),
        workers_(oracles.size()),
        skipped_(static_cast<std::size_t>(inputs.blocks())),
        done_(static_cast<std::size_t>(inputs.blocks())) {}

  [[nodiscard]] Result<void> run(runtime::ThreadPool& pool) {
    start_ = Clock::now();
    pool.parallel_for(static_cast<std::size_t>(inputs_.blocks()), 1,
                      [this](std::size_t worker, std::size_t begin, std::size_t end) {
                        for (std::size_t block = begin; block < end; ++block) {
                          if (wanted(block)) work(worker, block);
                          if (worker == 0) report();
                        }
                      });
    if (problem_) return fail(*problem_);
    return {};
  }

  [[nodiscard]] std::uint64_t first_mismatch() const { return first_; }  // kNone: there is none
  [[nodiscard]] const Tokens& mismatch() const { return mismatch_; }

  // What was tried: up to the first mismatch, which no number of threads changes.
  void count(Report& report) const {
    for (std::size_t block = 0; block < done_.size(); ++block) {
      const std::uint64_t begin = block * inputs_.block_size();
      if (done_[block] == 0 || begin > first_) continue;
      const std::uint64_t end = std::min(inputs_.count(), begin + inputs_.block_size());
      report.tried += std::min(end, first_ == kNone ? end : first_ + 1) - begin;
      report.skipped += skipped_[block];
    }
  }
  [[nodiscard]] bool finished() const {
    return std::ranges::all_of(done_, [](std::uint8_t done) { return done != 0; });
  }

 private:
  struct Worker {
    std::vector<Tokens> inputs;
  };

  [[nodiscard]] bool interrupted() const {
    return options_.interrupted != nullptr && options_.interrupted->load(std::memory_order_relaxed);
  }
  [[nodiscard]] bool wanted(std::size_t block) const {
    return !interrupted() && !failed_.load(std::memory_order_relaxed) &&
           block * inputs_.block_size() <= first_.load(std::memory_order_relaxed);
  }

  void work(std::size_t worker, std::size_t block) {
    std::vector<Tokens>& inputs = workers_[worker].inputs;
    Inputs::Cursor cursor(inputs_, block);
    const std::uint64_t begin = cursor.number();
    std::size_t count = 0;
    for (; !cursor.done(); ++count) {
      if (count == inputs.size()) inputs.emplace_back();
      cursor.read(inputs[count]);
    }
    const auto outcomes = oracles_[worker].judge(std::span(inputs).first(count));
    if (!outcomes) {
      const std::lock_guard lock(mutex_);
      if (!problem_) problem_ = outcomes.error();
      failed_ = true;
      return;
    }
    std::uint32_t skipped = 0;
    for (std::size_t i = 0; i < count; ++i) {
      skipped += (*outcomes)[i] == Outcome::kUndefined;
      if ((*outcomes)[i] != Outcome::kDifferent) continue;
      found(begin + i, inputs[i]);
      break;
    }
    skipped_[block] = skipped;
    done_[block] = 1;
    tried_.fetch_add(count, std::memory_order_relaxed);
  }

  void found(std::uint64_t number, const Tokens& tokens) {
    const std::lock_guard lock(mutex_);
    if (number >= first_) return;
    first_ = number;
    mismatch_ = tokens;
  }

  void report() {
    const double seconds = seconds_since(start_);
    if (!options_.progress || seconds - reported_ < kSecondsBetweenReports) return;
    reported_ = seconds;
    options_.progress({tried_.load(std::memory_order_relaxed), inputs_.count(), seconds});
  }

  const Inputs& inputs_;
  const Options& options_;
  std::vector<Oracle>& oracles_;
  std::vector<Worker> workers_;
  std::vector<std::uint32_t> skipped_;  // by block
  std::vector<std::uint8_t> done_;
  std::atomic<std::uint64_t> tried_ = 0;
  std::atomic<std::uint64_t> first_ = kNone;
  std::atomic<bool> failed_ = false;
  std::mutex mutex_;  // of what follows
  Tokens mismatch_;
  std::optional<Diagnostic> problem_;
  Clock::time_point start_;
  double reported_ = 0;
};

// Takes tokens away and makes them smaller as long as the input stays a counterexample.
class Shrinker {
 public:
  Shrinker(Oracle& oracle, const std::atomic<bool>* interrupted)
      : oracle_(oracle), interrupted_(interrupted) {}

  [[nodiscard]] Result<Tokens> shrink(Tokens tokens) {
    for (bool smaller = true; smaller;) {
      RASP_TRY(const bool shorter, shorten(tokens));
      RASP_TRY(const bool lower, lower_tokens(tokens));
      smaller = shorter || lower;
    }
    return tokens;
  }

 private:
  [[nodiscard]] Result<bool> differs(const Tokens& tokens) {
    if (interrupted_ != nullptr && interrupted_->load()) return false;
    RASP_TRY(const auto outcomes, oracle_.judge(std::span(&tokens, 1)));
    return outcomes.front() == Outcome::kDifferent;
  }

  // Whole stretches first: a long input loses half of its tokens at once where it can.
  [[nodiscard]] Result<bool> shorten(Tokens& tokens) {
    bool any = false;
    for (std::size_t stretch = std::max<std::size_t>(tokens.size() / 2, 1); stretch > 0;
         stretch /= 2) {
      for (std::size_t begin = 0; begin + stretch <= tokens.size() && stretch < tokens.size();) {
        Tokens candidate = tokens;
        const auto from = candidate.begin() + static_cast<std::ptrdiff_t>(begin);
        candidate.erase(from, from + static_cast<std::ptrdiff_t>(stretch));
        RASP_TRY(const bool still, differs(candidate));
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

  [[nodiscard]] Result<bool> lower_tokens(Tokens& tokens) {
    bool any = false;
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      Tokens candidate = tokens;
      for (candidate[i] = 0; candidate[i] < tokens[i]; ++candidate[i]) {
        RASP_TRY(const bool still, differs(candidate));
        if (!still) continue;
        tokens = candidate;
        any = true;
        break;
      }
    }
    return any;
  }

  Oracle& oracle_;
  const std::atomic<bool>* interrupted_;
};

Verdict verdict_of(const Report& report, bool mismatch, bool finished) {
  if (mismatch) return Verdict::kMismatch;
  if (!finished) return Verdict::kInterrupted;
  return report.tried == report.skipped ? Verdict::kNothing : Verdict::kExact;
}

class Comparison {
 public:
  Comparison(const Subject& subject, const Options& options)
      : subject_(subject), options_(options), pool_(options.threads) {}

  [[nodiscard]] Result<Report> run() {
    const auto start = Clock::now();
    for (std::size_t i = 0; i < pool_.workers(); ++i) {
      RASP_TRY(Oracle oracle, Oracle::make(subject_));
      oracles_.push_back(std::move(oracle));
    }
    const std::uint64_t vocabulary = subject_.model.vocabulary.size();
    const std::uint64_t length = subject_.model.max_length;
    Report report;
    report.exhaustive =
        count_inputs(vocabulary, length, options_.exhaustive_limit) <= options_.exhaustive_limit;
    report.seed = options_.seed;
    const Inputs inputs = report.exhaustive
                              ? Inputs::all(vocabulary, length)
                              : Inputs::random(vocabulary, length, options_.samples, options_.seed);
    report.total = inputs.count();
    Pass pass(inputs, options_, oracles_);
    RASP_CHECK_OK(pass.run(pool_));
    pass.count(report);
    const bool mismatch = pass.first_mismatch() != kNone;
    report.verdict = verdict_of(report, mismatch, pass.finished());
    if (mismatch) {
      Tokens tokens = pass.mismatch();
      if (!report.exhaustive) {
        RASP_TRY(tokens, smallest(std::move(tokens)));
      }
      RASP_TRY(report.counterexample, explain(tokens));
    }
    report.seconds = seconds_since(start);
    return report;
  }

 private:
  // From a random counterexample to a small one; to the smallest, where all that are smaller can
  // be tried.
  [[nodiscard]] Result<Tokens> smallest(Tokens tokens) {
    RASP_TRY(tokens, Shrinker(oracles_.front(), options_.interrupted).shrink(std::move(tokens)));
    const std::uint64_t vocabulary = subject_.model.vocabulary.size();
    if (count_inputs(vocabulary, tokens.size(), kSearchLimit) > kSearchLimit) return tokens;
    const Inputs inputs = Inputs::all(vocabulary, tokens.size());
    Options quiet = options_;
    quiet.progress = nullptr;
    Pass pass(inputs, quiet, oracles_);
    RASP_CHECK_OK(pass.run(pool_));
    return pass.first_mismatch() != kNone ? pass.mismatch() : tokens;
  }

  [[nodiscard]] Result<Counterexample> explain(const Tokens& tokens) {
    Oracle& oracle = oracles_.front();
    RASP_TRY(Counterexample result, oracle.explain(tokens));
    RASP_TRY(const runtime::Trace trace, oracle.trace(tokens));
    result.divergence = find_divergence(subject_, result.input, trace);
    return result;
  }

  const Subject& subject_;
  const Options& options_;
  runtime::ThreadPool pool_;
  std::vector<Oracle> oracles_;
};

}  // namespace

Result<Report> compare(const Subject& subject, const Options& options) {
  if (subject.model.vocabulary.empty() || subject.model.max_length == 0) {
    return fail(ErrorKind::kModel, {}, "the model takes no input at all");
  }
  Options usable = options;
  usable.samples = std::max<std::uint64_t>(usable.samples, 1);
  return Comparison(subject, usable).run();
}

}  // namespace rasp::verify
