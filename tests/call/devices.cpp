#include <calque/calque.hpp>
#include <calque/ops/sort.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <tuple>
#include <vector>

#include "support/message_of.hpp"

namespace cq = calque;
using namespace cq::literals;

namespace {

using cq::test::message_of;

constexpr auto axpy = cq::trace([](auto x, auto y, auto a) { return a * x + y; });
constexpr auto softmax = cq::trace([](auto x) { return cq::softmax(x, cq::axis<1>); });

}  // namespace

TEST_CASE("D1: a guard around a call moves it: arguments are copied, results stay there") {
  const auto vs = cq::virtual_devices(cq::cpu(), {{.name = "a0", .kind = cq::device_kind::cpu}});
  const cq::array<float, 1> x{1, 2, 3}, y{10, 20, 30};
  const auto before = vs[0].counters();
  {
    const cq::device_guard on{vs[0]};
    const auto z = axpy(x, y, 2.f);
    CHECK(z.device() == vs[0]);
    CHECK(z.to_vector() == std::vector<float>{12, 24, 36});
    const auto now = vs[0].counters();
    CHECK(now.transfers_in == before.transfers_in + 2);
    CHECK(now.transfers_out == before.transfers_out + 1);
    CHECK(now.launches == before.launches + 1);
    const auto w = axpy(z, z, 1.f);  // what is there already is not copied
    CHECK(w.device() == vs[0]);
    CHECK(vs[0].counters().transfers_in == now.transfers_in);
    CHECK(w.to_vector() == std::vector<float>{24, 48, 72});
  }
  const auto h = axpy(x, y, 2.f);
  CHECK(h.device() == cq::device{});
  CHECK(axpy.graphs() == 1);
}

TEST_CASE("D1, D2, D3: guards in a body move what is traced after them; the inner one counts") {
  const auto vs = cq::virtual_devices(cq::cpu(), {{.name = "a0", .kind = cq::device_kind::cpu},
                                                  {.name = "a1", .kind = cq::device_kind::cpu}});
  constexpr auto f = cq::trace([](auto x) {
    const cq::device_guard outer{cq::device_name{"a0"}, x};
    auto first = cq::exp(x);
    auto second = [&] {
      const cq::device_guard inner{cq::device_name{"a1"}, x};
      return first * 2.f + cq::sum(x);
    }();
    auto third = [&] {
      const cq::device_guard nowhere{cq::none, x};
      return cq::tanh(x);
    }();
    return std::tuple{first, second, third, first - x};
  });
  constexpr auto plain = cq::trace([](auto x) {
    auto first = cq::exp(x);
    return std::tuple{first, first * 2.f + cq::sum(x), cq::tanh(x), first - x};
  });
  const cq::array<float, 1> x{0.5f, -1, 2};
  const auto expected = plain(x);
  const auto check = [&](const auto& r, const cq::device& third) {
    CHECK(std::get<0>(r).device() == vs[0]);
    CHECK(std::get<1>(r).device() == vs[1]);
    CHECK(std::get<2>(r).device() == third);
    CHECK(std::get<3>(r).device() == vs[0]);
    CHECK(std::get<0>(r).to_vector() == std::get<0>(expected).to_vector());
    CHECK(std::get<1>(r).to_vector() == std::get<1>(expected).to_vector());
    CHECK(std::get<2>(r).to_vector() == std::get<2>(expected).to_vector());
    CHECK(std::get<3>(r).to_vector() == std::get<3>(expected).to_vector());
  };
  check(f(x), cq::device{});
  {
    const cq::device_guard call{vs[1]};  // for what asks for no device
    check(f(x), vs[1]);
  }
  CHECK(f.graphs() == 1);
  CHECK(vs[0].counters().transfers_in == 2);  // x, once a call
}

