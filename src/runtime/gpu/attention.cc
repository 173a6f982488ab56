#include "runtime/gpu/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace rasp::runtime::gpu {
namespace {

constexpr std::size_t kPrepareItems = 128;
constexpr std::size_t kLinearItems = 64;

// Kernels count rows and numbers of a head in 32 bits.
Result<void> check_size(const AttentionShape& shape, std::size_t dk) {
  constexpr std::size_t kMost = std::numeric_limits<int>::max() / 2;
  const std::size_t longest = std::max(shape.q_len, shape.kv_len);
  const std::size_t widest = std::max({dk, shape.d, shape.d_v});
  if (longest * std::max(widest, shape.batch * shape.q_heads) <= kMost && shape.d_v <= kMost / 1024)
    return {};
  return fail(ErrorKind::kLimit, {},
              "attention over " + std::to_string(longest) + " positions of " +
                  std::to_string(widest) + " numbers is too large for a device",
              "use fewer heads or sequences a call, or --backend cpu");
}

template <typename T>
constexpr bool kDoubles = std::is_same_v<T, double>;

template <typename T>
std::vector<T> narrowed(const std::vector<double>& values) {
  std::vector<T> result(values.size());
  std::transform(values.begin(), values.end(), result.begin(),
                 [](double value) { return static_cast<T>(value); });
  return result;
}

template <typename T>
std::size_t rows_of(const AttentionShape& shape, bool query) {
  return query ? shape.batch * shape.q_heads * shape.q_len
               : shape.batch * shape.kv_heads * shape.kv_len;
}

// -infinity masks; another number that the kernels' type cannot hold poisons its readers.
template <typename T>
std::vector<T> bias_numbers(const View<const double>& bias) {
  std::vector<T> numbers;
  for (const double entry : gathered(bias)) {
    const auto number = static_cast<T>(entry);
    const bool lost = std::isinf(number) && std::isfinite(entry);
    numbers.push_back(lost ? std::numeric_limits<T>::quiet_NaN() : number);
  }
  return numbers;
}

int reach(const std::optional<std::size_t>& keys, const AttentionShape& shape) {
  if (!keys) return -1;
  return static_cast<int>(std::min(*keys, shape.kv_len + shape.q_len));
}

AttentionParams params_of(const AttentionSpec& spec, const AttentionShape& shape, std::size_t dk) {
  AttentionParams params{};
  params.q_heads = static_cast<int>(shape.q_heads);
  params.kv_heads = static_cast<int>(shape.kv_heads);
  params.q_len = static_cast<int>(shape.q_len);
  params.kv_len = static_cast<int>(shape.kv_len);
  params.dk = static_cast<int>(dk);
  params.d_v = static_cast<int>(shape.d_v);
  params.causal = spec.causal ? 1 : 0;
  params.left = reach(spec.left, shape);
  params.right = reach(spec.right, shape);
  params.hard = spec.normaliser == Normaliser::kHard ? 1 : 0;
  params.has_lengths = spec.lengths.empty() ? 0 : 1;
  params.has_alibi = spec.alibi ? 1 : 0;
  if (spec.mask) {
    params.mask_batch = static_cast<int>(spec.mask->batch);
    params.mask_heads = static_cast<int>(spec.mask->heads);
  }
  if (spec.bias) {
    params.bias_batch = static_cast<int>(spec.bias->batch);
    params.bias_heads = static_cast<int>(spec.bias->heads);
  }
  return params;
}

int score_number(Score score) {
  return score == Score::kDot ? 0 : score == Score::kAdditive ? 1 : 2;  // as in attention.cl
}

// What a score edit or a mask needs on the device; buffers that are not needed stay empty.
template <typename T>
struct Extras {
  Buffer bad, any_bad, mask, bias, slopes, lengths, additive_v;
};

template <typename T>
Result<Extras<T>> upload_extras(Device& device, const AttentionSpec& spec,
                                const AttentionShape& shape) {
  Extras<T> extras;
  RASP_TRY(extras.bad, device.allocate(rows_of<T>(shape, false)));
  RASP_TRY(extras.any_bad, upload(device, std::vector<std::int32_t>(1)));
  if (spec.mask) {
    RASP_TRY(extras.mask, upload(device, gathered(*spec.mask)));
  }
  if (spec.bias) {
    RASP_TRY(extras.bias, upload(device, bias_numbers<T>(*spec.bias)));
  }
  if (spec.alibi) {
    RASP_TRY(extras.slopes, upload(device, slope_pairs<T>(spec, shape.q_heads)));
  }
  if (!spec.lengths.empty()) {
    RASP_TRY(extras.lengths,
             upload(device, std::vector<std::int32_t>(spec.lengths.begin(), spec.lengths.end())));
  }
  if (spec.score == Score::kAdditive) {
    RASP_TRY(extras.additive_v, upload(device, narrowed<T>(spec.additive.v)));
  }
  return extras;
}

// Copies rows from the device to where a view wants them.
template <typename T>
Result<void> scatter(Device& device, const Buffer& from, const View<T>& to) {
  std::vector<T> rows(to.batch * to.heads * to.length * to.dim);
  RASP_CHECK_OK(device.read(from, 0, rows.data(), rows.size() * sizeof(T)));
  const T* row = rows.data();
  for (std::size_t b = 0; b < to.batch; ++b)
    for (std::size_t h = 0; h < to.heads; ++h)
      for (std::size_t i = 0; i < to.length; ++i, row += to.dim)
        std::copy(row, row + to.dim, to.row(b, h, i));
  return {};
}

template <typename T>
Result<void> attend(Workshop& workshop, const AttentionSpec& spec, const AttentionShape& shape,
                    const DeviceRows& rows, const Buffer& out, const Tile* chosen,
                    const Widths* chosen_widths) {
  Device& device = *workshop.device;
  const bool doubles = kDoubles<T>;
  const Widths widths =
      chosen_widths != nullptr ? *chosen_widths : widths_for(device.info(), rows.dk, shape.d_v);
  Tile tile = chosen != nullptr ? *chosen : fitting_tiles(device.info(), widths, doubles).front();
  // Large calls are worth a second of trying sizes, once a device.
  constexpr double kWorthTuning = 1e9;
  const double scores = static_cast<double>(shape.batch * shape.q_heads) *
                        static_cast<double>(shape.q_len) * static_cast<double>(shape.kv_len);
  if (chosen == nullptr && spec.score == Score::kDot && scores >= kWorthTuning) {
    RASP_TRY(tile, tuned_tile(workshop, widths, doubles));
  }
  RASP_TRY(Program * prepare, workshop.programs.get(kernel_source({"prepare.cl"}, doubles)));
  RASP_TRY(Program * program, workshop.programs.get(attention_source(
                                  tile, widths, score_number(spec.score), doubles)));
  RASP_TRY(const Extras<T> extras, upload_extras<T>(device, spec, shape));
  const std::size_t key_rows = rows_of<T>(shape, false);
  if (key_rows > 0) {
    const Argument arguments[] = {rows.v, static_cast<int>(key_rows), static_cast<int>(shape.d_v),
                                  extras.bad, extras.any_bad};
    RASP_CHECK_OK(prepare->launch("find_bad", {groups_of(key_rows, kPrepareItems)}, kPrepareItems,
                                  0, arguments));
  }
  const Argument arguments[] = {rows.q,
                                rows.k,
                                rows.v,
                                out,
                                extras.bad,
                                extras.any_bad,
                                extras.mask,
                                extras.bias,
                                extras.slopes,
                                extras.lengths,
                                extras.additive_v,
                                params_of(spec, shape, rows.dk),
                                score_scale<T>(spec, shape.d)};
  const std::size_t blocks = groups_of(shape.q_len, static_cast<std::size_t>(tile.queries));
  return program->launch("attend",
                         {blocks * shape.batch * shape.q_heads,
                          groups_of(shape.d_v, static_cast<std::size_t>(widths.columns))},
                         static_cast<std::size_t>(tile.items()), local_bytes(tile, widths, doubles),
                         arguments);
}

// Keys between two states: few, but so that all states stay small.
std::size_t linear_chunk(const AttentionShape& shape, std::size_t number) {
  constexpr std::size_t kMost = std::size_t{32} << 20;
  const std::size_t state = shape.batch * shape.kv_heads * shape.d * (shape.d_v + 1) * number;
  std::size_t chunk = 64;
  while (chunk < shape.kv_len && (shape.kv_len / chunk + 1) * state > kMost) chunk *= 2;
  return chunk;
}

template <typename T>
Result<void> attend_linear(Workshop& workshop, const AttentionSpec& spec,
                           const AttentionShape& shape, const DeviceRows& rows, const Buffer& out) {
  Device& device = *workshop.device;
  RASP_TRY(Program * program, workshop.programs.get(kernel_source({"linear.cl"}, kDoubles<T>)));
  Buffer lengths;
  if (!spec.lengths.empty()) {
    RASP_TRY(lengths,
             upload(device, std::vector<std::int32_t>(spec.lengths.begin(), spec.lengths.end())));
  }
  const std::size_t chunk = linear_chunk(shape, sizeof(T));
  LinearParams params{};
  params.q_heads = static_cast<int>(shape.q_heads);
  params.kv_heads = static_cast<int>(shape.kv_heads);
  params.q_len = static_cast<int>(shape.q_len);
  params.kv_len = static_cast<int>(shape.kv_len);
  params.d = static_cast<int>(shape.d);
  params.d_v = static_cast<int>(shape.d_v);
  params.causal = spec.causal ? 1 : 0;
  params.has_lengths = spec.lengths.empty() ? 0 : 1;
  params.chunk = static_cast<int>(chunk);
  params.chunks = static_cast<int>(shape.kv_len / chunk + 1);
  const std::size_t heads = shape.batch * shape.kv_heads;
  const std::size_t size = shape.d * (shape.d_v + 1);
  const auto chunks = static_cast<std::size_t>(params.chunks);
  RASP_TRY(const Buffer states, device.allocate(heads * chunks * size * sizeof(T)));
  const Argument sums[] = {rows.k, rows.v, lengths, states, params};
  RASP_CHECK_OK(program->launch("linear_chunks", {heads * chunks}, kLinearItems, 0, sums));
  const Argument prefix[] = {states, params};
  RASP_CHECK_OK(program->launch("linear_prefix", {heads * groups_of(size, kLinearItems)},
                                kLinearItems, 0, prefix));
  const Argument read[] = {rows.q, rows.k, rows.v, lengths, states, out, params};
  return program->launch("linear_read", {rows_of<T>(shape, true)}, kLinearItems,
                         (chunk + 1) * sizeof(T), read);
}

// phi of the host on rows of the device.
template <typename T>
Result<void> map_on_host(Device& device, const Buffer& rows, std::size_t count,
                         double (*feature)(double)) {
  std::vector<T> numbers(count);
  RASP_CHECK_OK(device.read(rows, 0, numbers.data(), count * sizeof(T)));
  for (T& number : numbers)
    if (std::isfinite(number)) number = static_cast<T>(feature(static_cast<double>(number)));
  return device.write(rows, 0, numbers.data(), count * sizeof(T));
}

}  // namespace

