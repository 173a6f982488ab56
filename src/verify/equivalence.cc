#include "verify/equivalence.h"

#include <chrono>
#include <utility>
#include <vector>

#include "verify/divergence.h"
#include "verify/oracle.h"

namespace rasp::verify {
namespace {

using Clock = std::chrono::steady_clock;

Verdict verdict_of(const Found& found) {
  if (found.smallest) return Verdict::kMismatch;
  if (!found.finished) return Verdict::kInterrupted;
  return found.tried == found.skipped ? Verdict::kNothing : Verdict::kExact;
}

Result<Counterexample> explain(const Subject& subject, const Tokens& tokens,
                               const runtime::Backend* backend) {
  RASP_TRY(Oracle oracle, Oracle::make(subject, {}, backend));
  RASP_TRY(Counterexample result, oracle.explain(tokens));
  RASP_TRY(const runtime::Trace trace, oracle.trace(tokens));
  result.divergence = find_divergence(subject, result.input, trace);
  return result;
}

Space space_of(const Subject& subject, const Options& options) {
  Space space;
  space.vocabulary = subject.model.vocabulary.size();
  space.min_length = options.min_length;
  space.max_length = subject.model.max_length;
  space.exhaustive_limit = options.exhaustive_limit;
  space.samples = options.samples;
  space.seed = options.seed;
  space.halt = options.halt;
  space.progress = options.progress;
  return space;
}

}  // namespace

Result<Report> compare(const Subject& subject, const Options& options) {
  if (subject.model.vocabulary.empty() || subject.model.max_length == 0) {
    return fail(ErrorKind::kModel, {}, "the model takes no input at all");
  }
  const auto start = Clock::now();
  runtime::ThreadPool pool(options.threads);
  std::vector<Oracle> oracles;
  for (std::size_t i = 0; i < pool.workers(); ++i) {
    RASP_TRY(Oracle oracle, Oracle::make(subject, options.halt, options.backend));
    oracles.push_back(std::move(oracle));
  }
  RASP_TRY(const Found found, search(space_of(subject, options), pool,
                                     [&](std::size_t worker, std::span<const Tokens> inputs) {
                                       return oracles[worker].judge(inputs);
                                     }));
  Report report;
  report.verdict = verdict_of(found);
  report.exhaustive = found.exhaustive;
  report.seed = options.seed;
  report.total = found.total;
  report.tried = found.tried;
  report.skipped = found.skipped;
  if (found.smallest) {
    RASP_TRY(report.counterexample, explain(subject, *found.smallest, options.backend));
  }
  report.seconds = std::chrono::duration<double>(Clock::now() - start).count();
  return report;
}

}  // namespace rasp::verify