TEST_CASE("D11, D12, D21: a plan says where a value is, what asked for it, and why; nothing runs") {
  const auto vs = cq::virtual_devices(cq::cpu(), {{.name = "a0", .kind = cq::device_kind::cpu},
                                                  {.name = "a1", .kind = cq::device_kind::cpu}});
  constexpr auto f = cq::trace([](auto x, auto w) {
    auto a = [&] {
      const cq::device_guard on{cq::device_name{"a0"}, x};
      return cq::named(cq::exp(x), "A");
    }();
    auto b = cq::named(cq::sum(a * a), "B");
    w += b;
    return std::tuple{a, b};
  });
  const cq::array<float, 1> x{1, 2};
  cq::variable<float, 1> w{cq::array<float, 1>{0, 0}, "w"};
  const auto ask = [&](const char* name) {
    const auto p = f.plan(x, w).placement_of(name);
    return p.assigned.name() + " | " + p.requested.value_or("-") + " | " + p.reason;
  };
  CHECK(ask("A") == "a0 | a0 | asked for by a guard in the body");
  CHECK(ask("B") == "cpu:0 | - | the default device");
  {
    const cq::device_guard on{vs[1]};
    CHECK(ask("A") == "a0 | a0 | asked for by a guard in the body");
    CHECK(ask("B") == "a1 | - | the guard around the call");
    const auto p = f.plan(x, w);
    CHECK(p.placement_of(0).assigned == vs[0]);
    CHECK(p.placement_of(1).assigned == vs[1]);
    CHECK(p.explain().find("transfer cpu:0 to a0") != std::string::npos);
    CHECK(p.explain().find(" on a1") != std::string::npos);
    CHECK(p.peak_bytes(vs[0]).count() > 0);
    CHECK(message_of([&] { (void)p.placement_of("C"); }) ==
          "placement_of: nothing is called \"C\"; there are A, B");
    CHECK_THROWS_AS((void)p.placement_of(2), cq::index_error);
  }
  CHECK(f.stats().launches == 0);
  constexpr auto plain = cq::trace([](auto v) { return cq::named(v + 1, "y"); });
  CHECK(plain.plan(x).placement_of("y").reason == "the default device");
  const cq::device_guard on{cq::cpu()};
  CHECK(plain.plan(x).placement_of("y").assigned == cq::device{});
}

TEST_CASE(
    "D10, D14: a sink gets a line a value and transfer, once a plan; without one there is "
    "silence") {
  const auto vs = cq::virtual_devices(cq::cpu(), {{.name = "a0", .kind = cq::device_kind::cpu}});
  constexpr auto f = cq::trace([](auto x) {
    auto h = [&] {
      const cq::device_guard on{cq::device_name{"a0"}, x};
      return cq::named(cq::exp(x), "h");
    }();
    return cq::sum(h * h);
  });
  std::vector<std::string> lines;
  const cq::array<float, 1> x{1, 2};
  cq::set_log_sink([&](std::string_view line) { lines.emplace_back(line); });
  (void)f(x);
  (void)f(x);
  const std::vector<std::string> expected{
      "transfer: (transfer): a0  requested=- reason=copied for who reads it",
      "h: (exp): a0  requested=a0 reason=asked for by a guard in the body",
      "transfer_1: (transfer): cpu:0  requested=- reason=copied for who reads it",
      "mul: (mul): cpu:0  requested=- reason=the default device",
      "sum: (sum): cpu:0  requested=- reason=the default device"};
  CHECK(lines == expected);
  cq::set_log_sink(nullptr);
  f.clear();
  (void)f(x);
  CHECK(lines.size() == expected.size());
}

