// Where does each value live, who asked for that, and what was copied? Asked of a plan, then of the
// devices. The devices are virtual: with two GPUs the names would be "gpu:0" and "gpu:1".
#include <calque/calque.hpp>
#include <cstdio>

namespace cq = calque;

inline constexpr auto add_there = cq::trace([](auto x) {
  auto a = [&] {
    const cq::device_guard on{cq::cpu(), x};
    return cq::named(x + 1, "A");
  }();
  auto b = [&] {
    const cq::device_guard on{cq::device_name{"left"}, x};
    return cq::named(cq::exp(x), "B");
  }();
  auto c = [&] {
    const cq::device_guard on{cq::device_name{"right"}, x};
    return cq::named(a + b, "C");
  }();
  const cq::device_guard anywhere{cq::none, x};
  return cq::named(cq::sum(c), "D");
});

int main() {
  const auto devices = cq::virtual_devices(cq::cpu(), {{.name = "left"}, {.name = "right"}});
  const cq::array<float, 1> x = cq::linspace(0.f, 1.f, 1'000'000);

  const auto plan = add_there.plan(x);  // nothing runs
  std::printf("%-6s %-10s %-9s %s\n", "value", "requested", "assigned", "reason");
  for (const char* name : {"A", "B", "C", "D"}) {
    const cq::node_placement p = plan.placement_of(name);
    std::printf("%-6s %-10s %-9s %s\n", name, p.requested.value_or("-").c_str(),
                p.assigned.name().c_str(), p.reason.c_str());
  }
  std::printf("\n%s\n", plan.explain().c_str());

  const cq::array<float, 0> d = add_there(x);
  std::printf("D = %.0f, on %s\n", static_cast<double>(d.item()), d.device().name().c_str());
  for (const cq::device& v : devices) {
    const cq::device_counters n = v.counters();
    std::printf("%s: %lld kernels, %lld copies in, %lld out, %lld bytes at the peak\n",
                v.name().c_str(), static_cast<long long>(n.launches),
                static_cast<long long>(n.transfers_in), static_cast<long long>(n.transfers_out),
                static_cast<long long>(n.peak));
  }
}
