// Calls from many threads under guards of their own, while devices come and go.
#include <calque/calque.hpp>

#include <doctest/doctest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace cq = calque;

namespace {

constexpr auto affine = cq::trace([](auto x, auto y) { return x * 2.f + cq::sum(y); });
constexpr auto named = cq::trace([](auto x) {
  const cq::device_guard on{cq::device_name{"shared"}, x};
  return cq::sum(x) + x;
});

}  // namespace

TEST_CASE(
    "8 threads call one function under different guards while devices are made and destroyed") {
  const auto kept = cq::virtual_devices(cq::cpu(), {{.name = "shared"}});
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&, t] {
      for (int i = 0; i < 25; ++i) {
        const auto own = cq::virtual_devices(cq::cpu(), {{.name = "d" + std::to_string(t)}, {}});
        const cq::array<float, 1> x{static_cast<float>(t), static_cast<float>(i)};
        const float sum = static_cast<float>(t + i);
        const cq::device_guard on{t % 3 == 0 ? kept[0] : own[static_cast<std::size_t>(t % 2)]};
        const auto y = affine(x.to(own[0]), x);
        const auto z = named(x);
        const bool there =
            y.device() == (t % 3 == 0 ? kept[0] : own[static_cast<std::size_t>(t % 2)]);
        if (!there || y.to_vector()[0] != 2 * x(0) + sum || z.to_vector()[1] != x(1) + sum) ++wrong;
      }
    });
  for (std::thread& t : threads) t.join();
  CHECK(wrong == 0);
  CHECK(cq::devices().size() == 2);
  CHECK(affine.graphs() == 1);
}