TEST_CASE(
    "D13: a record takes down device, times and bytes of each step, and is a trace for viewers") {
  const auto vs = cq::virtual_devices(
      cq::cpu(), {{.name = "a0", .kind = cq::device_kind::cpu, .latency = 0.004}});
  constexpr auto f = cq::trace([](auto x) {
    auto h = [&] {
      const cq::device_guard on{cq::device_name{"a0"}, x};
      return cq::named(cq::exp(x), "h \"x\"");
    }();
    return cq::named(cq::cumsum(h, cq::axis<0>), "s");
  });
  const cq::array<float, 1> x{0, 0};
  cq::record rec;
  const auto before = cq::device{}.counters().launches;
  CHECK(f(rec, x).to_vector() == std::vector<float>{1, 2});
  CHECK(cq::device{}.counters().launches == before + 1);
  REQUIRE(rec.steps().size() == 4);
  const char* const nodes[] = {"transfer", "h \"x\"", "transfer", "s"};
  const char* const ops[] = {"transfer", "exp", "transfer", "cumsum"};
  for (std::size_t i = 0; i < 4; ++i) {
    const cq::recorded_step& s = rec.steps()[i];
    CHECK(s.node == nodes[i]);
    CHECK(s.op == ops[i]);
    CHECK(s.where == (i < 2 ? vs[0] : cq::device{}));
    CHECK(s.bytes == (i % 2 == 0 ? 8 : 16));
    CHECK(s.end >= s.start);
    if (i > 0) CHECK(s.start >= rec.steps()[i - 1].end);
    if (i % 2 == 0) CHECK(s.end - s.start >= 0.004);
  }
  const std::string json = rec.json();
  CHECK(json.find(
            "{\"name\":\"h \\\"x\\\"\",\"cat\":\"exp\",\"ph\":\"X\",\"pid\":1,\"tid\":0,\"ts\":") !=
        json.npos);
  CHECK_THROWS_AS(rec.save("/no/such/folder/trace.json"), cq::value_error);
  (void)f(rec, x);
  CHECK(rec.steps().size() == 8);
  rec.clear();
  constexpr auto plain = cq::trace([](auto v) { return v * 2.f; });
  CHECK(plain(rec, x).to_vector() == std::vector<float>{0, 0});
  CHECK(rec.steps().size() == 1);
}

TEST_CASE("D16: without a guard the first accelerator with the kernels is used, else the host") {
  constexpr auto f = cq::trace([](auto x) {
    return std::tuple{cq::named(x + 1.f, "plus"), cq::named(cq::matmul(x, x), "product")};
  });
  const cq::array<float, 2> x{{1, 2}, {3, 4}};
  CHECK(std::get<0>(f(x)).device() == cq::device{});
  {
    const auto vs = cq::virtual_devices(cq::cpu(), {{.name = "p", .kind = cq::device_kind::cpu},
                                                    {.name = "a0", .missing = {"matmul"}},
                                                    {.name = "a1"}});
    CHECK(cq::default_device() == vs[1]);
    const auto r = f(x);
    CHECK(std::get<0>(r).device() == vs[1]);
    CHECK(std::get<1>(r).device() == vs[2]);
    CHECK(std::get<1>(r).to_vector() == std::vector<float>{7, 10, 15, 22});
    CHECK(f.plan(x).placement_of("plus").reason == "the default device");
    {
      const cq::device_guard on{cq::cpu()};
      CHECK(std::get<0>(f(x)).device() == cq::device{});
    }
    cq::default_device(cq::cpu());
    CHECK(std::get<0>(f(x)).device() == cq::device{});
    cq::default_device(vs[0]);
    CHECK(std::get<1>(f(x)).device() == vs[0]);
    cq::reset_default_device();
    CHECK(cq::default_device() == vs[1]);
  }
  CHECK(cq::default_device() == cq::device{});
  CHECK(std::get<0>(f(x)).device() == cq::device{});
}

TEST_CASE("D8: soft placement takes another device, by scope, and says so") {
  const auto vs = cq::virtual_devices(
      cq::cpu(), {{.name = "a0", .kind = cq::device_kind::cpu, .missing = {"exp"}}});
  constexpr auto f = cq::trace([](auto x) {
    const cq::device_guard on{cq::device_name{"a0"}, x};
    auto e = cq::named(cq::exp(x), "E");
    auto t = [&] {
      const cq::soft_placement any{true, x};
      const cq::device_guard far{cq::device_name{"b7"}, x};
      return cq::named(cq::tanh(x), "T");
    }();
    return std::tuple{e, t, cq::named(cq::cumsum(x, cq::axis<0>), "X")};
  });
  const cq::array<float, 1> x{0, 1};
  CHECK_THROWS_AS((void)f(x), cq::placement_error);  // exp is not in the soft scope
  const cq::soft_placement any{true};
  const auto r = f(x);
  CHECK(std::get<0>(r).device() == cq::device{});
  CHECK(std::get<1>(r).device() == cq::device{});
  CHECK(std::get<2>(r).device() == vs[0]);
  CHECK(std::get<2>(r).to_vector() == std::vector<float>{0, 1});
  const auto p = f.plan(x);
  CHECK(p.placement_of("E").reason == "soft placement: the device asked for has no kernel for it");
  CHECK(p.placement_of("E").requested.value() == "a0");
  CHECK(p.placement_of("T").reason == "soft placement: there is no device of the name asked for");
  CHECK(p.placement_of("T").requested.value() == "b7");
  CHECK(p.placement_of("X").assigned == vs[0]);
  {
    const cq::soft_placement hard{false};
    CHECK_THROWS_AS((void)f(x), cq::placement_error);
  }
}

