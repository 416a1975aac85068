// What an operation is: a functor type, and the plain description that nodes point to.
//
// The set is open. A functor type has `static constexpr char name[]` and, as it needs, `operator()`
// on scalars, `lanes` on vectors, `gradient`. `op_info_of<F>` describes it to passes and planner;
// `CALQUE_REGISTER(F)` maps the hash of the name back to the type when a cluster is lowered.
#pragma once

#include <cstdint>
#include <string_view>

#include "calque/core/dtype.hpp"
#include "calque/graph/constant.hpp"

namespace calque {

struct gradient_rule;  // graph/gradient_rule.hpp

/// What passes, planner and executor must know of an operation.
enum class op_kind : std::uint8_t {
  input,          // an array argument
  scalar,         // a run-time scalar argument (weak, rank 0)
  variable,       // a variable argument: a handle, read and written through `read` and `assign`
  constant,       // a rank-0 literal
  extent,         // an axis's extent as an int64 scalar
  iota,           // 0, 1, 2, … along one axis
  read,           // a variable's value at a point of the program
  assign,         // a variable's new value
  map,            // elementwise, broadcasting
  reduce,         // over the axes of its mask
  arg_reduce,     // the index of an extreme along one axis
  sum_to,         // sums away whatever broadcasting added: axes are decided by the plan
  transpose,      // a permutation of axes, no copy
  reshape,        // the same elements in other extents
  broadcast_to,   // stride 0 along new or stretched axes, no copy
  slice,          // a range of each axis, no copy
  concatenate,    // values one after the other along an axis
  insert,         // its first input with its second in place of a range of each axis
  take,           // elements along an axis by indices
  scatter_add,    // its first input plus updates at indices along an axis
  windows,        // those that slide over the last two axes, no copy
  overlap_add,    // its first input plus windows, each at its place
  matmul,         // products of matrices, over leading axes that broadcast
  cond,           // one of two regions
  loop,           // a region, repeated
  entry,          // first node of a region: the order of effects starts here
  region_arg,     // a value that a region's owner hands in
  result,         // one of several results of a cond, loop or gradient
  marker,         // a value that a gradient is taken with respect to; equal to its input
  stop_gradient,  // equal to its input; no derivative passes
  gradient,       // derivatives of its first input with respect to the others; a pass expands it
  along_axis,  // each line along one axis by itself, into as many elements: running sums, sorting
  ordered_reduce,  // over the axes of its mask, combining neighbours only: a user's monoid
  transfer,        // a copy on another device: plans add them
  random           // numbers of a counter-based generator, each a function of its index
};

/// How the types of an elementwise operation's operands and result relate.
enum class map_form : std::uint8_t {
  same,     // (T, …) -> T
  compare,  // (T, …) -> bool
  select,   // (bool, T, T) -> T
  cast      // (S) -> T
};

struct op_info {
  const char* name = "";
  std::uint64_t key = 0;
  op_kind kind = op_kind::map;
  map_form form = map_form::same;
  int arity = 0;
  /// The functor evaluates in constant expressions, so that `fold` may use `evaluate`.
  bool foldable = false;
  /// What computing an element again costs, in loads from the first cache.
  int cost = 8;
  /// Evaluating it may throw, so that nothing of the caller's is written before it is done.
  bool may_throw = false;
  /// One element: operands of type `in` (the select's bool aside), result of type `out`. Of a
  /// running or ordered reduction: two elements combined; without operands the identity.
  constant (*evaluate)(dtype in, dtype out, const constant* operands) = nullptr;
  /// Whether the operation combines elements: of those along an axis, a running reduction.
  bool combines = false;
  /// Whether `gradient` is set; gradients stop where it is not. (A flag beside the pointer: g++
  /// with -fsanitize=undefined does not compare function pointers in constant expressions.)
  bool differentiable = false;
  void (*gradient)(gradient_rule&) = nullptr;
  /// The same without functions: what a finished graph's nodes point to, so that a program does not
  /// carry rules that only the compiler ran.
  const op_info* plain = nullptr;
};

namespace detail {

constexpr std::uint64_t hash_name(std::string_view s) {  // FNV-1a
  std::uint64_t h = 14695981039346656037u;
  for (char c : s) h = (h ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return h;
}

template <std::uint64_t Key>
struct op_for;  // key -> functor type; specialised by CALQUE_REGISTER

template <class F>
constexpr map_form form_of() {
  if constexpr (requires { F::form; }) return F::form;
  else return map_form::same;
}

// Elements are evaluated in the widest type of their kind and narrowed: + - * / min max wrap alike.
template <class F, class T>
constexpr constant evaluate_as(dtype out, const constant* x) {
  const auto v = [&](int i) { return constant_as<T>(x[i]); };
  if constexpr (form_of<F>() == map_form::select) {
    return make_constant<T>(F{}(x[0].i != 0, v(1), v(2)));
  } else if constexpr (form_of<F>() == map_form::compare) {
    if constexpr (F::arity == 1) return make_constant<bool>(F{}(v(0)));
    else return make_constant<bool>(F{}(v(0), v(1)));
  } else if constexpr (form_of<F>() == map_form::cast) {
    return visit_dtype<constant>(
        out, [&]<class To>(To) { return make_constant<To>(F::template convert<To>(v(0))); });
  } else if constexpr (F::arity == 1) {
    return narrowed(out, make_constant<T>(F{}(v(0))));
  } else if constexpr (F::arity == 2) {
    return narrowed(out, make_constant<T>(F{}(v(0), v(1))));
  } else {
    return narrowed(out, make_constant<T>(F{}(v(0), v(1), v(2))));
  }
}

template <class F, class T>
concept evaluates = requires(const F& f, T v) {
  requires form_of<F>() != map_form::same || (F::arity == 1 && requires { f(v); }) ||
                   (F::arity == 2 && requires { f(v, v); }) ||
                   (F::arity == 3 && requires { f(v, v, v); });
};
/// Whether elements of some type can be evaluated: by `eager`, and in constants.
template <class F>
concept evaluates_any = evaluates<F, float> || evaluates<F, double> || evaluates<F, bool> ||
                        evaluates<F, std::uint64_t> || evaluates<F, std::int64_t>;

template <class F>
constexpr constant evaluate(dtype in, dtype out, const constant* x) {
  if (in == dtype::float32) {
    if constexpr (evaluates<F, float>) return evaluate_as<F, float>(out, x);
  } else if (is_floating(in)) {
    if constexpr (evaluates<F, double>) return evaluate_as<F, double>(out, x);
  } else if (in == dtype::boolean) {
    if constexpr (evaluates<F, bool>) return evaluate_as<F, bool>(out, x);
  } else if (in == dtype::uint64) {
    if constexpr (evaluates<F, std::uint64_t>) return evaluate_as<F, std::uint64_t>(out, x);
  } else {
    if constexpr (evaluates<F, std::int64_t>) return evaluate_as<F, std::int64_t>(out, x);
  }
  return {};
}

template <class F>
constexpr op_info describe() {
  op_info o;
  o.name = F::name;
  o.key = hash_name(F::name);
  if constexpr (requires { F::kind; }) o.kind = F::kind;
  if constexpr (requires { F::arity; }) o.arity = F::arity;
  if constexpr (requires { F::foldable; }) o.foldable = F::foldable;
  if constexpr (requires { F::cost; }) o.cost = F::cost;
  else if (o.foldable) o.cost = 1;
  if constexpr (requires { F::may_throw; }) o.may_throw = F::may_throw;
  if constexpr (requires(gradient_rule& g) { F::gradient(g); }) {
    o.differentiable = true;
    o.gradient = &F::gradient;
  }
  if constexpr (requires { F::combine_constants; }) {
    o.evaluate = &F::combine_constants;
    o.combines = true;
  }
  if (o.kind == op_kind::map) {
    o.form = form_of<F>();
    if constexpr (requires { &F::evaluate; }) o.evaluate = &F::evaluate;
    else if constexpr (!requires { F::kind; }) {
      static_assert(evaluates_any<F>,
                    "calque: an elementwise operation of one to three operands needs an operator() "
                    "on numbers of some type");
      o.evaluate = &evaluate<F>;
    }
  }
  return o;
}

}  // namespace detail

namespace detail {

template <class F>
constexpr op_info describe_plainly(const op_info* itself) {
  op_info o = describe<F>();
  o.plain = itself;
  o.foldable = false;
  o.evaluate = nullptr;
  o.differentiable = false;
  o.gradient = nullptr;
  return o;
}
template <class F>
inline constexpr op_info plain_op_info_of = describe_plainly<F>(&plain_op_info_of<F>);
template <class F>
constexpr op_info describe_fully() {
  op_info o = describe<F>();
  o.plain = &plain_op_info_of<F>;
  return o;
}

}  // namespace detail

/// The description of operation `F`; nodes hold its address.
template <class F>
inline constexpr op_info op_info_of = detail::describe_fully<F>();

}  // namespace calque

/// Makes functor type `F` (written with its namespace) an operation that clusters can contain.
/// Use it once, at global scope, after the functor's definition.
#define CALQUE_REGISTER(...)                                                    \
  template <>                                                                   \
  struct calque::detail::op_for<calque::detail::hash_name(__VA_ARGS__::name)> { \
    using type = __VA_ARGS__;                                                   \
  }
