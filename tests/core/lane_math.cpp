// Functions on lanes against the C library in the next wider type, row by row of a table.
//
// Samples are bit patterns at a fixed stride; the option CALQUE_SWEEP_MATHS builds a program that
// visits every float instead.
#include "support/lane_functions.hpp"

#include <doctest/doctest.h>

#include <cstring>
#include <random>
#include <string>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace {

using namespace calque::test;

template <class T>
std::vector<T> specials() {
  using limits = std::numeric_limits<T>;
  std::vector<T> v;
  for (T x : {T(0),
              T(1),
              T(2),
              T(3),
              limits::min(),
              limits::denorm_min(),
              limits::max(),
              limits::infinity(),
              limits::quiet_NaN(),
              T(0.5),
              T(1.5),
              T(2.5),
              T(0.625),
              T(20),
              T(100.25),
              T(101),
              T(1) / limits::epsilon(),
              T(2) / limits::epsilon(),
              T(0.5) / limits::epsilon(),
              T(1e-10),
              T(1e10),
              T(1.5707963267948966),
              T(3.1415926535897931),
              T(0.78539816339744830),
              T(1e22),
              T(3.9),
              T(5.9),
              std::nextafter(T(1), T(0)),
              std::nextafter(T(1), T(2))})
    v.push_back(x), v.push_back(-x);
  return v;
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
template <class T>
std::vector<T> edges() {
  using limits = std::numeric_limits<T>;
  std::vector<T> x = specials<T>();
  for (T e : {std::log(limits::max()), std::log(limits::min()), std::log(limits::denorm_min()),
              std::log(limits::denorm_min()) - std::log(T(2)), limits::min(), std::sqrt(T(0.5)),
              std::sqrt(T(2)), T(1), T(-1), T(0x1p20), T(0x1p23), T(0x1p28), T(0x1p52), T(3.92),
              T(5.93), T(-18), T(-38)})
    around(x, e);
  return x;
}

template <class Row, class T>
void check_at(const std::vector<T>& x) {
  for (const auto& kernel : row_kernels<Row, T, T>()) {
    std::vector<T> y(x.size());
    kernel.run(static_cast<int>(x.size()), y.data(), x.data());
    double most = 0;
    T where{}, got{};
    for (std::size_t i = 0; i < x.size(); ++i) {
      const double d =
          ulps_off<T>(y[i], Row::template exact<next_wider<T>>(static_cast<next_wider<T>>(x[i])));
      if (d > most) most = d, where = x[i], got = y[i];
    }
    INFO(std::string(Row::name), ", ", std::string(kernel.isa), " at ", where, " gives ", got, ": ",
         most);
    CHECK(most <= Row::bound);
  }
}

constexpr std::uint64_t float_stride = 12289;
constexpr std::uint64_t double_stride = 0x0000'fffa'1234'5677;  // some 65,000 samples

template <class T>
void check_samples(std::uint64_t stride) {
  for_each_row<lane_functions>([&]<class Row>(Row) {
    for (const auto& kernel : row_kernels<Row, T, T>()) {
      T where{};
      const double most = worst_of_row<Row, T>(kernel, stride, where);
      INFO(std::string(Row::name), ", ", std::string(kernel.isa), " at ", where, ": ", most);
      CHECK(most <= Row::bound);
    }
  });
}

template <class Row, class T>
void check_pairs(const std::vector<T>& x, const std::vector<T>& y) {
  for (const auto& kernel : row_kernels<Row, T, T, T>()) {
    std::vector<T> r(x.size());
    kernel.run(static_cast<int>(x.size()), r.data(), x.data(), y.data());
    double most = 0;
    std::size_t at = 0;
    for (std::size_t i = 0; i < x.size(); ++i) {
      using V = next_wider<T>;
      const double d =
          ulps_off<T>(r[i], Row::template exact<V>(static_cast<V>(x[i]), static_cast<V>(y[i])));
      if (d > most) most = d, at = i;
    }
    INFO(std::string(Row::name), ", ", std::string(kernel.isa), " at ", x[at], ", ", y[at],
         " gives ", r[at], ": ", most);
    CHECK(most <= Row::bound);
  }
}

}  // namespace

TEST_CASE("f32 lane functions are within their bounds over all magnitudes (B9)") {
  check_samples<float>(float_stride);
}
TEST_CASE("f64 lane functions are within their bounds over all magnitudes (B9)") {
  check_samples<double>(double_stride);
}