TEST_CASE("a device is an argument: one graph, a plan for each") {
  const auto vs = cq::virtual_devices(cq::cpu(), {{.name = "a0", .kind = cq::device_kind::cpu},
                                                  {.name = "a1", .kind = cq::device_kind::cpu}});
  constexpr auto f = cq::trace([](auto x, auto left, auto right) {
    auto a = [&] {
      const cq::device_guard on{left, x};
      return cq::named(cq::exp(x), "A");
    }();
    const cq::device_guard on{right, x};
    return std::tuple{a, a + cq::sum(x)};
  });
  const cq::array<float, 1> x{0, 0.5f};
  const cq::device host = cq::cpu();
  for (const cq::device& p : {host, vs[0], vs[1]})
    for (const cq::device& q : {host, vs[0], vs[1]}) {
      const auto r = f(x, p, q);
      CHECK(std::get<0>(r).device() == p);
      CHECK(std::get<1>(r).device() == q);
      CHECK(std::get<1>(r).to_vector()[0] == 1.5f);
      CHECK(f.plan(x, p, q).placement_of("A").assigned == p);
    }
  CHECK(f.graphs() == 1);
  CHECK(f.stats().plans == 9);
  CHECK(f.plan(x, vs[0], vs[1]).placement_of("A").requested.value() == "argument 1");
}

TEST_CASE("eager runs read arrays of any device, and leave results where guards ask for them") {
  const auto vs = cq::virtual_devices(cq::cpu(), {{.name = "a0", .kind = cq::device_kind::cpu},
                                                  {.name = "a1", .kind = cq::device_kind::cpu}});
  constexpr auto body = [](auto x, auto d) {
    auto a = [&] {
      const cq::device_guard on{cq::device_name{"a0"}, x};
      return cq::exp(x);
    }();
    auto b = [&] {
      const cq::device_guard on{d, x};
      return x + 1.f;
    }();
    return std::tuple{a, b, x * 2.f};
  };
  const auto x = cq::array<float, 1>{0, 1}.to(vs[1]);
  const auto r = cq::eager(body)(x, vs[1]);
  CHECK(std::get<0>(r).device() == vs[0]);
  CHECK(std::get<1>(r).device() == vs[1]);
  CHECK(std::get<2>(r).device() == cq::device{});
  CHECK(std::get<1>(r).to_vector() == std::vector<float>{1, 2});
  const cq::device_guard on{vs[0]};
  CHECK(std::get<2>(cq::eager(body)(x, vs[1])).device() == vs[0]);
}

