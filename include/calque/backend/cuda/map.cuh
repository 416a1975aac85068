// The elementwise kernel on a GPU: a program over a geometry, a thread an element or a pack of them.
//
// Where every operand is linear and aligned, a thread moves 16 bytes of the widest operand at a time;
// elsewhere each operand has its own strides. Kernels are named by program types alone: a closure
// type in a kernel's name would not be the same in nvcc's two passes.
#pragma once

#include <limits>

#include "calque/backend/backend.hpp"
#include "calque/backend/cuda/launch.cuh"
#include "calque/lower/element.hpp"

namespace calque::detail {

/// Threads of a block, and the most blocks of a grid: enough to fill any device several times.
inline constexpr unsigned map_threads = 256;
inline constexpr unsigned map_blocks = 4096;

template <int N>
struct map_pointers {
  void* of[N];
};
/// A domain's sizes, and each operand's strides over it in elements.
template <int N, class Index>
struct map_domain {
  Index size, rank;
  Index extents[max_rank];
  Index strides[max_rank][N];
};

/// W elements that are moved as one.
template <class T, int W>
struct alignas(sizeof(T) * W) pack {
  T v[W];
};
template <int K, class T, int W>
struct operand_pack {
  pack<stored<T>, W> p;
};
template <int K, class T, int W>
CALQUE_HD operand_pack<K, T, W>& at_pack(operand_pack<K, T, W>& p) {
  return p;
}

/// What instruction D needs of the packs: one each for a load and a store.
template <int D, int W, class I>
struct pack_slot {};
template <int D, int W, int K, class T>
struct pack_slot<D, W, load<K, T>> : operand_pack<K, T, W> {};
template <int D, int W, int K, class T, int Src>
struct pack_slot<D, W, store<K, T, Src>> : operand_pack<K, T, W> {};

template <int W, class P, class Ds>
struct pack_file;
template <int W, class... I, int... D>
struct pack_file<W, program<I...>, std::integer_sequence<int, D...>> : pack_slot<D, W, I>... {};
template <int W, class P>
using packs = pack_file<W, P, std::make_integer_sequence<int, P::size>>;

/// Access to element `j` of each pack.
template <class Packs>
struct pack_access {
  Packs& of;
  int j;

  template <int K, class T>
  CALQUE_HD T get() const {
    return from_stored<T>(at_pack<K>(of).p.v[j]);
  }
  template <int K, class T>
  CALQUE_HD void put(T v) const {
    at_pack<K>(of).p.v[j] = v;
  }
};

template <int W, int K, class T, class Packs, class Index>
CALQUE_HD void read_pack(load<K, T>, Packs& to, void* const* data, Index i) {
  at_pack<K>(to).p = static_cast<const pack<stored<T>, W>*>(data[K])[i];
}
template <int W, class Other, class Packs, class Index>
CALQUE_HD void read_pack(Other, Packs&, void* const*, Index) {}
template <int W, int K, class T, int Src, class Packs, class Index>
CALQUE_HD void write_pack(store<K, T, Src>, Packs& from, void* const* data, Index i) {
  static_cast<pack<stored<T>, W>*>(data[K])[i] = at_pack<K>(from).p;
}
template <int W, class Other, class Packs, class Index>
CALQUE_HD void write_pack(Other, Packs&, void* const*, Index) {}

/// Evaluates a program on pack `i` of its operands.
template <int W, class... I, int... J, class Index>
CALQUE_HD void evaluate_pack(program<I...>, std::integer_sequence<int, J...>,
                             scalars<program<I...>>& r, void* const* data, Index i) {
  using P = program<I...>;
  packs<W, P> p;
  (read_pack<W>(I{}, p, data, i), ...);
  (evaluate_element<P>(r, pack_access<packs<W, P>>{p, J}), ...);
  (write_pack<W>(I{}, p, data, i), ...);
}

/// Where an operand's element `i` of a domain lies.
template <int N, class Index, int... K>
CALQUE_HD void find_offsets(const map_domain<N, Index>& d, Index i, Index (&offsets)[N],
                            std::integer_sequence<int, K...>) {
  ((offsets[K] = 0), ...);
  for (Index a = d.rank - 1; a > 0; --a) {
    const Index rest = i / d.extents[a], at = i - rest * d.extents[a];
    ((offsets[K] += at * d.strides[a][K]), ...);
    i = rest;
  }
  ((offsets[K] += i * d.strides[0][K]), ...);
}

/// The number of this thread in its grid, and of all threads.
template <class Index>
CALQUE_HD Index thread_number() {
#if CALQUE_COMPILES_CUDA() && !CALQUE_ON_DEVICE()
  return 0;
#else
  return static_cast<Index>(blockIdx.x) * static_cast<Index>(blockDim.x) +
         static_cast<Index>(threadIdx.x);
#endif
}
