// Running reductions along one axis: cumsum, cumprod, and those with a user's monoid; reductions
// with a user's monoid, which keep the elements' order; and the derivative of prod.
//
// A node says which axis, whether it runs from the last element to the first (`reverse`), and
// whether an element's result leaves it out (`exclusive`). Separate from ops/reduce.hpp, whose
// reductions may combine elements in any order.
#pragma once

#include "calque/ops/reduce.hpp"

namespace calque {
namespace detail {

/// Running reductions by direction and kind.
struct running {
  bool reverse = false, exclusive = false;
};

template <class Op>
constexpr int build_accumulation(builder& b, int id, int axis, running how = {}) {
  id = b.value_of(id);
  const node x = b.at(id);
  node n = builder::make<Op>(x.type, x.rank);
  for (int i = 0; i < x.rank; ++i) n.dims[i] = x.dims[i];
  n.axis_mask = static_cast<std::uint8_t>(1u << axis);
  n.reverse = how.reverse;
  n.exclusive = how.exclusive;
  return b.append_with(n, id);
}
constexpr int axis_of(const node& n) { return __builtin_ctz(n.axis_mask); }

/// Elements of a monoid as plain data: two combined, or the identity.
template <class F, class T>
constexpr constant combine_monoid(dtype, dtype, const constant* x) {
  if (!x) return make_constant<T>(F::template identity<T>());
  return make_constant<T>(static_cast<T>(F{}(constant_as<T>(x[0]), constant_as<T>(x[1]))));
}
template <class Op>
constexpr constant combine_builtin(dtype in, dtype out, const constant* x) {
  if (x) return evaluate<typename Op::combine>(in, out, x);
  return is_floating(out) ? make_constant<double>(Op::template identity<double>())
                          : make_constant<std::int64_t>(Op::template identity<std::int64_t>());
}

}  // namespace detail

namespace op {

struct cumsum : combining<add, 0> {
  static constexpr char name[] = "cumsum";
  static constexpr op_kind kind = op_kind::along_axis;
  static constexpr calque::constant combine_constants(dtype in, dtype out,
                                                      const calque::constant* x) {
    return detail::combine_builtin<cumsum>(in, out, x);
  }
  /// An element is in the sums that come after it: the same sums, from the other end.
  static constexpr void gradient(gradient_rule& g) {
    const node n = g.info();
    g.flow(0, {&g.b, detail::build_accumulation<cumsum>(g.b, g.dy.id, detail::axis_of(n),
                                                        {!n.reverse, n.exclusive})});
  }
};

struct cumprod : combining<mul, 1> {
  static constexpr char name[] = "cumprod";
  static constexpr op_kind kind = op_kind::along_axis;
  static constexpr calque::constant combine_constants(dtype in, dtype out,
                                                      const calque::constant* x) {
    return detail::combine_builtin<cumprod>(in, out, x);
  }
  static constexpr void gradient(gradient_rule& g);
};

/// A user's monoid `M` on elements of type T: running along an axis.
template <class M, class T>
struct accumulate_with {
  static constexpr const char* name = M::name;
  static constexpr op_kind kind = op_kind::along_axis;
  static constexpr calque::constant combine_constants(dtype in, dtype out,
                                                      const calque::constant* x) {
    return detail::combine_monoid<M, T>(in, out, x);
  }
};
/// And reduced over axes.
template <class M, class T>
struct reduce_with {
  static constexpr const char* name = M::name;
  static constexpr op_kind kind = op_kind::ordered_reduce;
  static constexpr calque::constant combine_constants(dtype in, dtype out,
                                                      const calque::constant* x) {
    return detail::combine_monoid<M, T>(in, out, x);
  }
};

}  // namespace op

namespace detail {

/// Axes in `mask` made one last axis, the others before it in order; and back.
class flattened_axes {
 public:
  constexpr flattened_axes(builder& b, const node& x, unsigned mask) : b_(b), x_(x) {
    int count = b.literal_dim(1);
    for (int pass = 0; pass < 2; ++pass)
      for (int i = 0; i < x.rank; ++i) {
        if (((mask >> i) & 1u) != static_cast<unsigned>(pass)) continue;
        perm_[at_] = static_cast<std::int8_t>(i);
        moved_[at_] = x.dims[i];
        inverse_[i] = static_cast<std::int8_t>(at_++);
        if (pass == 1) count = b.arithmetic_dim(dim_kind::mul, count, x.dims[i]);
        else flat_[kept_++] = x.dims[i];
      }
    flat_[kept_] = count;
  }
  [[nodiscard]] constexpr int axis() const { return kept_; }
  [[nodiscard]] constexpr int flatten(int id) const {
    return op::reshape::build(b_, op::transpose::build(b_, id, perm_), kept_ + 1, flat_);
  }
  [[nodiscard]] constexpr int restore(int id) const {
    return op::transpose::build(b_, op::reshape::build(b_, id, x_.rank, moved_), inverse_);
  }

