// Decoding with keys and values on the device.
#include <algorithm>
#include <string>

#include "runtime/gpu/attention.h"
#include "runtime/kv_cache.h"

namespace rasp::runtime::gpu {
namespace {

constexpr std::size_t kDecodeItems = 64;
constexpr std::size_t kFirstCapacity = 256;
constexpr std::size_t kRowsASplit = 512;  // fewer are not worth a work-group of their own
constexpr std::size_t kMostSplits = 64;

template <typename T>
class Session final : public DecodeSession<T> {
 public:
  Session(std::shared_ptr<Workshop> workshop, const AttentionShape& shape,
          const AttentionSpec& spec)
      : workshop_(std::move(workshop)),
        shape_(shape),
        spec_(spec),
        dk_(spec.score == Score::kAdditive ? spec.additive.hidden : shape.d),
        window_(spec.left ? *spec.left + 1 : 0) {}

  Result<void> prepare();
  Result<void> step(const View<const T>& q, const View<const T>& k, const View<const T>& v,
                    const View<T>& out) override;
  [[nodiscard]] std::size_t position() const override { return position_; }
  [[nodiscard]] std::size_t bytes() const override {
    return keys_.bytes() + values_.bytes() + states_.bytes();
  }

 private:
  [[nodiscard]] std::size_t kv_heads() const { return shape_.batch * shape_.kv_heads; }
  [[nodiscard]] std::size_t q_heads() const { return shape_.batch * shape_.q_heads; }
  [[nodiscard]] bool linear() const { return spec_.normaliser == Normaliser::kLinear; }
  [[nodiscard]] std::size_t kept() const {
    return window_ == 0 ? position_ + 1 : std::min(position_ + 1, window_);
  }
  Result<void> make_room();
  Result<void> grow(Buffer& rows, std::size_t width, std::size_t capacity);
  Result<void> attend(const DeviceRows& rows, const Buffer& result);
  Result<void> attend_linear(const DeviceRows& rows, const Buffer& result);

