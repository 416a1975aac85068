#include "calque/call/virtual_devices.hpp"

#include <doctest/doctest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <string>
#include <thread>
#include <vector>

#include "calque/array/borrow.hpp"
#include "calque/array/factories.hpp"
#include "calque/array/views.hpp"
#include "support/message_of.hpp"

namespace cq = calque;
using namespace cq::literals;

namespace {

std::vector<std::string> names_of(const std::vector<cq::device>& all) {
  std::vector<std::string> names;
  for (const cq::device& d : all) names.push_back(d.name());
  return names;
}
using cq::test::message_of;
using names = std::vector<std::string>;

/// How a process ends that runs `f`: a signal's number, or 0.
template <class F>
int signal_of(F&& f) {
  const pid_t child = ::fork();
  if (child == 0) {
    std::signal(SIGSEGV, SIG_DFL);
    std::signal(SIGBUS, SIG_DFL);
    f();
    ::_exit(0);
  }
  int status = 0;
  (void)::waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace

TEST_CASE("D22: virtual devices are there while their set is, and can be named and listed") {
  CHECK(names_of(cq::devices()) == names{"cpu:0"});
  CHECK(message_of([] { (void)cq::device{"a0"}; }) == "device: there is no a0; there are cpu:0");
  {
    const auto vs = cq::virtual_devices(
        cq::cpu(), {{.name = "a0", .limit = 64_MiB}, {.name = "b", .kind = cq::device_kind::cpu}});
    CHECK(names_of(cq::devices()) == names{"cpu:0", "a0", "b"});
    CHECK(vs.size() == 2);
    CHECK(cq::device{"a0"} == vs[0]);
    CHECK(cq::device{"accel:0"} == vs[0]);  // the first of its kind
    CHECK(vs[0].kind() == cq::accel);
    CHECK(vs[1].kind() == cq::device_kind::cpu);
    CHECK(vs[0] != vs[1]);
    CHECK(vs[0] != cq::device{});
    CHECK(message_of([] { (void)cq::device{cq::gpu(7)}; }) ==
          "device: there is no gpu:7; there are cpu:0, a0, b");
    const auto more = cq::virtual_devices(cq::cpu(), {{}, {}});  // another set beside it
    CHECK(names_of(cq::devices()) == names{"cpu:0", "a0", "b", "accel:0", "accel:1"});
  }
  CHECK(names_of(cq::devices()) == names{"cpu:0"});
}

TEST_CASE("specs that make no sense throw, and nothing has changed") {
  const auto vs = cq::virtual_devices(cq::cpu(), {{.name = "a0"}});
  const auto refused = [](std::vector<cq::device_spec> specs) {
    return message_of([&] { (void)cq::virtual_devices(cq::cpu(), specs); });
  };
  CHECK(refused({{.name = "b"}, {.name = "a0"}}) ==
        "virtual_devices: there is a device a0 already; give the new one another name");
  CHECK(refused({{.name = "b"}, {.name = "b"}}) ==
        "virtual_devices: two devices are called b; names must differ");
  CHECK(refused({{.name = "gpu:0"}}) ==
        "virtual_devices: a virtual device cannot be called \"gpu:0\"; take a name like \"a0\"");
  CHECK(refused({{.name = "/job:x/a0"}}) != "");
  CHECK(refused({{.name = "b", .speed = 0}}) != "");
  CHECK(refused({{.name = "b", .latency = -1}}) != "");
  CHECK(refused({{.name = "b", .limit = cq::bytes{-5}}}) != "");
  CHECK(refused({{.name = "b", .kind = cq::device_kind::gpu}}) != "");
  CHECK(message_of([&] { (void)cq::virtual_devices(vs[0], {{.name = "b"}}); }) ==
        "virtual_devices: a0 cannot be carved up; take cpu() as the parent");
  CHECK(names_of(cq::devices()) == names{"cpu:0", "a0"});
}

TEST_CASE("D4: arrays go to a device and back, are really copied, and are counted") {
  const auto vs = cq::virtual_devices(cq::cpu(), {{.name = "a0"}, {.name = "a1"}});
  const auto host = cq::device{}.counters();
  const cq::array<float, 2> x{{1, 2, 3}, {4, 5, 6}};
  const auto there = x.to(vs[0]);
  CHECK(there.device() == vs[0]);
  CHECK(there.to(vs[0]).is_shared());  // the same storage
  CHECK(vs[0].counters().transfers_in == 1);
  CHECK(vs[0].counters().bytes_in == 24);
  CHECK(vs[0].counters().used == 64);
  CHECK(vs[0].counters().allocations == 1);
  CHECK(there.to_vector() == std::vector<float>{1, 2, 3, 4, 5, 6});
  CHECK(vs[0].counters().transfers_out == 1);
  const auto moved = cq::transpose(there).to(vs[1]);
  CHECK(moved.device() == vs[1]);
  CHECK(moved.to(cq::cpu()).to_vector() == std::vector<float>{1, 4, 2, 5, 3, 6});
  CHECK(vs[0].counters().transfers_out == 2);
  CHECK(vs[1].counters().transfers_in == 1);
  CHECK(cq::device{}.counters().transfers_out == host.transfers_out + 1);
  CHECK(cq::device{}.counters().transfers_in == host.transfers_in + 2);
  CHECK(message_of([&] { (void)there.data(); }) ==
        "data: f32[2, 3] is on a0; copy it to the host first with to(cpu())");
  CHECK_THROWS_AS((void)there(0, 0), cq::device_error);
}

TEST_CASE("values on a device: scalars, no elements, views, copies, writes to shared storage") {
  const auto vs = cq::virtual_devices(cq::cpu(), {{.name = "a0"}});
  const cq::array<int, 0> five{5};
  CHECK(five.to(vs[0]).item() == 5);
  CHECK(int{five.to(vs[0])} == 5);
  const auto none = cq::zeros<float>(cq::shape{0, 3}).to(vs[0]);
  CHECK(none.device() == vs[0]);
  CHECK(none.to_vector().empty());
  CHECK(none.to(cq::cpu()).device() == cq::device{});
  CHECK(cq::array<float, 1>{}.to(vs[0]).is_allocated() == false);

  auto a = cq::arange<int>(6).to(vs[0]);
  const auto view = cq::slice(a, cq::range{1, 6, 2});
  CHECK(view.device() == vs[0]);
  CHECK(view.to_vector() == std::vector<int>{1, 3, 5});
  const auto before = a;
  a.copy_from(std::vector<int>{9, 8, 7, 6, 5, 4});  // detaches on the device
  CHECK(a.device() == vs[0]);
  CHECK(a.to_vector() == std::vector<int>{9, 8, 7, 6, 5, 4});
  CHECK(before.to_vector() == std::vector<int>{0, 1, 2, 3, 4, 5});
  a.copy_from(before);
  CHECK(a.to_vector() == before.to_vector());
  const auto copy = a.clone();
  CHECK(copy.device() == vs[0]);
  CHECK(!copy.is_shared());
  const cq::array<bool, 1> flags = cq::array<bool, 1>{true, false}.to(vs[0]);
  CHECK(flags.to_vector() == std::vector<bool>{true, false});
  cq::array<int, 1> host{0, 0, 0, 0, 0, 0};
  host.copy_from(a);
  CHECK(host.device() == cq::device{});
  CHECK(host(5) == 5);
}

TEST_CASE("a device refuses to pass its limit, counts its peak, and is independent of others") {
  const auto vs = cq::virtual_devices(
      cq::cpu(), {{.name = "a0", .limit = 64_MiB}, {.name = "a1", .limit = 1_KiB}});
  const auto half = cq::zeros<float>(cq::shape{8 << 20});
  const auto first = half.to(vs[0]);
  {
    const auto second = half.to(vs[0]);  // exactly the limit
    CHECK(vs[0].counters().used == (64_MiB).count());
    CHECK(message_of<cq::out_of_memory>([&] { (void)cq::ones<float>(cq::shape{1}).to(vs[0]); }) ==
          "memory: 4 bytes are not available on a0 (67108864 bytes are in use of 67108864); free "
          "arrays, use smaller extents or give the device a higher limit");
  }
  CHECK(vs[0].counters().used == (32_MiB).count());
  CHECK(vs[0].counters().peak == (64_MiB).count());
  CHECK_NOTHROW((void)cq::ones<float>(cq::shape{256}).to(vs[1]));
  CHECK_THROWS_AS((void)cq::ones<float>(cq::shape{257}).to(vs[1]), cq::out_of_memory);
  CHECK(vs[1].counters().used == 0);
  CHECK(vs[1].counters().allocations == 1);
}

TEST_CASE("arrays outlive their device; new work on it throws; a device of its name is another") {
  cq::array<float, 1> there;
  cq::device gone;
  {
    const auto vs = cq::virtual_devices(cq::cpu(), {{.name = "a0"}});
    there = cq::array<float, 1>{1, 2}.to(vs[0]);
    gone = vs[0];
  }
  CHECK(!gone.is_present());
  CHECK(there.to_vector() == std::vector<float>{1, 2});
  CHECK(message_of([&] { (void)cq::array<float, 1>{3}.to(gone); }) ==
        "to: f32[1] is on cpu:0 and a0 is gone; take one of the present devices");
  CHECK_THROWS_AS((void)there.clone(), cq::device_error);
  const auto again = cq::virtual_devices(cq::cpu(), {{.name = "a0"}});
  CHECK(again[0] != gone);
  CHECK(there.to(again[0]).to_vector() == std::vector<float>{1, 2});
}

TEST_CASE("D18, D19: hidden devices cannot be named; those that are visible count anew") {
  const auto vs = cq::virtual_devices(cq::cpu(), {{.name = "a"}, {.name = "b"}, {.name = "c"}});
  cq::visible_devices({2, 0});
  CHECK(names_of(cq::devices()) == names{"cpu:0", "c", "a"});
  CHECK(cq::device{"accel:0"} == vs[2]);
  CHECK(cq::device{"accel:1"} == vs[0]);
  CHECK(message_of([] { (void)cq::device{"b"}; }) ==
        "device: there is no b; there are cpu:0, c, a");
  CHECK_THROWS_AS((void)cq::device{"accel:2"}, cq::device_error);
  const auto rows = cq::device_rows();
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].logical == 1);
  CHECK(rows[1].logical == -1);
  CHECK(rows[2].logical == 0);
  CHECK(rows[2].physical == 2);
  CHECK(message_of([] { cq::visible_devices({1, 3}); }) ==
        "visible_devices: there is no device number 3; there are 3 besides the host");
  CHECK_THROWS_AS(cq::visible_devices({1, 1}), cq::device_error);
  CHECK(names_of(cq::devices()) == names{"cpu:0", "c", "a"});
  {
    const auto late = cq::virtual_devices(cq::cpu(), {{.name = "d"}});
    CHECK(names_of(cq::devices()) == names{"cpu:0", "c", "a", "d"});
  }
  cq::visible_devices({});
  CHECK(names_of(cq::devices()) == names{"cpu:0"});
  cq::show_all_devices();
  CHECK(names_of(cq::devices()) == names{"cpu:0", "a", "b", "c"});
}

