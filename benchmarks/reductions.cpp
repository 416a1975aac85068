// Reductions: of a fused expression to one number, along columns, along rows with places.
#include <calque/calque.hpp>

#include "benchmarks/common.hpp"
#include "benchmarks/reductions_peers.hpp"

namespace cq = calque;

namespace {

constexpr auto norm = cq::trace([](auto x, auto y, auto a) {
  auto z = a * x + y;
  return cq::sqrt(cq::sum(z * z));
});
constexpr auto column_sums = cq::trace([](auto x) { return cq::sum(x, cq::axis<0>); });
constexpr auto row_places = cq::trace([](auto x) { return cq::argmax(x, cq::axis<1>); });

}  // namespace

int main(int argc, char** argv) {
  constexpr std::int64_t rows = 10'000, columns = 1'000, n = rows * columns;
  const auto x = bench::noise(n, 1), y = bench::noise(n, 2);
  const bench::buffer<float> total(1), sums(columns), places_seen(rows);
  const bench::buffer<std::int64_t> places(rows);
  const peers::reductions_operands o{x.data(), y.data(),     2.f,         rows,
                                     columns,  total.data(), sums.data(), places.data()};
  const auto add_peers = [&o](const bench::row& r) {
    r.add_peers(peers::plain::reductions(), "plain", o);
    r.add_peers(peers::native::reductions(), "native", o);
  };
  const auto X = cq::borrow(o.x, cq::shape{n}), Y = cq::borrow(o.y, cq::shape{n});
  const auto M = cq::borrow(o.x, cq::shape{rows, columns});

  const bench::row r_norm("norm", {8. * n, 4. * n}, {total.span()});
  r_norm.add("calque", [=, s = cq::array<float, 0>(0.f), out = total.data()]() mutable {
    norm.into(s, X, Y, 2.f);
    *out = s.item();
  });
  add_peers(r_norm);

  const bench::row r_columns("column sums", {4. * n, 1. * n}, {sums.span()});
  auto Sums = cq::borrow(o.column_sums, cq::shape{columns});
  r_columns.add("calque", [=]() mutable { column_sums.into(Sums, M); });
  add_peers(r_columns);

  const bench::row r_places("argmax rows", {4. * n, 1. * n}, {places_seen.span()});
  auto Places = cq::borrow(o.places, cq::shape{rows});
  const auto show = [p = o.places, to = places_seen.data()] {  // indices as numbers to compare
    for (std::int64_t i = 0; i < rows; ++i) to[i] = static_cast<float>(p[i]);
  };
  r_places.add("calque", [=]() mutable {
    row_places.into(Places, M);
    show();
  });
  const auto add_places = [&](const auto& list, const char* build) {
    for (const auto& p : list)
      if (std::string(p.row) == "argmax rows")
        r_places.add(std::string(p.who) + "/" + build, [&o, show, run = p.run] {
          run(o);
          show();
        });
  };
  add_places(peers::plain::reductions(), "plain");
  add_places(peers::native::reductions(), "native");
  return bench::run(argc, argv);
}