TEST_CASE("D9: guards in helpers win for their operations; lock_device forbids it") {
  const auto vs = cq::virtual_devices(cq::cpu(), {{.name = "a0", .kind = cq::device_kind::cpu},
                                                  {.name = "a1", .kind = cq::device_kind::cpu}});
  constexpr auto f = cq::trace([](auto x) {
    auto helped = [](auto v) {
      const cq::device_guard on{cq::device_name{"a1"}, v};
      return cq::named(cq::exp(v), "inside");
    }(x);
    return cq::named(helped * 2.f, "outside");
  });
  const cq::array<float, 1> x{0, 1};
  {
    const cq::device_guard on{vs[0]};
    CHECK(f.plan(x).placement_of("inside").assigned == vs[1]);
    CHECK(f.plan(x).placement_of("outside").assigned == vs[0]);
  }
  {
    const cq::lock_device all{vs[0]};
    const std::string text = message_of([&] { (void)f(x); });
    CHECK(text.find("plan: exp of f32[2] named \"inside\"") == 0);
    CHECK(text.find("asks for a1, but the call is locked to a0; take cq::lock_device away") !=
          text.npos);
    CHECK_THROWS_AS((void)f(x), cq::placement_error);
  }
  const cq::lock_device all{vs[1]};  // the same device is no override
  CHECK(f(x).device() == vs[1]);
  constexpr auto locked = cq::trace([](auto v) {
    const cq::lock_device l{cq::device_name{"a1"}, v};
    const cq::device_guard same{cq::device_name{"a1"}, v};
    return v + 1.f;
  });
  CHECK(locked(x).device() == vs[1]);
}

TEST_CASE("E9: colocate_with asks for where another value is") {
  const auto vs = cq::virtual_devices(cq::cpu(), {{.name = "a0", .kind = cq::device_kind::cpu},
                                                  {.name = "a1", .kind = cq::device_kind::cpu}});
  constexpr auto f = cq::trace([](auto x, auto y) {
    auto there = [&] {
      const cq::device_guard on{cq::device_name{"a1"}, x};
      return cq::exp(x);
    }();
    auto with_value = [&] {
      const cq::device_guard on{cq::colocate_with(there)};
      return cq::tanh(x);
    }();
    const cq::device_guard on{cq::colocate_with(cq::transpose(y))};
    return std::tuple{there, with_value, x + 1.f};
  });
  const cq::array<float, 1> x{0, 1};
  const auto y = cq::array<float, 2>{{1, 2}}.to(vs[0]);
  const auto r = f(x, y);
  CHECK(std::get<0>(r).device() == vs[1]);
  CHECK(std::get<1>(r).device() == vs[1]);
  CHECK(std::get<2>(r).device() == vs[0]);
  CHECK(std::get<2>(f(x, y.to(cq::cpu()))).device() == cq::device{});
}

TEST_CASE("D6: four guards around three values and a sum: two transfers, not more") {
  const auto vs = cq::virtual_devices(cq::cpu(), {{.name = "a0", .kind = cq::device_kind::cpu}});
  constexpr auto f = cq::trace([](auto x, auto y) {
    auto a = [&] {
      const cq::device_guard g{cq::cpu(), x};
      return cq::exp(x);
    }();
    auto b = [&] {
      const cq::device_guard g{cq::cpu(), x};
      return cq::exp(y);
    }();
    const cq::device_guard g{cq::device_name{"a0"}, x};
    return a + b;
  });
  const auto before = cq::device{}.counters();
  const cq::array<float, 1> x{0, 1}, y{1, 0};
  const auto c = f(x, y);
  CHECK(c.device() == vs[0]);
  CHECK(vs[0].counters().transfers_in == 2);
  CHECK(vs[0].counters().launches == 1);
  CHECK(cq::device{}.counters().launches > before.launches);
  CHECK(c.to_vector()[0] == c.to_vector()[1]);
}

