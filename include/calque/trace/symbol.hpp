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
#include "calque/trace/operation_functions.hpp"

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
/// The same for what is no extent itself, a width or a stride: the function that takes it refuses
/// what is negative, by its own name.
struct symbolic_size : symbolic_extent {
  constexpr symbolic_size() = default;
  template <std::integral I>
  constexpr symbolic_size(I v) {
    if constexpr (std::is_signed_v<I>) literal = v;
    else literal = detail::checked_extent(v);
  }
  template <class E>
    requires(!std::integral<E> && std::convertible_to<E, symbolic_extent>)
  constexpr symbolic_size(const E& e) : symbolic_extent(e) {}
};

namespace detail {

/// A node of a trace. Also knows in which region the C++ object was made: code in a region inside
/// that one runs once, while tracing, so it must not make the object stand for another node.
class handle {
 public:
  builder* b = nullptr;
  std::int32_t id = -1;

  constexpr handle() = default;
  constexpr handle(builder* owner, std::int32_t node)
      : b(owner), id(node), region_(owner ? owner->open() : -1) {}
  constexpr handle(const handle& h) : handle(h.b, h.id) {}
  constexpr handle& operator=(const handle& h) {
    if (made_outside()) b->fail(h.made_in_open() ? trace_fault::escaped : trace_fault::rebound);
    b = h.b;
    id = h.id;
    region_ = b ? b->open() : -1;
    return *this;
  }

  /// For `x op= y`, before the result is assigned.
  constexpr void check_change() const {
    if (made_outside()) b->fail(trace_fault::rebound);
  }

 private:
  [[nodiscard]] constexpr bool made_in_open() const {
    return b && id >= 0 && b->at(id).region == b->open();
  }
  [[nodiscard]] constexpr bool made_outside() const {
    return b && region_ >= 0 && region_ != b->open() && b->encloses_open(region_);
  }

  std::int32_t region_ = -1;
};

/// A number type other than `T` and bool, which have conversions of their own.
template <class U, class T>
concept other_number = std::is_arithmetic_v<U> && !std::same_as<U, T> && !std::same_as<U, bool>;

}  // namespace detail

/// A C++ scalar given to a traced function, or computed from such: weak, rank 0.
template <class T>
struct scalar_expr : detail::handle {
  static_assert(element<T>);
  using value_type = T;
  using extent_type = symbolic_extent;

  constexpr scalar_expr() = default;
  constexpr scalar_expr(builder* owner, std::int32_t node) : handle(owner, node) {}

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

  template <class I>
  constexpr scalar_expr operator[](const I&) const {
    static_assert(detail::never<I>, CALQUE_SYMBOL_ELEMENT);
    return *this;
  }

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
  // an exact match: by way of `located` it would be no better than bool's own; the line is that of
  // the operation before
  friend constexpr auto operator!(const scalar_expr& x) {
    return detail::not_fn{}(x, x.b ? x.b->where.alone() : location{});
  }
  friend constexpr auto operator~(located<scalar_expr> x) {
    return detail::bitwise_not_fn{}(x.e, x.at);
  }

// `class Y`, not `auto`: of abbreviated friend templates nvcc finds only the first
#define CALQUE_SCALAR_UPDATE(SYMBOL, FUNCTION)                                                     \
  template <class Y>                                                                               \
  friend constexpr scalar_expr& operator SYMBOL(detail::changed<scalar_expr> x, const Y & y) {     \
    x.e.check_change();                                                                            \
    const expr<T, 0> next = detail::updated<detail::FUNCTION>(expr<T, 0>(x.e.b, x.e.id), y, x.at); \
    return x.e = {next.b, next.id};                                                                \
  }
  CALQUE_UPDATE_OPERATORS(CALQUE_SCALAR_UPDATE)
#undef CALQUE_SCALAR_UPDATE
};

/// A symbolic array of `Rank` axes.
template <class T, int Rank>
struct expr : detail::handle {
  static_assert(element<T>);
  static_assert(Rank >= 0 && Rank <= max_rank, "cq::expr: rank must be 0 to 8");
  using value_type = T;
  using extent_type = symbolic_extent;  // only to refuse it with a text

  constexpr expr() = default;
  constexpr expr(builder* owner, std::int32_t node) : handle(owner, node) {}

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

