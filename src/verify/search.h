// The smallest input on which something goes wrong: every input tried in order, or random ones
// where those are too many. Any number of threads finds the same one.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

#include "verify/equivalence.h"
#include "verify/inputs.h"
#include "verify/oracle.h"

namespace rasp::verify {

// What an input shows; called by several threads, each with a number of its own, from 0.
using Judge = std::function<Outcome(std::size_t worker, const Tokens& tokens)>;

struct Space {
  std::uint64_t vocabulary = 0;  // at least 1
  std::uint64_t min_length = 1;
  std::uint64_t max_length = 1;
  std::uint64_t exhaustive_limit = kExhaustiveLimit;
  std::uint64_t samples = kSamples;
  std::uint64_t seed = 0;
  // Asked before every input, by every thread: ends the search.
  std::function<bool()> stop;
  std::function<void(const Progress&)> progress;  // on the caller's thread, ten times a second
};

struct Found {
  bool exhaustive = false;
  bool finished = false;      // not stopped
  std::uint64_t total = 0;    // inputs that there were to try
  std::uint64_t tried = 0;    // of those; up to the first that goes wrong
  std::uint64_t skipped = 0;  // of those tried: the judge found them undefined
  // With random inputs the smallest that can be found by trying all that are smaller, or, where
  // those are too many, by taking tokens away.
  std::optional<Tokens> smallest;
};

// `workers` threads at most, at least 1.
[[nodiscard]] Found search(const Space& space, std::size_t workers, const Judge& judge);

}  // namespace rasp::verify
