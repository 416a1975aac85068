// Product of two matrices. Transposed and sliced operands are read in place.
#pragma once

#include "calque/ops/views.hpp"

namespace calque::op {

struct matmul {
  static constexpr char name[] = "matmul";
  static constexpr op_kind kind = op_kind::matmul;
  static constexpr int arity = 2;
  /// `a` is (m, k), `c` is (k, n), both of one type; the plan checks the inner extents.
  static constexpr int build(builder& b, int a, int c) {
    a = b.value_of(a), c = b.value_of(c);
    const node x = b.at(a), y = b.at(c);
    node n = builder::make<matmul>(x.type, 2);
    n.dims[0] = x.dims[0];
    n.dims[1] = y.dims[1];
    b.unify(x.dims[1], y.dims[0]);
    return b.append_with(n, a, c);
  }
  static constexpr void gradient(gradient_rule& g) {
    constexpr std::int8_t swap[] = {1, 0};
    const int a = g.input(0).id, c = g.input(1).id;
    g.flow(0, {&g.b, build(g.b, g.dy.id, transpose::build(g.b, c, swap))});
    g.flow(1, {&g.b, build(g.b, transpose::build(g.b, a, swap), g.dy.id)});
  }
};

}  // namespace calque::op

CALQUE_REGISTER(calque::op::matmul);
