// OpenMP's threads.
#include <calque/parallel/omp.hpp>

#include "tests/threads/system_check.hpp"

namespace cq = calque;

TEST_CASE(
    "including omp.hpp is all it takes; OpenMP's threads give one thread's bits (C008, C088)") {
  CHECK(cq::current_thread_system() == &cq::omp_threads);
  spawned::check_system(cq::omp_threads);
}

TEST_CASE("OpenMP runs as many threads as the device has") {
  std::atomic<int> most{0};
  cq::omp_threads.run(
      3,
      [](void* state, int) {
        auto& seen = *static_cast<std::atomic<int>*>(state);
        for (int n = omp_get_num_threads(), now = seen; now < n;)
          seen.compare_exchange_weak(now, n);
      },
      &most);
  CHECK(most == 3);
}

TEST_CASE("a call inside a parallel region of the program stays on its thread") {
  const auto x = spawned::waves(700, 1001) * 0.001f;
  const std::string alone = spawned::bits_of(spawned::soft(x));
  int wrong = 0;
#pragma omp parallel for num_threads(2) reduction(+ : wrong)
  for (int i = 0; i < 4; ++i) {
    const cq::device_guard on{cq::cpu(0).with_threads(2)};
    wrong += spawned::bits_of(spawned::soft(x)) != alone;
    int mine = 0;
    cq::omp_threads.run(2, [](void* n, int) { ++*static_cast<int*>(n); }, &mine);
    wrong += mine != 1;
  }
  CHECK(wrong == 0);
}