TEST_CASE(
    "guards hold in nested callees, branches, loops, and gradients follow their forward part") {
  const auto vs = cq::virtual_devices(cq::cpu(), {{.name = "a0", .kind = cq::device_kind::cpu},
                                                  {.name = "a1", .kind = cq::device_kind::cpu}});
  constexpr auto body = [](auto x, auto w, auto n) {
    const auto loss = [](auto u, auto v) {
      const auto layer = [](auto in, auto by, cq::device_name where) {
        const cq::device_guard on{where, in};
        return cq::tanh(in * by);
      };
      return cq::sum(layer(layer(v, u, cq::device_name{"a0"}), u, cq::device_name{"a1"}));
    };
    auto r = cq::value_and_grad(loss, cq::wrt<0>)(w, x);
    const cq::device_guard on{cq::device_name{"a0"}, x};
    auto looped = cq::for_loop(n, x, [&](auto, auto s) {
      const cq::device_guard inner{cq::device_name{"a1"}, s};
      return s * 1.25f + w;
    });
    auto chosen = cq::cond(
        cq::sum(x) > 0.f, [&] { return cq::exp(x); },
        [&] {
          const cq::device_guard inner{cq::device_name{"a1"}, x};
          return cq::exp(x * 2.f);
        });
    return std::tuple{r.value, r.grad, looped, chosen};
  };
  constexpr auto placed = cq::trace(body);
  const cq::array<float, 1> w{0.5f, -0.25f, 2};
  // the same body where a0 and a1 are gone is an error that names what there is
  for (float sign : {1.f, -1.f})
    for (int n : {0, 2}) {
      const cq::array<float, 1> x{sign, sign * 0.5f, sign * 0.1f};
      const auto r = placed(x, w, n);
      for (int i = 0; i < 3; ++i) {
        const auto at = static_cast<std::size_t>(i);
        const float v = x(i), u = w(i), t = std::tanh(v * u), s = std::tanh(t * u);
        const float slope = (1 - s * s) * (t + u * (1 - t * t) * v);
        CHECK(std::get<1>(r).to_vector()[at] == doctest::Approx(slope).epsilon(1e-5));
        float l = v;
        for (int k = 0; k < n; ++k) l = l * 1.25f + u;
        CHECK(std::get<2>(r).to_vector()[at] == doctest::Approx(l).epsilon(1e-6));
        const float sum = sign * 1.6f;
        CHECK(std::get<3>(r).to_vector()[at] ==
              doctest::Approx(std::exp(sum > 0 ? v : v * 2)).epsilon(1e-5));
      }
      CHECK(std::get<0>(r).device() == cq::device{});  // the sum is outside
      CHECK(std::get<2>(r).device() == vs[0]);
    }
  CHECK(vs[0].counters().launches > 0);
  CHECK(vs[1].counters().launches > 0);
}

TEST_CASE("names in a body are looked up when a call is planned; another device is another plan") {
  constexpr auto f = cq::trace([](auto x) {
    const cq::device_guard on{cq::device_name{"a0"}, x};
    return x + 1.f;
  });
  const cq::array<float, 1> x{1, 2};
  CHECK(message_of([&] { (void)f(x); }) == "device: there is no a0; there are cpu:0");
  for (int i = 0; i < 2; ++i) {
    const auto vs = cq::virtual_devices(cq::cpu(), {{.name = "a0", .kind = cq::device_kind::cpu}});
    CHECK(f(x).device() == vs[0]);
    CHECK(f(x).to_vector() == std::vector<float>{2, 3});
  }
  CHECK(f.stats().misses == 2);
  CHECK(f.stats().plans == 1);  // that for the device that is gone went
  CHECK(f.last_miss() == "a device that the function names is another");
  CHECK_THROWS_AS((void)f(x), cq::device_error);
}

TEST_CASE("D20: the same function under another guard is a second plan of one graph") {
  const auto vs = cq::virtual_devices(cq::cpu(), {{.name = "a0", .kind = cq::device_kind::cpu},
                                                  {.name = "a1", .kind = cq::device_kind::cpu}});
  const auto x = cq::reshape(cq::linspace(-1.f, 1.f, 12), cq::shape{3, 4});
  softmax.clear();
  const auto plans = softmax.stats().plans;
  const auto host = softmax(x);
  CHECK(softmax.stats().plans == plans + 1);
  for (int i = 0; i < 2; ++i)
    for (const auto& d : vs) {
      const cq::device_guard on{d};
      const auto y = softmax(x);
      CHECK(y.device() == d);
      CHECK(y.to_vector() == host.to_vector());
    }
  CHECK(softmax.stats().plans == plans + 3);
  CHECK(softmax.last_miss() == "the call is on another device than before");
  CHECK(softmax.graphs() == 1);
}

