// What an operation on integers and bools gives, by the operation's key.
//
// The graphs that plans are made of carry no functions that evaluate: compiling those would cost
// every traced function. Numbers of steps and predicates that extents decide need this little.
#pragma once

#include "calque/graph/constant.hpp"
#include "calque/graph/op_info.hpp"

namespace calque::detail::planning {

/// `*out` becomes the operation of key `key` on `in`, of types `from` (a select's values) and `to`.
/// False for operations and types that it does not know.
[[nodiscard]] inline bool evaluate_integers(std::uint64_t key, dtype from, dtype to,
                                            const constant* in, constant* out) {
  if (is_floating(from) || is_floating(to)) return false;
  const std::int64_t a = in[0].i, b = in[1].i;
  // bits of uint64 that stand for a negative number would compare and divide otherwise
  if (from == dtype::uint64 && (a < 0 || b < 0)) return false;
  std::int64_t v = 0;
  switch (key) {
    case hash_name("cast"): v = a; break;
    case hash_name("neg"): (void)__builtin_sub_overflow(std::int64_t{0}, a, &v); break;
    case hash_name("abs"):
      if (a < 0) (void)__builtin_sub_overflow(std::int64_t{0}, a, &v);
      else v = a;
      break;
    case hash_name("add"): (void)__builtin_add_overflow(a, b, &v); break;
    case hash_name("sub"): (void)__builtin_sub_overflow(a, b, &v); break;
    case hash_name("mul"): (void)__builtin_mul_overflow(a, b, &v); break;
    case hash_name("div"):
      if (b == -1) (void)__builtin_sub_overflow(std::int64_t{0}, a, &v);
      else v = b == 0 ? 0 : a / b;
      break;
    case hash_name("maximum"): v = a > b ? a : b; break;
    case hash_name("minimum"): v = a < b ? a : b; break;
    case hash_name("less"): v = a < b; break;
    case hash_name("less_equal"): v = a <= b; break;
    case hash_name("greater"): v = a > b; break;
    case hash_name("greater_equal"): v = a >= b; break;
    case hash_name("equal"): v = a == b; break;
    case hash_name("not_equal"): v = a != b; break;
    case hash_name("where"): v = a != 0 ? b : in[2].i; break;
    default: return false;
  }
  *out = narrowed(to, {0, v});
  return true;
}

}  // namespace calque::detail::planning
