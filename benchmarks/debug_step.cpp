#include "benchmarks/debug_step.hpp"

#include "benchmarks/regression.hpp"

namespace debug::CALQUE_BENCH_BUILD {

float step(const float* images, const std::int32_t* labels) {
  namespace cq = calque;
  static const bench::softmax_model<cq::variable> m{{cq::zeros<float>(cq::shape{784, 10}), "w"},
                                                    {cq::zeros<float>(cq::shape{10}), "b"}};
  static cq::array<float, 0> loss = 0.f;
  bench::regression_step.into(loss, m, cq::borrow(images, cq::shape{100, 784}),
                              cq::borrow(labels, cq::shape{100}), 0.01f);
  return loss.item();
}

}  // namespace debug::CALQUE_BENCH_BUILD
