// The smallest input on which something goes wrong: every input tried in order, or random ones
// where those are too many. Any number of threads finds the same one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>

#include "base/halt.h"
#include "base/result.h"
#include "runtime/thread_pool.h"
#include "verify/inputs.h"

namespace rasp::verify {

inline constexpr std::uint64_t kExhaustiveLimit = 1'000'000;
inline constexpr std::uint64_t kSamples = 10'000;

enum class Outcome : std::uint8_t {
  kSame,
  kDifferent,
  kUndefined,  // nothing to compare with
};

struct Progress {
  std::uint64_t done = 0;
  std::uint64_t total = 0;
  double seconds = 0;
};

// What inputs show, one outcome an input; of the first few alone where `Space::halt` became due
// meanwhile. Called by several threads, each with a number of its own, from 0. An error ends the
// search.
using Judge = std::function<Result<std::span<const Outcome>>(std::size_t worker,
                                                             std::span<const Tokens> inputs)>;

struct Space {
  std::uint64_t vocabulary = 0;  // at least 1
  std::uint64_t min_length = 1;
  std::uint64_t max_length = 1;
  std::uint64_t exhaustive_limit = kExhaustiveLimit;  // up to so many inputs, all are tried
  std::uint64_t samples = kSamples;                   // else so many, at least one
  std::uint64_t seed = 0;
  Halt halt;
  std::function<void(const Progress&)> progress;  // on the caller's thread, ten times a second
};

struct Found {
  bool exhaustive = false;
  bool finished = false;      // not ended early
  std::uint64_t total = 0;    // inputs that there were to try
  std::uint64_t tried = 0;    // of those; up to the first that goes wrong
  std::uint64_t skipped = 0;  // of those tried: undefined
  // With random inputs the smallest that can be found by trying all that are smaller, or, where
  // those are too many, by taking tokens away and making them smaller.
  std::optional<Tokens> smallest;
};

// An error is one of the judge's.
[[nodiscard]] Result<Found> search(const Space& space, runtime::ThreadPool& pool,
                                   const Judge& judge);

}  // namespace rasp::verify
