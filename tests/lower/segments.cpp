// Programs cut into segments: what waits between them, and the same bits as window by window.
#include "calque/lower/segments.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstring>
#include <vector>

#include "calque/backend/cpu/isa.hpp"
#include "calque/ops/math.hpp"
#include "calque/ops/select.hpp"

namespace {

using calque::ins;
using calque::load;
using calque::program;
using calque::splat;
using calque::store;
using calque::detail::heavy_program;
using calque::detail::registers;
using calque::detail::segments_of;
using calque::detail::strip_windows;
using calque::detail::waiting_room;
namespace op = calque::op;

// where(x < a, erf(exp(x) * a), x) and, in double, sqrt(log(t)): three long instructions.
using mixed = program<splat<0, float>, load<1, float>, ins<op::exp, float, float, 1>,
                      ins<op::mul, float, float, 2, 0>, ins<op::less, bool, float, 1, 0>,
                      ins<op::erf, float, float, 3>, ins<op::where, float, float, 4, 5, 1>,
                      store<2, float, 6>, load<4, double>, ins<op::log, double, double, 8>,
                      ins<op::sqrt, double, double, 9>, store<3, double, 10>>;
constexpr auto& plan = segments_of<mixed>;
static_assert(plan.count == 3);
static_assert(plan.of[2] == 0 && plan.of[4] == 0 && plan.of[5] == 1 && plan.of[8] == 1 &&
              plan.of[9] == 2 && plan.of[11] == 2);
static_assert(plan.last[1] == 1 && plan.last[2] == 0 && plan.last[3] == 1 && plan.last[8] == 2 &&
              plan.last[9] == 2);
static_assert(strip_windows<mixed> == 16);

using light = program<load<0, float>, ins<op::sqrt, float, float, 0>,
                      ins<op::add, float, float, 1, 0>, store<1, float, 2>>;
static_assert(segments_of<light>.count == 1 && heavy_program<light>);
using lightest = program<load<0, float>, ins<op::add, float, float, 0, 0>, store<1, float, 1>>;
static_assert(segments_of<lightest>.count == 1 && !heavy_program<lightest>);

struct by_strip {
  template <int VB>
  CALQUE_INLINE static void run(void* const* data, int windows) {
    constexpr int W = VB / 8;
    registers<W, mixed> r;
    waiting_room<VB, mixed> rooms[strip_windows<mixed>];
    calque::detail::evaluate_uniform<W, mixed>(r, data);
    calque::detail::evaluate_strip<W, mixed>(r, rooms, {data, 0, W}, windows,
                                             std::make_integer_sequence<int, plan.count>{});
  }
};
struct by_window {
  template <int VB>
  CALQUE_INLINE static void run(void* const* data, int windows) {
    constexpr int W = VB / 8;
    registers<W, mixed> r;
    calque::detail::evaluate_uniform<W, mixed>(r, data);
    for (int u = 0; u < windows; ++u)
      calque::detail::evaluate_window<W, true, mixed>(r, {data, u * W, W});
  }
};

template <calque::isa Level>
void compare() {
  if (calque::detail::detect_isa() < Level) return;
  constexpr int W = calque::vector_bytes(Level) / 8;
  for (int windows = 0; windows <= strip_windows<mixed>; ++windows) {
    const auto n = static_cast<std::size_t>(windows * W);
    float a = 0.75f;
    std::vector<float> x(n + 1);
    for (std::size_t i = 0; i < n; ++i) x[i] = static_cast<float>(i) * 0.031f - 1;
    std::vector<float> y(n + 1, -7.f), z(y);
    std::vector<double> v(n + 1, -7.), w(v), t(n + 1, 3.5);
    for (std::size_t i = 0; i < n; ++i) t[i] += static_cast<double>(i);
    void* first[] = {&a, x.data(), y.data(), v.data(), t.data()};
    void* second[] = {&a, x.data(), z.data(), w.data(), t.data()};
    calque::detail::on<Level>::template run<by_window>(static_cast<void* const*>(first), windows);
    calque::detail::on<Level>::template run<by_strip>(static_cast<void* const*>(second), windows);
    INFO("windows ", windows);
    CHECK(std::memcmp(y.data(), z.data(), (n + 1) * sizeof(float)) == 0);
    CHECK(std::memcmp(v.data(), w.data(), (n + 1) * sizeof(double)) == 0);
    void* third[] = {&a, x.data(), x.data(), w.data(), t.data()};  // in place
    calque::detail::on<Level>::template run<by_strip>(static_cast<void* const*>(third), windows);
    CHECK(std::memcmp(x.data(), y.data(), n * sizeof(float)) == 0);
  }
}

}  // namespace

TEST_CASE("a strip in segments gives the bits of window by window, in place too") {
  compare<calque::isa::baseline>();
  compare<calque::isa::avx2>();
  compare<calque::isa::avx512>();
}
