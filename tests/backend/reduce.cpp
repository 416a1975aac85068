// The reduction kernel against plain loops, at every instruction set, over every kind of layout.
#include "calque/backend/cpu/reduce.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "backend/blocks.hpp"
#include "calque/ops/math.hpp"
#include "calque/ops/reduce.hpp"
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
using calque::detail::launch_reduce;
using calque::detail::reduce_scratch;
namespace op = calque::op;

template <class T>
using plain = program<load<0, T>, store<1, T, 0>>;

// x * y + a, with a the same for all elements.
template <class T>
using product = program<load<0, T>, load<1, T>, splat<2, T>, ins<op::mul, T, T, 0, 1>,
                        ins<op::add, T, T, 3, 2>, store<3, T, 4>>;
// From the reduced value r and an operand w: r + w, and r < w.
template <class T>
using two_outputs = program<load<0, T>, load<1, T>, ins<op::add, T, T, 0, 1>,
                            ins<op::less, bool, T, 0, 1>, store<2, T, 2>, store<3, bool, 3>>;

extents joined(const extents& a, const extents& b) {
  extents e = a;
  e.insert(e.end(), b.begin(), b.end());
  return e;
}

geometry domain(const extents& kept, const extents& reduced, const std::vector<operand_layout>& o,
                int inputs, int tail_inputs, int outputs) {
  geometry g;
  const extents all = joined(kept, reduced);
  g.rank = static_cast<std::int32_t>(all.size());
  g.kept = static_cast<std::int32_t>(kept.size());
  g.inputs = inputs, g.tail_inputs = tail_inputs, g.outputs = outputs;
  for (std::size_t a = 0; a < all.size(); ++a) g.extents[a] = all[a];
  g.size = count(all);
  g.kept_size = count(kept);
  g.operands = o.data();
  return g;
}

template <class Body, class Op, class T, class Tail>
void run(const geometry& g, const std::vector<void*>& data) {
  scratch room(reduce_scratch(g));
  launch_reduce<Body, Op, T, Tail>(g, data.data(), room.data());
  CHECK(room.intact());
}

template <class T>
void fill(block<T>& b, std::mt19937& random, int span = 9) {
  for (std::size_t i = 0; i < b.size(); ++i)
    b.raw(i) = static_cast<T>(static_cast<int>(random() % static_cast<unsigned>(span)) - span / 2);
}

/// Reduces x over its reduced axes, alone.
template <class Op, class T>
void reduce_plain(const extents& kept, const extents& reduced, block<T>& x, block<T>& out) {
  const std::vector<operand_layout> o = {x.layout(), out.layout()};
  run<plain<T>, Op, T, plain<T>>(domain(kept, reduced, o, 1, 0, 1), {x.data(), out.data()});
}

template <class T>
T wrapped_sum(T a, T b) {
  return calque::detail::wrap_add(a, b);
}

template <class T>
void any_layout(unsigned seed, int rounds) {
  std::mt19937 random(seed);
  const std::int64_t sizes[] = {0, 1, 2, 3, 7, 8, 33, 65};
  const auto some_extents = [&](int rank) {
    extents e;
    for (int a = 0; a < rank; ++a) e.push_back(sizes[random() % (rank > 2 ? 5u : 8u)]);
    return e;
  };
  for (int i = 0; i < calque::test::rounds(rounds); ++i) {
    const extents kept = some_extents(static_cast<int>(random() % 4));
    const extents reduced = some_extents(1 + static_cast<int>(random() % 3));
    const extents all = joined(kept, reduced);
    CAPTURE(seed);
    CAPTURE(i);
    block<T> x(all, any_strides(all, true, random)), y(all, any_strides(all, true, random));
    block<T> a(extents{}), w(kept, any_strides(kept, true, random));
    block<T> out(kept, any_strides(kept, false, random)), want_out = block<T>(kept, out.strides());
    block<bool> less(kept, any_strides(kept, false, random));
    block<bool> want_less(kept, less.strides());
    fill(x, random), fill(y, random), fill(a, random), fill(w, random);
    operand_layout uniform = a.layout();
    uniform.linear = false;
    const std::vector<operand_layout> o = {x.layout(), y.layout(),   uniform,
                                           w.layout(), out.layout(), less.layout()};
    run<product<T>, op::sum, T, two_outputs<T>>(
        domain(kept, reduced, o, 3, 1, 2),
        {x.data(), y.data(), a.data(), w.data(), out.data(), less.data()});
    for_each(kept, [&](const extents& k) {
      T sum{0};
      for_each(reduced, [&](const extents& r) {
        const extents at = joined(k, r);
        sum = wrapped_sum(sum, wrapped_sum(calque::detail::wrap_mul(x.at(at), y.at(at)), a.at({})));
      });
      want_out.at(k) = wrapped_sum(sum, w.at(k));
      want_less.at(k) = sum < w.at(k);
    });
    CHECK(out.same(want_out));
    CHECK(less.same(want_less));
  }
}

}  // namespace

