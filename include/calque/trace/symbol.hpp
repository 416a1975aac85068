// Symbols: what a traced function's body computes with.
//
// An `expr` is an array's stand-in, a `scalar_expr` a C++ scalar's (weak: it yields to an array's
// type), a `var_expr` a variable's. Each is a builder and a node id. Operators are hidden friends
// whose symbolic operand arrives as `located<…>`, which records the line that the user wrote.
#pragma once

#include "calque/core/promotion.hpp"
#include "calque/core/shape.hpp"
#include "calque/graph/builder.hpp"
#include "calque/trace/operation.hpp"

namespace calque {

/// A symbolic extent: what `shape{…}` holds inside a traced function.
struct symbolic_extent {
  builder* b = nullptr;
  std::int32_t id = -1;      // a scalar node made of extents and constants, or
  std::int64_t literal = 0;  // a number

  constexpr symbolic_extent() = default;
  template <std::integral I>
  constexpr symbolic_extent(I v) : literal(detail::checked_extent(v)) {}
  template <class T>
  constexpr symbolic_extent(scalar_expr<T> e) : b(e.b), id(e.id) {
    static_assert(std::is_integral_v<T>,
                  "cq::shape{...}: an extent must be an integer; write it with x.extent(i)");
  }
  template <class T, int R>
  constexpr symbolic_extent(const expr<T, R>&) {
    static_assert(detail::never<T>, CALQUE_FAULT_EXTENT);
  }
};

namespace detail {

/// A number type other than `T` and bool, which have conversions of their own.
template <class U, class T>
concept other_number = std::is_arithmetic_v<U> && !std::same_as<U, T> && !std::same_as<U, bool>;

}  // namespace detail

/// A C++ scalar given to a traced function, or computed from such: weak, rank 0.
template <class T>
struct scalar_expr {
  static_assert(element<T>);
  using value_type = T;
  using extent_type = symbolic_extent;

  builder* b = nullptr;
  std::int32_t id = -1;

  constexpr scalar_expr() = default;
  constexpr scalar_expr(builder* owner, std::int32_t node) : b(owner), id(node) {}

  constexpr explicit operator bool() const {
    static_assert(detail::never<T>, CALQUE_SYMBOL_IN_IF);
    return false;
  }
  constexpr explicit operator T() const
    requires(!std::same_as<T, bool>)
  {
    static_assert(detail::never<T>, CALQUE_SYMBOL_VALUE);
    return T{};
  }
  template <detail::other_number<T> U>
  constexpr explicit operator U() const {
    static_assert(detail::never<U>, CALQUE_SYMBOL_VALUE);
    return U{};
  }

  constexpr T item() const {
    static_assert(detail::never<T>, CALQUE_SYMBOL_VALUE);
    return T{};
  }

  constexpr scalar_expr& operator+=(const auto& y) { return update<detail::add_fn>(y); }
  constexpr scalar_expr& operator-=(const auto& y) { return update<detail::sub_fn>(y); }
  constexpr scalar_expr& operator*=(const auto& y) { return update<detail::mul_fn>(y); }
  constexpr scalar_expr& operator/=(const auto& y) { return update<detail::div_fn>(y); }

#define CALQUE_SCALAR_OPERATOR(SYMBOL, FUNCTION)                              \
  template <weak_operand B>                                                   \
  friend constexpr auto operator SYMBOL(located<scalar_expr> x, const B& y) { \
    return detail::FUNCTION{}(x.e, y, x.at);                                  \
  }                                                                           \
  template <scalar_literal A>                                                 \
  friend constexpr auto operator SYMBOL(const A& x, located<scalar_expr> y) { \
    return detail::FUNCTION{}(x, y.e, y.at);                                  \
  }
  CALQUE_BINARY_OPERATORS(CALQUE_SCALAR_OPERATOR)
#undef CALQUE_SCALAR_OPERATOR

  friend constexpr auto operator-(located<scalar_expr> x) { return detail::neg_fn{}(x.e, x.at); }

 private:
  template <class Fn>
  constexpr scalar_expr& update(const auto& y) {
    const expr<T, 0> now = detail::updated<Fn>(expr<T, 0>(b, id), y);
    id = now.id;
    return *this;
  }
};

/// A symbolic array of `Rank` axes.
template <class T, int Rank>
struct expr {
  static_assert(element<T>);
  static_assert(Rank >= 0 && Rank <= max_rank, "cq::expr: rank must be 0 to 8");
  using value_type = T;
  using extent_type = symbolic_extent;  // only to refuse it with a text

  builder* b = nullptr;
  std::int32_t id = -1;

  constexpr expr() = default;
  constexpr expr(builder* owner, std::int32_t node) : b(owner), id(node) {}

