// How much slower a program is that was compiled without optimisation, as in a debugger: a training
// step of softmax regression at -O0 and at -O2.
#include "benchmarks/common.hpp"
#include "benchmarks/debug_step.hpp"

int main(int argc, char** argv) {
  const auto images = bench::noise(100 * 784, 1, 0, 1);
  const bench::buffer<std::int32_t> labels(100, 3);
  const bench::row r("debug step", {}, {});
  r.add("calque", [&] { debug::unoptimised::step(images.data(), labels.data()); });
  r.add("calque -O2/any", [&] { debug::optimised::step(images.data(), labels.data()); });
  return bench::run(argc, argv);
}
