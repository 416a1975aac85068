// Operations on parts of arrays: slice, which moves no data; insert and concatenate, which put a
// result together from parts, each written to its place by one step. They are each other's
// gradients.
#pragma once

#include "calque/core/range.hpp"
#include "calque/ops/views.hpp"

namespace calque {
namespace detail {

/// Entries of the extents' table for the ranges of `count` axes, one after the other; the first
/// one's id. Equal ones are shared.
constexpr int ranges_of(builder& b, const dim* ranges, int count) {
  for (int first = 0; first + count <= b.g.dims.size(); ++first) {
    int i = 0;
    while (i < count && b.g.dims[first + i] == ranges[i]) ++i;
    if (i == count) return first;
  }
  const int first = b.g.dims.size();
  for (int i = 0; i < count; ++i) b.g.dims.push(ranges[i]);
  return first;
}
/// How many indices range `r` keeps of extent `d`.
constexpr int count_dim(builder& b, int d, int r) {
  const dim bounds = b.g.dims[r], e = b.g.dims[b.canonical(d)];
  const dim lo = b.g.dims[b.canonical(bounds.a)], hi = b.g.dims[b.canonical(bounds.b)];
  if (lo.kind == dim_kind::literal && hi.kind == dim_kind::literal) {
    if (lo.value == range::open && hi.value == range::open && bounds.value * bounds.value == 1)
      return d;
    if (e.kind == dim_kind::literal)
      return b.literal_dim(resolve({lo.value, hi.value, bounds.value}, e.value).count);
  }
  return b.dim_of({dim_kind::count, b.canonical(d), r, 0});
}
/// The range of a whole axis.
constexpr dim whole_range(builder& b) {
  const int open = b.literal_dim(range::open);
  return {dim_kind::range, open, open, 1};
}
/// A range of `count` indices from `first` on, `step` apart; extents of the table.
constexpr dim part_range(builder& b, int first, int count) {
  return {dim_kind::range, first, b.arithmetic_dim(dim_kind::add, first, count), 1};
}

}  // namespace detail

namespace op {

struct insert;

struct slice {
  static constexpr char name[] = "slice";
  static constexpr op_kind kind = op_kind::slice;
  static constexpr int arity = 1;
  /// `ranges` has an entry for each axis; `dims` the extents that they keep.
  static constexpr int build(builder& b, int id, const dim* ranges, const std::int32_t* dims) {
    id = b.value_of(id);
    node n = builder::make<slice>(b.at(id).type, b.at(id).rank);
    n.index = detail::ranges_of(b, ranges, n.rank);
    for (int i = 0; i < n.rank; ++i) n.dims[i] = dims[i];
    return b.append_with(n, id);
  }
  static constexpr int build(builder& b, int id, const dim* ranges) {
    id = b.value_of(id);
    const node x = b.at(id);
    const dim whole = detail::whole_range(b);
    bool all = true;
    for (int i = 0; i < x.rank; ++i) all = all && ranges[i] == whole;
    if (all) return id;
    const int first = detail::ranges_of(b, ranges, x.rank);
    std::int32_t dims[max_rank]{};
    for (int i = 0; i < x.rank; ++i) dims[i] = detail::count_dim(b, x.dims[i], first + i);
    return build(b, id, ranges, dims);
  }
  static constexpr void gradient(gradient_rule& g);
};

/// `whole` with `part` in place of what the ranges keep of it.
struct insert {
  static constexpr char name[] = "insert";
  static constexpr op_kind kind = op_kind::insert;
  static constexpr int arity = 2;
  static constexpr int build(builder& b, int whole, int part, const dim* ranges,
                             bool widths = false) {
    whole = b.value_of(whole), part = b.value_of(part);
    node n = builder::make<insert>(b.at(whole).type, b.at(whole).rank);
    n.keepdims = widths;
    n.index = detail::ranges_of(b, ranges, n.rank);
    for (int i = 0; i < n.rank; ++i) n.dims[i] = b.at(whole).dims[i];
    return b.append_with(n, whole, part);
  }
  static constexpr void ranges_of(const builder& b, const node& n, dim* ranges) {
    for (int i = 0; i < n.rank; ++i) ranges[i] = b.g.dims[n.index + i];
  }
  static constexpr void gradient(gradient_rule& g) {
    dim ranges[max_rank]{};
    ranges_of(g.b, g.info(), ranges);
    const node part = g.input(1).info();
    const bool constant = g.input(0).info().op->kind == op_kind::broadcast_to &&
                          g.b.at(g.b.input(g.input(0).id, 0)).op->kind == op_kind::constant;
    if (!constant) {
      const int none = broadcast_to::build(g.b, g.number(0).id, part.rank, part.dims);
      g.flow(0, {&g.b, build(g.b, g.dy.id, none, ranges)});
    }
    g.flow(1, {&g.b, slice::build(g.b, g.dy.id, ranges, part.dims)});
  }
};

constexpr void slice::gradient(gradient_rule& g) {
  dim ranges[max_rank]{};
  insert::ranges_of(g.b, g.info(), ranges);
  const node x = g.input(0).info();
  const int none = broadcast_to::build(g.b, g.number(0).id, x.rank, x.dims);
  g.flow(0, {&g.b, insert::build(g.b, none, g.dy.id, ranges)});
}

struct concatenate {
  static constexpr char name[] = "concatenate";
  static constexpr op_kind kind = op_kind::concatenate;
  /// Values of one type and rank; the plan checks that the other extents are equal.
  static constexpr int build(builder& b, const std::int32_t* parts, int count, int axis) {
    detail::list<std::int32_t> ids;
    for (int k = 0; k < count; ++k) ids.push(b.value_of(parts[k]));
    if (count == 1) return ids[0];
    const node first = b.at(ids[0]);
    node n = builder::make<concatenate>(first.type, first.rank);
    n.index = axis;
    for (int i = 0; i < n.rank; ++i) n.dims[i] = first.dims[i];
    for (int k = 1; k < count; ++k)
      for (int i = 0; i < n.rank; ++i) {
        const int d = b.at(ids[k]).dims[i];
        if (i == axis) n.dims[i] = b.arithmetic_dim(dim_kind::add, n.dims[i], d);
        else b.unify(n.dims[i], d);
      }
    return b.append(n, ids.begin(), count);
  }
  static constexpr void gradient(gradient_rule& g) {
    const node n = g.info();
    dim ranges[max_rank]{};
    for (int i = 0; i < n.rank; ++i) ranges[i] = detail::whole_range(g.b);
    int first = g.b.literal_dim(0);
    for (int k = 0; k < n.inputs; ++k) {
      const node part = g.input(k).info();
      ranges[n.index] = detail::part_range(g.b, first, part.dims[n.index]);
      g.flow(k, {&g.b, slice::build(g.b, g.dy.id, ranges, part.dims)});
      first = g.b.arithmetic_dim(dim_kind::add, first, part.dims[n.index]);
    }
  }
};

}  // namespace op
}  // namespace calque
