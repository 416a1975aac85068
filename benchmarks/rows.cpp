// Functions of rows: softmax, layer norm, and layer norm with its three gradients.
#include <calque/calque.hpp>

#include "benchmarks/common.hpp"
#include "benchmarks/rows_peers.hpp"

namespace cq = calque;

namespace {

constexpr auto softmax = cq::trace([](auto x) { return cq::softmax(x, cq::axis<1>); });
constexpr auto layer_norm =
    cq::trace([](auto x, auto gamma, auto beta) { return cq::layer_norm(x, gamma, beta); });
constexpr auto with_gradient = cq::trace([](auto x, auto gamma, auto beta, auto dy) {
  auto [dx, dgamma, dbeta] =
      cq::grad([](auto a, auto g, auto b, auto d) { return cq::sum(cq::layer_norm(a, g, b) * d); },
               cq::wrt<0, 1, 2>)(x, gamma, beta, dy);
  return std::tuple{cq::layer_norm(x, gamma, beta), dx, dgamma, dbeta};
});

}  // namespace

int main(int argc, char** argv) {
  constexpr std::int64_t rows = 4096, columns = 1024, n = rows * columns;
  const auto x = bench::noise(n, 1, -3, 3), dy = bench::noise(n, 2);
  const auto gamma = bench::noise(columns, 3, 0.5f, 2), beta = bench::noise(columns, 4);
  const bench::buffer<float> out(n), dx(n), dgamma(columns), dbeta(columns);
  const peers::rows_operands o{x.data(),  dy.data(),     gamma.data(), beta.data(), out.data(),
                               dx.data(), dgamma.data(), dbeta.data(), rows,        columns};
  const auto add_peers = [&o](const bench::row& r) {
    r.add_peers(peers::plain::rows(), "plain", o);
    r.add_peers(peers::native::rows(), "native", o);
  };
  const cq::shape both{rows, columns};
  const cq::shape one{columns};
  const auto X = cq::borrow(o.x, both), D = cq::borrow(o.dy, both);
  const auto G = cq::borrow(o.gamma, one), B = cq::borrow(o.beta, one);
  auto Out = cq::borrow(o.out, both), Dx = cq::borrow(o.dx, both);
  auto Dg = cq::borrow(o.dgamma, one), Db = cq::borrow(o.dbeta, one);

  const bench::row r_softmax("softmax", {8. * n, 5. * n}, {out.span()});
  r_softmax.add("calque", [=]() mutable { softmax.into(Out, X); });
  add_peers(r_softmax);
  bench::row("softmax fresh", {8. * n, 5. * n}, {}).add("calque", [=] {
    benchmark::DoNotOptimize(softmax(X));
  });

  const bench::row r_norm("layer norm", {8. * n, 8. * n}, {out.span()});
  r_norm.add("calque", [=]() mutable { layer_norm.into(Out, X, G, B); });
  add_peers(r_norm);

  const bench::row r_grad("layer norm gradient", {16. * n, 22. * n},
                          {out.span(), dx.span(), dgamma.span(), dbeta.span()});
  r_grad.add("calque",
             [=]() mutable { with_gradient.into(cq::outs(Out, Dx, Dg, Db), X, G, B, D); });
  add_peers(r_grad);
  return bench::run(argc, argv);
}
