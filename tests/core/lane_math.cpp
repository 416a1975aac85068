// exp, log and tanh on lanes against the C library in the next wider type.
//
// Samples are bit patterns at a fixed stride; CALQUE_SWEEP_ALL_FLOATS=1 in the environment visits
// every float instead (some minutes).
#include "calque/core/lane_math.hpp"

#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <vector>

namespace {

namespace lanes = calque::lanes;
using calque::lane;

constexpr int block = 1024;

enum class function { exp, log, tanh };

template <class T, int W, function F>
CALQUE_INLINE void evaluate(T* y, const T* x, int n) {
  for (int i = 0; i < n; i += W) {
    lane<T, W> v;
    if (n - i >= W) lanes::load<T, W>(v, x + i);
    else lanes::load_partial<T, W>(v, x + i, n - i, T(1));
    if constexpr (F == function::exp) lanes::exp<T, W>(v, v);
    if constexpr (F == function::log) lanes::log<T, W>(v, v);
    if constexpr (F == function::tanh) lanes::tanh<T, W>(v, v);
    if (n - i >= W) lanes::store<T, W>(y + i, v);
    else lanes::store_partial<T, W>(y + i, v, n - i);
  }
}

template <class T, function F>
[[gnu::noinline]] void plain(T* y, const T* x, int n) {
  evaluate<T, 16 / static_cast<int>(sizeof(T)), F>(y, x, n);
}
template <class T, function F>
CALQUE_TARGET_AVX2 [[gnu::noinline]] void avx2(T* y, const T* x, int n) {
  evaluate<T, 32 / static_cast<int>(sizeof(T)), F>(y, x, n);
}
template <class T, function F>
CALQUE_TARGET_AVX512 [[gnu::noinline]] void avx512(T* y, const T* x, int n) {
  evaluate<T, 64 / static_cast<int>(sizeof(T)), F>(y, x, n);
}

template <class T>
using kernel = void (*)(T*, const T*, int);

template <class T, function F>
std::vector<kernel<T>> kernels() {
  std::vector<kernel<T>> all{plain<T, F>};
#if CALQUE_X86()
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) all.push_back(avx2<T, F>);
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
    all.push_back(avx512<T, F>);
#endif
  return all;
}

template <class Wide, function F>
Wide reference(Wide x) {
  if constexpr (F == function::exp) return std::exp(x);
  if constexpr (F == function::log) return std::log(x);
  if constexpr (F == function::tanh) return std::tanh(x);
}

template <class T>
using wider = std::conditional_t<std::is_same_v<T, float>, double, long double>;

// Distance in units of the last place of the exact result; 0 where both are the same special.
template <class T>
double ulps(T got, wider<T> exact) {
  const T rounded = static_cast<T>(exact);
  if (std::isnan(exact)) return std::isnan(got) ? 0. : 1e9;
  if (got == rounded) return got == T(0) && std::signbit(got) != std::signbit(rounded) ? 1e9 : 0.;
  if (!std::isfinite(got) || !std::isfinite(rounded)) return 1e9;
  int exponent = std::ilogb(exact);
  if (exponent < std::numeric_limits<T>::min_exponent - 1)
    exponent = std::numeric_limits<T>::min_exponent - 1;
  const auto unit = std::ldexp(wider<T>(1), exponent - std::numeric_limits<T>::digits + 1);
  return static_cast<double>(std::fabs(static_cast<wider<T>>(got) - exact) / unit);
}

template <class T, function F>
double worst(kernel<T> run, std::uint64_t stride, T& where) {
  using bits = std::conditional_t<std::is_same_v<T, float>, std::uint32_t, std::uint64_t>;
  const std::uint64_t last = std::numeric_limits<bits>::max();
  std::vector<T> x(block), y(block);
  double most = 0;
  std::uint64_t at = 0;
  for (bool more = true; more;) {
    for (T& v : x) {
      v = std::bit_cast<T>(static_cast<bits>(at));
      if (last - at < stride) more = false;
      else at += stride;
    }
    run(y.data(), x.data(), block);
    for (int i = 0; i < block; ++i) {
      const double d = ulps<T>(y[static_cast<std::size_t>(i)],
                               reference<wider<T>, F>(x[static_cast<std::size_t>(i)]));
      if (d > most) most = d, where = x[static_cast<std::size_t>(i)];
    }
  }
  return most;
}

std::uint64_t float_stride() {
  const char* all = std::getenv("CALQUE_SWEEP_ALL_FLOATS");
  return all && std::strcmp(all, "1") == 0 ? 1 : 4099;
}

template <class T, function F>
void check_accuracy(std::uint64_t stride) {
  for (kernel<T> run : kernels<T, F>()) {
    T where{};
    const double most = worst<T, F>(run, stride, where);
    CAPTURE(where);
    CHECK(most <= 2.);
  }
}

// Compares with what C gives in the type itself: all are exact cases.
template <class T, function F>
void check_specials(const std::vector<T>& x) {
  for (kernel<T> run : kernels<T, F>()) {
    std::vector<T> y(x.size());
    run(y.data(), x.data(), static_cast<int>(x.size()));
    for (std::size_t i = 0; i < x.size(); ++i) {
      CAPTURE(x[i]);
      CAPTURE(y[i]);
      const T want = reference<T, F>(x[i]);
      if (std::isnan(want)) {
        CHECK(std::isnan(y[i]));
      } else {
        CHECK(ulps<T>(y[i], want) <= 2.);
        if (want == T(0) || std::isinf(want)) CHECK(y[i] == want);
        CHECK(std::signbit(y[i]) == std::signbit(want));
      }
    }
  }
}

