// Outside traces, operations take the value of a variable.
// expect: a variable in an operation outside a traced function; use its present value
// expect: v.value\(\), or pass v
#include <calque/calque.hpp>

namespace cq = calque;

int main() {
#ifdef CALQUE_TWIN
  const cq::variable<float, 1> v{cq::ones<float>(cq::shape{3})};
  (void)(cq::ones<float>(cq::shape{3}) + v.value());
#else
  const cq::variable<float, 1> v{cq::ones<float>(cq::shape{3})};
  (void)(cq::ones<float>(cq::shape{3}) + v);
#endif
}