TEST_CASE("E4: five readers of one value are one transfer; what only looks stays with its data") {
  const auto vs = cq::virtual_devices(cq::cpu(), {{.name = "a0", .kind = cq::device_kind::cpu}});
  constexpr auto five = cq::trace([](auto x) {
    auto s = cq::sum(x), m = cq::max(x), p = cq::min(x);
    auto t = cq::matmul(x, cq::transpose(x));
    return std::tuple{s, m, p, t, cq::sort(x, cq::axis<0>)};
  });
  const auto x = cq::reshape(cq::linspace(-1.f, 1.f, 12), cq::shape{3, 4});
  const auto host = five(x);
  const cq::device_guard on{vs[0]};
  const auto before = vs[0].counters();
  const auto r = five(x);
  CHECK(vs[0].counters().transfers_in == before.transfers_in + 1);
  CHECK(std::get<0>(r).item() == std::get<0>(host).item());
  CHECK(std::get<1>(r).item() == 1);
  CHECK(std::get<2>(r).item() == -1);
  CHECK(std::get<3>(r).to_vector() == std::get<3>(host).to_vector());
  CHECK(std::get<4>(r).to_vector() == std::get<4>(host).to_vector());
}

TEST_CASE("E1: of a slice only its elements are copied") {
  const auto vs = cq::virtual_devices(cq::cpu(), {{.name = "a0", .kind = cq::device_kind::cpu}});
  constexpr auto part = cq::trace([](auto x) {
    auto row = cq::slice(x, cq::range{1, 2}, cq::range{});
    return cq::exp(cq::transpose(row)) + cq::sum(row);
  });
  const auto x = cq::reshape(cq::linspace(0.f, 1.f, 1000), cq::shape{10, 100});
  const auto host = part(x);
  const cq::device_guard on{vs[0]};
  const auto before = vs[0].counters().bytes_in;
  const auto y = part(x);
  CHECK(vs[0].counters().bytes_in == before + 400);
  CHECK(y.to_vector() == host.to_vector());
}

TEST_CASE("E3: variables stay where they are: reads and writes cross, in the program's order") {
  const auto vs = cq::virtual_devices(cq::cpu(), {{.name = "a0", .kind = cq::device_kind::cpu}});
  constexpr auto step = cq::trace([](auto w, auto g) {
    auto old = w + 0.f;
    w -= 0.5f * g;
    auto now = w * 2.f;
    w += 1.f;
    return std::tuple{old, now};
  });
  const cq::array<float, 1> g{2, 4};
  cq::variable<float, 1> w{cq::array<float, 1>{1, 2}, "w"}, v{cq::array<float, 1>{1, 2}, "v"};
  const auto [old, now] = step(w, g);
  const cq::device_guard on{vs[0]};
  const auto [old2, now2] = step(v, g);
  CHECK(old2.to_vector() == old.to_vector());
  CHECK(now2.to_vector() == now.to_vector());
  CHECK(v.value().device() == cq::device{});
  CHECK(v.value().to_vector() == w.value().to_vector());
}

TEST_CASE("loops, branches, gradients and draws on a device are those of the host") {
  const auto vs = cq::virtual_devices(cq::cpu(), {{.name = "a0", .kind = cq::device_kind::cpu}});
  constexpr auto f = cq::trace([](auto x, auto n, auto xs) {
    auto looped = cq::for_loop(
        n, x, [&](auto i, auto s) { return s * 1.5f + cq::sum(s) * 0.1f + cq::astype<float>(i); });
    auto chosen =
        cq::cond(cq::sum(x) > 0.f, [&] { return looped * 2.f; }, [&] { return looped - x; });
    auto g =
        cq::grad([](auto a, auto b) { return cq::sum(cq::tanh(a) * b); }, cq::wrt<0>)(x, looped);
    return std::tuple{looped, chosen, g, cq::concatenate<0>(x, xs),
                      cq::take(xs, cq::argsort(xs, cq::axis<0>), cq::axis<0>)};
  });
  for (float sign : {1.f, -1.f})
    for (int n : {0, 1, 3}) {
      const cq::array<float, 1> x{sign * 0.1f, sign * 0.2f, sign * -0.05f}, xs{3, 1, 2, 5};
      const auto host = f(x, n, xs);
      const cq::device_guard on{vs[0]};
      const auto there = f(x, n, xs);
      CHECK(std::get<0>(there).to_vector() == std::get<0>(host).to_vector());
      CHECK(std::get<1>(there).to_vector() == std::get<1>(host).to_vector());
      CHECK(std::get<2>(there).to_vector() == std::get<2>(host).to_vector());
      CHECK(std::get<3>(there).to_vector() == std::get<3>(host).to_vector());
      CHECK(std::get<4>(there).to_vector() == std::get<4>(host).to_vector());
      CHECK(std::get<1>(there).device() == vs[0]);
    }
}

