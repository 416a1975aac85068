// What an operation on numbers of any type gives, by the operation's key: for numbers that extents
// decide, which plans compute and hand to kernels (graph/leaves.hpp says which).
//
// The bits are those of the kernels: each operation is rounded once, in its own type.
#pragma once

#include <cmath>

#include "calque/core/saturate.hpp"
#include "calque/plan/integers.hpp"

namespace calque::detail::planning {

/// The operation of key `key` on floats of type T; false for one that it does not know.
template <class T>
[[nodiscard]] inline bool evaluate_floats(std::uint64_t key, const constant* in, constant* out) {
  const T a = constant_as<T>(in[0]), b = constant_as<T>(in[1]);
  const auto number = [&](T v) { *out = make_constant<T>(v); };
  const auto truth = [&](bool v) { *out = {0, v}; };
  switch (key) {
    case hash_name("neg"): number(-a); break;
    case hash_name("abs"): number(std::fabs(a)); break;
    case hash_name("sqrt"): number(std::sqrt(a)); break;
    case hash_name("add"): number(a + b); break;
    case hash_name("sub"): number(a - b); break;
    case hash_name("mul"): number(a * b); break;
    case hash_name("div"): number(a / b); break;
    case hash_name("maximum"): number(a != a ? a : a > b ? a : b); break;
    case hash_name("minimum"): number(a != a ? a : a < b ? a : b); break;
    case hash_name("less"): truth(a < b); break;
    case hash_name("less_equal"): truth(a <= b); break;
    case hash_name("greater"): truth(a > b); break;
    case hash_name("greater_equal"): truth(a >= b); break;
    case hash_name("equal"): truth(a == b); break;
    case hash_name("not_equal"): truth(a != b); break;
    case hash_name("where"): *out = in[0].i != 0 ? in[1] : in[2]; break;
    default: return false;
  }
  return true;
}
/// As `evaluate_integers`, for floats too.
[[nodiscard]] inline bool evaluate_numbers(std::uint64_t key, dtype from, dtype to,
                                           const constant* in, constant* out) {
  if (!is_floating(from) && !is_floating(to)) return evaluate_integers(key, from, to, in, out);
  if (key == hash_name("cast")) {
    if (!is_floating(to)) return false;
    *out = visit_dtype<constant>(from, [&]<class From>(From) {
      const From v = constant_as<From>(in[0]);
      return to == dtype::float32 ? make_constant(saturate_cast<float>(v))
                                  : make_constant(saturate_cast<double>(v));
    });
    return true;
  }
  if (from == dtype::float32) return evaluate_floats<float>(key, in, out);
  return from == dtype::float64 && evaluate_floats<double>(key, in, out);
}

}  // namespace calque::detail::planning