template <typename T>
T score_scale(const AttentionSpec& spec, std::size_t d) {
  if (spec.score == Score::kGaussian) return static_cast<T>(-1 / (2 * spec.sigma * spec.sigma));
  return static_cast<T>(spec.scale.value_or(1 / std::sqrt(static_cast<double>(d))));
}

template <typename T>
std::vector<T> slope_pairs(const AttentionSpec& spec, std::size_t q_heads) {
  if (!spec.alibi) return {};
  std::vector<double> slopes = spec.alibi->slopes;
  if (slopes.empty()) slopes = default_alibi_slopes(q_heads);
  std::vector<T> pairs;
  for (const double slope : slopes) {
    pairs.push_back(static_cast<T>(slope));
    pairs.push_back(static_cast<T>(slope - static_cast<double>(pairs.back())));
  }
  return pairs;
}

template <typename T>
std::vector<T> rope_pairs(const Rope& rope, std::size_t d, std::ptrdiff_t first,
                          std::ptrdiff_t last) {
  std::vector<double> frequencies;
  for (std::size_t i = 0; i < d / 2; ++i)
    frequencies.push_back(
        std::pow(rope.base, -2.0 * static_cast<double>(i) / static_cast<double>(d)));
  std::vector<T> pairs;
  pairs.reserve(static_cast<std::size_t>(std::max<std::ptrdiff_t>(0, last - first)) * d);
  for (std::ptrdiff_t position = first; position < last; ++position)
    for (const double frequency : frequencies) {
      pairs.push_back(static_cast<T>(std::cos(static_cast<double>(position) * frequency)));
      pairs.push_back(static_cast<T>(std::sin(static_cast<double>(position) * frequency)));
    }
  return pairs;
}

