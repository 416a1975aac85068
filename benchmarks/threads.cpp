// One thread against several, on work bound by arithmetic and by memory; needs calque::omp or
// calque::tbb. Run with --benchmark_enable_random_interleaving=true --benchmark_repetitions=9 and
// compare minima: other programs on the machine disturb several threads more than one.
#include <benchmark/benchmark.h>

#if defined(_OPENMP)
#include <calque/parallel/omp.hpp>
#else
#include <calque/parallel/tbb.hpp>
#endif
#include <calque/calque.hpp>

namespace cq = calque;

namespace {

constexpr auto chain =
    cq::trace([](auto x, auto a) { return cq::tanh(cq::exp(x) * a + cq::sqrt(x)); });
constexpr auto axpy = cq::trace([](auto x, auto y, auto a) { return a * x + y; });
constexpr auto total = cq::trace([](auto x) { return cq::sum(x); });
constexpr auto norm = cq::trace([](auto x, auto y, auto a) {
  auto z = a * x + y;
  return cq::sqrt(cq::sum(z * z));
});
constexpr auto softmax = cq::trace([](auto x) {
  auto e = cq::exp(x - cq::max(x, cq::axis<1>, cq::keepdims));
  return e / cq::sum(e, cq::axis<1>, cq::keepdims);
});
constexpr auto columns = cq::trace([](auto x) { return cq::sum(x, cq::axis<0>); });
constexpr auto running = cq::trace([](auto x) { return cq::cumsum(x, cq::axis<0>); });
constexpr auto product = cq::trace([](auto a, auto b) { return cq::matmul(a, b); });

cq::array<float, 1> line(std::int64_t n) { return cq::linspace(0.f, 1.f, n); }
cq::array<float, 2> table(std::int64_t m, std::int64_t n) {
  return cq::reshape(line(m * n), cq::shape{m, n}).clone();
}

/// Runs `f.into(out, args…)` with the number of threads of the benchmark's argument.
template <class F, class Out, class... A>
void run(benchmark::State& state, F f, Out out, const A&... args) {
  const cq::device_guard on{cq::cpu(0).with_threads(static_cast<int>(state.range(0)))};
  for (auto _ : state) {
    f.into(out, args...);
    benchmark::ClobberMemory();
  }
}

constexpr std::int64_t large = 10'000'000;

void chain_1e7(benchmark::State& s) {
  run(s, chain, cq::zeros<float>(cq::shape{large}), line(large), 0.5f);
}
void axpy_1e7(benchmark::State& s) {
  run(s, axpy, cq::zeros<float>(cq::shape{large}), line(large), line(large), 0.5f);
}
void sum_1e7(benchmark::State& s) { run(s, total, cq::array<float, 0>(0.f), line(large)); }
void norm_1e7(benchmark::State& s) {
  run(s, norm, cq::array<float, 0>(0.f), line(large), line(large), 0.5f);
}
void softmax_4096x1024(benchmark::State& s) {
  run(s, softmax, cq::zeros<float>(cq::shape{4096, 1024}), table(4096, 1024));
}
void column_sums_10000x1000(benchmark::State& s) {
  run(s, columns, cq::zeros<float>(cq::shape{1000}), table(10000, 1000));
}
void running_sum_1e7(benchmark::State& s) {
  run(s, running, cq::zeros<float>(cq::shape{large}), line(large));
}
void matmul_512(benchmark::State& s) {
  run(s, product, cq::zeros<float>(cq::shape{512, 512}), table(512, 512), table(512, 512));
}
void chain_65536(benchmark::State& s) {
  run(s, chain, cq::zeros<float>(cq::shape{65536}), line(65536), 0.5f);
}
void axpy_131072(benchmark::State& s) {
  run(s, axpy, cq::zeros<float>(cq::shape{131072}), line(131072), line(131072), 0.5f);
}

#define CALQUE_THREADS(NAME) BENCHMARK(NAME)->Arg(1)->Arg(2)->UseRealTime()
CALQUE_THREADS(chain_1e7)->Unit(benchmark::kMicrosecond);
CALQUE_THREADS(softmax_4096x1024)->Unit(benchmark::kMicrosecond);
CALQUE_THREADS(matmul_512)->Unit(benchmark::kMicrosecond);
CALQUE_THREADS(norm_1e7)->Unit(benchmark::kMicrosecond);
CALQUE_THREADS(sum_1e7)->Unit(benchmark::kMicrosecond);
CALQUE_THREADS(axpy_1e7)->Unit(benchmark::kMicrosecond);
CALQUE_THREADS(column_sums_10000x1000)->Unit(benchmark::kMicrosecond);
CALQUE_THREADS(running_sum_1e7)->Unit(benchmark::kMicrosecond);
CALQUE_THREADS(chain_65536)->Unit(benchmark::kMicrosecond);
CALQUE_THREADS(axpy_131072)->Unit(benchmark::kMicrosecond);

}  // namespace

BENCHMARK_MAIN();
