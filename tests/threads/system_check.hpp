// What every thread system has to do: called with each of the library's.
#pragma once

#include <stdexcept>

#include "tests/threads/spawned.hpp"

struct throws_at_seven {
  static constexpr char name[] = "throws_at_seven";
  template <class T>
  T operator()(T x) const {
    if (x == 7) throw std::domain_error("seven");
    return x;
  }
};
CALQUE_REGISTER(throws_at_seven);

namespace spawned {

constexpr auto soft = cq::trace([](auto x) {
  auto e = cq::exp(x - cq::max(x, cq::axis<1>, cq::keepdims));
  return e / cq::sum(e, cq::axis<1>, cq::keepdims);
});
constexpr auto sums = cq::trace([](auto x) {
  return std::tuple(cq::sum(x), cq::sum(x, cq::axis<0>), cq::sum(x, cq::axis<1>));
});
constexpr auto running = cq::trace([](auto x) { return cq::cumsum(x, cq::axis<1>); });
constexpr auto picky = cq::trace([](auto x) { return cq::apply<throws_at_seven>(x) + 1; });

/// Results have the bits of one thread, exceptions arrive, callers may be several.
inline void check_system(const cq::thread_system& s) {
  const auto x = waves(700, 1001) * 0.001f;
  const auto long_rows = waves(2, 300001), y = waves(90, 1001);
  const std::string alone[] = {bits_of(soft(x)), bits_of(sums(x)), bits_of(running(x)),
                               bits_of(running(long_rows)),
                               bits_of(cq::matmul(y, cq::transpose(y)))};
  const in_use now(s);
  const auto check = [&](int n) {
    const cq::device_guard on{cq::cpu(0).with_threads(n)};
    return bits_of(soft(x)) == alone[0] && bits_of(sums(x)) == alone[1] &&
           bits_of(running(x)) == alone[2] && bits_of(running(long_rows)) == alone[3] &&
           bits_of(cq::matmul(y, cq::transpose(y))) == alone[4];
  };
  for (const int n : {1, 2, 8, 3}) CHECK(check(n));
  std::atomic<int> wrong{0};
  std::vector<std::thread> callers;
  for (int n : {2, 3, 4}) callers.emplace_back([&, n] { wrong += check(n) ? 0 : 1; });
  for (auto& t : callers) t.join();
  CHECK(wrong == 0);

  const cq::device_guard on{cq::cpu(0).with_threads(8)};
  CHECK(cq::sum(cq::ones<float>(cq::shape{30})).item() == 30);
  auto bad = cq::ones<float>(cq::shape{500000});
  bad(300000) = bad(499999) = 7;
  for (int i = 0; i < 50; ++i) CHECK_THROWS_WITH_AS((void)picky(bad), "seven", std::domain_error);
  bad(300000) = bad(499999) = 1;
  CHECK(picky(bad)(499999) == 2);
}

}  // namespace spawned