  template <class I>
  constexpr expr operator[](const I&) const {
    static_assert(detail::never<I>, CALQUE_SYMBOL_ELEMENT);
    return *this;
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
  // an exact match: by way of `located` it would be no better than bool's own; the line is that of
  // the operation before
  friend constexpr auto operator!(const expr& x) {
    return detail::not_fn{}(x, x.b ? x.b->where.alone() : location{});
  }
  friend constexpr auto operator~(located<expr> x) { return detail::bitwise_not_fn{}(x.e, x.at); }

#define CALQUE_EXPR_UPDATE(SYMBOL, FUNCTION)                                     \
  template <class Y>                                                             \
  friend constexpr expr& operator SYMBOL(detail::changed<expr> x, const Y & y) { \
    x.e.check_change();                                                          \
    return x.e = detail::updated<detail::FUNCTION>(x.e, y, x.at);                \
  }
  CALQUE_UPDATE_OPERATORS(CALQUE_EXPR_UPDATE)
#undef CALQUE_EXPR_UPDATE
};

/// A variable's symbol: a handle. Each use reads the value at that point of the program; `assign`
/// and the compound operators are effects, in program order, and are never pruned. `w = e` does not
/// compile: it would only make `w` name something else.
template <class T, int Rank>
struct var_expr : expr<T, Rank> {
  using expr<T, Rank>::expr;
  constexpr var_expr() = default;
  constexpr var_expr(const var_expr&) = default;
  // not deleted: a deleted function has no text
  constexpr var_expr& operator=(const var_expr&) {
    static_assert(detail::never<T>, CALQUE_VARIABLE_REBOUND);
    return *this;
  }
  template <class E>
  constexpr var_expr& operator=(const E&) {
    static_assert(detail::never<E>, CALQUE_VARIABLE_REBOUND);
    return *this;
  }

  /// The variable's next value: of the variable's extents, or broadcast to them.
  template <operand E>
  constexpr void assign(const E& e, location at = here()) const {
    builder& g = detail::common_builder(*this);
    g.where = at;
    const int value = detail::broadcast_like(g, detail::store_operand<T, Rank>(g, e), this->id);
    g.assign(this->id, value);
  }

#define CALQUE_VARIABLE_UPDATE(SYMBOL, FUNCTION)                                            \
  template <class Y>                                                                        \
  friend constexpr const var_expr& operator SYMBOL(detail::changed<const var_expr> x,       \
                                                   const Y & y) {                           \
    x.e.assign(detail::updated<detail::FUNCTION, true>(expr<T, Rank>(x.e), y, x.at), x.at); \
    return x.e;                                                                             \
  }
  CALQUE_UPDATE_OPERATORS(CALQUE_VARIABLE_UPDATE)
#undef CALQUE_VARIABLE_UPDATE
};

// Variables outside traces: these operators exist for their texts.
#define CALQUE_REFUSED_OPERATOR(SYMBOL, FUNCTION)                          \
  template <class T, int Rank, operand B>                                  \
  constexpr auto operator SYMBOL(const variable<T, Rank>& x, const B& y) { \
    return detail::FUNCTION{}(x, y);                                       \
  }                                                                        \
  template <weak_operand A, class T, int Rank>                             \
  constexpr auto operator SYMBOL(const A& x, const variable<T, Rank>& y) { \
    return detail::FUNCTION{}(x, y);                                       \
  }
CALQUE_BINARY_OPERATORS(CALQUE_REFUSED_OPERATOR)
#undef CALQUE_REFUSED_OPERATOR
template <class T, int Rank>
constexpr auto operator-(const variable<T, Rank>& x) {
  return detail::neg_fn{}(x);
}
template <class T, int Rank>
constexpr auto operator!(const variable<T, Rank>& x) {
  return detail::not_fn{}(x);
}
template <class T, int Rank>
constexpr auto operator~(const variable<T, Rank>& x) {
  return detail::bitwise_not_fn{}(x);
}
#define CALQUE_REFUSED_UPDATE(SYMBOL, FUNCTION)                                                  \
  template <class T, int Rank, operand B>                                                        \
  constexpr void operator SYMBOL(const variable<T, Rank>&, const B&) {                           \
    static_assert(!symbolic<B>, CALQUE_MIXED);                                                   \
    static_assert(symbolic<B>,                                                                   \
                  "calque: w op= e on a variable outside a traced function; write "              \
                  "w.assign(w.value() op e), or pass w to a traced function that does w op= e"); \
  }
CALQUE_UPDATE_OPERATORS(CALQUE_REFUSED_UPDATE)
#undef CALQUE_REFUSED_UPDATE

}  // namespace calque
