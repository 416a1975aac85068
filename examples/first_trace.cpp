// The first program: a plain generic function, traced by the compiler, run on arrays.
#include <calque/calque.hpp>
#include <iostream>

namespace cq = calque;

// [first-trace]
inline constexpr auto scaled_norm = cq::trace([](auto x, auto y, auto a) {
  auto z = a * x + y;
  return cq::sqrt(cq::sum(z * z));
});

// The graph is a constant: the whole function is one kernel, with no temporaries.
static_assert(
    cq::graph_of<scaled_norm, cq::array<float, 1>, cq::array<float, 1>, float>().kernels() == 1);
// [first-trace]

int main() {
  const cq::array<float, 1> x = cq::linspace(0.f, 1.f, 1'000'000);
  const cq::array<float, 1> y = cq::ones<float>(cq::shape{1'000'000});
  const float norm = scaled_norm(x, y, 2.f);   // plans for these sizes, then runs
  const float again = scaled_norm(x, y, 3.f);  // replays the plan: scalars are plain inputs
  std::cout << "|2 x + y| = " << norm << ", |3 x + y| = " << again << "\n\n"
            << scaled_norm.plan(x, y, 2.f).explain();

  // The same functions work on arrays at once, one operation at a time.
  const cq::array<float, 2> m{{1, 2}, {3, 4}};
  std::cout << "\nm + transpose(m) =\n" << m + cq::transpose(m) << "\n";
  return norm > 0 && again > norm ? 0 : 1;
}