  std::shared_ptr<Workshop> workshop_;
  AttentionShape shape_;
  AttentionSpec spec_;
  std::size_t dk_;
  std::size_t window_;  // rows in a ring; 0: all are kept
  std::size_t capacity_ = 0;
  std::size_t position_ = 0;
  Buffer keys_, values_, states_, slopes_, additive_v_, partial_;
};

template <typename T>
Result<void> Session<T>::prepare() {
  Device& device = *workshop_->device;
  const std::scoped_lock lock(device.mutex());
  if (linear()) {
    RASP_TRY(states_, upload(device, std::vector<T>(kv_heads() * shape_.d * (shape_.d_v + 1))));
    return {};
  }
  if (spec_.alibi) {
    RASP_TRY(slopes_, upload(device, slope_pairs<T>(spec_, shape_.q_heads)));
  }
  if (spec_.score == Score::kAdditive) {
    RASP_TRY(additive_v_,
             upload(device, std::vector<T>(spec_.additive.v.begin(), spec_.additive.v.end())));
  }
  RASP_TRY(partial_, device.allocate(q_heads() * kMostSplits * (shape_.d_v + 2) * sizeof(T)));
  return {};
}

// Room for one more position: twice as much when it runs out.
template <typename T>
Result<void> Session<T>::make_room() {
  if (kept() <= capacity_) return {};
  std::size_t capacity = std::max(kFirstCapacity, 2 * capacity_);
  if (window_ != 0) capacity = std::min(capacity, window_);
  constexpr std::size_t kMostRows = std::size_t{1} << 30;
  if (capacity > kMostRows)
    return fail(ErrorKind::kLimit, {}, "decoding: a device keeps at most 2^30 positions");
  RASP_CHECK_OK(grow(keys_, dk_, capacity));
  RASP_CHECK_OK(grow(values_, shape_.d_v, capacity));
  capacity_ = capacity;
  return {};
}

template <typename T>
Result<void> Session<T>::grow(Buffer& rows, std::size_t width, std::size_t capacity) {
  Device& device = *workshop_->device;
  RASP_TRY(Buffer more, device.allocate(kv_heads() * capacity * width * sizeof(T)));
  const std::size_t head = capacity_ * width * sizeof(T);
  for (std::size_t h = 0; h < kv_heads() && head > 0; ++h)
    RASP_CHECK_OK(device.copy(rows, h * head, more, h * capacity * width * sizeof(T), head));
  rows = std::move(more);
  return {};
}

template <typename T>
Result<void> Session<T>::step(const View<const T>& q, const View<const T>& k,
                              const View<const T>& v, const View<T>& out) {
  RASP_TRY(const AttentionShape shape, check_attention<T>(q, k, v, spec_, out));
  if (shape.batch != shape_.batch || shape.q_heads != shape_.q_heads ||
      shape.kv_heads != shape_.kv_heads || shape.q_len != 1 || shape.kv_len != 1 ||
      shape.d != shape_.d || shape.d_v != shape_.d_v)
    return fail(ErrorKind::kInput, {},
                "decoding: a step takes one position of the cache's sizes, " +
                    std::to_string(shape_.batch) + " sequences of " +
                    std::to_string(shape_.q_heads) + " heads of " + std::to_string(shape_.d));
  Device& device = *workshop_->device;
  const std::scoped_lock lock(device.mutex());
  DeviceRows rows;
  RASP_TRY(rows.q, upload(device, gathered(q)));
  RASP_TRY(rows.k, upload(device, gathered(k)));
  RASP_TRY(rows.v, upload(device, gathered(v)));
  RASP_TRY(const Buffer result, device.allocate(q_heads() * shape_.d_v * sizeof(T)));
  const auto position = static_cast<std::ptrdiff_t>(position_);
  RASP_CHECK_OK(transform<T>(*workshop_, spec_, shape, position, position, rows));
  if (linear()) {
    RASP_CHECK_OK(attend_linear(rows, result));
  } else {
    RASP_CHECK_OK(make_room());
    RASP_CHECK_OK(attend(rows, result));
  }
  std::vector<T> means(q_heads() * shape_.d_v);
  RASP_CHECK_OK(device.read(result, 0, means.data(), means.size() * sizeof(T)));
  for (std::size_t h = 0; h < q_heads(); ++h)
    std::copy_n(means.data() + h * shape_.d_v, shape_.d_v,
                out.row(h / shape_.q_heads, h % shape_.q_heads, 0));
  ++position_;
  return {};
}

template <typename T>
Result<void> Session<T>::attend(const DeviceRows& rows, const Buffer& result) {
  const int score = spec_.score == Score::kDot ? 0 : spec_.score == Score::kAdditive ? 1 : 2;
  RASP_TRY(Program * program,
           workshop_->programs.get(kernel_source({"scores.cl", "decode.cl"},
                                                 std::is_same_v<T, double>, {{"SCORE", score}})));
  const std::size_t count = kept();
  const std::size_t splits = std::clamp<std::size_t>(count / kRowsASplit, 1, kMostSplits);
  DecodeParams params{};
  params.q_heads = static_cast<int>(shape_.q_heads);
  params.kv_heads = static_cast<int>(shape_.kv_heads);
  params.dk = static_cast<int>(dk_);
  params.d_v = static_cast<int>(shape_.d_v);
  params.capacity = static_cast<int>(capacity_);
  params.count = static_cast<int>(count);
  params.position = static_cast<int>(position_);
  params.window = static_cast<int>(std::min(window_, std::size_t{1} << 30));
  params.splits = static_cast<int>(splits);
  params.hard = spec_.normaliser == Normaliser::kHard ? 1 : 0;
  params.has_alibi = spec_.alibi ? 1 : 0;
  const std::size_t slot = window_ == 0 ? position_ : position_ % window_;
  const Argument row[] = {rows.k, rows.v, keys_, values_, params, static_cast<int>(slot)};
  RASP_CHECK_OK(program->launch("append", {kv_heads()}, kDecodeItems, 0, row));
  const Argument all[] = {rows.q,      keys_,    values_, slopes_,
                          additive_v_, partial_, params,  score_scale<T>(spec_, shape_.d)};
  const std::size_t local = (dk_ + shape_.d_v + 2 * kDecodeItems) * sizeof(T);
  RASP_CHECK_OK(program->launch("decode", {q_heads() * splits}, kDecodeItems, local, all));
  const Argument parts[] = {partial_, result, params};
  return program->launch("combine", {q_heads()}, kDecodeItems, 0, parts);
}

template <typename T>
Result<void> Session<T>::attend_linear(const DeviceRows& rows, const Buffer& result) {
  RASP_TRY(Program * program,
           workshop_->programs.get(kernel_source({"linear.cl"}, std::is_same_v<T, double>)));
  LinearParams params{};
  params.q_heads = static_cast<int>(shape_.q_heads);
  params.kv_heads = static_cast<int>(shape_.kv_heads);
  params.q_len = params.kv_len = 1;
  params.d = static_cast<int>(shape_.d);
  params.d_v = static_cast<int>(shape_.d_v);
  params.chunks = 1;
  const Argument add[] = {rows.k, rows.v, states_, params};
  RASP_CHECK_OK(program->launch("linear_add", {kv_heads()}, kDecodeItems, 0, add));
  const Argument read[] = {rows.q, rows.k, rows.v, Buffer(), states_, result, params};
  return program->launch("linear_read", {q_heads()}, kDecodeItems, sizeof(T), read);
}

}  // namespace

template <typename T>
Result<std::unique_ptr<DecodeSession<T>>> decode_session(std::shared_ptr<Workshop> workshop,
                                                         const AttentionShape& shape,
                                                         const AttentionSpec& spec) {
  RASP_CHECK_OK(KvCache<T>::create(shape, spec));  // has the checks, and is small when new
  auto session = std::make_unique<Session<T>>(std::move(workshop), shape, spec);
  RASP_CHECK_OK(session->prepare());
  return session;
}

template Result<std::unique_ptr<DecodeSession<float>>> decode_session(std::shared_ptr<Workshop>,
                                                                      const AttentionShape&,
                                                                      const AttentionSpec&);
template Result<std::unique_ptr<DecodeSession<double>>> decode_session(std::shared_ptr<Workshop>,
                                                                       const AttentionShape&,
                                                                       const AttentionSpec&);

}  // namespace rasp::runtime::gpu
