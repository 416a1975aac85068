// The elementwise kernel against plain loops, at every instruction set, over every kind of layout.
#include "calque/backend/cpu/map.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <vector>

#include "backend/blocks.hpp"
#include "calque/ops/cast.hpp"
#include "calque/ops/math.hpp"
#include "calque/ops/select.hpp"
#include "support/effort.hpp"

namespace {

using namespace blocks;
using calque::geometry;
using calque::ins;
using calque::load;
using calque::operand_layout;
using calque::program;
using calque::splat;
using calque::store;
using calque::detail::launch_map;
using calque::detail::launch_single;
using calque::detail::map_scratch;
namespace op = calque::op;

// a * x + y, and whether x < y; a is the same for all elements.
template <class T>
using axpy =
    program<splat<0, T>, load<1, T>, load<2, T>, ins<op::mul, T, T, 0, 1>, ins<op::add, T, T, 3, 2>,
            ins<op::less, bool, T, 1, 2>, store<3, T, 4>, store<4, bool, 5>>;

geometry domain(const extents& e, const std::vector<operand_layout>& o, int inputs, int outputs) {
  geometry g;
  g.rank = g.kept = static_cast<std::int32_t>(e.size());
  g.inputs = inputs, g.outputs = outputs;
  for (std::size_t a = 0; a < e.size(); ++a) g.extents[a] = e[a];
  g.size = g.kept_size = count(e);
  g.operands = o.data();
  return g;
}

template <class P>
void run(const geometry& g, const std::vector<void*>& data, bool single = false) {
  scratch room(map_scratch(g));
  if (single) launch_single<P>(g, data.data(), room.data());
  else launch_map<P>(g, data.data(), room.data());
  CHECK(room.intact());
}

template <class T>
void fill(block<T>& b, std::mt19937& random) {
  for (std::size_t i = 0; i < b.size(); ++i)
    b.raw(i) = static_cast<T>(static_cast<int>(random() % 13) - 6);
}

template <class T>
void any_layout(unsigned seed, bool single) {
  std::mt19937 random(seed);
  const std::int64_t sizes[] = {0, 1, 2, 3, 7, 33, 65, 600};
  for (int i = 0; i < calque::test::rounds(120); ++i) {
    CAPTURE(seed);
    CAPTURE(i);
    extents e;
    for (auto rank = random() % 5; rank > 0; --rank)
      e.push_back(sizes[random() % (rank > 2 ? 5u : 8u)]);
    block<T> a(extents{}), x(e, any_strides(e, true, random)), y(e, any_strides(e, true, random));
    block<T> out(e, any_strides(e, false, random)), want(e, out.strides());
    block<bool> less(e, any_strides(e, false, random)), want_less(e, less.strides());
    fill(a, random), fill(x, random), fill(y, random);
    operand_layout uniform = a.layout();
    uniform.linear = false;
    const std::vector<operand_layout> o = {uniform, x.layout(), y.layout(), out.layout(),
                                           less.layout()};
    run<axpy<T>>(domain(e, o, 3, 2), {a.data(), x.data(), y.data(), out.data(), less.data()},
                 single);
    for_each(e, [&](const extents& at) {
      want.at(at) =
          calque::detail::wrap_add(calque::detail::wrap_mul(a.at({}), x.at(at)), y.at(at));
      want_less.at(at) = x.at(at) < y.at(at);
    });
    CHECK(out.same(want));
    CHECK(less.same(want_less));
  }
}

}  // namespace

TEST_CASE("an elementwise program gives the plain loop's values for any layout") {
  at_each_level([](calque::isa level) {
    const unsigned seed = 10 * static_cast<unsigned>(level);
    any_layout<float>(seed + 1, false);
    any_layout<double>(seed + 2, false);
    any_layout<std::int32_t>(seed + 3, false);
    any_layout<std::int8_t>(seed + 4, false);
    any_layout<std::uint16_t>(seed + 5, false);
  });
}

TEST_CASE("the kernel of a single step gives the same") { any_layout<float>(99, true); }

