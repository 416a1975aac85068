// A traced function returns symbols, numbers, and trees of these.
// expect: cq::trace\(f\): f returns a value of unsupported type; return symbols, numbers, or
// expect: tuples
#include <calque/calque.hpp>

namespace cq = calque;

#ifdef CALQUE_TWIN
constexpr auto f = cq::trace([](auto x) { return std::tuple{x, 1}; });
#else
constexpr auto f = cq::trace([](auto x) {
  (void)x;
  return "text";
});
#endif

int main() { (void)f(cq::ones<float>(cq::shape{3})); }
