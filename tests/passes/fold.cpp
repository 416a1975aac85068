#include "calque/passes/fold.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <limits>

#include "calque/graph/dump.hpp"
#include "calque/ops/cast.hpp"
#include "calque/ops/math.hpp"
#include "calque/ops/select.hpp"
#include "calque/ops/views.hpp"
#include "calque/passes/verify.hpp"
#include "support/arguments.hpp"

namespace {

using namespace calque;
using namespace calque::test;

constexpr dtype f32 = dtype::float32, i32 = dtype::int32;
constexpr double infinity = std::numeric_limits<double>::infinity();

/// 500 nodes: constants to evaluate, identities, views.
struct five_hundred {
  constexpr graph operator()() const {
    builder b;
    const int first = array_of(b, f32, 2);
    constexpr std::int8_t swapped[] = {1, 0};
    int x = first;
    while (b.g.nodes.size() < 492) {
      const int half = b.map_of<op::div>(f32, b.number(f32, 1), b.number(f32, 2));
      x = b.map_of<op::mul>(f32, x, half);
      x = b.map_of<op::mul>(f32, x, b.map_of<op::add>(f32, half, half));
      x = op::transpose::build(b, op::transpose::build(b, x, swapped), swapped);
    }
    return finish(b, x);
  }
};
struct folded {
  constexpr graph operator()() const { return fold(frozen_by<five_hundred>::view()); }
};

/// Folds the function of one float matrix that `make` builds; the result, and what became of it.
struct outcome {
  graph g;
  int x = -1;
  int result = -1;
  fold_counts counts;

  [[nodiscard]] bool is_argument() const { return result == x; }
  [[nodiscard]] const node& at() const { return g.nodes[result]; }
  [[nodiscard]] int times(fold_rule r) const { return counts.of[static_cast<int>(r)]; }
};
template <class Make>
outcome after_fold(Make make, dtype type = f32, int rank = 2) {
  builder b;
  const int x = array_of(b, type, rank);
  const int y = make(b, x);
  const graph g = finish(b, y);
  REQUIRE(verify(g.view()) == nullptr);
  outcome o;
  o.g = fold(g.view(), &o.counts);
  REQUIRE(verify(o.g.view()) == nullptr);
  o.x = o.g.arguments[0].node;
  o.result = o.g.view().result(0);
  return o;
}

/// The constant that `Op` on two literals folds to, or false.
template <class Op>
bool folds_to(dtype t, constant a, constant b, constant expected, dtype out) {
  const outcome o = after_fold(
      [&](builder& g, int) { return g.map_of<Op>(out, g.constant_of(t, a), g.constant_of(t, b)); });
  return o.at().op->kind == op_kind::constant && o.at().type == out &&
         constant::identical(o.at().value, expected);
}
template <class Op>
bool stays(constant a, constant b) {
  const outcome o = after_fold([&](builder& g, int) {
    return g.map_of<Op>(f32, g.constant_of(f32, a), g.constant_of(f32, b));
  });
  return o.at().op->kind == op_kind::map;
}

}  // namespace

static_assert(frozen_by<five_hundred>::view().node_count >= 492);
static_assert(frozen_by<folded>::view().nodes[frozen_by<folded>::view().result(0)].op ==
              &op_info_of<op::mul>);
static_assert(verify(frozen_by<folded>::view()) == nullptr);

TEST_CASE("fold evaluates operations on constants as the kernels would") {
  CHECK(folds_to<op::add>(f32, {0.1f, 0}, {0.2f, 0}, {0.1f + 0.2f, 0}, f32));
  CHECK(folds_to<op::div>(f32, {1, 0}, {3, 0}, {1.f / 3.f, 0}, f32));
  CHECK(folds_to<op::mul>(dtype::float64, {0.1, 0}, {3, 0}, {0.1 * 3, 0}, dtype::float64));
  CHECK(folds_to<op::less>(f32, {1, 0}, {2, 0}, {0, 1}, dtype::boolean));
  CHECK(folds_to<op::add>(dtype::uint8, {0, 200}, {0, 100}, {0, 44}, dtype::uint8));
  const std::int64_t least = std::numeric_limits<std::int32_t>::min();
  CHECK(folds_to<op::div>(i32, {0, least}, {0, -1}, {0, least}, i32));  // C044
  CHECK(folds_to<op::div>(i32, {0, 7}, {0, 0}, {0, 0}, i32));           // C043
}

