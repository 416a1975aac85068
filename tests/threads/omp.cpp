// OpenMP's threads.
#include <calque/parallel/omp.hpp>

#include <fstream>
#include <sstream>

#include "tests/threads/system_check.hpp"

namespace cq = calque;

TEST_CASE(
    "including omp.hpp is all it takes; OpenMP's threads give one thread's bits (C008, C088)") {
  CHECK(cq::current_thread_system() == &cq::omp_threads);
  spawned::check_system(cq::omp_threads);
}

TEST_CASE("the block of docs/threads.md compiles, runs and is the page's") {
  constexpr auto softmax = spawned::soft;
  const auto x = spawned::waves(1000, 1000) * 0.001f;
  // [threads]
  {
    const cq::device_guard on{cq::cpu(0).with_threads(2)};  // calls of this thread, in this scope
    auto y = softmax(x);                                    // large steps are shared by two threads
  }
  auto same = softmax(x);  // one thread again, with the same bits
  // [threads]
  CHECK(same.size() == x.size());
  const auto read = [](const char* path) {
    std::ifstream in(std::string(CALQUE_SOURCE_DIR "/") + path);
    std::stringstream text;
    text << in.rdbuf();
    return text.str();
  };
  const std::string here = read("tests/threads/omp.cpp"), mark = "  // [threads]\n";
  const std::size_t first = here.find(mark) + mark.size();
  std::istringstream lines(here.substr(first, here.find(mark, first) - first));
  const std::string page = read("docs/threads.md");
  std::string block = "```cpp\n";
  for (std::string line; std::getline(lines, line);) block += line.substr(2) + "\n";
  CHECK(block.size() > 200);
  CHECK(page.find(block) != std::string::npos);
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
