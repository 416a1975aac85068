// oneTBB's threads, in a program that includes OpenMP's as well where there is one.
#if defined(_OPENMP)
#include <calque/parallel/omp.hpp>
#endif
#include <calque/parallel/tbb.hpp>

#include "tests/threads/system_check.hpp"

namespace cq = calque;

TEST_CASE(
    "including tbb.hpp is all it takes; oneTBB's threads give one thread's bits (C008, C088)") {
  CHECK(cq::current_thread_system() == &cq::tbb_threads);  // also beside omp.hpp
  spawned::check_system(cq::tbb_threads);
}

TEST_CASE("a call inside a task of the program stays on its thread") {
  const auto x = spawned::waves(700, 1001) * 0.001f;
  const std::string alone = spawned::bits_of(spawned::soft(x));
  std::atomic<int> wrong{0};
  tbb::parallel_for(0, 8, [&](int) {
    const cq::device_guard on{cq::cpu(0).with_threads(2)};
    wrong += spawned::bits_of(spawned::soft(x)) != alone;
    int mine = 0;
    cq::tbb_threads.run(2, [](void* n, int) { ++*static_cast<int*>(n); }, &mine);
    wrong += mine != 1;
  });
  CHECK(wrong == 0);
}
