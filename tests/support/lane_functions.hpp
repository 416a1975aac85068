// The functions on lanes as a table: bound in ulp, exact value in the next wider type, and loops
// for every instruction set. A function more is a row more, for the samples of
// tests/core/lane_math.cpp and for the sweep over all floats alike.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <tuple>
#include <type_traits>
#include <vector>

#include "calque/core/lane_atan.hpp"
#include "calque/core/lane_erf.hpp"
#include "calque/core/lane_exp.hpp"
#include "calque/core/lane_math.hpp"
#include "calque/core/lane_pow.hpp"
#include "calque/core/lane_round.hpp"
#include "calque/core/lane_trig.hpp"

namespace calque::test {

#define CALQUE_LANE_ROW(NAME, BOUND, EXACT)                             \
  struct lane_##NAME {                                                  \
    static constexpr const char* name = #NAME;                          \
    static constexpr double bound = BOUND;                              \
    template <class T, int W>                                           \
    CALQUE_INLINE static void run(lane<T, W>& r, const lane<T, W>& x) { \
      lanes::NAME<T, W>(r, x);                                          \
    }                                                                   \
    template <class T>                                                  \
    static T twin(T x) {                                                \
      return calque::detail::scalar_##NAME(x);                          \
    }                                                                   \
    template <class V>                                                  \
    static V exact(V x) {                                               \
      return EXACT;                                                     \
    }                                                                   \
  };
#define CALQUE_LANE_ROW_OF_TWO(NAME, BOUND, EXACT)                                           \
  struct lane_##NAME {                                                                       \
    static constexpr const char* name = #NAME;                                               \
    static constexpr double bound = BOUND;                                                   \
    template <class T, int W>                                                                \
    CALQUE_INLINE static void run(lane<T, W>& r, const lane<T, W>& x, const lane<T, W>& y) { \
      lanes::NAME<T, W>(r, x, y);                                                            \
    }                                                                                        \
    template <class T>                                                                       \
    static T twin(T x, T y) {                                                                \
      return calque::detail::scalar_##NAME(x, y);                                            \
    }                                                                                        \
    template <class V>                                                                       \
    static V exact(V x, V y) {                                                               \
      return EXACT;                                                                          \
    }                                                                                        \
  };

CALQUE_LANE_ROW(exp, 2, std::exp(x))
CALQUE_LANE_ROW(log, 2, std::log(x))
CALQUE_LANE_ROW(tanh, 2, std::tanh(x))
CALQUE_LANE_ROW(erf, 2, std::erf(x))
CALQUE_LANE_ROW(sin, 2, std::sin(x))
CALQUE_LANE_ROW(cos, 2, std::cos(x))
CALQUE_LANE_ROW(tan, 3, std::tan(x))
CALQUE_LANE_ROW(expm1, 3, std::expm1(x))
CALQUE_LANE_ROW(log1p, 3, std::log1p(x))
CALQUE_LANE_ROW(sigmoid, 3, x < 0 ? std::exp(x) / (1 + std::exp(x)) : 1 / (1 + std::exp(-x)))
CALQUE_LANE_ROW(rsqrt, 3, 1 / std::sqrt(x))
CALQUE_LANE_ROW(floor, 0, std::floor(x))
CALQUE_LANE_ROW(ceil, 0, std::ceil(x))
CALQUE_LANE_ROW(round, 0, std::nearbyint(x))
CALQUE_LANE_ROW_OF_TWO(pow, 2, std::pow(x, y))
CALQUE_LANE_ROW_OF_TWO(atan2, 3, std::atan2(x, y))
CALQUE_LANE_ROW_OF_TWO(fmod, 0, std::fmod(x, y))
#undef CALQUE_LANE_ROW
#undef CALQUE_LANE_ROW_OF_TWO

struct lane_exp_nonpositive {  // of -|x|, so that every x is one
  static constexpr const char* name = "exp_nonpositive";
  static constexpr double bound = 2;
  template <class T, int W>
  CALQUE_INLINE static void run(lane<T, W>& r, const lane<T, W>& x) {
    const lane<T, W> minus = -x;
    lanes::exp_nonpositive<T, W>(r, x > T(0) ? minus : x);
  }
  template <class T>
  static T twin(T x) {
    return calque::detail::scalar_exp_nonpositive(x > T(0) ? -x : x);
  }
  template <class V>
  static V exact(V x) {
    return std::exp(-std::fabs(x));
  }
};