TEST_CASE("fold goes through chains of constants and extents") {
  const outcome o = after_fold([](builder& b, int) {
    const int two = b.extent_of(b.literal_dim(2));
    return b.map_of<op::mul>(f32, b.map_of<op::cast>(f32, two), b.number(f32, 4));
  });
  CHECK(o.at().op->kind == op_kind::constant);
  CHECK(o.at().value.f == 8);
  CHECK(o.times(fold_rule::extent) == 1);
  CHECK(o.times(fold_rule::evaluate) == 2);
}

TEST_CASE("fold leaves to run time what overflows, gives NaN, or has no constant evaluation") {
  CHECK(stays<op::mul>({1e38, 0}, {10, 0}));
  CHECK(stays<op::add>({infinity, 0}, {-infinity, 0}));
  CHECK(stays<op::div>({0, 0}, {0, 0}));
  CHECK(stays<op::mul>({1e-30, 0}, {1e-30, 0}));
  const outcome o =
      after_fold([](builder& b, int) { return b.map_of<op::exp>(f32, b.number(f32, 1)); });
  CHECK(o.at().op == &op_info_of<op::exp>);
}

TEST_CASE("fold removes x*1, 1*x and x/1 where the extents are x's") {
  CHECK(after_fold([](builder& b, int x) {
          return b.map_of<op::mul>(f32, x, b.number(f32, 1));
        }).is_argument());
  CHECK(after_fold([](builder& b, int x) {
          return b.map_of<op::mul>(f32, b.number(f32, 1), x);
        }).is_argument());
  CHECK(after_fold([](builder& b, int x) {
          return b.map_of<op::div>(f32, x, b.number(f32, 1));
        }).is_argument());
  CHECK_FALSE(after_fold([](builder& b, int x) {
                return b.map_of<op::div>(f32, b.number(f32, 1), x);
              }).is_argument());
  const auto with_ones = [](bool same, bool computed = false) {
    return after_fold([=](builder& b, int x) {
      const std::int32_t dims[] = {b.at(x).dims[0], same ? b.at(x).dims[1] : b.literal_dim(3)};
      const int y = computed ? b.map_of<op::exp>(f32, x) : x;
      const int three = op::broadcast_to::build(b, b.number(f32, 2), 2, dims);
      const node all = b.at(same ? x : b.map_of<op::mul>(f32, x, three));
      const int ones = op::broadcast_to::build(b, b.number(f32, 1), 2, all.dims);
      return b.map_of<op::mul>(f32, y, ones);
    });
  };
  CHECK(with_ones(true).is_argument());
  // x may be (n, 1): a view of an argument, and computed values stay in their kernel
  CHECK(with_ones(false).at().op->kind == op_kind::broadcast_to);
  CHECK(with_ones(false, true).at().op->kind == op_kind::map);
}

TEST_CASE("fold keeps the sign of zero: only x-0 and x+(-0) are x (C046)") {
  const auto plus = [](double v) {
    return after_fold(
               [v](builder& b, int x) { return b.map_of<op::add>(f32, b.number(f32, v), x); })
        .is_argument();
  };
  const auto minus = [](double v) {
    return after_fold(
               [v](builder& b, int x) { return b.map_of<op::sub>(f32, x, b.number(f32, v)); })
        .is_argument();
  };
  CHECK(plus(-0.0));
  CHECK_FALSE(plus(0.0));
  CHECK(minus(0.0));
  CHECK_FALSE(minus(-0.0));
  CHECK(
      after_fold([](builder& b, int x) { return b.map_of<op::add>(i32, x, b.number(i32, 0)); }, i32)
          .is_argument());
  CHECK_FALSE(after_fold([](builder& b, int x) {
                return b.map_of<op::sub>(f32, b.number(f32, 0), x);
              }).is_argument());
}

