// Running sums, sorting and random numbers against the standard library, in one run, on one thread,
// through `into`.
//
//   bench_scan --benchmark_enable_random_interleaving=true --benchmark_repetitions=9
//
// calque is compiled at plain -O2; the peers (scan_peers.cpp) at -O3 -march=native.
#include "benchmarks/scan_peers.hpp"

#include <benchmark/benchmark.h>
#include <calque/calque.hpp>
#include <calque/ops/sort.hpp>

namespace cq = calque;

namespace {

constexpr std::int64_t large = 10'000'000, sorted = 1'000'000;

constexpr auto scan = cq::trace([](auto x) { return cq::cumsum(x, cq::axis<0>); });
constexpr auto back = cq::trace([](auto x) {
  return cq::grad([](auto v) { return cq::sum(cq::cumsum(v, cq::axis<0>) * v); })(x);
});
constexpr auto ordered = cq::trace([](auto x) { return cq::sort(x, cq::axis<-1>); });
constexpr auto uniform =
    cq::trace([](auto state, auto extents) { return cq::random::uniform<float>(state, extents); });
constexpr auto normal =
    cq::trace([](auto state, auto extents) { return cq::random::normal<float>(state, extents); });

struct operands {
  cq::array<float, 1> x = cq::random::uniform<float>(cq::rng{1}, cq::shape{large}, -1, 1);
  cq::array<float, 1> out = cq::zeros<float>(cq::shape{large});
  cq::array<float, 2> in_rows(std::int64_t columns) const {
    return cq::borrow(const_cast<float*>(x.data()), cq::shape{sorted / columns, columns});
  }
};
operands& shared() {
  static operands o;
  return o;
}
void set_rate(benchmark::State& state, std::int64_t elements) {
  state.SetItemsProcessed(state.iterations() * elements);
}

void running_sum(benchmark::State& state) {
  auto& o = shared();
  for (auto _ : state) scan.into(o.out, o.x);
  set_rate(state, large);
}
void running_sum_std(benchmark::State& state) {
  auto& o = shared();
  for (auto _ : state) peers::running_sum(o.x.data(), o.out.data(), large);
  set_rate(state, large);
}
void running_sum_copy(benchmark::State& state) {  // the floor: what has to move
  auto& o = shared();
  for (auto _ : state) o.x.copy_to(std::span<float>(o.out.data(), large));
  set_rate(state, large);
}
void running_sum_gradient(benchmark::State& state) {
  auto& o = shared();
  for (auto _ : state) back.into(o.out, o.x);
  set_rate(state, large);
}
void columns(benchmark::State& state) {
  auto& o = shared();
  const auto x = cq::borrow(o.x.data(), cq::shape{10000, 1000});
  auto out = cq::borrow(o.out.data(), cq::shape{10000, 1000});
  for (auto _ : state) scan.into(out, x);
  set_rate(state, large);
}
void columns_loop(benchmark::State& state) {
  auto& o = shared();
  for (auto _ : state) peers::column_sums(o.x.data(), o.out.data(), 10000, 1000);
  set_rate(state, large);
}
void sort(benchmark::State& state) {
  auto& o = shared();
  const std::int64_t n = state.range(0);
  const auto x = o.in_rows(n);
  auto out = cq::borrow(o.out.data(), cq::shape{sorted / n, n});
  for (auto _ : state) ordered.into(out, x);
  set_rate(state, sorted);
}
void sort_std(benchmark::State& state) {
  auto& o = shared();
  const std::int64_t n = state.range(0);
  for (auto _ : state) peers::sort_rows(o.x.data(), o.out.data(), sorted / n, n);
  set_rate(state, sorted);
}
void draw_uniform(benchmark::State& state) {
  const cq::rng generator{1};
  for (auto _ : state) uniform.into(shared().out, generator, cq::shape{large});
  set_rate(state, large);
}
void draw_uniform_std(benchmark::State& state) {
  for (auto _ : state) peers::uniform(shared().out.data(), large);
  set_rate(state, large);
}
void draw_normal(benchmark::State& state) {
  const cq::rng generator{1};
  for (auto _ : state) normal.into(shared().out, generator, cq::shape{large});
  set_rate(state, large);
}
void draw_normal_std(benchmark::State& state) {
  for (auto _ : state) peers::normal(shared().out.data(), large);
  set_rate(state, large);
}

#define CALQUE_BENCH(...) BENCHMARK(__VA_ARGS__)->Unit(benchmark::kMillisecond)
CALQUE_BENCH(running_sum);
CALQUE_BENCH(running_sum_std);
CALQUE_BENCH(running_sum_copy);
CALQUE_BENCH(running_sum_gradient);
CALQUE_BENCH(columns);
CALQUE_BENCH(columns_loop);
CALQUE_BENCH(sort)->Arg(10)->Arg(100)->Arg(1000)->Arg(sorted);
CALQUE_BENCH(sort_std)->Arg(10)->Arg(100)->Arg(1000)->Arg(sorted);
CALQUE_BENCH(draw_uniform);
CALQUE_BENCH(draw_uniform_std);
CALQUE_BENCH(draw_normal);
CALQUE_BENCH(draw_normal_std);

}  // namespace
