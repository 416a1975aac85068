// Calls made by destructors of objects that live as long as a thread, or longer.
#include <doctest/doctest.h>

#include <array>
#include <atomic>
#include <thread>

#include "calque/calque.hpp"

namespace cq = calque;

namespace {

constexpr auto doubled = cq::trace([](auto x) { return cq::sum(x * 2); });
constexpr auto of_many =
    cq::trace([](auto all) {  // the words of its key do not fit the stack's room
      auto sum = cq::sum(all[0]);
      for (std::size_t i = 1; i < all.size(); ++i) sum += cq::sum(all[i]);
      return sum;
    });

float total(std::int64_t n) {
  std::array<cq::array<float, 8>, 14> all;
  for (auto& a : all) a = cq::ones<float>(cq::shape{1, 1, 1, 1, 1, 1, 2, n});
  return doubled(cq::ones<float>(cq::shape{n})).item() + of_many(all).item();
}

std::atomic<int> sum_at_end{0};

/// Constructed before the library's objects of the thread, so destroyed after them.
struct late {
  bool used = false;
  ~late() {
    sum_at_end += static_cast<int>(total(4)) + static_cast<int>(doubled.last_miss().size());
  }
};
thread_local late of_thread;
struct last {
  ~last() { (void)total(5); }
} const of_program;

}  // namespace

TEST_CASE(
    "C104: destructors of a thread's objects may call traced functions, also with new sizes") {
  for (int round = 0; round < 2; ++round) {
    sum_at_end = 0;
    std::thread([round] {
      of_thread.used = true;
      CHECK(total(7 + round) == 210 + 30 * round);
      CHECK(doubled.last_miss() != "");
    }).join();
    CHECK(sum_at_end == 120);
  }
  of_thread.used = true;  // and of the first thread, of the program, when it ends
  CHECK(total(3) == 90);
}
