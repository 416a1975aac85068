// The GPU's elementwise kernel, compiled by a plain C++ compiler and run on the CPU thread by
// thread.
#include "cuda/map_cases.hpp"

#include <doctest/doctest.h>

namespace {

using map_cases::disagreement;

void run_in(cuda_stand_in::order o) {
  cuda_stand_in::run_threads(o);
  int cases = 0;
  map_cases::run_all([&](const char* name, const std::string& fault) {
    ++cases;
    CHECK_MESSAGE(fault.empty(), name, ": ", fault);
  });
  CHECK(cases > 300);
  cuda_stand_in::run_threads(cuda_stand_in::order::forward);
}

}  // namespace

TEST_CASE("the GPU's elementwise kernel agrees with the CPU's and with a plain loop") {
  run_in(cuda_stand_in::order::forward);
}
TEST_CASE("no thread of the elementwise kernel depends on another") {
  run_in(cuda_stand_in::order::backward);
}

TEST_CASE("a wrong result is reported") {
  const auto wrong = [](const map_cases::element& e) {
    e.out<float>(3, e.in<float>(0) * e.in<float>(1) - e.in<float>(2));
  };
  CHECK(disagreement(map_cases::axpy<float>{}, {9}, {}, wrong) ==
        "operand 3 of 9 elements: the GPU's kernel differs from a plain loop");
}

TEST_CASE("an empty domain launches nothing, and a large one no more blocks than needed") {
  using map_cases::axpy;
  const long long before = cuda_stand_in::launches();
  CHECK(disagreement(axpy<float>{}, {0}, {}, map_cases::axpy_plain<float>).empty());
  CHECK(cuda_stand_in::launches() == before);
  const long long threads = cuda_stand_in::threads();
  CHECK(disagreement(axpy<float>{}, {100000}, {}, map_cases::axpy_plain<float>).empty());
  CHECK(cuda_stand_in::launches() == before + 1);
  CHECK(cuda_stand_in::threads() - threads < 100000 / 4 + 256);  // four floats a thread
  CHECK(calque::detail::blocks_for(std::int64_t{1} << 40) == calque::detail::map_blocks);
}

TEST_CASE("domains and strides beyond 31 bits take 64-bit indices") {
  calque::operand_layout o;
  o.strides[0] = 1;
  calque::geometry g;
  g.rank = 1, g.inputs = 1, g.operands = &o;
  g.size = g.extents[0] = 1000;
  CHECK(calque::detail::fits_int32(g));
  o.strides[0] = -3'000'000;
  CHECK_FALSE(calque::detail::fits_int32(g));
  o.strides[0] = 1;
  g.size = g.extents[0] = std::int64_t{1} << 31;
  CHECK_FALSE(calque::detail::fits_int32(g));
}

TEST_CASE("64-bit indices find the same elements") {
  using P = map_cases::axpy<float>;
  std::vector<float> x(33), y(33), narrow(33, -1.f), wide(33, -2.f), wide_packs(33, -3.f);
  float a = 3;
  for (std::size_t i = 0; i < 33; ++i) x[i] = static_cast<float>(i), y[i] = 0.5f * x[i];
  calque::operand_layout o[4];
  calque::geometry g;
  g.rank = 2, g.inputs = 3, g.outputs = 1, g.operands = o;
  g.extents[0] = 3, g.extents[1] = 11, g.size = 33;
  for (auto& layout : o) layout.strides[0] = 11, layout.strides[1] = 1;
  o[1].strides[0] = 1, o[1].strides[1] = 3;
  calque::detail::map_pointers<4> p{{&a, x.data(), y.data(), narrow.data()}};
  calque::detail::launch_elements<std::int32_t>(P{}, g, false, p, nullptr);
  p.of[3] = wide.data();
  calque::detail::launch_elements<std::int64_t>(P{}, g, false, p, nullptr);
  CHECK(narrow == wide);
  CHECK(narrow[12] == 3 * x[4] + y[12]);
  p.of[3] = wide_packs.data();
  calque::detail::launch(1, 64, nullptr, &calque::detail::map_packs<P, 2, std::int64_t>, p,
                         std::int64_t{33});
  for (std::size_t i = 0; i < 33; ++i) CHECK(wide_packs[i] == 3 * x[i] + y[i]);
}

TEST_CASE("a launch that the device refuses is a device_error") {
  CHECK_THROWS_WITH_AS(calque::detail::launch(
                           1, 2000, nullptr, +[](int) {}, 1),
                       "calque: kernel launch: invalid configuration argument",
                       calque::device_error);
}