template <typename T>
std::vector<T> gathered(const View<const T>& view) {
  std::vector<T> rows;
  rows.reserve(view.batch * view.heads * view.length * view.dim);
  for (std::size_t b = 0; b < view.batch; ++b)
    for (std::size_t h = 0; h < view.heads; ++h)
      for (std::size_t i = 0; i < view.length; ++i)
        rows.insert(rows.end(), view.row(b, h, i), view.row(b, h, i) + view.dim);
  return rows;
}

template <typename T>
Result<void> transform(Workshop& workshop, const AttentionSpec& spec, const AttentionShape& shape,
                       std::ptrdiff_t q_position, std::ptrdiff_t k_position, DeviceRows& rows) {
  Device& device = *workshop.device;
  const std::size_t q_rows = rows_of<T>(shape, true);
  const std::size_t k_rows = rows_of<T>(shape, false);
  const auto number = [](std::size_t size) { return static_cast<int>(size); };
  RASP_TRY(Program * program, workshop.programs.get(kernel_source({"prepare.cl"}, kDoubles<T>)));
  const auto launch = [&](const char* kernel, std::size_t items,
                          std::span<const Argument> arguments) -> Result<void> {
    if (items == 0) return {};
    return program->launch(kernel, {groups_of(items, kPrepareItems)}, kPrepareItems, 0, arguments);
  };
  rows.dk = shape.d;
  if (spec.rope) {
    const std::ptrdiff_t first = std::min(q_position, k_position);
    const std::ptrdiff_t last = std::max(q_position + static_cast<std::ptrdiff_t>(shape.q_len),
                                         k_position + static_cast<std::ptrdiff_t>(shape.kv_len));
    RASP_TRY(const Buffer pairs, upload(device, rope_pairs<T>(*spec.rope, shape.d, first, last)));
    const int interleaved = spec.rope->interleaved ? 1 : 0;
    const Argument q[] = {rows.q,          pairs,
                          number(q_rows),  number(shape.q_len),
                          number(shape.d), static_cast<int>(q_position - first),
                          interleaved};
    RASP_CHECK_OK(launch("rotate_rows", q_rows * shape.d / 2, q));
    const Argument k[] = {rows.k,          pairs,
                          number(k_rows),  number(shape.kv_len),
                          number(shape.d), static_cast<int>(k_position - first),
                          interleaved};
    RASP_CHECK_OK(launch("rotate_rows", k_rows * shape.d / 2, k));
  }
  if (spec.score == Score::kAdditive) {
    const std::size_t hidden = spec.additive.hidden;
    const auto project = [&](Buffer& x, std::size_t count,
                             const std::vector<double>& weights) -> Result<void> {
      RASP_TRY(const Buffer w, upload(device, narrowed<T>(weights)));
      RASP_TRY(Buffer y, device.allocate(count * hidden * sizeof(T)));
      const Argument arguments[] = {x, w, y, number(count), number(shape.d), number(hidden)};
      RASP_CHECK_OK(launch("project_additive", count * hidden, arguments));
      x = std::move(y);
      return {};
    };
    RASP_CHECK_OK(project(rows.q, q_rows, spec.additive.wq));
    RASP_CHECK_OK(project(rows.k, k_rows, spec.additive.wk));
    rows.dk = hidden;
  }
  if (spec.normaliser == Normaliser::kLinear) {
    const int map = spec.feature == nullptr ? 1 : 0;
    const Argument q[] = {rows.q, Buffer(), number(q_rows), number(shape.d), number(shape.d_v),
                          map,    0};
    RASP_CHECK_OK(launch("features", q_rows, q));
    const Argument k[] = {rows.k, rows.v, number(k_rows), number(shape.d), number(shape.d_v),
                          map,    1};
    RASP_CHECK_OK(launch("features", k_rows, k));
    if (spec.feature != nullptr) {
      RASP_CHECK_OK(map_on_host<T>(device, rows.q, q_rows * shape.d, spec.feature));
      RASP_CHECK_OK(map_on_host<T>(device, rows.k, k_rows * shape.d, spec.feature));
    }
  }
  return {};
}