TEST_CASE_TEMPLATE("moderate arguments are within the bounds too", T, float, double) {
  std::vector<T> x;
  for (int i = -20000; i <= 20000; ++i) {
    x.push_back(static_cast<T>(i) * T(0.001463));
    x.push_back(static_cast<T>(i) * T(0.000173));
    x.push_back(static_cast<T>(i) * T(1.5707963267948966));  // where sines vanish
    x.push_back(static_cast<T>(i) * T(17.0371));
  }
  for_each_row<lane_functions>([&]<class Row>(Row) { check_at<Row, T>(x); });
}

TEST_CASE_TEMPLATE("lane functions give what C gives for specials and at the edges", T, float,
                   double) {
  for_each_row<lane_functions>([&]<class Row>(Row) { check_at<Row, T>(edges<T>()); });
}

TEST_CASE_TEMPLATE("functions of two operands are within their bounds, in C's special cases too", T,
                   float, double) {
  const std::vector<T> s = specials<T>();
  std::vector<T> x, y;
  for (T a : s)
    for (T b : s) x.push_back(a), y.push_back(b);
  std::mt19937_64 random(7);
  std::uniform_real_distribution<double> uniform(-1, 1);
  for (int i = 0; i < 60000; ++i) {
    const double u = uniform(random), v = uniform(random), w = uniform(random);
    if (i % 3 == 0) x.push_back(static_cast<T>(std::exp(u * 80))), y.push_back(static_cast<T>(v));
    if (i % 3 == 1) x.push_back(static_cast<T>(1 + u / 2)), y.push_back(static_cast<T>(v * 900));
    if (i % 3 == 2)
      x.push_back(static_cast<T>(u * 50)), y.push_back(static_cast<T>(std::round(w * 20)));
  }
  for_each_row<lane_functions_of_two>([&]<class Row>(Row) { check_pairs<Row, T>(x, y); });
}

TEST_CASE_TEMPLATE("a partial lane gives the bits of a full one, and so does the scalar twin", T,
                   float, double) {
  constexpr int n = 64;
  std::vector<T> x(n), z(n), full(n), part(1);
  for (std::size_t i = 0; i < n; ++i) {
    x[i] = T(0.17) * static_cast<T>(i + 1);
    z[i] = T(1.3) - T(0.07) * static_cast<T>(i);
  }
  x[5] = T(0x1p30);  // beyond the reduction of sines
  const auto check = [&](const char* name, auto kernels, auto twin, const auto&... operands) {
    bool first = true;
    for (const auto& kernel : kernels) {
      kernel.run(n, full.data(), operands.data()...);
      bool same = true;
      for (std::size_t i = 0; i < n; ++i) {
        kernel.run(1, part.data(), (operands.data() + i)...);
        same = same && std::memcmp(part.data(), &full[i], sizeof(T)) == 0;
        if (first)
          same = same && std::memcmp(&(part[0] = twin(operands[i]...)), &full[i], sizeof(T)) == 0;
      }
      first = false;
      INFO(std::string(name), ", ", std::string(kernel.isa));
      CHECK(same);
    }
  };
  for_each_row<lane_functions>([&]<class Row>(Row) {
    check(Row::name, row_kernels<Row, T, T>(), [](T v) { return Row::template twin<T>(v); }, x);
  });
  for_each_row<lane_functions_of_two>([&]<class Row>(Row) {
    check(
        Row::name, row_kernels<Row, T, T, T>(),
        [](T u, T v) { return Row::template twin<T>(u, v); }, x, z);
  });
}

#if defined(__x86_64__)
TEST_CASE("no lane function changes the modes of the floating-point unit") {
  constexpr unsigned modes = 0xffc0;  // what is no record of past operations
  const unsigned before = _mm_getcsr() & modes;
  const std::vector<double> x = edges<double>();
  std::vector<double> y(x.size());
  const auto check = [&](auto kernels, const auto*... operands) {
    for (const auto& kernel : kernels) {
      kernel.run(static_cast<int>(x.size()), y.data(), operands...);
      CHECK((_mm_getcsr() & modes) == before);
    }
  };
  for_each_row<lane_functions>(
      [&]<class Row>(Row) { check(row_kernels<Row, double, double>(), x.data()); });
  for_each_row<lane_functions_of_two>([&]<class Row>(Row) {
    check(row_kernels<Row, double, double, double>(), x.data(), x.data());
  });
}
#endif
