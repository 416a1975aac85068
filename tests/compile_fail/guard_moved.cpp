// A guard ends where it began: it cannot leave its scope.
// expect: deleted
#include <calque/calque.hpp>

#include <utility>

namespace cq = calque;

int main() {
  cq::device_guard on{cq::cpu()};
#ifndef CALQUE_TWIN
  cq::device_guard out = std::move(on);
#endif
}