using lane_functions = std::tuple<lane_exp, lane_exp_nonpositive, lane_log, lane_tanh, lane_erf,
                                  lane_sin, lane_cos, lane_tan, lane_expm1, lane_log1p,
                                  lane_sigmoid, lane_rsqrt, lane_floor, lane_ceil, lane_round>;
using lane_functions_of_two = std::tuple<lane_pow, lane_atan2, lane_fmod>;

/// Calls `f(Row{})` for every row.
template <class Table, class F>
void for_each_row(F f) {
  [&]<class... Row>(std::type_identity<std::tuple<Row...>>) {
    (f(Row{}), ...);
  }(std::type_identity<Table>{});
}

#define CALQUE_ROW_LOOP(NAME, TARGET, BYTES)                               \
  template <class Row, class T, class... X>                                \
  TARGET [[gnu::noinline]] void NAME(int n, T* y, const X*... x) {         \
    constexpr int W = BYTES / static_cast<int>(sizeof(T));                 \
    for (int i = 0; i < n; i += W) row_step<Row, T, W>(n - i, y, i, x...); \
  }
template <class Row, class T, int W>
CALQUE_INLINE void row_step(int left, T* y, int at, const T* a) {
  const int m = left < W ? left : W;
  lane<T, W> v, r;
  lanes::load_partial<T, W>(v, a + at, m, T(1));
  Row::template run<T, W>(r, v);
  lanes::store_partial<T, W>(y + at, r, m);
}
template <class Row, class T, int W>
CALQUE_INLINE void row_step(int left, T* y, int at, const T* a, const T* b) {
  const int m = left < W ? left : W;
  lane<T, W> v, w, r;
  lanes::load_partial<T, W>(v, a + at, m, T(1));
  lanes::load_partial<T, W>(w, b + at, m, T(1));
  Row::template run<T, W>(r, v, w);
  lanes::store_partial<T, W>(y + at, r, m);
}
CALQUE_ROW_LOOP(row_plain, , 16)
CALQUE_ROW_LOOP(row_avx2, CALQUE_TARGET_AVX2, 32)
CALQUE_ROW_LOOP(row_avx512, CALQUE_TARGET_AVX512, 64)
#undef CALQUE_ROW_LOOP

/// A row's loop of one operand or two, and the instruction set that it is for.
template <class T, class... X>
struct row_kernel {
  void (*run)(int n, T* y, const X*... x);
  const char* isa;
};
template <class Row, class T, class... X>
std::vector<row_kernel<T, X...>> row_kernels() {
  std::vector<row_kernel<T, X...>> all{{row_plain<Row, T, X...>, "baseline"}};
#if CALQUE_X86()
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
    all.push_back({row_avx2<Row, T, X...>, "AVX2"});
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
    all.push_back({row_avx512<Row, T, X...>, "AVX-512"});
#endif
  return all;
}

template <class T>
using next_wider = std::conditional_t<std::is_same_v<T, float>, double, long double>;

/// Distance in units of the last place of the exact result; 0 where both are the same special.
template <class T>
double ulps_off(T got, next_wider<T> exact) {
  const T rounded = static_cast<T>(exact);
  if (std::isnan(exact)) return std::isnan(got) ? 0. : 1e9;
  if (got == rounded) return got == T(0) && std::signbit(got) != std::signbit(rounded) ? 1e9 : 0.;
  if (!std::isfinite(got) || !std::isfinite(rounded)) return 1e9;
  int exponent = std::ilogb(exact);
  if (exponent < std::numeric_limits<T>::min_exponent - 1)
    exponent = std::numeric_limits<T>::min_exponent - 1;
  const auto unit = std::ldexp(next_wider<T>(1), exponent - std::numeric_limits<T>::digits + 1);
  return static_cast<double>(std::fabs(static_cast<next_wider<T>>(got) - exact) / unit);
}

/// The worst of a row over bit patterns `first`, `first + stride`, ….
template <class Row, class T>
double worst_of_row(const row_kernel<T, T>& kernel, std::uint64_t stride, T& where) {
  using bits = std::conditional_t<std::is_same_v<T, float>, std::uint32_t, std::uint64_t>;
  constexpr int block = 1024;
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
    kernel.run(block, y.data(), x.data());
    for (int i = 0; i < block; ++i) {
      const T v = x[static_cast<std::size_t>(i)];
      const double d =
          ulps_off<T>(y[static_cast<std::size_t>(i)],
                      Row::template exact<next_wider<T>>(static_cast<next_wider<T>>(v)));
      if (d > most) most = d, where = v;
    }
  }
  return most;
}

}  // namespace calque::test
