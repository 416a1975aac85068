// What a program's type says of its operands and registers, and its evaluation on windows of lanes.
#include "calque/lower/program.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <type_traits>
#include <vector>

#include "calque/ops/cast.hpp"
#include "calque/ops/math.hpp"
#include "calque/ops/select.hpp"

namespace {

using calque::ins;
using calque::load;
using calque::program;
using calque::splat;
using calque::store;
using calque::detail::evaluate_uniform;
using calque::detail::evaluate_window;
using calque::detail::operands_of;
using calque::detail::program_traits;
using calque::detail::registers;
using calque::detail::uniform_of;
namespace op = calque::op;

// a * a + x with a uniform: register 1 (a * a) has one value for the whole loop.
using square_plus = program<splat<0, float>, ins<op::mul, float, float, 0, 0>, load<1, float>,
                            ins<op::add, float, float, 1, 2>, store<2, float, 3>>;

static_assert(square_plus::size == 5);
static_assert(uniform_of<square_plus>.of[0] && uniform_of<square_plus>.of[1]);
static_assert(!uniform_of<square_plus>.of[2] && !uniform_of<square_plus>.of[3] &&
              !uniform_of<square_plus>.of[4]);

static_assert(operands_of<square_plus>.count == 3);
static_assert(operands_of<square_plus>.of[0].uniform && !operands_of<square_plus>.of[1].uniform);
static_assert(operands_of<square_plus>.of[2].output && !operands_of<square_plus>.of[1].output);
static_assert(operands_of<square_plus>.widest == 4);

// a uniform double does not widen what is moved, but does widen the lanes; bool counts as int32
using narrow = program<splat<0, double>, load<1, std::int8_t>, ins<op::cast, bool, std::int8_t, 1>,
                       store<2, bool, 2>>;
static_assert(operands_of<narrow>.widest == 1);
static_assert(program_traits<narrow>::widest() == 8);
using bytes = program<load<0, std::int8_t>, store<1, std::int8_t, 0>>;
static_assert(program_traits<bytes>::widest() == 4);

// All that evaluation asks of a functor.
struct clipped {
  float operator()(float v, float limit) const { return v > limit ? limit : v; }
};

template <int W>
void windows() {
  float a = 3;
  std::vector<float> x(W), out(W + 2);
  for (int k = 0; k < W; ++k) x[static_cast<std::size_t>(k)] = static_cast<float>(k);
  for (int n = 0; n <= W; ++n) {
    out.assign(out.size(), -1);
    // exactly n elements at the operand's address, so that reading more is an error
    const std::vector<float> tight(x.begin(), x.begin() + n);
    void* data[] = {&a, const_cast<float*>(tight.data()), out.data() + 1};
    registers<W, square_plus> r;
    evaluate_uniform<W, square_plus>(r, data);
    if (n == W) evaluate_window<W, true, square_plus>(r, {data, 0, W});
    else evaluate_window<W, false, square_plus>(r, {data, 0, n});
    for (int k = 0; k < W + 2; ++k) {
      const bool inside = k >= 1 && k <= n;
      CHECK(out[static_cast<std::size_t>(k)] == (inside ? 9.f + static_cast<float>(k - 1) : -1.f));
    }
  }
}

}  // namespace

TEST_CASE("a window reads and writes exactly its elements, at every width") {
  windows<2>();
  windows<4>();
  windows<8>();
  windows<16>();
}

TEST_CASE("uniform operands are read once, before the loop") {
  float a = 2;
  std::vector<float> x(8, 1), out(8, 0);
  void* data[] = {&a, x.data(), out.data()};
  registers<4, square_plus> r;
  evaluate_uniform<4, square_plus>(r, data);
  a = 100;
  evaluate_window<4, true, square_plus>(r, {data, 0, 4});
  evaluate_window<4, true, square_plus>(r, {data, 4, 4});
  for (float v : out) CHECK(v == 5);
}

TEST_CASE("a functor that knows scalars only is called element by element") {
  using P =
      program<load<0, float>, load<1, float>, ins<clipped, float, float, 0, 1>, store<2, float, 2>>;
  std::vector<float> x = {1, 2, 3, 4}, y = {2, 2, 2, 5}, out(4);
  void* data[] = {x.data(), y.data(), out.data()};
  registers<4, P> r;
  evaluate_window<4, true, P>(r, {data, 0, 4});
  CHECK(out == std::vector<float>{1, 2, 2, 4});
}

TEST_CASE("any byte but 0 is true, and 1 is what is written") {
  using P = program<load<0, bool>, store<1, bool, 0>>;
  const unsigned char in[] = {0, 1, 2, 0x80, 0xff, 0, 4, 0};
  unsigned char out[8] = {};
  void* data[] = {const_cast<unsigned char*>(in), out};
  registers<8, P> r;
  evaluate_window<8, true, P>(r, {data, 0, 8});
  for (int k = 0; k < 8; ++k) CHECK(out[k] == (in[k] != 0 ? 1 : 0));
}
