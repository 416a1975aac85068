// A program at one element: the form that runs on a GPU, a thread an element.
//
// The same types as on lanes (lower/program.hpp), without lanes: scalars in registers, and operands
// behind an access object that knows where the element lies. Separate so that device code sees no
// vector. Called by backend/cuda; gives the bits of the lanes' baseline on the host.
#pragma once

#include "calque/lower/program.hpp"

namespace calque::detail {

/// How an element lies in memory: bool as a byte of which 0 is false, whatever else it holds.
template <class T>
using stored_as = std::conditional_t<std::is_same_v<T, bool>, std::uint8_t, T>;

template <class T>
CALQUE_HD T from_stored(stored_as<T> v) {
  return static_cast<T>(v);
}

template <int D, class T>
struct scalar_reg {
  T v;
};
template <int D, class T>
CALQUE_HD T& at_reg(scalar_reg<D, T>& r) {
  return r.v;
}

/// The registers of a program at one element.
template <class P, class Ds>
struct scalar_file;
template <class... I, int... D>
struct scalar_file<program<I...>, std::integer_sequence<int, D...>>
    : scalar_reg<D, typename I::type>... {};
template <class P>
using scalars = scalar_file<P, std::make_integer_sequence<int, P::size>>;

/// Access to operands at an offset of each: `offsets[k]` elements from where operand k starts.
template <class Index>
struct offset_access {
  void* const* data;
  const Index* offsets;

  template <int K, class T>
  CALQUE_HD const void* at() const {
    return static_cast<const stored_as<T>*>(data[K]) + offsets[K];
  }
  template <int K, class T>
  CALQUE_HD T get() const {
    return from_stored<T>(static_cast<const stored_as<T>*>(data[K])[offsets[K]]);
  }
  template <int K, class T>
  CALQUE_HD void put(T v) const {
    static_cast<stored_as<T>*>(data[K])[offsets[K]] = v;
  }
};
/// Access to operands at the same offset of all.
template <class Index>
struct linear_access {
  void* const* data;
  Index i;

  template <int K, class T>
  CALQUE_HD const void* at() const {
    return static_cast<const stored_as<T>*>(data[K]) + i;
  }
  template <int K, class T>
  CALQUE_HD T get() const {
    return from_stored<T>(static_cast<const stored_as<T>*>(data[K])[i]);
  }
  template <int K, class T>
  CALQUE_HD void put(T v) const {
    static_cast<stored_as<T>*>(data[K])[i] = v;
  }
};

// A variable: device code may read one but not call a host function.
template <class Op>
inline constexpr bool is_cast = form_of<Op>() == map_form::cast;

template <class Op, class Out, class In, class... V>
CALQUE_HD Out apply_element(V... v) {
  if constexpr (is_cast<Op>) return Op::template convert<Out>(v...);
  else return static_cast<Out>(Op{}(v...));
}

template <int D, int K, class T, class R, class Access>
CALQUE_HD void element_step(load<K, T>, R& r, const Access& a) {
  at_reg<D>(r) = a.template get<K, T>();
}
template <int D, int K, class T, class R, class Access>
CALQUE_HD void element_step(count_index<K, T>, R& r, const Access& a) {
  const void* const p = a.template at<K, T>();
  at_reg<D>(r) = is_counted(p) ? static_cast<T>(counted_at(p, sizeof(T))) : a.template get<K, T>();
}
template <int D, int K, class T, class R, class Access>
CALQUE_HD void element_step(splat<K, T>, R& r, const Access& a) {
  at_reg<D>(r) = a.template get<K, T>();
}
template <int D, class Op, class Out, class In, int... Src, class R, class Access>
CALQUE_HD void element_step(ins<Op, Out, In, Src...>, R& r, const Access&) {
  at_reg<D>(r) = apply_element<Op, Out, In>(at_reg<Src>(r)...);
}
template <int D, int K, class T, int Src, class R, class Access>
CALQUE_HD void element_step(store<K, T, Src>, R& r, const Access& a) {
  a.template put<K, T>(at_reg<Src>(r));
}

template <bool Uniform, int D, class P, class I, class R, class Access>
CALQUE_HD void element_step_if(R& r, const Access& a) {
  if constexpr (uniform_of<P>.of[D] == Uniform) element_step<D>(I{}, r, a);
}
template <bool Uniform, class... I, class R, class Access, int... D>
CALQUE_HD void element_steps(program<I...>, std::integer_sequence<int, D...>, R& r,
                             const Access& a) {
  (element_step_if<Uniform, D, program<I...>, I>(r, a), ...);
}

/// Computes the registers that hold for all elements; uniform operands are read at their start.
template <class P>
CALQUE_HD void evaluate_uniform_element(scalars<P>& r, void* const* data) {
  element_steps<true>(P{}, std::make_integer_sequence<int, P::size>{}, r,
                      linear_access<int>{data, 0});
}
/// Computes the others at one element, and stores what the program stores.
template <class P, class Access>
CALQUE_HD void evaluate_element(scalars<P>& r, const Access& a) {
  element_steps<false>(P{}, std::make_integer_sequence<int, P::size>{}, r, a);
}

}  // namespace calque::detail
