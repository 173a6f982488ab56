// Random programs, compiled and compared with the interpreter on random inputs of every length.
//   compiler_fuzz [--seed S] [--programs N] [--forever] [--go-on] [--refusals]
// Program i has the seed S + i and depends on nothing else: `--seed S --programs 1` repeats it.
// Exit status 1 on a mismatch, a crash, a hang, a model without certificate or a refusal without
// reason; the smallest program that still fails is printed.
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <string_view>

#include "../support/compiled.h"
#include "model/safetensors.h"
#include "random_program.h"

namespace {

using rasp::test::Expr;
using rasp::test::Tongue;

constexpr long kHangSeconds = 60;  // of work for one program, compiled and compared

// What is being tried, for the handler of crashes: it may only write.
char current[4096];

extern "C" void die(int signal) {
  const char* what = signal == SIGPROF ? "HANG\n" : "CRASH\n";
  (void)!write(STDOUT_FILENO, what, std::strlen(what));
  (void)!write(STDOUT_FILENO, current, std::strlen(current));
  _exit(1);
}

// On a stack of its own: the usual one may be what ran out.
void handle_crashes() {
  static char stack[1 << 16];
  stack_t own{};
  own.ss_sp = stack;
  own.ss_size = sizeof(stack);
  sigaltstack(&own, nullptr);
  struct sigaction action {};
  action.sa_handler = die;
  action.sa_flags = SA_ONSTACK;
  for (const int signal : {SIGSEGV, SIGABRT, SIGFPE, SIGBUS, SIGILL, SIGPROF}) {
    sigaction(signal, &action, nullptr);
  }
}

void watch_for_hangs() {
  itimerval limit{};
  limit.it_value.tv_sec = kHangSeconds;
  setitimer(ITIMER_PROF, &limit, nullptr);
}

struct Trial {
  std::uint64_t seed = 0;
  rasp::compiler::Options options;
  bool reloaded = false;  // goes through the file format first
};

enum class Outcome { kAgrees, kUnanswered, kRefused, kUncertified, kNoProgram, kFails };

struct Result {
  Outcome outcome = Outcome::kAgrees;
  std::string message;
  std::size_t inputs = 0;
};

Result fails(std::string message) { return {Outcome::kFails, std::move(message), 0}; }

Result check_refusal(const rasp::Diagnostic& diagnostic) {
  if (diagnostic.kind != rasp::ErrorKind::kCompile || diagnostic.message.empty() ||
      diagnostic.hint.empty() || !diagnostic.span.valid()) {
    return fails("a refusal without kind, reason, hint or place: " + diagnostic.message);
  }
  // Weights that the checker turned down: not handed out, but what the compiler believed is wrong
  // or beyond what the checker can prove.
  const bool turned_down = diagnostic.message.find("certificate") != std::string::npos;
  return {turned_down ? Outcome::kUncertified : Outcome::kRefused, diagnostic.message, 0};
}

Result try_program(const std::string& text, const Trial& trial) {
  const rasp::test::Source source("ans = " + text + ";", "ans");
  if (!source.why().empty()) return {Outcome::kNoProgram, source.why(), 0};
  auto compiled = source.compile(trial.options);
  if (!compiled) return check_refusal(compiled.error());
  if (!compiled->model.certificate.holds) return fails("the model has no certificate");
  rasp::model::Model model = std::move(compiled->model);
  if (trial.reloaded) {
    const auto bytes = rasp::model::serialise(model);
    if (!bytes) return fails("cannot be written: " + bytes.error().message);
    auto read = rasp::model::deserialise(*bytes);
    if (!read) return fails("cannot be read back: " + read.error().message);
    model = std::move(*read);
    if (!rasp::compiler::certify(model).holds) return fails("does not certify when read back");
  }
  std::mt19937_64 random(trial.seed);
  const auto inputs =
      rasp::test::random_inputs(random, trial.options.vocabulary, trial.options.max_length, 60);
  const auto comparison = rasp::test::Comparer(source.graph(), source.node(), model).on(inputs);
  if (!comparison.mismatch.empty()) return fails(comparison.mismatch);
  return {comparison.answers > 0 ? Outcome::kAgrees : Outcome::kUnanswered, "", comparison.answers};
}

// Every expression with one part replaced by something smaller.
void smaller(const Expr& whole, const Expr& part, const std::vector<std::size_t>& path,
             std::vector<Expr>& found) {
  const auto replaced = [&](const Expr& by) {
    Expr copy = whole;
    Expr* at = &copy;
    for (const std::size_t step : path) at = &at->args[step];
    *at = by;
    return copy;
  };
  const auto descend = [&](const auto& self, const Expr& below) -> void {
    for (const Expr& arg : below.args) {
      if (arg.type == part.type) found.push_back(replaced(arg));
      self(self, arg);
    }
  };
  descend(descend, part);
  for (const Expr& leaf : rasp::test::RandomProgram::simplest(part.type)) {
    if (rasp::test::text_of(leaf).size() < rasp::test::text_of(part).size()) {
      found.push_back(replaced(leaf));
    }
  }
  for (std::size_t i = 0; i < part.args.size(); ++i) {
    std::vector<std::size_t> longer = path;
    longer.push_back(i);
    smaller(whole, part.args[i], longer, found);
  }
}

Expr shrink(Expr expr, Trial& trial, std::string& message) {
  for (int rounds = 0; rounds < 60; ++rounds) {
    bool better = false;
    for (const std::uint32_t n : {trial.options.max_length / 2, trial.options.max_length - 1}) {
      if (n == 0) continue;
      Trial shorter = trial;
      shorter.options.max_length = n;
      const Result result = try_program(rasp::test::text_of(expr), shorter);
      if (result.outcome != Outcome::kFails) continue;
      trial = shorter;
      message = result.message;
      better = true;
      break;
    }
    std::vector<Expr> candidates;
    smaller(expr, expr, {}, candidates);
    std::stable_sort(candidates.begin(), candidates.end(), [](const Expr& a, const Expr& b) {
      return rasp::test::text_of(a).size() < rasp::test::text_of(b).size();
    });
    for (const Expr& candidate : candidates) {
      watch_for_hangs();
      const Result result = try_program(rasp::test::text_of(candidate), trial);
      if (result.outcome != Outcome::kFails) continue;
      expr = candidate;
      message = result.message;
      better = true;
      break;
    }
    if (!better) break;
  }
  return expr;
}

std::string describe(const std::string& text, const Trial& trial, const std::string& tongue) {
  return "seed " + std::to_string(trial.seed) + ", vocabulary " + tongue + " " +
         rasp::test::show(trial.options.vocabulary) + ", length " +
         std::to_string(trial.options.max_length) + (trial.options.causal ? ", causal" : "") +
         (trial.options.fuse ? "" : ", not fused") +
         (trial.options.dtype == rasp::model::Dtype::kF64 ? ", f64" : "") + "\n  ans = " + text +
         ";\n";
}

struct Totals {
  std::map<Outcome, std::size_t> count;
  std::size_t inputs = 0;
  bool print_refusals = false;
};

bool run_program(std::uint64_t seed, Totals& totals) {
  static const std::vector<Tongue> tongues = rasp::test::tongues();
  std::mt19937_64 choice(seed);
  const auto pick = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(choice);
  };
  const Tongue& tongue = tongues[pick(tongues.size())];
  Trial trial;
  trial.seed = seed;
  trial.reloaded = pick(10) == 0;
  trial.options.vocabulary = tongue.vocabulary;
  trial.options.max_length = static_cast<std::uint32_t>(pick(12) + 1);
  trial.options.causal = pick(4) == 0;
  trial.options.fuse = pick(10) != 0;
  if (pick(5) == 0) trial.options.dtype = rasp::model::Dtype::kF64;
  rasp::test::RandomProgram program(seed, tongue);
  const Expr expr = program.any(static_cast<int>(pick(4)) + 1);
  const std::string text = rasp::test::text_of(expr);
  const std::string shown = describe(text, trial, tongue.name);
  std::snprintf(current, sizeof(current), "%s", shown.c_str());
  watch_for_hangs();
  const Result result = try_program(text, trial);
  ++totals.count[result.outcome];
  totals.inputs += result.inputs;
  const bool refused =
      result.outcome == Outcome::kRefused || result.outcome == Outcome::kUncertified;
  if (refused && totals.print_refusals) {
    std::printf("REFUSED %s  %s\n", shown.c_str(), result.message.c_str());
  }
  if (result.outcome != Outcome::kFails) return true;
  std::printf("FAILS %s  %s\n", shown.c_str(), result.message.c_str());
  std::fflush(stdout);
  std::string message = result.message;
  const Expr small = shrink(expr, trial, message);
  std::printf("smallest: %s  %s\n",
              describe(rasp::test::text_of(small), trial, tongue.name).c_str(), message.c_str());
  std::fflush(stdout);
  return false;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint64_t seed = 1;
  std::size_t programs = 2000;
  bool forever = false;
  bool go_on = false;  // after a failure
  Totals totals;
  for (int i = 1; i < argc; ++i) {
    const std::string_view option = argv[i];
    const auto number = [&] { return i + 1 < argc ? std::strtoull(argv[++i], nullptr, 10) : 0; };
    if (option == "--seed") {
      seed = number();
    } else if (option == "--programs") {
      programs = number();
    } else if (option == "--forever") {
      forever = true;
    } else if (option == "--go-on") {
      go_on = true;
    } else if (option == "--refusals") {
      totals.print_refusals = true;
    } else {
      std::printf(
          "usage: compiler_fuzz [--seed S] [--programs N] [--forever] [--go-on] [--refusals]\n");
      return 2;
    }
  }
  std::setvbuf(stdout, nullptr, _IOLBF, 0);  // a crash loses no line
  handle_crashes();
  for (std::size_t i = 0; forever || i < programs; ++i) {
    if (!run_program(seed + i, totals) && !go_on) return 1;
  }
  const std::size_t agree = totals.count[Outcome::kAgrees];
  std::printf(
      "%zu programs: %zu agree on %zu inputs, %zu have no value, %zu refused, %zu turned "
      "down by the checker, %zu no programs, %zu fail\n",
      programs, agree, totals.inputs, totals.count[Outcome::kUnanswered],
      totals.count[Outcome::kRefused], totals.count[Outcome::kUncertified],
      totals.count[Outcome::kNoProgram], totals.count[Outcome::kFails]);
  const std::size_t refused = totals.count[Outcome::kRefused] + totals.count[Outcome::kUncertified];
  if (programs >= 1000 && (agree * 4 < programs * 3 || refused * 20 > programs)) {
    std::printf("too few of the programs say anything\n");
    return 1;
  }
  return totals.count[Outcome::kFails] == 0 ? 0 : 1;
}