TEST_CASE("memory of a checked device is closed to the host; only copies reach it") {
  const auto vs =
      cq::virtual_devices(cq::cpu(), {{.name = "a0"}, {.name = "open", .checked = false}});
  const auto there = cq::array<int, 1>{1, 2, 3}.to(vs[0]);
  const volatile int* const p = cq::detail::array_access::data(there);
  const int how = signal_of([p] { (void)*p; });
  CHECK((how == SIGSEGV || how == SIGBUS || how == 1));  // 1: AddressSanitizer says it first
  CHECK(there.to_vector() == std::vector<int>{1, 2, 3});
  const auto other = there.to(vs[1]);
  CHECK(signal_of([q = cq::detail::array_access::data(other)] {
          if (*q != 1) ::_exit(2);
        }) == 0);
}

TEST_CASE("links take the time that their bandwidth and latency say") {
  const auto vs = cq::virtual_devices(
      cq::cpu(), {{.name = "near"}, {.name = "far", .bandwidth = 1e8, .latency = 0.005}});
  const auto x = cq::zeros<float>(cq::shape{250'000});  // 1 MB
  const auto seconds = [](auto&& f) {
    const auto began = std::chrono::steady_clock::now();
    f();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
  };
  CHECK(seconds([&] { (void)x.to(vs[1]); }) >= 0.015);
  const auto far = x.to(vs[1]);
  CHECK(seconds([&] { (void)far.to(vs[0]); }) >= 0.015);
  CHECK(seconds([&] { (void)x.to(vs[0]); }) < 0.015);
}

TEST_CASE("devices come and go on many threads at once") {
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([t] {
      for (int i = 0; i < 50; ++i) {
        const auto vs = cq::virtual_devices(cq::cpu(), {{.name = "t" + std::to_string(t)}, {}});
        const auto x = cq::full(cq::shape{100}, t + i).to(vs[0]).to(vs[1]);
        if (x.to(cq::cpu())(99) != t + i) std::abort();
        (void)cq::devices();
      }
    });
  for (auto& t : threads) t.join();
  CHECK(names_of(cq::devices()) == names{"cpu:0"});
}
