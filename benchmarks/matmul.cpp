// Matrix products: a square, those of a 784 -> 10 linear model, batches, and transposed operands.
#include <calque/calque.hpp>

#include "benchmarks/common.hpp"
#include "benchmarks/matmul_peers.hpp"

namespace cq = calque;

namespace {

constexpr auto product = cq::trace([](auto a, auto b) { return cq::matmul(a, b); });
constexpr auto left_transposed =
    cq::trace([](auto a, auto b) { return cq::matmul(cq::transpose(a), b); });
constexpr auto right_transposed =
    cq::trace([](auto a, auto b) { return cq::matmul(a, cq::transpose(b)); });

struct problem {
  const char* row;
  std::int64_t batch, m, k, n;
  bool a_transposed, b_transposed;
};
constexpr problem problems[] = {
    {"matmul 512", 1, 512, 512, 512, false, false},
    {"matmul 100x784x10", 1, 100, 784, 10, false, false},
    {"matmul 784x100x10", 1, 784, 100, 10, false, false},
    {"matmul 784x100x10 left transposed", 1, 784, 100, 10, true, false},
    {"matmul 100x10x784 right transposed", 1, 100, 10, 784, false, true},
    {"matmul 32 of 64", 32, 64, 64, 64, false, false},
    {"matmul 128x784x512", 1, 128, 784, 512, false, false},
    {"matmul 256 left transposed", 1, 256, 256, 256, true, false},
    {"matmul 256 right transposed", 1, 256, 256, 256, false, true},
};

}  // namespace

int main(int argc, char** argv) {
  const auto a = bench::noise(512 * 512, 1), b = bench::noise(784 * 512, 2);
  const bench::buffer<float> c(512 * 512);
  std::vector<peers::matmul_operands> operands;
  operands.reserve(std::size(problems));
  for (const problem& p : problems) {
    peers::matmul_operands& o = operands.emplace_back(peers::matmul_operands{
        p.batch, p.m, p.k, p.n, p.a_transposed, p.b_transposed, a.data(), b.data(), c.data()});
    const auto size = static_cast<double>(p.batch);
    const auto m = static_cast<double>(p.m), k = static_cast<double>(p.k),
               n = static_cast<double>(p.n);
    const bench::row r(p.row, {4 * size * (m * k + k * n + m * n), 2 * size * m * n * k},
                       {c.span().first(static_cast<std::size_t>(p.batch * p.m * p.n))});
    auto C = cq::borrow(o.c, cq::shape{p.m, p.n});
    if (p.batch > 1) {
      const auto A = cq::borrow(o.a, cq::shape{p.batch, p.m, p.k});
      const auto B = cq::borrow(o.b, cq::shape{p.batch, p.k, p.n});
      auto all = cq::borrow(o.c, cq::shape{p.batch, p.m, p.n});
      r.add("calque", [=]() mutable { product.into(all, A, B); });
    } else if (p.a_transposed) {
      const auto A = cq::borrow(o.a, cq::shape{p.k, p.m}), B = cq::borrow(o.b, cq::shape{p.k, p.n});
      r.add("calque", [=]() mutable { left_transposed.into(C, A, B); });
    } else if (p.b_transposed) {
      const auto A = cq::borrow(o.a, cq::shape{p.m, p.k}), B = cq::borrow(o.b, cq::shape{p.n, p.k});
      r.add("calque", [=]() mutable { right_transposed.into(C, A, B); });
    } else {
      const auto A = cq::borrow(o.a, cq::shape{p.m, p.k}), B = cq::borrow(o.b, cq::shape{p.k, p.n});
      r.add("calque", [=]() mutable { product.into(C, A, B); });
    }
    const auto add_peers = [&](const auto& list, const std::string& build) {
      for (const auto& contestant : list) {
        const std::string who = contestant.who;
        if (who == "hand" && (p.a_transposed || p.b_transposed)) continue;
        // a library that picks its kernels at run time is the same in both builds
        if (who == "OpenBLAS" && build == "plain") continue;
        r.add(who + "/" + (who == "OpenBLAS" ? "any" : build),
              [run = contestant.run, &o] { run(o); });
      }
    };
    add_peers(peers::plain::matmul(), "plain");
    add_peers(peers::native::matmul(), "native");
  }
  return bench::run(argc, argv);
}
