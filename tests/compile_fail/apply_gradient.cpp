// The derivative of two operands is two derivatives.
// expect: cq::apply<F>\(x, ...\): F::gradient must return a derivative for each operand
#include <calque/calque.hpp>

namespace cq = calque;

struct product {
  static constexpr char name[] = "product";
  template <class T>
  constexpr T operator()(T x, T y) const {
    return x * y;
  }
#ifdef CALQUE_TWIN
  static constexpr auto gradient(auto x, auto y, auto dy) { return std::tuple{dy * y, dy * x}; }
#else
  static constexpr auto gradient(auto, auto y, auto dy) { return dy * y; }
#endif
};
CALQUE_REGISTER(product);
constexpr auto f = cq::grad([](auto x) { return cq::sum(cq::apply<product>(x, x)); });

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