TEST_CASE("fold makes none of the rewrites that are wrong somewhere (C046, C047, C050)") {
  const auto unchanged = [](auto make) {
    builder b;
    const int x = array_of(b, f32, 2);
    const int y = make(b, x);
    const graph g = finish(b, y);
    return dump(fold(g.view()).view()) == dump(g.view());
  };
  CHECK(unchanged([](builder& b, int x) { return b.map_of<op::mul>(f32, x, b.number(f32, 0)); }));
  CHECK(unchanged([](builder& b, int x) { return b.map_of<op::sub>(f32, x, x); }));
  CHECK(unchanged([](builder& b, int x) { return b.map_of<op::div>(f32, x, x); }));
  CHECK(unchanged([](builder& b, int x) { return b.map_of<op::div>(f32, b.number(f32, 0), x); }));
  CHECK(unchanged(
      [](builder& b, int x) { return b.map_of<op::log>(f32, b.map_of<op::exp>(f32, x)); }));
  CHECK(unchanged(
      [](builder& b, int x) { return b.map_of<op::sqrt>(f32, b.map_of<op::mul>(f32, x, x)); }));
  CHECK(unchanged([](builder& b, int x) {  // (x + 1) + 2
    return b.map_of<op::add>(f32, b.map_of<op::add>(f32, x, b.number(f32, 1)), b.number(f32, 2));
  }));
  CHECK(unchanged([](builder& b, int x) {  // narrow and wide again
    return b.map_of<op::cast>(f32, b.map_of<op::cast>(dtype::float64, x));
  }));
}

TEST_CASE("fold removes double negation and casts to the same type") {
  CHECK(after_fold([](builder& b, int x) {
          return b.map_of<op::neg>(f32, b.map_of<op::neg>(f32, x));
        }).is_argument());
  CHECK(after_fold([](builder& b, int x) { return b.map_of<op::cast>(f32, x); }).is_argument());
}

TEST_CASE("fold composes transposes and removes those that move nothing") {
  constexpr std::int8_t turn[] = {1, 2, 0}, still[] = {0, 1, 2};
  const outcome two = after_fold(
      [&](builder& b, int x) {
        return op::transpose::build(b, op::transpose::build(b, x, turn), turn);
      },
      f32, 3);
  CHECK(two.at().op->kind == op_kind::transpose);
  CHECK(two.g.view().input(two.result, 0) == two.x);
  CHECK(two.at().perm[0] == 2);
  CHECK(two.at().perm[1] == 0);
  CHECK(two.at().perm[2] == 1);
  const outcome three = after_fold(
      [&](builder& b, int x) {
        for (int i = 0; i < 3; ++i) x = op::transpose::build(b, x, turn);
        return x;
      },
      f32, 3);
  CHECK(three.is_argument());
  CHECK(after_fold([&](builder& b, int x) { return op::transpose::build(b, x, still); }, f32, 3)
            .is_argument());
}

TEST_CASE("fold keeps the transpose of a matrix that is known to be square") {
  const outcome o = after_fold([](builder& b, int x) {
    constexpr std::int8_t swapped[] = {1, 0};
    b.unify(b.at(x).dims[0], b.at(x).dims[1]);
    return op::transpose::build(b, x, swapped);
  });
  CHECK_FALSE(o.is_argument());
}

TEST_CASE("fold knows an extent that is proven equal to a literal") {
  const outcome o = after_fold([](builder& b, int x) {
    b.unify(b.at(x).dims[0], b.literal_dim(7));
    return b.extent_of(b.at(x).dims[0]);
  });
  CHECK(o.at().op->kind == op_kind::constant);
  CHECK(o.at().value.i == 7);
}

