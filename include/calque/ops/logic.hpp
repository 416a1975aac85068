// Operations on bits, remainders, signs and kinds of numbers. None has a derivative: they are
// steps, or integers.
#pragma once

#include "calque/core/lane_logic.hpp"
#include "calque/ops/arithmetic.hpp"

namespace calque::op {

#define CALQUE_BIT_OPERATION(NAME, EXPRESSION)                                                 \
  struct NAME {                                                                                \
    static constexpr char name[] = #NAME;                                                      \
    static constexpr int arity = 2;                                                            \
    static constexpr bool foldable = true;                                                     \
    template <class T>                                                                         \
      requires std::is_integral_v<T>                                                           \
    CALQUE_HD constexpr T operator()(T a, T b) const {                                         \
      return static_cast<T>(EXPRESSION);                                                       \
    }                                                                                          \
    template <class T, int W>                                                                  \
    CALQUE_INLINE static void lanes(lane<T, W>& r, const lane<T, W>& a, const lane<T, W>& b) { \
      calque::lanes::NAME<T, W>(r, a, b);                                                      \
    }                                                                                          \
  }
CALQUE_BIT_OPERATION(bitwise_and, a& b);
CALQUE_BIT_OPERATION(bitwise_or, a | b);
CALQUE_BIT_OPERATION(bitwise_xor, a ^ b);
CALQUE_BIT_OPERATION(shift_left, detail::shift_left(a, b));
CALQUE_BIT_OPERATION(shift_right, detail::shift_right(a, b));
CALQUE_BIT_OPERATION(remainder, detail::wrap_rem(a, b));
#undef CALQUE_BIT_OPERATION

/// All bits the other way; of bool: not.
struct bitwise_not {
  static constexpr char name[] = "bitwise_not";
  static constexpr int arity = 1;
  static constexpr bool foldable = true;
  template <class T>
    requires std::is_integral_v<T>
  CALQUE_HD constexpr T operator()(T a) const {
    if constexpr (std::is_same_v<T, bool>) return !a;
    else return static_cast<T>(~a);
  }
  template <class T, int W>
  CALQUE_INLINE static void lanes(lane<T, W>& r, const lane<T, W>& a) {
    calque::lanes::bitwise_not<T, W>(r, a);
  }
};

struct sign {
  static constexpr char name[] = "sign";
  static constexpr int arity = 1;
  static constexpr bool foldable = true;
  template <class T>
  CALQUE_HD constexpr T operator()(T a) const {
    return detail::scalar_sign(a);
  }
  template <class T, int W>
  CALQUE_INLINE static void lanes(lane<T, W>& r, const lane<T, W>& a) {
    calque::lanes::sign<T, W>(r, a);
  }
};

#define CALQUE_KIND_TEST(NAME, KIND)                                         \
  struct NAME {                                                              \
    static constexpr char name[] = #NAME;                                    \
    static constexpr int arity = 1;                                          \
    static constexpr bool foldable = true;                                   \
    static constexpr map_form form = map_form::compare;                      \
    template <class T>                                                       \
    CALQUE_HD constexpr bool operator()(T a) const {                         \
      return detail::is_kind<detail::number_kind::KIND>(a);                  \
    }                                                                        \
    template <class T, int W>                                                \
    CALQUE_INLINE static void lanes(lane<bool, W>& r, const lane<T, W>& a) { \
      calque::lanes::is_kind<detail::number_kind::KIND, T, W>(r, a);         \
    }                                                                        \
  }
CALQUE_KIND_TEST(isnan, nan);
CALQUE_KIND_TEST(isinf, infinite);
CALQUE_KIND_TEST(isfinite, finite);
#undef CALQUE_KIND_TEST

}  // namespace calque::op

CALQUE_REGISTER(calque::op::bitwise_and);
CALQUE_REGISTER(calque::op::bitwise_or);
CALQUE_REGISTER(calque::op::bitwise_xor);
CALQUE_REGISTER(calque::op::bitwise_not);
CALQUE_REGISTER(calque::op::shift_left);
CALQUE_REGISTER(calque::op::shift_right);
CALQUE_REGISTER(calque::op::remainder);
CALQUE_REGISTER(calque::op::sign);
CALQUE_REGISTER(calque::op::isnan);
CALQUE_REGISTER(calque::op::isinf);
CALQUE_REGISTER(calque::op::isfinite);
