// rasp bench attention.
#include <algorithm>
#include <chrono>
#include <random>

#include "base/utf8.h"
#include "cli/command.h"
#include "cli/interrupt.h"
#include "cli/json.h"
#include "cli/machine.h"
#include "cli/workspace.h"
#include "runtime/backends.h"

namespace rasp::cli {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint32_t kMostHeads = 4096;
constexpr std::uint32_t kMostTokens = 1 << 24;
constexpr std::uint32_t kMostDim = 1 << 14;
constexpr std::size_t kMostRuns = 200;
constexpr double kSeconds = 1;  // of runs, where a run is short

struct Setting {
  std::size_t heads = 8, kv_heads = 8, length = 1024, dim = 64;
  std::size_t runs = 0;  // 0: for about a second, at least 5
  bool doubles = false;
  runtime::AttentionSpec spec;
};

Result<std::size_t> count_option(const Parsed& parsed, const std::string& name,
                                 const char* otherwise, std::uint32_t least, std::uint32_t most) {
  return parse_count("--" + name, parsed.get(name, otherwise), least, most);
}

Result<Setting> setting_of(const Parsed& parsed) {
  Setting setting;
  RASP_TRY(setting.heads, count_option(parsed, "heads", "8", 1, kMostHeads));
  const std::string heads = std::to_string(setting.heads);
  RASP_TRY(setting.kv_heads, count_option(parsed, "kv-heads", heads.c_str(), 1, kMostHeads));
  RASP_TRY(setting.length, count_option(parsed, "seq", "1024", 1, kMostTokens));
  RASP_TRY(setting.dim, count_option(parsed, "dim", "64", 1, kMostDim));
  RASP_TRY(setting.runs, count_option(parsed, "runs", "0", 0, kMostRuns));
  if (setting.heads % setting.kv_heads != 0)
    return fail(ErrorKind::kInput, {},
                heads + " query heads are not a multiple of " + std::to_string(setting.kv_heads) +
                    " key heads");
  const std::string dtype = parsed.get("dtype", "f32");
  if (dtype != "f32" && dtype != "f64")
    return fail(ErrorKind::kInput, {}, "option '--dtype' expects f32 or f64, got '" + dtype + "'");
  setting.doubles = dtype == "f64";
  setting.spec.causal = parsed.has("causal");
  if (parsed.has("window")) {
    RASP_TRY(const std::size_t window, count_option(parsed, "window", "", 1, kMostTokens));
    setting.spec.set_window(window);
    if (!setting.spec.causal) setting.spec.right = 0;
  }
  const double item = setting.doubles ? sizeof(double) : sizeof(float);
  const double bytes = 2.0 * static_cast<double>(setting.heads + setting.kv_heads) *
                       static_cast<double>(setting.length) * static_cast<double>(setting.dim) *
                       item;
  if (machine_memory() != 0 && bytes > static_cast<double>(machine_memory()))
    return fail(ErrorKind::kInput, {},
                "queries, keys, values and results would take " +
                    std::to_string(static_cast<std::uint64_t>(bytes / 0x1p20)) +
                    " MiB, more than this machine has");
  return setting;
}

// Scores of one head: pairs of a query and a key that it sees.
double scores_of(const Setting& setting) {
  runtime::AttentionShape shape;
  shape.q_len = shape.kv_len = setting.length;
  double scores = 0;
  for (std::size_t i = 0; i < setting.length; ++i) {
    const runtime::KeyRange range = visible_keys(setting.spec, shape, 0, i);
    scores += static_cast<double>(range.end - range.begin);
  }
  return scores;
}

template <typename T>
std::vector<T> random_numbers(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 engine(seed);
  std::normal_distribution<T> normal(0, 1);
  std::vector<T> numbers(count);
  for (T& number : numbers) number = normal(engine);
  return numbers;
}

struct Measured {
  std::vector<double> seconds;  // of the runs, ascending
  bool interrupted = false;
  [[nodiscard]] double median() const {
    const std::size_t half = seconds.size() / 2;
    return seconds.size() % 2 == 1 ? seconds[half] : (seconds[half - 1] + seconds[half]) / 2;
  }
};

template <typename T>
Result<Measured> measure(const Setting& setting, const runtime::Backend& backend, Output& output) {
  const std::atomic<bool>& interrupted = catch_interrupts();
  const auto [heads, kv_heads, length, dim, runs, doubles, spec] = setting;
  const auto q = random_numbers<T>(heads * length * dim, 1);
  const auto k = random_numbers<T>(kv_heads * length * dim, 2);
  const auto v = random_numbers<T>(kv_heads * length * dim, 3);
  std::vector<T> out(q.size());
  const bool live = is_terminal(2);
  Measured measured;
  double total = 0;
  // The first run, which allocates and warms up, does not count.
  for (std::size_t run = 0; !interrupted; ++run) {
    const bool enough = runs != 0 ? run > runs : (run > 5 && total > kSeconds) || run > kMostRuns;
    if (enough) break;
    const Clock::time_point start = Clock::now();
    RASP_CHECK_OK(backend.attention(runtime::packed(q.data(), 1, heads, length, dim),
                                    runtime::packed(k.data(), 1, kv_heads, length, dim),
                                    runtime::packed(v.data(), 1, kv_heads, length, dim), spec,
                                    runtime::packed(out.data(), 1, heads, length, dim)));
    const std::chrono::duration<double> took = Clock::now() - start;
    if (live && took.count() > kSeconds / 4)
      output.error("\r\x1b[Krun " + std::to_string(run) + ": " + std::to_string(took.count()) +
                   " s");
    if (run == 0) continue;
    total += took.count();
    measured.seconds.push_back(took.count());
  }
  if (live && total > kSeconds / 4) output.error("\r\x1b[K");
  measured.interrupted = interrupted;
  std::ranges::sort(measured.seconds);
  return measured;
}

std::string report(const Setting& setting, const Measured& measured,
                   const runtime::Backend& backend, bool json) {
  const double operations = 4 * scores_of(setting) * static_cast<double>(setting.dim) *
                            static_cast<double>(setting.heads);
  const double median = measured.median();
  const double rate = 1e-9 * operations / median;
  if (json) {
    JsonObject object;
    object.add("heads", std::to_string(setting.heads))
        .add("kv_heads", std::to_string(setting.kv_heads))
        .add("seq", std::to_string(setting.length))
        .add("dim", std::to_string(setting.dim))
        .text("dtype", setting.doubles ? "f64" : "f32")
        .add("causal", setting.spec.causal ? "true" : "false")
        .add("window", setting.spec.left ? std::to_string(*setting.spec.left + 1) : "null")
        .text("backend", backend.name())
        .add("threads", std::to_string(backend.device().units))
        .add("runs", std::to_string(measured.seconds.size()))
        .add("seconds", json_real(median))
        .add("fastest_seconds", json_real(measured.seconds.front()))
        .add("gflops", json_real(rate))
        .add("peak_memory_bytes", std::to_string(peak_memory()));
    return object.str() + "\n";
  }
  char text[256];
  std::snprintf(text, sizeof text,
                "median of %zu runs %.4g s (fastest %.4g s), %.4g GFLOP/s, peak memory %.0f MiB\n",
                measured.seconds.size(), median, measured.seconds.front(), rate,
                static_cast<double>(peak_memory()) / 0x1p20);
  return text;
}

int run_bench(const Parsed& parsed, const Reporter& reporter, Output& output) {
  if (parsed.get("attention") != "attention")
    return reporter.usage(error(ErrorKind::kInput, {},
                                "'" + printable(parsed.get("attention")) + "' cannot be measured",
                                "`rasp bench attention` is what there is"));
  const auto setting = setting_of(parsed);
  if (!setting) return reporter.usage(setting.error());
  const auto threads = parse_count("--threads", parsed.get("threads", "0"), 0, 1024);
  if (!threads) return reporter.usage(threads.error());
  const auto backend = runtime::make_backend(parsed.get("backend", "cpu"), *threads);
  if (!backend) return reporter.usage(backend.error());
  const auto run = setting->doubles ? measure<double> : measure<float>;
  const auto measured = run(*setting, **backend, output);
  if (!measured) return reporter.usage(measured.error());
  if (!measured->seconds.empty())
    output.write(report(*setting, *measured, **backend, reporter.json()));
  return measured->interrupted ? kInterrupted : kDone;
}

}  // namespace