TEST_CASE("a reduction with a body and a tail gives the plain loop's result for any layout") {
  at_each_level([](calque::isa level) {
    const unsigned seed = 100 * static_cast<unsigned>(level);
    any_layout<float>(seed + 1, 120);
    any_layout<double>(seed + 2, 120);
    any_layout<std::int32_t>(seed + 3, 120);
    any_layout<std::int8_t>(seed + 4, 120);
    any_layout<std::int64_t>(seed + 5, 60);
  });
}

TEST_CASE("sizes around lanes, blocks and tiles reduce right along rows and columns") {
  at_each_level([](calque::isa) {
    for (const std::int64_t n : {1,   2,   7,   8,    9,    31,   32,   33,   63,   65,   255,
                                 257, 511, 513, 1023, 1025, 2047, 2048, 2049, 4097, 6145, 100003}) {
      for (const std::int64_t m : {1, 2, 3, 17, 33, 64, 65, 130}) {
        if (n * m > (calque::test::sanitized ? 20000 : 400000) && m > 17) continue;
        CAPTURE(n);
        CAPTURE(m);
        block<std::int32_t> x(extents{m, n}), out(extents{m}), across(extents{n});
        for (std::int64_t i = 0; i < m; ++i)
          for (std::int64_t j = 0; j < n; ++j)
            x.at({i, j}) = static_cast<std::int32_t>((i * 31 + j * 7) % 101);
        reduce_plain<op::sum>({m}, {n}, x, out);
        bool right = true;
        for (std::int64_t i = 0; i < m; ++i) {
          std::int32_t sum = 0;
          for (std::int64_t j = 0; j < n; ++j) sum += x.at({i, j});
          right = right && out.at({i}) == sum;
        }
        CHECK(right);
        // the same block, reduced over its first axis: kept axis first
        operand_layout turned = x.layout();
        turned.linear = false;
        turned.strides[0] = 1, turned.strides[1] = n;
        const std::vector<operand_layout> o = {turned, across.layout()};
        run<plain<std::int32_t>, op::sum, std::int32_t, plain<std::int32_t>>(
            domain({n}, {m}, o, 1, 0, 1), {x.data(), across.data()});
        right = true;
        for (std::int64_t j = 0; j < n; ++j) {
          std::int32_t sum = 0;
          for (std::int64_t i = 0; i < m; ++i) sum += x.at({i, j});
          right = right && across.at({j}) == sum;
        }
        CHECK(right);
      }
    }
  });
}

