// Traced functions against a hand-written loop and Eigen, in one run, on one thread, through
// `into`.
//
//   bench_fused --benchmark_enable_random_interleaving=true --benchmark_repetitions=9
//
// calque is compiled at plain -O2; the peers (fused_peers.cpp) at -O3 -march=native.
#include "benchmarks/fused_peers.hpp"

#include <benchmark/benchmark.h>
#include <calque/calque.hpp>

#include <random>
#include <vector>

#include "tests/allocation_counter/allocation_counter.hpp"

namespace cq = calque;

namespace {

constexpr auto axpy = cq::trace([](auto x, auto y, auto a) { return a * x + y; });
constexpr auto norm = cq::trace([](auto x, auto y, auto a) {
  auto z = a * x + y;
  return cq::sqrt(cq::sum(z * z));
});

template <template <class, int> class A>
struct softmax_model {
  A<float, 2> w;
  A<float, 1> b;
};
constexpr auto loss = [](auto m, auto x, auto labels) {
  auto log_p = cq::log_softmax(cq::matmul(x, m.w) + m.b, cq::axis<1>);
  return -cq::mean(cq::sum(cq::one_hot<float>(labels, 10) * log_p, cq::axis<1>));
};
constexpr auto train_step = cq::trace([](auto m, auto x, auto labels, auto rate) {
  auto r = cq::value_and_grad(loss, cq::wrt<0>)(m, x, labels);
  m.w -= rate * r.grad.w;
  m.b -= rate * r.grad.b;
  return r.value;
});

constexpr std::int64_t large = 10'000'000;

std::vector<float> noise(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> v(n);
  for (float& x : v) x = uniform(random);
  return v;
}

struct operands {
  std::vector<float> x = noise(static_cast<std::size_t>(large), 1);
  std::vector<float> y = noise(static_cast<std::size_t>(large), 2);
  std::vector<float> out = std::vector<float>(static_cast<std::size_t>(large));
};
operands& shared() {
  static operands o;
  return o;
}
void bandwidth(benchmark::State& state, int arrays) {
  state.SetBytesProcessed(state.iterations() * large * arrays * 4);
}

void axpy_calque(benchmark::State& state) {
  operands& o = shared();
  const auto x = cq::borrow(static_cast<const float*>(o.x.data()), cq::shape{large});
  const auto y = cq::borrow(static_cast<const float*>(o.y.data()), cq::shape{large});
  auto out = cq::borrow(o.out.data(), cq::shape{large});
  for (auto _ : state) axpy.into(out, x, y, 2.f);
  bandwidth(state, 3);
}
void axpy_hand(benchmark::State& state) {
  operands& o = shared();
  for (auto _ : state) peers::axpy_hand(o.x.data(), o.y.data(), 2.f, o.out.data(), large);
  bandwidth(state, 3);
}
void axpy_eigen(benchmark::State& state) {
  operands& o = shared();
  for (auto _ : state) peers::axpy_eigen(o.x.data(), o.y.data(), 2.f, o.out.data(), large);
  bandwidth(state, 3);
}
void copy_floor(benchmark::State& state) {  // the bandwidth that a copy reaches
  operands& o = shared();
  for (auto _ : state) peers::copy(o.x.data(), o.out.data(), large);
  bandwidth(state, 2);
}

void norm_calque(benchmark::State& state) {
  operands& o = shared();
  const auto x = cq::borrow(static_cast<const float*>(o.x.data()), cq::shape{large});
  const auto y = cq::borrow(static_cast<const float*>(o.y.data()), cq::shape{large});
  cq::array<float, 0> out;
  for (auto _ : state) {
    norm.into(out, x, y, 2.f);
    benchmark::DoNotOptimize(out.item());
  }
  bandwidth(state, 2);
}
void norm_hand(benchmark::State& state) {
  operands& o = shared();
  for (auto _ : state)
    benchmark::DoNotOptimize(peers::norm_hand(o.x.data(), o.y.data(), 2.f, large));
  bandwidth(state, 2);
}
void norm_eigen(benchmark::State& state) {
  operands& o = shared();
  for (auto _ : state)
    benchmark::DoNotOptimize(peers::norm_eigen(o.x.data(), o.y.data(), 2.f, large));
  bandwidth(state, 2);
}

struct batch {
  std::vector<float> x = noise(100 * 784, 3);
  std::vector<std::int32_t> labels = [] {
    std::vector<std::int32_t> l(100);
    for (std::size_t i = 0; i < l.size(); ++i) l[i] = static_cast<std::int32_t>(i % 10);
    return l;
  }();
};
void step_calque(benchmark::State& state) {
  const batch d;
  const softmax_model<cq::variable> m{{cq::zeros<float>(cq::shape{784, 10}), "w"},
                                      {cq::zeros<float>(cq::shape{10}), "b"}};
  const auto x = cq::borrow(d.x.data(), cq::shape{100, 784});
  const auto labels = cq::borrow(d.labels.data(), cq::shape{100});
  cq::array<float, 0> out;
  for (auto _ : state) train_step.into(out, m, x, labels, 0.1f);
}
void step_eigen(benchmark::State& state) {
  const batch d;
  peers::eigen_softmax m(784, 10);
  for (auto _ : state) benchmark::DoNotOptimize(m.step(d.x.data(), d.labels.data(), 100, 0.1f));
}

void warm_into(benchmark::State& state) {  // state.range(0) sizes in turn
  const auto sizes = static_cast<std::size_t>(state.range(0));
  std::vector<cq::array<float, 1>> x, y, out;
  for (std::size_t i = 0; i < sizes; ++i) {
    const std::size_t n = 16 + i;
    x.push_back(cq::ones<float>(cq::shape{n}));
    y.push_back(cq::ones<float>(cq::shape{n}));
    out.push_back(cq::zeros<float>(cq::shape{n}));
    axpy.into(out[i], x[i], y[i], 2.f);
  }
  std::size_t i = 0;
  allocation_counter allocations;
  for (auto _ : state) {
    axpy.into(out[i], x[i], y[i], 2.f);
    if (++i == sizes) i = 0;
  }
  state.counters["allocations"] = static_cast<double>(allocations.count());
}
void warm_call(benchmark::State& state) {
  const auto x = cq::ones<float>(cq::shape{16}), y = cq::ones<float>(cq::shape{16});
  for (auto _ : state) benchmark::DoNotOptimize(axpy(x, y, 2.f));
}

}  // namespace

BENCHMARK(axpy_calque)->Unit(benchmark::kMicrosecond);
BENCHMARK(axpy_hand)->Unit(benchmark::kMicrosecond);
BENCHMARK(axpy_eigen)->Unit(benchmark::kMicrosecond);
BENCHMARK(copy_floor)->Unit(benchmark::kMicrosecond);
BENCHMARK(norm_calque)->Unit(benchmark::kMicrosecond);
BENCHMARK(norm_hand)->Unit(benchmark::kMicrosecond);
BENCHMARK(norm_eigen)->Unit(benchmark::kMicrosecond);
BENCHMARK(step_calque)->Unit(benchmark::kMicrosecond);
BENCHMARK(step_eigen)->Unit(benchmark::kMicrosecond);
BENCHMARK(warm_into)->Arg(1)->Arg(8);
BENCHMARK(warm_call);
BENCHMARK_MAIN();
