#include "benchmarks/elementwise_peers.hpp"

#include <array>
#include <cmath>
#if defined(CALQUE_BENCH_LIBMVEC)
#include "benchmarks/vector_maths.hpp"
#endif
#if defined(CALQUE_BENCH_EIGEN)
#include <Eigen/Core>
#include <unsupported/Eigen/SpecialFunctions>
#endif
#if defined(CALQUE_BENCH_XTENSOR)
#include <xtensor/xadapt.hpp>
#include <xtensor/xmath.hpp>
#include <xtensor/xnoalias.hpp>
#include <xtensor/xtensor.hpp>
#endif
#if defined(CALQUE_BENCH_THRUST)
#include <thrust/execution_policy.h>
#include <thrust/transform.h>
#endif

namespace peers::CALQUE_BENCH_BUILD {
namespace {

using operands = elementwise_operands;

// A loop over C's functions; their vector forms of libmvec in the native build, where g++ has them.
void axpy_hand(const operands& o) {
  const float* __restrict x = o.x, * __restrict y = o.y;
  float* __restrict out = o.out;
  const float a = o.a;
#pragma omp simd
  for (std::int64_t i = 0; i < o.n; ++i) out[i] = a * x[i] + y[i];
}
void chain_hand(const operands& o) {
  const float* __restrict x = o.x;
  float* __restrict out = o.out;
  const float a = o.a;
#pragma omp simd
  for (std::int64_t i = 0; i < o.n; ++i) out[i] = tanhf(expf(x[i]) * a + sqrtf(x[i]));
}
void options_hand(const operands& o) {
  const float* __restrict s = o.spot, * __restrict k = o.strike, * __restrict t = o.years;
  float* __restrict price = o.price;
  const float r = o.rate, v = o.volatility, drift = r + 0.5f * v * v;
#pragma omp simd
  for (std::int64_t i = 0; i < o.m; ++i) {
    const float deviation = v * sqrtf(t[i]);
    const float d1 = (logf(s[i] / k[i]) + drift * t[i]) / deviation, d2 = d1 - deviation;
    const float n1 = 0.5f * erff(d1 * 0.70710678f) + 0.5f;
    const float n2 = 0.5f * erff(d2 * 0.70710678f) + 0.5f;
    price[i] = s[i] * n1 - k[i] * expf(-r * t[i]) * n2;
  }
}

#if defined(CALQUE_BENCH_EIGEN)
using vector = Eigen::Map<const Eigen::ArrayXf>;
using result = Eigen::Map<Eigen::ArrayXf>;

void axpy_eigen(const operands& o) {
  result(o.out, o.n) = o.a * vector(o.x, o.n) + vector(o.y, o.n);
}
void chain_eigen(const operands& o) {
  const vector x(o.x, o.n);
  result(o.out, o.n) = (x.exp() * o.a + x.sqrt()).tanh();
}
// In blocks that stay in the first-level cache: an Eigen expression has no names for shared parts.
void options_eigen(const operands& o) {
  constexpr Eigen::Index block = 1024;
  Eigen::Array<float, Eigen::Dynamic, 1, 0, block, 1> deviation(block), d1(block);
  const float r = o.rate, v = o.volatility, drift = r + 0.5f * v * v, h = 0.70710678f;
  for (Eigen::Index i = 0; i < o.m; i += block) {
    const Eigen::Index n = std::min(block, Eigen::Index{o.m} - i);
    const vector s(o.spot + i, n), k(o.strike + i, n), t(o.years + i, n);
    deviation = v * t.sqrt();
    d1 = ((s / k).log() + drift * t) / deviation;
    result(o.price + i, n) = s * (0.5f * (d1 * h).erf() + 0.5f) -
                             k * (-r * t).exp() * (0.5f * ((d1 - deviation) * h).erf() + 0.5f);
  }
}
#endif

#if defined(CALQUE_BENCH_XTENSOR)
auto seen(const float* p, std::int64_t n) {
  const auto size = static_cast<std::size_t>(n);
  return xt::adapt(p, size, xt::no_ownership(), std::array<std::size_t, 1>{size});
}
auto seen(float* p, std::int64_t n) {
  const auto size = static_cast<std::size_t>(n);
  return xt::adapt(p, size, xt::no_ownership(), std::array<std::size_t, 1>{size});
}
void axpy_xtensor(const operands& o) {
  const auto x = seen(o.x, o.n), y = seen(o.y, o.n);
  auto out = seen(o.out, o.n);
  xt::noalias(out) = o.a * x + y;
}
void chain_xtensor(const operands& o) {
  const auto x = seen(o.x, o.n);
  auto out = seen(o.out, o.n);
  xt::noalias(out) = xt::tanh(xt::exp(x) * o.a + xt::sqrt(x));
}
#endif

#if defined(CALQUE_BENCH_THRUST)
void axpy_thrust(const operands& o) {
  thrust::transform(thrust::cpp::par, o.x, o.x + o.n, o.y, o.out,
                    [a = o.a](float x, float y) { return a * x + y; });
}
#endif

constexpr peer<operands> all[] = {
    {"axpy", "hand", axpy_hand},
    {"chain", "hand", chain_hand},
    {"black-scholes", "hand", options_hand},
#if defined(CALQUE_BENCH_EIGEN)
    {"axpy", "Eigen", axpy_eigen},
    {"chain", "Eigen", chain_eigen},
    {"black-scholes", "Eigen", options_eigen},
#endif
#if defined(CALQUE_BENCH_XTENSOR)
    {"axpy", "xtensor", axpy_xtensor},
    {"chain", "xtensor", chain_xtensor},
#endif
#if defined(CALQUE_BENCH_THRUST)
    {"axpy", "Thrust", axpy_thrust},
#endif
};

}  // namespace

list<elementwise_operands> elementwise() { return all; }

}  // namespace peers::CALQUE_BENCH_BUILD
