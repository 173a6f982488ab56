// The arithmetic that certificates of compiled models rest on, as the device does it: see
// src/runtime/gpu/kernels/common.cl.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "devices_here.h"
#include "runtime/cpu/exp.h"
#include "runtime/gpu/kernel_sources.h"

namespace rasp::runtime::gpu {
namespace {

using testing::fetch;

template <typename T>
struct Probe {
  std::vector<T> a, b, c;
  std::vector<T> exact, quick, quotient, uncontracted, fused, difference;
};

template <typename T>
bool same(T a, T b) {
  return (std::isnan(a) && std::isnan(b)) || std::memcmp(&a, &b, sizeof a) == 0;
}

class Arithmetic : public testing::OnDevice {
 protected:
  template <typename T>
  void run(Probe<T>& probe) {
    const auto program =
        workshop().programs.get(kernel_source({"probe.cl"}, std::is_same_v<T, double>));
    ASSERT_TRUE(program.has_value()) << program.error().message;
    const Buffer a = upload(device(), probe.a).value();
    const Buffer b = upload(device(), probe.b).value();
    const Buffer c = upload(device(), probe.c).value();
    std::vector<Buffer> results;
    for (int i = 0; i < 6; ++i) results.push_back(device().allocate(a.bytes()).value());
    const Argument arguments[] = {
        a,          b,          c,          results[0], results[1],
        results[2], results[3], results[4], results[5], static_cast<int>(probe.a.size())};
    ASSERT_TRUE((*program)->launch("probe", {groups_of(probe.a.size(), 64)}, 64, 0, arguments));
    std::vector<T>* const to[] = {&probe.exact,        &probe.quick, &probe.quotient,
                                  &probe.uncontracted, &probe.fused, &probe.difference};
    for (std::size_t i = 0; i < 6; ++i) *to[i] = fetch<T>(device(), results[i]);
  }

  // Numbers of every magnitude, whole numbers, and what is special.
  template <typename T>
  Probe<T> numbers() {
    using Limits = std::numeric_limits<T>;
    std::mt19937_64 random(5);
    std::uniform_real_distribution<double> exponent(Limits::min_exponent, Limits::max_exponent - 1);
    const auto any = [&] {
      const double mantissa = std::uniform_real_distribution<double>(-1, 1)(random);
      return static_cast<T>(std::ldexp(mantissa, static_cast<int>(exponent(random))));
    };
    Probe<T> probe;
    for (int i = 0; i < 60'000; ++i) {
      probe.a.push_back(any());
      probe.b.push_back(any());
      probe.c.push_back(any());
    }
    for (int top = 0; top <= 120; ++top)
      for (int bottom = 1; bottom <= 120; ++bottom) {
        probe.a.push_back(static_cast<T>(-top - bottom / 7.0));
        probe.b.push_back(static_cast<T>(top));
        probe.c.push_back(static_cast<T>(bottom));
      }
    for (const T special : {T{0}, -T{0}, Limits::infinity(), -Limits::infinity(),
                            Limits::quiet_NaN(), Limits::denorm_min(), Limits::max()}) {
      probe.a.push_back(special);
      probe.b.push_back(special);
      probe.c.push_back(T{3});
    }
    return probe;
  }

  template <typename T>
  void check() {
    Probe<T> probe = numbers<T>();
    run(probe);
    if (HasFatalFailure()) return;
    for (std::size_t i = 0; i < probe.a.size(); ++i) {
      const T a = probe.a[i], b = probe.b[i], c = probe.c[i];
      ASSERT_TRUE(same(probe.exact[i], exp_of(a))) << "exp of " << a;
      ASSERT_TRUE(same(probe.quotient[i], b / c)) << b << " / " << c;
      const T product = b * c;
      ASSERT_TRUE(same(probe.uncontracted[i], product + a)) << b << " * " << c << " + " << a;
      ASSERT_TRUE(same(probe.fused[i], std::fma(b, c, a))) << b << " * " << c << " + " << a;
      ASSERT_TRUE(same(probe.difference[i], b - c)) << b << " - " << c;
      if (!(a <= 0)) continue;
      const auto expected = std::exp(static_cast<long double>(a));
      const auto unit = std::max(static_cast<long double>(std::numeric_limits<T>::denorm_min()),
                                 expected * std::numeric_limits<T>::epsilon());
      ASSERT_LE(std::abs(static_cast<long double>(probe.quick[i]) - expected), 2 * unit) << a;
    }
  }
};
RASP_ON_EVERY_DEVICE(Arithmetic);

TEST_P(Arithmetic, FloatsAreThoseOfIeee) { check<float>(); }

TEST_P(Arithmetic, DoublesAreThoseOfIeee) {
  if (!device().info().doubles) GTEST_SKIP() << "the device has no float64";
  check<double>();
}

// The gaps that the compiler leaves between selected keys and others: 256 in float32, 2048 in
// float64 (exp is 0 there), and 0 between selected ones (exp is 1).
TEST_P(Arithmetic, ExpReachesZeroAndOne) {
  Probe<float> probe;
  for (const float gap : {-256.0f, -104.0f, -1e30f, -std::numeric_limits<float>::infinity(), 0.0f})
    probe.a.push_back(gap);
  probe.b = probe.c = probe.a;
  run(probe);
  if (HasFatalFailure()) return;
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(probe.exact[i], 0.0f);
    EXPECT_EQ(probe.quick[i], 0.0f);
  }
  EXPECT_EQ(probe.exact[4], 1.0f);
  EXPECT_EQ(probe.quick[4], 1.0f);
}

TEST_P(Arithmetic, SumsRunInTheirOrder) {
  constexpr std::size_t kRows = 100, kCount = 257;
  std::mt19937_64 random(6);
  std::vector<float> x(kRows * kCount);
  for (float& entry : x)
    entry = static_cast<float>(std::ldexp(std::normal_distribution<double>(0, 1)(random),
                                          static_cast<int>(random() % 40)));
  const auto program = workshop().programs.get(kernel_source({"probe.cl"}, false));
  ASSERT_TRUE(program.has_value()) << program.error().message;
  const Buffer from = upload(device(), x).value();
  const Buffer to = device().allocate(kRows * sizeof(float)).value();
  const Argument arguments[] = {from, to, static_cast<int>(kRows), static_cast<int>(kCount)};
  ASSERT_TRUE((*program)->launch("probe_sums", {groups_of(kRows, 64)}, 64, 0, arguments));
  const auto sums = fetch<float>(device(), to);
  for (std::size_t row = 0; row < kRows; ++row) {
    float sum = 0;
    for (std::size_t i = 0; i < kCount; ++i) sum += x[row * kCount + i];
    EXPECT_EQ(sums[row], sum) << row;
  }
}

}  // namespace
}  // namespace rasp::runtime::gpu
