// Running sums, sorting and random numbers.
#include <calque/calque.hpp>
#include <calque/ops/sort.hpp>

#include "benchmarks/common.hpp"
#include "benchmarks/scan_peers.hpp"

namespace cq = calque;

namespace {

constexpr auto scan = cq::trace([](auto x) { return cq::cumsum(x, cq::axis<0>); });
constexpr auto back = cq::trace([](auto x) {
  return cq::grad([](auto v) { return cq::sum(cq::cumsum(v, cq::axis<0>) * v); })(x);
});
constexpr auto ordered = cq::trace([](auto x) { return cq::sort(x, cq::axis<-1>); });
constexpr auto uniform =
    cq::trace([](auto state, auto extents) { return cq::random::uniform<float>(state, extents); });
constexpr auto normal =
    cq::trace([](auto state, auto extents) { return cq::random::normal<float>(state, extents); });

}  // namespace

int main(int argc, char** argv) {
  constexpr std::int64_t rows = 10'000, columns = 1'000, n = rows * columns;
  constexpr std::int64_t sorted = 1'000'000;
  const auto x = bench::noise(n, 1);
  const bench::buffer<float> out(n);
  peers::scan_operands o{x.data(), out.data(), n, rows, columns, sorted, 0};
  const auto X = cq::borrow(o.x, cq::shape{n});
  auto Out = cq::borrow(o.out, cq::shape{n});

  const bench::row r_scan("inclusive scan", {8. * n, 1. * n}, {out.span()});
  r_scan.add("calque", [=]() mutable { scan.into(Out, X); });
  r_scan.add_peers(peers::plain::scan(), "plain", o);
  r_scan.add_peers(peers::native::scan(), "native", o);
  bench::row("inclusive scan gradient", {8. * n, 3. * n}, {}).add("calque", [=]() mutable {
    back.into(Out, X);
  });

  const auto M = cq::borrow(o.x, cq::shape{rows, columns});
  auto Sums = cq::borrow(o.out, cq::shape{rows, columns});
  const bench::row r_columns("column scan", {8. * n, 1. * n}, {out.span()});
  r_columns.add("calque", [=]() mutable { scan.into(Sums, M); });
  r_columns.add_peers(peers::plain::scan(), "plain", o);
  r_columns.add_peers(peers::native::scan(), "native", o);

  static std::vector<peers::scan_operands> lines;
  lines.reserve(4);
  for (const std::int64_t line :
       {std::int64_t{10}, std::int64_t{100}, std::int64_t{1000}, sorted}) {
    peers::scan_operands& one = lines.emplace_back(o);
    one.line = line;
    const auto L = cq::borrow(o.x, cq::shape{sorted / line, line});
    auto Ordered = cq::borrow(o.out, cq::shape{sorted / line, line});
    const bench::row r("sort " + std::to_string(line), {},
                       {out.span().first(static_cast<std::size_t>(sorted))});
    r.add("calque", [=]() mutable { ordered.into(Ordered, L); });
    for (const auto& p : peers::native::scan())
      if (std::string(p.row) == "sort rows")
        r.add(std::string(p.who) + "/native", [run = p.run, &one] { run(one); });
  }

  // Other numbers than the peers': there is nothing to compare.
  const cq::rng generator{1};
  const bench::row r_uniform("uniform", {}, {}), r_normal("normal", {}, {});
  r_uniform.add("calque", [=]() mutable { uniform.into(Out, generator, cq::shape{n}); });
  r_uniform.add_peers(peers::native::scan(), "native", o);
  r_normal.add("calque", [=]() mutable { normal.into(Out, generator, cq::shape{n}); });
  r_normal.add_peers(peers::native::scan(), "native", o);
  return bench::run(argc, argv);
}
