// The loops of running reductions on blocks by themselves: their last result, and results written
// past the caches, at every instruction set.
#include "calque/backend/cpu/accumulate_loops.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <cstdlib>
#include <memory>
#include <vector>

#include "backend/blocks.hpp"
#include "calque/ops/accumulate.hpp"

namespace {

using namespace blocks;
namespace op = calque::op;

/// `first ? carry, carry + x0, ...` of whole numbers, which every order adds up to the same.
template <class T>
void check(std::int64_t n, int in_step, int out_step, bool carried, bool past_caches) {
  CAPTURE(n);
  CAPTURE(in_step);
  CAPTURE(out_step);
  CAPTURE(past_caches);
  constexpr std::int64_t guard = 64 / static_cast<std::int64_t>(sizeof(T));
  std::vector<T> in(static_cast<std::size_t>(n));
  for (std::int64_t i = 0; i < n; ++i) in[static_cast<std::size_t>(i)] = static_cast<T>(i % 7 - 3);
  struct release {
    void operator()(T* p) const { std::free(p); }
  };
  const auto size = static_cast<std::size_t>((n + 3 * guard) / guard * 64);
  const std::unique_ptr<T, release> room(static_cast<T*>(std::aligned_alloc(64, size)));
  T* const out = room.get() + guard;
  for (std::int64_t i = -guard; i < n + guard; ++i) out[i] = T{77};
  alignas(8) T carry[8 / sizeof(T)] = {T{5}};
  calque::detail::scan_run b{in_step > 0 ? in.data() : in.data() + n - 1,
                             out_step > 0 ? out : out + n - 1,
                             n,
                             in_step,
                             out_step,
                             carried ? carry : nullptr,
                             carry,
                             past_caches};
  calque::detail::scan_program_of<op::cumsum, T>().block(b);
  calque::detail::end_streaming();
  T sum = carried ? T{5} : T{0};
  bool right = true;
  for (std::int64_t i = 0; i < n; ++i) {
    sum = static_cast<T>(sum + in[static_cast<std::size_t>(in_step > 0 ? i : n - 1 - i)]);
    right = right && out[out_step > 0 ? i : n - 1 - i] == sum;
  }
  CHECK(right);
  CHECK(*carry == sum);
  for (std::int64_t i = 1; i <= guard; ++i) right = right && out[-i] == 77 && out[n + i - 1] == 77;
  CHECK(right);
}

template <class T>
void check_all() {
  for (const std::int64_t n : {1, 2, 3, 7, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 4096})
    for (const bool carried : {false, true}) {
      check<T>(n, 1, 1, carried, true);
      for (const int in_step : {1, -1})
        for (const int out_step : {1, -1}) check<T>(n, in_step, out_step, carried, false);
    }
}

}  // namespace

TEST_CASE("a block's running sums end in its last result, wherever they are written") {
  at_each_level([](calque::isa) {
    check_all<float>();
    check_all<double>();
    check_all<std::int32_t>();
    check_all<std::int64_t>();
    check_all<std::int8_t>();
  });
}
