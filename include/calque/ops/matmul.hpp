// Product of matrices, or of batches of matrices that broadcast. Transposed and sliced operands are
// read in place.
#pragma once

#include "calque/ops/views.hpp"

namespace calque::op {

struct matmul {
  static constexpr char name[] = "matmul";
  static constexpr op_kind kind = op_kind::matmul;
  static constexpr int arity = 2;
  /// `a` is (…, m, k), `c` is (…, k, n), both of one type; leading axes broadcast. The plan checks
  /// the inner extents.
  static constexpr int build(builder& b, int a, int c) {
    a = b.value_of(a), c = b.value_of(c);
    const node x = b.at(a), y = b.at(c);
    if (x.rank > 2 && y.rank == 2 && is_dense(x.op->kind)) return build_as_one(b, a, c);
    const int rank = x.rank > y.rank ? x.rank : y.rank;
    node n = builder::make<matmul>(x.type, rank);
    for (int i = 3; i <= rank; ++i) {  // from the last one
      const int d = i <= x.rank ? x.dims[x.rank - i] : -1,
                e = i <= y.rank ? y.dims[y.rank - i] : -1;
      n.dims[rank - i] = d < 0 ? e : e < 0 ? d : b.broadcast_dim(d, e);
    }
    n.dims[rank - 2] = x.dims[x.rank - 2];
    n.dims[rank - 1] = y.dims[y.rank - 1];
    b.unify(x.dims[x.rank - 1], y.dims[y.rank - 2]);
    return b.append_with(n, a, c);
  }
  static constexpr void gradient(gradient_rule& g) {
    const int a = g.input(0).id, c = g.input(1).id;
    g.flow(0, {&g.b, build(g.b, g.dy.id, transposed(g.b, c))});
    g.flow(1, {&g.b, build(g.b, transposed(g.b, a), g.dy.id)});
  }
  /// The last two axes swapped.
  static constexpr int transposed(builder& b, int id) {
    const int rank = b.at(id).rank;
    std::int8_t perm[max_rank]{};
    for (int i = 0; i < rank; ++i) perm[i] = static_cast<std::int8_t>(i);
    perm[rank - 2] = static_cast<std::int8_t>(rank - 1);
    perm[rank - 1] = static_cast<std::int8_t>(rank - 2);
    return transpose::build(b, id, perm);
  }

 private:
  static constexpr bool is_dense(op_kind k) {
    return k != op_kind::transpose && k != op_kind::slice && k != op_kind::broadcast_to;
  }
  /// Many matrices times one are one product, of which the derivative with respect to the one is a
  /// product as well, not a sum of many.
  static constexpr int build_as_one(builder& b, int a, int c) {
    const node x = b.at(a);
    std::int32_t flat[2] = {x.dims[0], x.dims[x.rank - 1]}, dims[max_rank]{};
    for (int i = 1; i < x.rank - 1; ++i)
      flat[0] = b.arithmetic_dim(dim_kind::mul, flat[0], x.dims[i]);
    const int product = build(b, reshape::build(b, a, 2, flat), c);
    for (int i = 0; i < x.rank - 1; ++i) dims[i] = x.dims[i];
    dims[x.rank - 1] = b.at(product).dims[1];
    return reshape::build(b, product, x.rank, dims);
  }
};

}  // namespace calque::op

CALQUE_REGISTER(calque::op::matmul);