TEST_CASE("C013 max and min keep a NaN in every lane and in the tail, along rows and columns") {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  at_each_level([&](calque::isa) {
    for (const std::int64_t n : {1, 2, 3, 8, 15, 64, 100, 129}) {
      CAPTURE(n);
      block<float> x(extents{n, n}), turned(extents{n, n}, extents{1, n}), out(extents{n});
      for_each({n, n}, [&](const extents& i) {
        x.at(i) = i[0] == i[1] ? nan : static_cast<float>(i[0] - i[1]);
        turned.at(i) = x.at(i);
      });
      for (block<float>* b : {&x, &turned}) {
        reduce_plain<op::reduce_min>({n}, {n}, *b, out);
        for (std::int64_t i = 0; i < n; ++i) CHECK(std::isnan(out.at({i})));
        reduce_plain<op::reduce_max>({n}, {n}, *b, out);
        for (std::int64_t i = 0; i < n; ++i) CHECK(std::isnan(out.at({i})));
      }
    }
  });
}

TEST_CASE("C010 max and min give NaN wherever it stands, and for infinities beside it") {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double inf = std::numeric_limits<double>::infinity();
  at_each_level([&](calque::isa) {
    std::vector<int> order = {0, 1, 2, 3};
    const double values[] = {nan, 3, 1, 7};
    do {
      block<double> x(extents{4}), out(extents{});
      for (int i = 0; i < 4; ++i) x.at({i}) = values[order[static_cast<std::size_t>(i)]];
      reduce_plain<op::reduce_max>({}, {4}, x, out);
      CHECK(std::isnan(out.at({})));
      reduce_plain<op::reduce_min>({}, {4}, x, out);
      CHECK(std::isnan(out.at({})));
    } while (std::next_permutation(order.begin(), order.end()));
    for (int at = 0; at < 1025; ++at) {
      block<double> x(extents{1025}), out(extents{});
      for (int i = 0; i < 1025; ++i) x.at({i}) = i == at ? nan : -inf;
      reduce_plain<op::reduce_max>({}, {1025}, x, out);
      REQUIRE(std::isnan(out.at({})));
    }
  });
}

TEST_CASE("C011 max and min of infinities are infinite, of nothing their identity") {
  const float inf = std::numeric_limits<float>::infinity();
  at_each_level([&](calque::isa) {
    for (const std::int64_t n : {1, 5, 64, 3000}) {
      block<float> x(extents{n}), out(extents{});
      for (std::int64_t i = 0; i < n; ++i) x.at({i}) = -inf;
      reduce_plain<op::reduce_max>({}, {n}, x, out);
      CHECK(out.at({}) == -inf);
      reduce_plain<op::reduce_min>({}, {n}, x, out);
      CHECK(out.at({}) == -inf);
    }
    block<float> none(extents{3, 0}), out(extents{3});
    reduce_plain<op::sum>({3}, {0}, none, out);
    for (std::int64_t i = 0; i < 3; ++i) CHECK(out.at({i}) == 0);
    reduce_plain<op::reduce_max>({3}, {0}, none, out);
    for (std::int64_t i = 0; i < 3; ++i) CHECK(out.at({i}) == -inf);
    block<std::int8_t> bytes(extents{0}), least(extents{});
    reduce_plain<op::reduce_max>({}, {0}, bytes, least);
    CHECK(least.at({}) == -128);
  });
}

TEST_CASE("empty kept axes write nothing") {
  block<float> x(extents{0, 5}), out(extents{0});
  out.raw(0) = 42;
  reduce_plain<op::sum>({0}, {5}, x, out);
  CHECK(out.raw(0) == 42);
}

TEST_CASE("bool reduces by max and min as or and and") {
  at_each_level([](calque::isa) {
    for (const std::int64_t n : {1, 2, 7, 16, 33, 2049}) {
      for (std::int64_t at = 0; at < n; at += 1 + n / 37) {
        block<bool> x(extents{2, n}), out(extents{2});
        for_each({2, n}, [&](const extents& i) { x.at(i) = (i[0] == 0) == (i[1] == at); });
        reduce_plain<op::reduce_max>({2}, {n}, x, out);
        CHECK(out.at({0}));
        CHECK(out.at({1}) == (n > 1));
        reduce_plain<op::reduce_min>({2}, {n}, x, out);
        CHECK(out.at({0}) == (n == 1));
        CHECK_FALSE(out.at({1}));
      }
    }
  });
}

