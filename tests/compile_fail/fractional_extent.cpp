// An extent is an integer.
// expect: fractional_extent\.cpp
// expect: no matching (function|constructor) .*calque::shape<
#include "calque/core/shape.hpp"

int main() {
#ifdef CALQUE_TWIN
  calque::shape s{2};
#else
  calque::shape s{2.5};
#endif
  return static_cast<int>(s.size());
}
