#include "benchmarks/calls_peers.hpp"

#if defined(CALQUE_BENCH_EIGEN)
#include <Eigen/Core>
#endif

namespace peers::CALQUE_BENCH_BUILD {
namespace {

using operands = calls_operands;

void hand(const operands& o) {
  for (std::int64_t i = 0; i < o.n; ++i) o.out[i] = o.x[i] * o.y[i] + o.z[i];
}
#if defined(CALQUE_BENCH_EIGEN)
void eigen(const operands& o) {
  using vector = Eigen::Map<const Eigen::ArrayXf>;
  Eigen::Map<Eigen::ArrayXf>(o.out, o.n) = vector(o.x, o.n) * vector(o.y, o.n) + vector(o.z, o.n);
}
#endif

constexpr peer<operands> all[] = {
    {"warm call", "hand", hand},
#if defined(CALQUE_BENCH_EIGEN)
    {"warm call", "Eigen", eigen},
#endif
};

}  // namespace

list<calls_operands> calls() { return all; }

}  // namespace peers::CALQUE_BENCH_BUILD
