// A cluster as a type: a straight-line program of typed instructions, and its evaluation on lanes
// or on one element.
//
// The type alone parameterises kernels. Instruction D writes register D; `Src` are registers.
// Operands that are one value for the whole loop (rank 0) are loaded and combined once, before it.
#pragma once

#include <cstdint>
#include <utility>

#include "calque/core/counted.hpp"
#include "calque/core/lanes.hpp"
#include "calque/graph/op_info.hpp"

namespace calque {

/// Operand K, element by element.
template <int K, class T>
struct load {
  using type = T;
};
/// Operand K, element by element, where an index is counted: the elements are computed from their
/// addresses unless these are of memory (core/counted.hpp).
template <int K, class T>
struct count_index {
  using type = T;
};
/// Operand K, one value for all elements.
template <int K, class T>
struct splat {
  using type = T;
};
/// The same where an index is counted.
template <int K, class T>
struct splat_index {
  using type = T;
};
/// `Op` on registers of type `In` (a select's condition aside), giving type `Out`.
template <class Op, class Out, class In, int... Src>
struct ins {
  using type = Out;
};
/// Register `Src` goes to operand K.
template <int K, class T, int Src>
struct store {
  using type = T;
};
/// In the sweeps of a rows cluster: operand K, one value a row.
template <int K, class T>
struct per_row {
  using type = T;
};
/// Register `Src`, reduced by `Op` over a row; the result goes to operand K.
template <class Op, class T, int Src, int K>
struct row_fold {
  using type = T;
};
template <class... I>
struct program {
  static constexpr int size = static_cast<int>(sizeof...(I));
};

namespace detail {

template <class T>
inline constexpr int lane_bytes = std::is_same_v<T, bool> ? 4 : static_cast<int>(sizeof(T));

template <class P>
struct program_traits;
template <class... I>
struct program_traits<program<I...>> {
  static constexpr int widest() {
    int w = 4;
    ((w = lane_bytes<typename I::type> > w ? lane_bytes<typename I::type> : w), ...);
    return w;
  }
  /// By register: whether it has one value for the whole loop.
  struct flags {
    bool of[sizeof...(I) + 1]{};
  };
  static constexpr flags uniform() {
    flags f;
    int d = 0;
    ((f.of[d] = is_uniform(f, I{}), ++d), ...);
    return f;
  }

 private:
  template <int K, class T>
  static constexpr bool is_uniform(const flags&, load<K, T>) {
    return false;
  }
  template <int K, class T>
  static constexpr bool is_uniform(const flags&, count_index<K, T>) {
    return false;
  }
  template <int K, class T>
  static constexpr bool is_uniform(const flags&, splat<K, T>) {
    return true;
  }
  template <int K, class T>
  static constexpr bool is_uniform(const flags&, splat_index<K, T>) {
    return true;
  }
  template <class Op, class Out, class In, int... Src>
  static constexpr bool is_uniform(const flags& f, ins<Op, Out, In, Src...>) {
    return (f.of[Src] && ...);
  }
  template <int K, class T, int Src>
  static constexpr bool is_uniform(const flags&, store<K, T, Src>) {
    return false;
  }
};

/// What a program reads and writes, by operand.
struct operand_use {
  bool used = false, uniform = false, output = false;
  int bytes = 0;
  bool input = false;           // a sweep's results so far are both
  dtype counted = dtype::none;  // its type, if it may be an index that is counted
};
struct operand_uses {
  operand_use of[max_operands + 2];
  int count = 0;
  int widest = 1;  // bytes of an element of the widest operand that is no uniform one
};

template <class P>
struct program_operands;
template <class... I>
struct program_operands<program<I...>> {
  static constexpr operand_uses make() {
    operand_uses u;
    (mark(u, I{}), ...);
    return u;
  }

