// Visits every float with every function on lanes and prints the worst error of each in ulp,
// against the C library in double. `sweep_maths [function [instruction set]]`; with CALQUE_STRIDE
// in the environment, every n-th.
#include <cstdio>
#include <cstdlib>
#include <string_view>

#include "support/lane_functions.hpp"

int main(int count, char** arguments) {
  using namespace calque::test;
  const std::string_view only = count > 1 ? arguments[1] : "", isa = count > 2 ? arguments[2] : "";
  const char* text = std::getenv("CALQUE_STRIDE");
  const std::uint64_t stride = text ? std::strtoull(text, nullptr, 10) : 1;
  bool good = true;
  for_each_row<lane_functions>([&]<class Row>(Row) {
    if (!only.empty() && only != Row::name) return;
    for (const auto& kernel : row_kernels<Row, float, float>()) {
      if (!isa.empty() && isa != kernel.isa) continue;
      float where{};
      const double most = worst_of_row<Row, float>(kernel, stride, where);
      std::printf("%-8s %-9s %.4f ulp at %.9g (bound %g)\n", Row::name, kernel.isa, most,
                  static_cast<double>(where), Row::bound);
      std::fflush(stdout);
      good = good && most <= Row::bound;
    }
  });
  return good ? 0 : 1;
}