TEST_CASE("fold composes reshapes where no check of the inner one is lost") {
  const outcome squeezed = after_fold([](builder& b, int x) {
    const std::int32_t wide[] = {b.at(x).dims[0], b.literal_dim(1), b.at(x).dims[1]},
                       flat[] = {b.arithmetic_dim(dim_kind::mul, b.at(x).dims[0], b.at(x).dims[1])};
    return op::reshape::build(b, op::reshape::build(b, x, 3, wide), 1, flat);
  });
  CHECK(squeezed.at().op->kind == op_kind::reshape);
  CHECK(squeezed.g.view().input(squeezed.result, 0) == squeezed.x);
  const outcome back = after_fold([](builder& b, int x) {
    const std::int32_t wide[] = {b.at(x).dims[0], b.literal_dim(1), b.at(x).dims[1]};
    const std::int32_t dims[] = {b.at(x).dims[0], b.at(x).dims[1]};
    return op::reshape::build(b, op::reshape::build(b, x, 3, wide), 2, dims);
  });
  CHECK(back.is_argument());
  const outcome checked = after_fold([](builder& b, int x) {  // 12 elements only
    const std::int32_t dozen[] = {b.literal_dim(12)};
    const std::int32_t dims[] = {b.at(x).dims[0], b.at(x).dims[1]};
    return op::reshape::build(b, op::reshape::build(b, x, 1, dozen), 2, dims);
  });
  CHECK(checked.at().op->kind == op_kind::reshape);
  CHECK(checked.g.view().input_node(checked.result, 0).op->kind == op_kind::reshape);
}

TEST_CASE("fold removes reshape, broadcast_to and sum_to to the extents that x has") {
  const auto to = [](auto info, bool proven) {
    return after_fold([=](builder& b, int x) {
             node n = builder::make<op::input>(f32, 2);
             n.op = info;
             n.dims[0] = b.at(x).dims[0];
             n.dims[1] = proven ? b.at(x).dims[1] : b.literal_dim(3);
             return b.append_with(n, x);
           })
        .is_argument();
  };
  for (const op_info* o :
       {&op_info_of<op::reshape>, &op_info_of<op::broadcast_to>, &op_info_of<op::sum_to>}) {
    CHECK(to(o, true));
    CHECK_FALSE(to(o, false));
  }
}

TEST_CASE("fold takes the branch of a where whose predicate is known, if it has the extents") {
  const auto chosen = [](bool p, bool smaller) {
    return after_fold([=](builder& b, int x) {
      const int c = b.constant_of(dtype::boolean, {0, p}), y = b.number(f32, 2);
      return smaller ? b.map_of<op::where>(f32, c, y, x) : b.map_of<op::where>(f32, c, x, y);
    });
  };
  CHECK(chosen(true, false).is_argument());
  CHECK(chosen(false, true).is_argument());
  CHECK(chosen(true, true).at().op->kind == op_kind::map);
  CHECK(chosen(false, false).at().op->kind == op_kind::map);
}

TEST_CASE("fold removes markers once no gradient is left") {
  const auto marked = [](bool with_gradient) {
    return after_fold([=](builder& b, int x) {
      node m = builder::make<op::marker>(f32, 2);
      m.dims[0] = b.at(x).dims[0], m.dims[1] = b.at(x).dims[1];
      const int y = b.append_with(m, x);
      if (with_gradient) b.append_with(builder::make<op::gradient>(dtype::none), y, y);
      return y;
    });
  };
  CHECK(marked(false).is_argument());
  CHECK_FALSE(marked(true).is_argument());
}

TEST_CASE("fold works inside regions and on their results") {
  builder b;
  const int x = array_of(b, f32, 1), p = argument_of(b, argument_kind::scalar, dtype::boolean);
  const int r0 = b.begin_region(false);
  const int y = b.map_of<op::mul>(f32, x, b.number(f32, 1));
  end_region(b, y);
  const int r1 = b.begin_region(false);
  const int z = b.map_of<op::add>(f32, b.number(f32, 1), b.number(f32, 2));
  const int w = b.map_of<op::mul>(f32, x, z);
  end_region(b, w);
  const int owner = cond_of(b, p, r0, r1);
  const graph g = finish(b, b.result_of(owner, 0, b.at(x)));
  const graph h = fold(g.view());
  CHECK(verify(h.view()) == nullptr);
  CHECK(h.view().result(0, 1) == h.arguments[0].node);
  CHECK(h.view().input_node(h.view().result(0, 2), 1).value.f == 3);
}

TEST_CASE("fold moves the name of what it removes to what stands for it") {
  builder b;
  const int x = array_of(b, f32, 1);
  const int y = b.map_of<op::exp>(f32, x);
  const int z = b.map_of<op::mul>(f32, y, b.number(f32, 1));
  b.set_name(z, "logits");
  const graph g = finish(b, z);
  const graph h = fold(g.view());
  CHECK(h.view().name(h.nodes[h.view().result(0)]) == "logits");
}