template <class T>
std::vector<T> specials() {
  using limits = std::numeric_limits<T>;
  return {T(0),
          T(-0.0),
          T(1),
          T(-1),
          limits::min(),
          -limits::min(),
          limits::denorm_min(),
          -limits::denorm_min(),
          limits::max(),
          limits::lowest(),
          limits::infinity(),
          -limits::infinity(),
          limits::quiet_NaN(),
          -limits::quiet_NaN(),
          T(0.625),
          T(-0.625),
          std::nextafter(T(1), T(0)),
          std::nextafter(T(1), T(2)),
          T(20),
          T(-20)};
}

// Neighbours on both sides of a threshold.
template <class T>
void around(std::vector<T>& v, T x) {
  T below = x, above = x;
  v.push_back(x);
  for (int i = 0; i < 3; ++i) {
    v.push_back(below = std::nextafter(below, -std::numeric_limits<T>::infinity()));
    v.push_back(above = std::nextafter(above, std::numeric_limits<T>::infinity()));
  }
}

constexpr std::uint64_t double_stride = 0x0000'3ffa'1234'5677;  // some 260,000 samples

}  // namespace

TEST_CASE("lane exp is within 2 ulp for float and double") {
  check_accuracy<float, function::exp>(float_stride());
  check_accuracy<double, function::exp>(double_stride);
}

TEST_CASE("lane log is within 2 ulp for float and double") {
  check_accuracy<float, function::log>(float_stride());
  check_accuracy<double, function::log>(double_stride);
}

TEST_CASE("lane tanh is within 2 ulp for float and double") {
  check_accuracy<float, function::tanh>(float_stride());
  check_accuracy<double, function::tanh>(double_stride);
}

TEST_CASE_TEMPLATE("moderate arguments are within 2 ulp too", T, float, double) {
  std::vector<T> x, positive;
  for (int i = -40000; i <= 40000; ++i) x.push_back(static_cast<T>(i) * T(0.000731));
  for (int i = 1; i <= 40000; ++i) positive.push_back(static_cast<T>(i) * T(0.000173));
  const auto check = [](const std::vector<T>& values, kernel<T> run, auto exact) {
    std::vector<T> y(values.size());
    run(y.data(), values.data(), static_cast<int>(values.size()));
    double most = 0;
    for (std::size_t i = 0; i < y.size(); ++i)
      most = std::max(most, ulps<T>(y[i], exact(static_cast<wider<T>>(values[i]))));
    CHECK(most <= 2.);
  };
  for (auto run : kernels<T, function::exp>()) check(x, run, reference<wider<T>, function::exp>);
  for (auto run : kernels<T, function::tanh>()) check(x, run, reference<wider<T>, function::tanh>);
  for (auto run : kernels<T, function::log>())
    check(positive, run, reference<wider<T>, function::log>);
}

TEST_CASE_TEMPLATE("exp, log and tanh give what C gives for specials and at the edges", T, float,
                   double) {
  using limits = std::numeric_limits<T>;
  std::vector<T> x = specials<T>();
  around(x, std::log(limits::max()));
  around(x, std::log(limits::min()));
  around(x, std::log(limits::denorm_min()));
  around(x, std::log(limits::denorm_min()) - std::log(T(2)));
  check_specials<T, function::exp>(x);
  check_specials<T, function::tanh>(x);
  around(x, limits::min());
  around(x, std::sqrt(T(0.5)));
  around(x, std::sqrt(T(2)));
  check_specials<T, function::log>(x);
}

TEST_CASE_TEMPLATE("a partial lane gives the bits of a full one, and so does the scalar twin", T,
                   float, double) {
  constexpr int n = 64;
  std::vector<T> x(n), full(n), part(1);
  for (int i = 0; i < n; ++i) x[static_cast<std::size_t>(i)] = T(0.17) * static_cast<T>(i + 1);
  const auto check = [&](const std::vector<kernel<T>>& all) {
    for (kernel<T> run : all) {
      run(full.data(), x.data(), n);
      for (std::size_t i = 0; i < n; ++i) {
        run(part.data(), x.data() + i, 1);
        CHECK(std::memcmp(part.data(), &full[i], sizeof(T)) == 0);
      }
    }
  };
  check(kernels<T, function::exp>());
  check(kernels<T, function::log>());
  check(kernels<T, function::tanh>());
  std::vector<T> e(n), l(n), t(n);
  plain<T, function::exp>(e.data(), x.data(), n);
  plain<T, function::log>(l.data(), x.data(), n);
  plain<T, function::tanh>(t.data(), x.data(), n);
  for (std::size_t i = 0; i < n; ++i) {
    CHECK(calque::detail::scalar_exp(x[i]) == e[i]);
    CHECK(calque::detail::scalar_log(x[i]) == l[i]);
    CHECK(calque::detail::scalar_tanh(x[i]) == t[i]);
  }
}