TEST_CASE("C004 a float sum of millions of ones is exact, flat and along either axis") {
  at_each_level([](calque::isa) {
    const std::int64_t n = 17825792;
    block<float> x(extents{2, n}), flat(extents{}), rows(extents{2});
    std::fill_n(x.data(), 2 * n, 1.f);
    block<float> half(extents{n});
    std::fill_n(half.data(), n, 1.f);
    reduce_plain<op::sum>({}, {n}, half, flat);
    CHECK(flat.at({}) == static_cast<float>(n));
    reduce_plain<op::sum>({2}, {n}, x, rows);
    CHECK(rows.at({0}) == static_cast<float>(n));
    CHECK(rows.at({1}) == static_cast<float>(n));
    operand_layout by_column;
    by_column.type = calque::dtype::float32;
    by_column.strides[0] = 1, by_column.strides[1] = 2;
    const std::vector<operand_layout> o = {by_column, rows.layout()};
    run<plain<float>, op::sum, float, plain<float>>(domain({2}, {n}, o, 1, 0, 1),
                                                    {x.data(), rows.data()});
    CHECK(rows.at({0}) == static_cast<float>(n));
    CHECK(rows.at({1}) == static_cast<float>(n));

    block<float> tenths(extents{1000000});
    std::fill_n(tenths.data(), 1000000, 0.1f);
    reduce_plain<op::sum>({}, {1000000}, tenths, flat);
    CHECK(std::abs(static_cast<double>(flat.at({})) - 100000.0015) < 0.1);
  });
}

TEST_CASE("a row's sum does not depend on the rows beside it") {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> some(-1, 1);
  at_each_level([&](calque::isa) {
    for (const std::int64_t n : {16, 100, 2048, 5000}) {
      block<float> x(extents{700, n}), out(extents{700}), one(extents{1});
      for (std::size_t i = 0; i < x.size(); ++i) x.raw(i) = some(random);
      reduce_plain<op::sum>({700}, {n}, x, out);
      for (std::int64_t i = 0; i < 700; i += 13) {
        const std::vector<operand_layout> o = {x.layout(), one.layout()};
        run<plain<float>, op::sum, float, plain<float>>(domain({1}, {n}, o, 1, 0, 1),
                                                        {&x.at({i, 0}), one.data()});
        CHECK(one.at({0}) == out.at({i}));
      }
    }
  });
}

TEST_CASE("a body over a broadcast of kept values, as in softmax, gathers whole panels") {
  at_each_level([](calque::isa) {
    using body = program<load<0, float>, load<1, float>, ins<op::sub, float, float, 0, 1>,
                         ins<op::exp, float, float, 2>, store<2, float, 3>>;
    using tail = program<load<0, float>, ins<op::log, float, float, 0>, store<1, float, 1>>;
    const std::int64_t m = 301;
    for (const std::int64_t n : {1, 10, 64, 5000}) {
      block<float> x(extents{m, n}), top(extents{m, n}, extents{1, 0}), out(extents{m});
      for_each({m, n}, [&](const extents& i) {
        x.at(i) = static_cast<float>((i[0] * 5 + i[1] * 3) % 11);
        top.at(i) = static_cast<float>(i[0] % 4);
      });
      const std::vector<operand_layout> o = {x.layout(), top.layout(), out.layout()};
      run<body, op::sum, float, tail>(domain({m}, {n}, o, 2, 0, 1),
                                      {x.data(), top.data(), out.data()});
      for (std::int64_t i = 0; i < m; ++i) {
        double sum = 0;
        for (std::int64_t j = 0; j < n; ++j)
          sum += std::exp(double{x.at({i, j})} - double{top.at({i, 0})});
        CHECK(out.at({i}) == doctest::Approx(std::log(sum)).epsilon(1e-6));
      }
    }
  });
}