template <typename T>
Result<void> attention(Workshop& workshop, const View<const T>& q, const View<const T>& k,
                       const View<const T>& v, const AttentionSpec& spec, const View<T>& out,
                       const Tile* tile, const Widths* widths) {
  RASP_TRY(const AttentionShape shape, check_attention<T>(q, k, v, spec, out));
  RASP_CHECK_OK(check_size(shape, std::max(shape.d, spec.additive.hidden)));
  const std::size_t q_rows = rows_of<T>(shape, true);
  if (q_rows == 0 || shape.d_v == 0) return {};
  Device& device = *workshop.device;
  const std::scoped_lock lock(device.mutex());
  DeviceRows rows;
  RASP_TRY(rows.q, upload(device, gathered(q)));
  RASP_TRY(rows.k, upload(device, gathered(k)));
  RASP_TRY(rows.v, upload(device, gathered(v)));
  RASP_TRY(const Buffer result, device.allocate(q_rows * shape.d_v * sizeof(T)));
  const auto offset =
      static_cast<std::ptrdiff_t>(shape.kv_len) - static_cast<std::ptrdiff_t>(shape.q_len);
  RASP_CHECK_OK(transform<T>(workshop, spec, shape, offset, 0, rows));
  if (spec.normaliser == Normaliser::kLinear) {
    RASP_CHECK_OK(attend_linear<T>(workshop, spec, shape, rows, result));
  } else {
    RASP_CHECK_OK(attend<T>(workshop, spec, shape, rows, result, tile, widths));
  }
  return scatter(device, result, out);
}

#define RASP_INSTANTIATE(T)                                                                     \
  template T score_scale(const AttentionSpec&, std::size_t);                                    \
  template std::vector<T> slope_pairs(const AttentionSpec&, std::size_t);                       \
  template std::vector<T> rope_pairs(const Rope&, std::size_t, std::ptrdiff_t, std::ptrdiff_t); \
  template std::vector<T> gathered(const View<const T>&);                                       \
  template Result<void> transform<T>(Workshop&, const AttentionSpec&, const AttentionShape&,    \
                                     std::ptrdiff_t, std::ptrdiff_t, DeviceRows&);              \
  template Result<void> attention(Workshop&, const View<const T>&, const View<const T>&,        \
                                  const View<const T>&, const AttentionSpec&, const View<T>&,   \
                                  const Tile*, const Widths*);
RASP_INSTANTIATE(float)
RASP_INSTANTIATE(double)
#undef RASP_INSTANTIATE

}  // namespace rasp::runtime::gpu