int bench_command(const Arguments& arguments, Output& output) {
  Syntax syntax(
      "bench attention [options]",
      "Measures attention over random queries, keys and values. GFLOP/s count 4 dim\n"
      "operations for every query and key that it sees: 4 n^2 dim a head without a mask.",
      "rasp bench attention --heads 8 --seq 2048 --dim 64 --causal --threads 1\n"
      "rasp bench attention --heads 32 --kv-heads 8 --seq 8192 --dim 128 --window 256 --json");
  syntax.positional("attention", 1, 1)
      .value("heads", "H", "query heads (8 without it)")
      .value("kv-heads", "G", "key and value heads (as many as query heads)")
      .value("seq", "N", "queries and keys (1024 without it)")
      .value("dim", "D", "head size (64 without it)")
      .flag("causal", "queries see keys up to their own position")
      .value("window", "W", "and the last W of them only")
      .value("dtype", "f32|f64", "the numbers (f32 without it)")
      .value("backend", "NAME",
             "where it is computed: cpu (without it), opencl, cuda or auto;\n"
             "`rasp devices` lists what is here")
      .value("threads", "T", "threads of the CPU (as many as there are without it)")
      .value("runs", "N", "so many runs (without it at least 5, for a second)")
      .flag("json", "print one JSON object");
  return with_arguments(syntax, arguments, output, run_bench);
}

}  // namespace rasp::cli
