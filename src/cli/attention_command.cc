// rasp attention.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <limits>

#include "base/utf8.h"
#include "cli/command.h"
#include "cli/json.h"
#include "cli/machine.h"
#include "cli/workspace.h"
#include "runtime/backends.h"
#include "runtime/npy.h"
#include "runtime/spec_json.h"

namespace rasp::cli {
namespace {

using runtime::NpyArray;
using runtime::NpyType;

tl::unexpected<Diagnostic> refuse(const std::string& what, std::string hint = {}) {
  return fail(ErrorKind::kInput, {}, what, std::move(hint));
}

// What an array may take: no more than the machine has.
std::uint64_t most_bytes() {
  const std::uint64_t memory = machine_memory();
  return memory == 0 ? runtime::kMaxNpyBytes : std::min(memory, runtime::kMaxNpyBytes);
}

// What the call is given; q, k and v are [batch, heads, length, dim] of one type.
struct Problem {
  std::unique_ptr<runtime::SpecFile> spec;
  NpyArray q, k, v;
};

Result<NpyArray> load_tensor(const Parsed& parsed, const char* name) {
  const std::string path = parsed.get(name);
  if (path.empty())
    return refuse("option '--" + std::string(name) + "' is missing", "see `rasp attention --help`");
  RASP_TRY(NpyArray array, runtime::load_npy(path, most_bytes()));
  if (array.type != NpyType::kFloat32 && array.type != NpyType::kFloat64)
    return refuse("'" + path + "' holds " + std::string(name_of(array.type)) +
                  ", expected float32 or float64");
  if (array.shape.size() != 4)
    return refuse("'" + path + "' is " + runtime::shape_text(array.shape) +
                      ", expected four dimensions: [batch, heads, length, dim]",
                  "x[None, None] adds two in front");
  return array;
}

Result<Problem> load_problem(const Parsed& parsed) {
  Problem problem;
  std::string json = "{}";
  std::string folder;
  if (const std::string path = parsed.get("spec"); !path.empty()) {
    RASP_TRY(json, read_file(path));
    folder = std::filesystem::path(path).parent_path().string();
  }
  RASP_TRY(problem.spec, runtime::parse_spec(json, folder));
  RASP_TRY(problem.q, load_tensor(parsed, "q"));
  RASP_TRY(problem.k, load_tensor(parsed, "k"));
  RASP_TRY(problem.v, load_tensor(parsed, "v"));
  if (problem.q.type != problem.k.type || problem.q.type != problem.v.type)
    return refuse("q, k and v are " + std::string(name_of(problem.q.type)) + ", " +
                      std::string(name_of(problem.k.type)) + " and " +
                      std::string(name_of(problem.v.type)) + ", expected one type",
                  "x.astype(\"<f4\") converts");
  return problem;
}

template <typename T>
runtime::View<T> view_of(const NpyArray& array) {
  // The array is this command's own: positions are added in place.
  return runtime::packed(const_cast<T*>(array.entries<T>()), array.shape[0], array.shape[1],
                         array.shape[2], array.shape[3]);
}

template <typename T>
Result<void> add_tables(const Problem& problem) {
  const std::size_t queries = problem.q.shape[2];
  const std::size_t keys = problem.k.shape[2];
  if (problem.spec->positions == runtime::SpecFile::Positions::kNone) return {};
  if (queries > keys)
    return refuse(std::to_string(queries) + " queries for " + std::to_string(keys) +
                  " keys: the first stand before position 0, where no table has a row");
  RASP_TRY(const auto table, position_table_of(*problem.spec, keys, problem.k.shape[3]));
  RASP_CHECK_OK(add_positions(*table, keys - queries, view_of<T>(problem.q)));
  return add_positions(*table, 0, view_of<T>(problem.k));
}

// Refuses a result of more bytes than an array may take; an entry takes `item`.
Result<void> check_size(const std::string& name, const std::vector<std::size_t>& shape,
                        std::size_t item) {
  std::size_t bytes = item;
  for (const std::size_t size : shape) {
    if (size != 0 && bytes > most_bytes() / size)
      return refuse(name + " would be " + runtime::shape_text(shape) +
                    ", more than this machine's memory or 16 GiB");
    bytes *= size;
  }
  return {};
}

struct Done {
  std::vector<std::size_t> shape;
  double seconds = 0;
};

template <typename T>
Result<Done> attend(const Problem& problem, const runtime::Backend& backend,
                    const std::string& out_path, const std::string& weights_path) {
  constexpr NpyType kType = sizeof(T) == sizeof(float) ? NpyType::kFloat32 : NpyType::kFloat64;
  RASP_CHECK_OK(add_tables<T>(problem));
  const auto q = runtime::View<const T>(view_of<T>(problem.q));
  const auto k = runtime::View<const T>(view_of<T>(problem.k));
  const auto v = runtime::View<const T>(view_of<T>(problem.v));
  Done done{{q.batch, q.heads, q.length, v.dim}};
  RASP_CHECK_OK(check_size("the result", done.shape, sizeof(T)));
  // Before anything is allocated for a result.
  const auto expected = runtime::packed<const T>(nullptr, q.batch, q.heads, q.length, v.dim);
  RASP_CHECK_OK(check_attention(q, k, v, problem.spec->spec, expected));
  if (!out_path.empty()) {
    std::vector<T> out(q.batch * q.heads * q.length * v.dim);
    const auto start = std::chrono::steady_clock::now();
    RASP_CHECK_OK(
        backend.attention(q, k, v, problem.spec->spec,
                          runtime::packed(out.data(), q.batch, q.heads, q.length, v.dim)));
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    done.seconds = took.count();
    RASP_CHECK_OK(runtime::save_npy(out_path, kType, done.shape, out.data()));
  }
  if (!weights_path.empty()) {
    const std::vector<std::size_t> shape = {q.batch, q.heads, q.length, k.length};
    RASP_CHECK_OK(check_size("the matrix", shape, sizeof(double) + sizeof(T)));
    RASP_TRY(const std::vector<T> weights, attention_weights(q, k, problem.spec->spec));
    RASP_CHECK_OK(runtime::save_npy(weights_path, kType, shape, weights.data()));
  }
  return done;
}

std::string report(const Done& done, NpyType type, const Parsed& parsed, bool json) {
  const std::string out = parsed.get("output");
  const std::string weights = parsed.get("weights");
  const auto size_json = [](std::size_t size) { return std::to_string(size); };
  if (json) {
    JsonObject object;
    object.add("shape", json_list(done.shape, size_json))
        .text("dtype", name_of(type))
        .text("backend", parsed.get("backend", "cpu"))
        .add("seconds", out.empty() ? "null" : json_real(done.seconds));
    return object.str() + "\n";
  }
  std::string text;
  if (!out.empty()) {
    char seconds[32];
    std::snprintf(seconds, sizeof seconds, "%.3g", done.seconds);
    text += runtime::shape_text(done.shape) + " of " + std::string(name_of(type)) +
            ", computed in " + seconds + " s, written to " + printable(out) + "\n";
  }
  if (!weights.empty()) text += "the attention matrix is written to " + printable(weights) + "\n";
  return text;
}

int run_attention(const Parsed& parsed, const Reporter& reporter, Output& output) {
  if (!parsed.has("output") && !parsed.has("weights"))
    return reporter.usage(error(ErrorKind::kInput, {}, "option '-o' or '--weights' is missing",
                                "see `rasp attention --help`"));
  const auto threads = parse_count("--threads", parsed.get("threads", "0"), 0, 1024);
  if (!threads) return reporter.usage(threads.error());
  const auto backend = runtime::make_backend(parsed.get("backend", "cpu"), *threads);
  if (!backend) return reporter.usage(backend.error());
  const auto problem = load_problem(parsed);
  if (!problem) return reporter.usage(problem.error());
  const auto run = problem->q.type == NpyType::kFloat32 ? attend<float> : attend<double>;
  const auto done = run(*problem, **backend, parsed.get("output"), parsed.get("weights"));
  if (!done) return reporter.usage(done.error());
  output.write(report(*done, problem->q.type, parsed, reporter.json()));
  return kDone;
}

}  // namespace

int attention_command(const Arguments& arguments, Output& output) {
  Syntax syntax(
      "attention [--spec SPEC.json] --q Q.npy --k K.npy --v V.npy -o OUT.npy [options]",
      "Attention of queries over keys and values from NumPy files, float32 or float64:\n"
      "q [batch, heads, length, dim], k and v with as many heads or a divisor of them.\n\n"
      "SPEC.json holds one JSON object; every key may be left out:\n"
      "  score       \"dot\", \"additive\" or \"gaussian\", with scale; additive {wq, wk, v}; "
      "sigma\n"
      "  mask        \"full\", \"causal\", or a NumPy file of bools, true where attended to\n"
      "  causal      true, to go with a mask from a file\n"
      "  window      so many keys, up to the query's own; or left and right beside it\n"
      "  lengths     keys of every sequence of the batch\n"
      "  bias        a NumPy file, added to the scores; -inf masks\n"
      "  rope        true or {base, interleaved}\n"
      "  alibi       true or a slope for every head\n"
      "  positions   \"sinusoidal\", \"one-hot\" or a NumPy file, added to q and k\n"
      "  normaliser  \"softmax\", \"hard\" or \"linear\", with feature \"elu+1\", \"relu\" or "
      "\"exp\"\n"
      "  equal_keys  false scores every key by itself, even where keys repeat\n"
      "Queries stand at the end of the keys: with fewer queries than keys, causal query i sees\n"
      "keys up to i + keys - queries.",
      "rasp attention --q q.npy --k k.npy --v v.npy -o out.npy\n"
      "echo '{\"mask\": \"causal\", \"window\": 4, \"alibi\": true}' > spec.json\n"
      "rasp attention --spec spec.json --q q.npy --k k.npy --v v.npy -o out.npy \\\n"
      "    --weights weights.npy --json");
  syntax.positional("argument", 0, 0)
      .value("spec", "SPEC.json", "which attention; without it softmax over all keys")
      .value("q", "Q.npy", "queries")
      .value("k", "K.npy", "keys")
      .value("v", "V.npy", "values")
      .value("output,o", "OUT.npy", "write the result to this file")
      .value("weights", "W.npy", "write the attention matrix to this file")
      .value("backend", "NAME",
             "where it is computed: cpu (without it), opencl, cuda or auto;\n"
             "`rasp devices` lists what is here")
      .value("threads", "N", "threads of the CPU (as many as there are without it)")
      .flag("json", "print one JSON object");
  return with_arguments(syntax, arguments, output, run_attention);
}

}  // namespace rasp::cli