  [[nodiscard]] static constexpr int rank() { return Rank; }

  /// The symbolic extent of `axis` (negative counts from the end), an int64 scalar.
  [[nodiscard]] constexpr scalar_expr<std::int64_t> extent(int axis, location at = here()) const {
    builder& g = detail::common_builder(*this);
    g.where = at;
    if (axis < -Rank || axis >= Rank) {
      g.fail(trace_fault::axis);
      return {b, g.extent_of(g.literal_dim(1))};
    }
    return {b, g.extent_of(g.at(id).dims[axis < 0 ? axis + Rank : axis])};
  }
  /// Number of elements, an int64 scalar.
  [[nodiscard]] constexpr scalar_expr<std::int64_t> size(location at = here()) const {
    builder& g = detail::common_builder(*this);
    g.where = at;
    int d = g.literal_dim(1);
    for (int i = 0; i < Rank; ++i) d = g.arithmetic_dim(dim_kind::mul, d, g.at(id).dims[i]);
    return {b, g.extent_of(d)};
  }
  [[nodiscard]] constexpr calque::shape<Rank, symbolic_extent> shape(location at = here()) const {
    std::array<symbolic_extent, Rank> e{};
    for (int i = 0; i < Rank; ++i) e[static_cast<std::size_t>(i)] = extent(i, at);
    return calque::shape<Rank, symbolic_extent>(e);
  }

  constexpr explicit operator bool() const {
    static_assert(detail::never<T>, CALQUE_SYMBOL_IN_IF);
    return false;
  }
  constexpr explicit operator T() const
    requires(!std::same_as<T, bool>)
  {
    static_assert(detail::never<T>, CALQUE_SYMBOL_VALUE);
    return T{};
  }
  template <detail::other_number<T> U>
  constexpr explicit operator U() const {
    static_assert(detail::never<U>, CALQUE_SYMBOL_VALUE);
    return U{};
  }
  constexpr T item() const {
    static_assert(detail::never<T>, CALQUE_SYMBOL_VALUE);
    return T{};
  }
  template <class... I>
  constexpr T operator()(I...) const {
    static_assert(detail::never<T>, CALQUE_SYMBOL_VALUE);
    return T{};
  }

#define CALQUE_EXPR_OPERATOR(SYMBOL, FUNCTION)                         \
  template <operand B>                                                 \
  friend constexpr auto operator SYMBOL(located<expr> x, const B& y) { \
    return detail::FUNCTION{}(x.e, y, x.at);                           \
  }                                                                    \
  template <weak_operand A>                                            \
  friend constexpr auto operator SYMBOL(const A& x, located<expr> y) { \
    return detail::FUNCTION{}(x, y.e, y.at);                           \
  }
  CALQUE_BINARY_OPERATORS(CALQUE_EXPR_OPERATOR)
#undef CALQUE_EXPR_OPERATOR

  friend constexpr auto operator-(located<expr> x) { return detail::neg_fn{}(x.e, x.at); }

  constexpr expr& operator+=(const auto& y) {
    return *this = detail::updated<detail::add_fn>(*this, y);
  }
  constexpr expr& operator-=(const auto& y) {
    return *this = detail::updated<detail::sub_fn>(*this, y);
  }
  constexpr expr& operator*=(const auto& y) {
    return *this = detail::updated<detail::mul_fn>(*this, y);
  }
  constexpr expr& operator/=(const auto& y) {
    return *this = detail::updated<detail::div_fn>(*this, y);
  }
};

/// A variable's symbol: a handle. Each use reads the value at that point of the program; `assign`
/// and the compound operators are effects, in program order, and are never pruned.
template <class T, int Rank>
struct var_expr : expr<T, Rank> {
  using expr<T, Rank>::expr;

  /// The variable's next value: of the variable's extents, or broadcast to them.
  template <operand E>
  constexpr void assign(const E& e, location at = here()) const {
    this->b->where = at;
    const int value =
        detail::broadcast_like(*this->b, detail::store_operand<T, Rank>(*this->b, e), this->id);
    this->b->assign(this->id, value);
  }
  constexpr const var_expr& operator+=(const auto& y) const { return update<detail::add_fn>(y); }
  constexpr const var_expr& operator-=(const auto& y) const { return update<detail::sub_fn>(y); }
  constexpr const var_expr& operator*=(const auto& y) const { return update<detail::mul_fn>(y); }
  constexpr const var_expr& operator/=(const auto& y) const { return update<detail::div_fn>(y); }

 private:
  template <class Fn, class Y>
  constexpr const var_expr& update(const Y& y) const {
    const expr<T, Rank> now = *this;
    assign(detail::updated<Fn>(now, y), now.b->where);
    return *this;
  }
};

}  // namespace calque
