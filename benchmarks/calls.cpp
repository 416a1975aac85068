// What a call costs beside its work: calls that find their plan, and first calls with new sizes.
#include <calque/calque.hpp>

#include "benchmarks/calls_peers.hpp"
#include "benchmarks/common.hpp"
#include "tests/allocation_counter/allocation_counter.hpp"

namespace cq = calque;

namespace {

constexpr auto small = cq::trace([](auto x, auto y, auto z) { return x * y + z; });

// Nine blocks of eleven operations, products and reductions among them, and a last one: 100.
constexpr auto hundred = cq::trace([](auto x, auto w, auto b) {
  for (int i = 0; i < 9; ++i) {
    auto h = cq::matmul(x, w) + b;
    auto c = h - cq::mean(h, cq::axis<1>, cq::keepdims);
    auto n = c * cq::rsqrt(cq::mean(c * c, cq::axis<1>, cq::keepdims) + 1e-5f);
    x = cq::tanh(n) + x;
  }
  return cq::sum(x, cq::axis<1>);
});

void warm(benchmark::State& state, std::size_t sizes) {  // this many sizes in turn
  std::vector<cq::array<float, 1>> x, y, z, out;
  for (std::size_t i = 0; i < sizes; ++i) {
    const std::size_t n = 16 + i;
    x.push_back(cq::ones<float>(cq::shape{n}));
    y.push_back(cq::ones<float>(cq::shape{n}));
    z.push_back(cq::ones<float>(cq::shape{n}));
    out.push_back(cq::zeros<float>(cq::shape{n}));
    small.into(out[i], x[i], y[i], z[i]);
  }
  std::size_t i = 0;
  const allocation_counter allocations;
  for (auto _ : state) {
    small.into(out[i], x[i], y[i], z[i]);
    if (++i == sizes) i = 0;
  }
  state.counters["allocations"] = static_cast<double>(allocations.count());
}
void warm_result(benchmark::State& state) {
  const auto x = cq::ones<float>(cq::shape{16});
  for (auto _ : state) benchmark::DoNotOptimize(small(x, x, x));
}
void first(benchmark::State& state) {
  constexpr std::int64_t width = 8, fewest = 16, sizes = 256;  // more sizes than a cache keeps
  const auto x = cq::ones<float>(cq::shape{fewest + sizes, width});
  const auto w = cq::ones<float>(cq::shape{width, width});
  const auto b = cq::ones<float>(cq::shape{width});
  auto out = cq::zeros<float>(cq::shape{fewest + sizes});
  std::int64_t n = 0;
  const auto before = hundred.stats().misses;
  for (auto _ : state) {
    const auto rows = cq::borrow(x.data(), cq::shape{fewest + n, width});
    auto result = cq::borrow(out.data(), cq::shape{fewest + n});
    hundred.into(result, rows, w, b);
    if (++n == sizes) n = 0;
  }
  const auto missed = static_cast<double>(hundred.stats().misses - before);
  state.counters["planned"] = missed / static_cast<double>(state.iterations());
}
void first_again(benchmark::State& state) {  // the part of it that is work
  const auto x = cq::ones<float>(cq::shape{144, 8});
  const auto w = cq::ones<float>(cq::shape{8, 8});
  const auto b = cq::ones<float>(cq::shape{8});
  auto out = cq::zeros<float>(cq::shape{144});
  for (auto _ : state) hundred.into(out, x, w, b);
}

void peer(benchmark::State& state, void (*run)(const peers::calls_operands&)) {
  const auto x = bench::noise(16, 1);
  const bench::buffer<float> out(16);
  const peers::calls_operands o{x.data(), x.data(), x.data(), out.data(), 16};
  for (auto _ : state) {
    run(o);
    benchmark::ClobberMemory();
  }
}

}  // namespace

int main(int argc, char** argv) {
  benchmark::RegisterBenchmark("warm call/calque", warm, 1);
  benchmark::RegisterBenchmark("warm call 8 sizes/calque", warm, 8);
  benchmark::RegisterBenchmark("warm call fresh/calque", warm_result);
  benchmark::RegisterBenchmark("first call/calque", first);
  benchmark::RegisterBenchmark("first call again/calque", first_again);
  const auto add_peers = [](const auto& list, const std::string& build) {
    for (const auto& p : list)
      benchmark::RegisterBenchmark((std::string(p.row) + "/" + p.who + "/" + build).c_str(), peer,
                                   p.run);
  };
  add_peers(peers::plain::calls(), "plain");
  add_peers(peers::native::calls(), "native");
  return bench::run(argc, argv);
}