TEST_CASE("destinations may be anywhere: a result is copied to where its destination is") {
  const auto vs = cq::virtual_devices(cq::cpu(), {{.name = "a0", .kind = cq::device_kind::cpu},
                                                  {.name = "a1", .kind = cq::device_kind::cpu}});
  const cq::array<float, 1> x{1, 2, 3}, y{1, 1, 1};
  cq::array<float, 1> out = cq::zeros<float>(cq::shape{3});
  auto there = out.to(vs[1]);
  {
    const cq::device_guard on{vs[0]};
    axpy.into(out, x, y, 3.f);
    axpy.into(there, x, y, 4.f);
    cq::array<float, 1> fresh;
    axpy.into(fresh, x, y, 5.f);
    CHECK(fresh.device() == vs[0]);
    CHECK(fresh.to_vector() == std::vector<float>{6, 11, 16});
  }
  CHECK(out.device() == cq::device{});
  CHECK(out.to_vector() == std::vector<float>{4, 7, 10});
  CHECK(there.device() == vs[1]);
  CHECK(there.to_vector() == std::vector<float>{5, 9, 13});
  axpy.into(there, there, x, 1.f);  // in place, from the host: there and back
  CHECK(there.to_vector() == std::vector<float>{6, 11, 16});
}

TEST_CASE("D7: an operation that the device lacks is refused by name, and nothing has changed") {
  const auto vs = cq::virtual_devices(
      cq::cpu(), {{.name = "a0", .kind = cq::device_kind::cpu, .missing = {"exp"}},
                  {.name = "a1", .kind = cq::device_kind::cpu}});
  constexpr auto f = cq::trace([](auto x) { return cq::exp(x) + 1.f; });
  const cq::array<float, 1> x{1, 2, 3};
  const cq::device_guard on{vs[0]};
  const std::string text = message_of([&] { (void)f(x); });
  CHECK(text.find("plan: a0 has no kernel for exp(f32[3])") == 0);
  CHECK(text.find("devices that have one: cpu:0, a1") != text.npos);
  CHECK_THROWS_AS((void)f(x), cq::placement_error);
  CHECK(vs[0].counters().allocations == 0);
}

TEST_CASE("a limit too small for one value throws before any launch; the next call works") {
  const auto vs = cq::virtual_devices(
      cq::cpu(), {{.name = "a0", .kind = cq::device_kind::cpu, .limit = 4_KiB}});
  const auto big = cq::ones<float>(cq::shape{2000}), small = cq::ones<float>(cq::shape{100});
  const cq::device_guard on{vs[0]};
  CHECK_THROWS_AS((void)axpy(big, big, 1.f), cq::out_of_memory);
  CHECK(vs[0].counters().launches == 0);
  CHECK(vs[0].counters().used == 0);
  CHECK(axpy(small, small, 1.f).to_vector() == std::vector<float>(100, 2.f));
}

TEST_CASE("a device that is gone runs nothing; its arrays can still be read") {
  cq::device gone;
  cq::array<float, 1> x;
  {
    const auto vs = cq::virtual_devices(cq::cpu(), {{.name = "a0", .kind = cq::device_kind::cpu}});
    gone = vs[0];
    x = cq::array<float, 1>{1, 2}.to(gone);
    const cq::device_guard on{gone};
    (void)axpy(x, x, 1.f);
  }
  CHECK(message_of([&] { const cq::device_guard on{gone}; }) ==
        "device_guard: a0 is gone; take one of the present devices");
  CHECK_THROWS_AS((void)axpy(x, x, 1.f), cq::device_error);
  CHECK(x.to_vector() == std::vector<float>{1, 2});
}
