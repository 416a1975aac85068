// calque's matrix product (compiled at plain -O2) beside Eigen's (compiled for this very machine),
// on one thread. The shapes are those of a 784 x 10 linear model, its gradients, and squares.
#include "calque/backend/cpu/gemm.hpp"

#include <benchmark/benchmark.h>

#include <cstdint>
#include <vector>

#if defined(CALQUE_BENCH_EIGEN)
/// c = a * b by Eigen; a transposed operand is stored k-first and read through `transpose()`.
void eigen_gemm(std::int64_t m, std::int64_t n, std::int64_t k, const float* a, bool a_transposed,
                const float* b, bool b_transposed, float* c);
#endif

namespace {

struct operands {
  std::int64_t m, n, k;
  bool a_transposed, b_transposed;
  std::vector<float> a, b, c;

  explicit operands(const benchmark::State& state)
      : m(state.range(0)),
        n(state.range(1)),
        k(state.range(2)),
        a_transposed(state.range(3) != 0),
        b_transposed(state.range(4) != 0),
        a(static_cast<std::size_t>(m * k)),
        b(static_cast<std::size_t>(k * n)),
        c(static_cast<std::size_t>(m * n)) {
    for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<float>(i % 17) * 0.125f - 1.f;
    for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<float>(i % 13) * 0.25f - 1.f;
  }
};

void report(benchmark::State& state, const operands& x) {
  state.counters["flops"] = benchmark::Counter(2. * static_cast<double>(x.m * x.n * x.k),
                                               benchmark::Counter::kIsIterationInvariantRate,
                                               benchmark::Counter::kIs1000);
}

void gemm_calque(benchmark::State& state) {
  operands x(state);
  const std::int64_t a_row = x.a_transposed ? 1 : x.k, a_col = x.a_transposed ? x.m : 1;
  const std::int64_t b_row = x.b_transposed ? 1 : x.n, b_col = x.b_transposed ? x.k : 1;
  std::vector<unsigned char> scratch(static_cast<std::size_t>(
      calque::detail::gemm_scratch_bytes<float>(x.m, x.n, x.k, a_row, a_col, b_row, b_col, x.n)));
  for (auto _ : state) {
    calque::detail::gemm<float>(x.m, x.n, x.k, x.a.data(), a_row, a_col, x.b.data(), b_row, b_col,
                                x.c.data(), x.n, scratch.data());
    benchmark::DoNotOptimize(x.c.data());
    benchmark::ClobberMemory();
  }
  report(state, x);
}

#if defined(CALQUE_BENCH_EIGEN)
void gemm_eigen(benchmark::State& state) {
  operands x(state);
  for (auto _ : state) {
    eigen_gemm(x.m, x.n, x.k, x.a.data(), x.a_transposed, x.b.data(), x.b_transposed, x.c.data());
    benchmark::DoNotOptimize(x.c.data());
    benchmark::ClobberMemory();
  }
  report(state, x);
}
#endif

void shapes(benchmark::internal::Benchmark* b) {
  b->ArgNames({"m", "n", "k", "aT", "bT"});
  b->Args({100, 10, 784, 0, 0});  // logits
  b->Args({784, 10, 100, 1, 0});  // gradient of the weights
  b->Args({100, 784, 10, 0, 1});  // gradient of the input
  for (std::int64_t s : {64, 128, 256, 512}) b->Args({s, s, s, 0, 0});
  b->Args({256, 256, 256, 1, 0})->Args({256, 256, 256, 0, 1})->Args({256, 256, 256, 1, 1});
  b->Args({1, 512, 512, 0, 0})->Args({512, 1, 512, 0, 0});
  b->Unit(benchmark::kMicrosecond);
}

BENCHMARK(gemm_calque)->Apply(shapes);
#if defined(CALQUE_BENCH_EIGEN)
BENCHMARK(gemm_eigen)->Apply(shapes);
#endif

}  // namespace
