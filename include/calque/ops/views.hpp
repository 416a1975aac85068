// Operations that rearrange extents: transpose, reshape, broadcast_to; and sum_to, their inverse in
// gradients. The first three move no data where strides can express them.
#pragma once

#include "calque/graph/gradient_rule.hpp"

namespace calque {
namespace detail {

constexpr bool extents_are(const builder& b, const node& n, int rank, const std::int32_t* dims) {
  if (n.rank != rank) return false;
  for (int i = 0; i < rank; ++i)
    if (!b.same_dim(n.dims[i], dims[i])) return false;
  return true;
}

template <class Op>
constexpr int build_with_extents(builder& b, int id, int rank, const std::int32_t* dims) {
  id = b.value_of(id);
  if (extents_are(b, b.at(id), rank, dims)) return id;
  node n = builder::make<Op>(b.at(id).type, rank);
  for (int i = 0; i < rank; ++i) n.dims[i] = dims[i];
  return b.append_with(n, id);
}

}  // namespace detail

namespace op {

struct transpose {
  static constexpr char name[] = "transpose";
  static constexpr op_kind kind = op_kind::transpose;
  static constexpr int arity = 1;
  static constexpr int build(builder& b, int id, const std::int8_t* perm) {
    id = b.value_of(id);
    const node& x = b.at(id);
    node n = builder::make<transpose>(x.type, x.rank);
    for (int i = 0; i < x.rank; ++i) n.perm[i] = perm[i], n.dims[i] = x.dims[perm[i]];
    return b.append_with(n, id);
  }
  static constexpr void gradient(gradient_rule& g) {
    std::int8_t inverse[max_rank]{};
    const node& n = g.info();
    for (int i = 0; i < n.rank; ++i) inverse[n.perm[i]] = static_cast<std::int8_t>(i);
    g.flow(0, {&g.b, build(g.b, g.dy.id, inverse)});
  }
};

struct reshape {
  static constexpr char name[] = "reshape";
  static constexpr op_kind kind = op_kind::reshape;
  static constexpr int arity = 1;
  static constexpr int build(builder& b, int id, int rank, const std::int32_t* dims) {
    return detail::build_with_extents<reshape>(b, id, rank, dims);
  }
  /// A value that has to have these extents already: the plan compares each (`keepdims` says so).
  static constexpr int unchanged(builder& b, int id, const std::int32_t* dims) {
    id = b.value_of(id);
    node n = builder::make<reshape>(b.at(id).type, b.at(id).rank);
    if (detail::extents_are(b, b.at(id), n.rank, dims)) return id;
    n.keepdims = true;
    for (int i = 0; i < n.rank; ++i) n.dims[i] = dims[i];
    return b.append_with(n, id);
  }
  static constexpr void gradient(gradient_rule& g) {
    const node x = g.input(0).info();
    g.flow(0, {&g.b, build(g.b, g.dy.id, x.rank, x.dims)});
  }
};

struct broadcast_to {
  static constexpr char name[] = "broadcast_to";
  static constexpr op_kind kind = op_kind::broadcast_to;
  static constexpr int arity = 1;
  static constexpr int build(builder& b, int id, int rank, const std::int32_t* dims) {
    return detail::build_with_extents<broadcast_to>(b, id, rank, dims);
  }
  static constexpr void gradient(gradient_rule& g) { g.flow(0, g.dy); }  // summed down by the pass
};

struct sum_to {
  static constexpr char name[] = "sum_to";
  static constexpr op_kind kind = op_kind::sum_to;
  static constexpr int arity = 1;
  static constexpr int build(builder& b, int id, int rank, const std::int32_t* dims) {
    return detail::build_with_extents<sum_to>(b, id, rank, dims);
  }
  static constexpr void gradient(gradient_rule& g) {
    const node x = g.input(0).info();
    g.flow(0, {&g.b, broadcast_to::build(g.b, g.dy.id, x.rank, x.dims)});
  }
};

}  // namespace op
}  // namespace calque