 private:
  static constexpr void put(operand_uses& u, int k, operand_use use) {
    use.input |= u.of[k].input;
    u.of[k] = use;
    u.count = u.count > k + 1 ? u.count : k + 1;
    if (!use.uniform && use.bytes > u.widest) u.widest = use.bytes;
  }
  template <int K, class T>
  static constexpr void mark(operand_uses& u, load<K, T>) {
    put(u, K, {true, false, false, static_cast<int>(sizeof(T)), true});
  }
  template <int K, class T>
  static constexpr void mark(operand_uses& u, count_index<K, T>) {
    put(u, K, {true, false, false, static_cast<int>(sizeof(T)), true, dtype_of<T>});
  }
  template <int K, class T>
  static constexpr void mark(operand_uses& u, splat<K, T>) {
    put(u, K, {true, true, false, static_cast<int>(sizeof(T)), true});
  }
  template <int K, class T>
  static constexpr void mark(operand_uses& u, splat_index<K, T>) {
    mark(u, splat<K, T>{});
  }
  template <int K, class T, int Src>
  static constexpr void mark(operand_uses& u, store<K, T, Src>) {
    put(u, K, {true, false, true, static_cast<int>(sizeof(T)), false});
  }
  template <class Other>
  static constexpr void mark(operand_uses&, Other) {}
};
template <class P>
inline constexpr operand_uses operands_of = program_operands<P>::make();

template <int D, class T, int W>
struct reg {
  lane<T, W> v;
};
template <int D, class T, int W>
CALQUE_INLINE lane<T, W>& at_reg(reg<D, T, W>& r) {
  return r.v;
}
template <int D, class T, int W>
CALQUE_INLINE const lane<T, W>& at_reg(const reg<D, T, W>& r) {
  return r.v;
}

/// The registers of a program on lanes of W elements.
template <int W, class P, class Ds>
struct register_file;
template <int W, class... I, int... D>
struct register_file<W, program<I...>, std::integer_sequence<int, D...>>
    : reg<D, typename I::type, W>... {};
template <int W, class P>
using registers = register_file<W, P, std::make_integer_sequence<int, P::size>>;

/// The first `n` elements of a lane at offset `i` of each operand; `n` is W but in the tail.
struct lane_window {
  void* const* data;
  std::int64_t i;
  int n;
};

/// Whether `Op` is a functor of scalars alone, which is called element by element.
template <class Op, class In, int N>
constexpr bool is_called_by_element() {
  using L = lane<In, 4>;
  if constexpr (form_of<Op>() == map_form::cast || form_of<Op>() == map_form::select) return false;
  else if constexpr (N == 1)
    return !requires(lane<bool, 4>& p, L& r, const L& v) { Op::template lanes<In, 4>(r, v); } &&
           !requires(lane<bool, 4>& p, const L& v) { Op::template lanes<In, 4>(p, v); };
  else if constexpr (N == 2)
    return !requires(L& r, const L& v) { Op::template lanes<In, 4>(r, v, v); } &&
           !requires(lane<bool, 4>& p, const L& v) { Op::template lanes<In, 4>(p, v, v); };
  else
    return !requires(L& r, const L& v) { Op::template lanes<In, 4>(r, v, v, v); } &&
           !requires(lane<bool, 4>& p, const L& v) { Op::template lanes<In, 4>(p, v, v, v); };
}
template <class I>
inline constexpr bool called_by_element = false;
template <class Op, class Out, class In, int... Src>
inline constexpr bool called_by_element<ins<Op, Out, In, Src...>> =
    is_called_by_element<Op, In, static_cast<int>(sizeof...(Src))>();
/// Whether a program calls functors of scalars: elements that only fill up a lane are copies then,
/// so that no functor sees a value that is none of its operands.
template <class P>
inline constexpr bool calls_by_element = false;
template <class... I>
inline constexpr bool calls_by_element<program<I...>> = (called_by_element<I> || ...);

/// Whether a program reads an index that is counted.
template <class I>
inline constexpr bool is_count_index = false;
template <int K, class T>
inline constexpr bool is_count_index<count_index<K, T>> = true;
template <class P>
inline constexpr bool counts_indices = false;
template <class... I>
inline constexpr bool counts_indices<program<I...>> = (is_count_index<I> || ...);

/// How much an instruction computes: 0 for a few instructions of the processor, 1 for so many that
/// memory keeps up, 2 for so many that the processor looks no further ahead.
template <class I>
inline constexpr int weight_of = 0;
template <class Op, class Out, class In, int... Src>
inline constexpr int weight_of<ins<Op, Out, In, Src...>> = [] {
  if constexpr (requires { Op::weight; }) return Op::weight;
  else return called_by_element<ins<Op, Out, In, Src...>> ? 1 : 0;
}();
template <class P>
inline constexpr bool heavy_program = false;
template <class... I>
inline constexpr bool heavy_program<program<I...>> = ((weight_of<I> > 0) || ...);

/// A functor of scalars on some elements. Not inlined: it is compiled without the instructions of
/// the loop around, so it rounds as the same functor does elsewhere, and may throw.
template <class Op, class Out, class... In>
CALQUE_HIDDEN [[gnu::noinline]] void call_by_element(int n, Out* r, const In*... a) {
  for (int k = 0; k < n; ++k) r[k] = static_cast<Out>(Op{}(a[k]...));
}
template <class Op, class Out, class In, int W, class V>
CALQUE_INLINE void apply_each(lane<Out, W>& r, const V& x) {
  Out out[W];
  In a[W];
  lanes::store<In, W>(a, x);
  call_by_element<Op, Out, In>(W, out, a);
  lanes::load<Out, W>(r, out);
}
template <class Op, class Out, class In, int W, class V>
CALQUE_INLINE void apply_each(lane<Out, W>& r, const V& x, const V& y) {
  Out out[W];
  In a[W], b[W];
  lanes::store<In, W>(a, x);
  lanes::store<In, W>(b, y);
  call_by_element<Op, Out, In, In>(W, out, a, b);
  lanes::load<Out, W>(r, out);
}
template <class Op, class Out, class In, int W, class V>
CALQUE_INLINE void apply_each(lane<Out, W>& r, const V& x, const V& y, const V& z) {
  Out out[W];
  In a[W], b[W], c[W];
  lanes::store<In, W>(a, x);
  lanes::store<In, W>(b, y);
  lanes::store<In, W>(c, z);
  call_by_element<Op, Out, In, In, In>(W, out, a, b, c);
  lanes::load<Out, W>(r, out);
}

/// Runs `Op` on whole lanes.
template <class Op, class Out, class In, int W, class... V>
CALQUE_INLINE void apply_lanes(lane<Out, W>& r, const V&... v) {
  if constexpr (form_of<Op>() == map_form::cast) {
    Op::template lanes<Out, In, W>(r, v...);
  } else if constexpr (form_of<Op>() == map_form::select) {
    Op::template lanes<In, W>(r, v...);
  } else if constexpr (requires { Op::template lanes<In, W>(r, v...); }) {
    Op::template lanes<In, W>(r, v...);
  } else {
    apply_each<Op, Out, In, W>(r, v...);
  }
}

template <int D, int W, bool Full, int K, class T, class R>
CALQUE_INLINE void step(load<K, T>, R& r, const lane_window& w) {
  const T* p = static_cast<const T*>(w.data[K]) + w.i;
  if constexpr (Full) lanes::load<T, W>(at_reg<D, T, W>(r), p);
  else lanes::load_partial<T, W>(at_reg<D, T, W>(r), p, w.n, w.n > 0 ? *p : T{});
}
template <int D, int W, bool Full, int K, class T, class R>
CALQUE_INLINE void step(count_index<K, T>, R& r, const lane_window& w) {
  const T* p = static_cast<const T*>(w.data[K]) + w.i;
  if (is_counted(p)) [[likely]]
    lanes::count<T, W>(at_reg<D, T, W>(r), counted_at(p, sizeof(T)));
  else step<D, W, Full>(load<K, T>{}, r, w);
}
template <int D, int W, bool Full, int K, class T, class R>
CALQUE_INLINE void step(splat<K, T>, R& r, const lane_window& w) {
  lanes::splat<T, W>(at_reg<D, T, W>(r), *static_cast<const T*>(w.data[K]));
}
template <int D, int W, bool Full, int K, class T, class R>
CALQUE_INLINE void step(splat_index<K, T>, R& r, const lane_window& w) {
  const T* p = static_cast<const T*>(w.data[K]);
  lanes::splat<T, W>(at_reg<D, T, W>(r),
                     is_counted(p) ? static_cast<T>(counted_at(p, sizeof(T))) : *p);
}
template <int D, int W, bool Full, class Op, class Out, class In, int... Src, class R>
CALQUE_INLINE void step(ins<Op, Out, In, Src...>, R& r, const lane_window&) {
  apply_lanes<Op, Out, In, W>(at_reg<D, Out, W>(r), at_reg<Src>(r)...);
}
template <int D, int W, bool Full, int K, class T, int Src, class R>
CALQUE_INLINE void step(store<K, T, Src>, R& r, const lane_window& w) {
  T* p = static_cast<T*>(w.data[K]) + w.i;
  if constexpr (Full) lanes::store<T, W>(p, at_reg<Src, T, W>(r));
  else lanes::store_partial<T, W>(p, at_reg<Src, T, W>(r), w.n);
}

template <class P>
inline constexpr auto uniform_of = program_traits<P>::uniform();

template <bool Uniform, bool Full, int D, int W, class P, class I, class R>
CALQUE_INLINE void step_if(R& r, const lane_window& w) {
  if constexpr (uniform_of<P>.of[D] == Uniform) step<D, W, Full>(I{}, r, w);
}
template <bool Uniform, bool Full, int W, class... I, class R, int... D>
CALQUE_INLINE void evaluate_steps(program<I...>, std::integer_sequence<int, D...>, R& r,
                                  const lane_window& w) {
  (step_if<Uniform, Full, D, W, program<I...>, I>(r, w), ...);
}
/// Computes the registers that hold for the whole loop.
template <int W, class P>
CALQUE_INLINE void evaluate_uniform(registers<W, P>& r, void* const* data) {
  evaluate_steps<true, true, W>(P{}, std::make_integer_sequence<int, P::size>{}, r,
                                lane_window{data, 0, W});
}
/// Computes the others for one window.
template <int W, bool Full, class P>
CALQUE_INLINE void evaluate_window(registers<W, P>& r, const lane_window& w) {
  evaluate_steps<false, Full, W>(P{}, std::make_integer_sequence<int, P::size>{}, r, w);
}

}  // namespace detail
}  // namespace calque
