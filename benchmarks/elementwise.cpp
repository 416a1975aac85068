// Fused elementwise functions of large arrays: into an existing array, and with a fresh result.
#include <calque/calque.hpp>

#include "benchmarks/common.hpp"
#include "benchmarks/elementwise_peers.hpp"

namespace cq = calque;

namespace {

constexpr auto axpy = cq::trace([](auto x, auto y, auto a) { return a * x + y; });
constexpr auto chain =
    cq::trace([](auto x, auto a) { return cq::tanh(cq::exp(x) * a + cq::sqrt(x)); });

constexpr auto normal_cdf = [](auto d) { return 0.5f * cq::erf(d * 0.70710678f) + 0.5f; };
constexpr auto black_scholes = cq::trace([](auto spot, auto strike, auto years, auto r, auto v) {
  auto deviation = v * cq::sqrt(years);
  auto d1 = (cq::log(spot / strike) + (r + 0.5f * v * v) * years) / deviation;
  auto d2 = d1 - deviation;
  return spot * normal_cdf(d1) - strike * cq::exp(-r * years) * normal_cdf(d2);
});

}  // namespace

int main(int argc, char** argv) {
  constexpr std::int64_t n = 10'000'000, m = 2'000'000;
  const auto x = bench::noise(n, 1, 0, 1), y = bench::noise(n, 2, 0, 1);
  const auto spot = bench::noise(m, 3, 50, 150), strike = bench::noise(m, 4, 50, 150);
  const auto years = bench::noise(m, 5, 0.25f, 2);
  const bench::buffer<float> out(n), price(m);
  const peers::elementwise_operands o{
      x.data(),      y.data(),     out.data(),   2.f,   n,    spot.data(),
      strike.data(), years.data(), price.data(), 0.05f, 0.2f, m};
  const auto add_peers = [&o](const bench::row& r) {
    r.add_peers(peers::plain::elementwise(), "plain", o);
    r.add_peers(peers::native::elementwise(), "native", o);
  };
  const auto X = cq::borrow(o.x, cq::shape{n}), Y = cq::borrow(o.y, cq::shape{n});
  auto Out = cq::borrow(o.out, cq::shape{n});

  const bench::row r_axpy("axpy", {12. * n, 2. * n}, {out.span()});
  r_axpy.add("calque", [=]() mutable { axpy.into(Out, X, Y, 2.f); });
  add_peers(r_axpy);
  bench::row("axpy fresh", {12. * n, 2. * n}, {}).add("calque", [=] {
    benchmark::DoNotOptimize(axpy(X, Y, 2.f));
  });

  const bench::row r_chain("chain", {8. * n, 5. * n}, {out.span()});
  r_chain.add("calque", [=]() mutable { chain.into(Out, X, 2.f); });
  add_peers(r_chain);
  bench::row("chain fresh", {8. * n, 5. * n}, {}).add("calque", [=] {
    benchmark::DoNotOptimize(chain(X, 2.f));
  });

  const auto S = cq::borrow(o.spot, cq::shape{m}), K = cq::borrow(o.strike, cq::shape{m});
  const auto T = cq::borrow(o.years, cq::shape{m});
  auto Price = cq::borrow(o.price, cq::shape{m});
  const bench::row r_options("black-scholes", {16. * m, 22. * m}, {price.span()});
  r_options.add("calque", [=]() mutable { black_scholes.into(Price, S, K, T, 0.05f, 0.2f); });
  add_peers(r_options);
  bench::row("black-scholes fresh", {16. * m, 22. * m}, {}).add("calque", [=] {
    benchmark::DoNotOptimize(black_scholes(S, K, T, 0.05f, 0.2f));
  });
  return bench::run(argc, argv);
}