TEST_CASE("every size around vectors and tiles, at any address, writes exactly its elements") {
  at_each_level([](calque::isa) {
    std::vector<std::int64_t> sizes = {511, 512, 513, 1023, 1024, 1025, 100003};
    for (std::int64_t n = 0; n <= 130; ++n) sizes.push_back(n);
    for (const std::int64_t n : sizes) {
      for (std::int64_t shift = 0; shift < 3; ++shift) {
        const std::size_t room = static_cast<std::size_t>(n + shift + 3);
        std::vector<float> x(room, 2), y(room, 3), out(room, -1);
        std::unique_ptr<bool[]> less(new bool[room]());
        float a = 4;
        const std::vector<operand_layout> o(5, operand_layout{calque::dtype::float32, true, {1}});
        std::vector<operand_layout> typed = o;
        typed[4].type = calque::dtype::boolean;
        run<axpy<float>>(domain({n}, typed, 3, 2), {&a, x.data() + shift, y.data() + shift,
                                                    out.data() + shift, less.get() + shift});
        bool right = true;
        for (std::size_t i = 0; i < room; ++i) {
          const bool inside =
              i >= static_cast<std::size_t>(shift) && i < static_cast<std::size_t>(n + shift);
          right = right && out[i] == (inside ? 11.f : -1.f) && less[i] == inside;
        }
        CAPTURE(n);
        CAPTURE(shift);
        CHECK(right);
      }
    }
  });
}

TEST_CASE("an element's bits do not depend on its place: body, tail, alone, or gathered") {
  // functions whose lanes might round otherwise than a lone element
  using smooth =
      program<load<0, float>, ins<op::exp, float, float, 0>, ins<op::log, float, float, 1>,
              ins<op::tanh, float, float, 2>, ins<op::mul, float, float, 3, 1>,
              ins<op::add, float, float, 4, 0>, ins<op::sqrt, float, float, 1>,
              ins<op::div, float, float, 5, 6>, store<1, float, 7>>;
  at_each_level([](calque::isa) {
    std::mt19937 random(5);
    std::uniform_real_distribution<float> some(-3, 3);
    const std::int64_t n = 1031;
    block<float> x(extents{n}), all(extents{n}), one(extents{1});
    for (std::int64_t i = 0; i < n; ++i) x.at({i}) = some(random);
    const std::vector<operand_layout> whole = {x.layout(), all.layout()};
    run<smooth>(domain({n}, whole, 1, 1), {x.data(), all.data()});
    for (std::int64_t i = 0; i < n; ++i) {
      const std::vector<operand_layout> o = {one.layout(), one.layout()};
      run<smooth>(domain({1}, o, 1, 1), {&x.at({i}), one.data()});
      REQUIRE(std::memcmp(&one.at({0}), &all.at({i}), sizeof(float)) == 0);
    }
    block<float> wide(extents{n}, extents{3}), gathered(extents{n}, extents{-2});
    for (std::int64_t i = 0; i < n; ++i) wide.at({i}) = x.at({i});
    const std::vector<operand_layout> o = {wide.layout(), gathered.layout()};
    run<smooth>(domain({n}, o, 1, 1), {wide.data(), gathered.data()});
    for (std::int64_t i = 0; i < n; ++i)
      REQUIRE(std::memcmp(&gathered.at({i}), &all.at({i}), sizeof(float)) == 0);
  });
}

TEST_CASE("an output may be written over the input it is computed from") {
  at_each_level([](calque::isa) {
    for (const std::int64_t n : {1, 7, 16, 33, 1025}) {
      using twice = program<load<0, float>, ins<op::add, float, float, 0, 0>, store<1, float, 1>>;
      block<float> x(extents{n});
      for (std::int64_t i = 0; i < n; ++i) x.at({i}) = static_cast<float>(i);
      const std::vector<operand_layout> o = {x.layout(), x.layout()};
      run<twice>(domain({n}, o, 1, 1), {x.data(), x.data()});
      bool right = true;
      for (std::int64_t i = 0; i < n; ++i) right = right && x.at({i}) == static_cast<float>(2 * i);
      CHECK(right);
    }
  });
}