 private:
  builder& b_;
  node x_;
  int at_ = 0, kept_ = 0;
  std::int8_t perm_[max_rank]{}, inverse_[max_rank]{};
  std::int32_t moved_[max_rank]{}, flat_[max_rank]{};
};

/// By element of a line: the product of all others, of those before times those after.
constexpr value others_along(gradient_rule& g, int x, int axis) {
  const value before = {&g.b, build_accumulation<op::cumprod>(g.b, x, axis, {false, true})};
  const value after = {&g.b, build_accumulation<op::cumprod>(g.b, x, axis, {true, true})};
  return before * after;
}

}  // namespace detail

/// The product of all others: right where some are zero.
constexpr void op::prod::gradient(gradient_rule& g) {
  const node n = g.info();
  const int x = g.input(0).id;
  if (__builtin_popcount(n.axis_mask) == 1) {
    g.flow(0, detail::unreduced(g, g.dy) * detail::others_along(g, x, detail::axis_of(n)));
    return;
  }
  const detail::flattened_axes axes(g.b, g.b.at(x), n.axis_mask);
  const value others = {&g.b,
                        axes.restore(detail::others_along(g, axes.flatten(x), axes.axis()).id)};
  g.flow(0, detail::unreduced(g, g.dy) * others);
}

/// An element before the first zero: the sum of what depends on it, divided by it. The first zero:
/// the same sum as if it were 1. What comes after it depends on nothing but products with that
/// zero.
constexpr void op::cumprod::gradient(gradient_rule& g) {
  const node n = g.info();
  const int axis = detail::axis_of(n);
  const detail::running same{n.reverse, n.exclusive}, back{!n.reverse, n.exclusive};
  const value x = g.input(0), one = g.number(1), none = g.number(0);
  const value zero = apply_op<op::equal>(x, none);
  const value seen = {
      &g.b, detail::build_accumulation<op::cumsum>(
                g.b, detail::build_cast(g.b, zero.id, dtype::int64), axis, {n.reverse, true})};
  const value before_any = apply_op<op::equal>(seen, value{&g.b, g.b.number(dtype::int64, 0)});
  const value filled = apply_op<op::where>(before_any, apply_op<op::where>(zero, one, x), x);
  const auto sums_of = [&](value products) {
    return value{&g.b,
                 detail::build_accumulation<op::cumsum>(g.b, (g.dy * products).id, axis, back)};
  };
  const value at_zero =
      sums_of({&g.b, detail::build_accumulation<op::cumprod>(g.b, filled.id, axis, same)});
  const value elsewhere = sums_of(g.output()) / apply_op<op::where>(zero, one, x);
  g.flow(0, apply_op<op::where>(before_any, apply_op<op::where>(zero, at_zero, elsewhere), none));
}

}  // namespace calque

CALQUE_REGISTER(calque::op::cumsum);
CALQUE_REGISTER(calque::op::cumprod);
