// The elementwise kernel on a GPU: a program over a geometry, a thread an element or a pack of
// them.
//
// Where every operand is linear and aligned, a thread moves 16 bytes of the widest operand at a
// time; elsewhere each operand has its own strides. Kernels are named by program types alone: a
// closure type in a kernel's name would not be the same in nvcc's two passes.
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
  pack<stored_as<T>, W> p;
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
  at_pack<K>(to).p = static_cast<const pack<stored_as<T>, W>*>(data[K])[i];
}
template <int W, class Other, class Packs, class Index>
CALQUE_HD void read_pack(Other, Packs&, void* const*, Index) {}
template <int W, int K, class T, int Src, class Packs, class Index>
CALQUE_HD void write_pack(store<K, T, Src>, Packs& from, void* const* data, Index i) {
  static_cast<pack<stored_as<T>, W>*>(data[K])[i] = at_pack<K>(from).p;
}
template <int W, class Other, class Packs, class Index>
CALQUE_HD void write_pack(Other, Packs&, void* const*, Index) {}

/// Evaluates a program on pack `i` of its operands.
template <int W, class... I, int... J, class R, class Index>
CALQUE_HD void evaluate_pack(program<I...>, std::integer_sequence<int, J...>, R& r,
                             void* const* data, Index i) {
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

/// The number of this thread in its grid, and how many threads that has.
template <class Index>
__device__ Index this_thread() {
  return static_cast<Index>(blockIdx.x) * static_cast<Index>(blockDim.x) +
         static_cast<Index>(threadIdx.x);
}
template <class Index>
__device__ Index all_threads() {
  return static_cast<Index>(gridDim.x) * static_cast<Index>(blockDim.x);
}

/// All operands linear and aligned to packs of W; what is left over goes element by element.
template <class P, int W, class Index>
CALQUE_HIDDEN __global__ void __launch_bounds__(map_threads)
    map_packs(const __grid_constant__ map_pointers<operands_of<P>.count> data, Index size) {
  scalars<P> r;
  evaluate_uniform_element<P>(r, data.of);
  const Index whole = size / W, first = this_thread<Index>(), step = all_threads<Index>();
  for (Index i = first; i < whole; i += step)
    evaluate_pack<W>(P{}, std::make_integer_sequence<int, W>{}, r, data.of, i);
  const Index last = whole * W + first;
  if (last < size) evaluate_element<P>(r, linear_access<Index>{data.of, last});
}

/// Any layout.
template <class P, class Index>
CALQUE_HIDDEN __global__ void __launch_bounds__(map_threads)
    map_elements(const __grid_constant__ map_pointers<operands_of<P>.count> data,
                 const __grid_constant__ map_domain<operands_of<P>.count, Index> domain) {
  constexpr int count = operands_of<P>.count;
  scalars<P> r;
  evaluate_uniform_element<P>(r, data.of);
  const Index step = all_threads<Index>();
  for (Index i = this_thread<Index>(); i < domain.size; i += step) {
    Index offsets[count];
    find_offsets<count>(domain, i, offsets, std::make_integer_sequence<int, count>{});
    evaluate_element<P>(r, offset_access<Index>{data.of, offsets});
  }
}

/// Whether every offset and every thread's next index fit an int32.
inline bool fits_int32(const geometry& g) {
  constexpr std::int64_t most = std::numeric_limits<std::int32_t>::max();
  if (g.size > most - std::int64_t{map_blocks} * map_threads) return false;
  for (int k = 0; k < g.operand_count(); ++k) {
    std::int64_t reach = 0;
    for (int a = 0; a < g.rank; ++a) {
      const std::int64_t s = g.operands[k].strides[a];
      reach += (s < 0 ? -s : s) * (g.extents[a] - 1);
    }
    if (reach > most) return false;
  }
  return true;
}

inline unsigned blocks_for(std::int64_t threads) {
  const std::int64_t blocks = (threads + map_threads - 1) / map_threads;
  return blocks < map_blocks ? static_cast<unsigned>(blocks) : map_blocks;
}

template <class Index, class... I>
void launch_elements(program<I...>, const geometry& g, bool linear,
                     const map_pointers<operands_of<program<I...>>.count>& data,
                     cudaStream_t stream) {
  using P = program<I...>;
  constexpr int count = operands_of<P>.count;
  map_domain<count, Index> d{};
  d.size = static_cast<Index>(g.size);
  d.rank = static_cast<Index>(linear ? 1 : g.rank);
  for (int a = 0; a < g.rank; ++a) d.extents[a] = static_cast<Index>(g.extents[a]);
  for (int k = 0; k < count; ++k) {
    d.strides[0][k] = 1;
    for (int a = 0; a < g.rank && !linear; ++a)
      d.strides[a][k] = static_cast<Index>(g.operands[k].strides[a]);
  }
  launch(blocks_for(g.size), map_threads, stream, &map_elements<P, Index>, data, d);
}

/// Runs an elementwise program over a geometry on a stream. `data[k]` is operand k's first element,
/// in memory that the device reaches, uniform operands too; the pointers are copied at the call.
/// Throws `device_error` where the launch fails.
template <class... I>
CALQUE_HIDDEN void launch_map_cuda(program<I...> p, const geometry& g, void* const* data,
                                   cudaStream_t stream) {
  using P = program<I...>;
  constexpr operand_uses uses = operands_of<P>;
  constexpr int W = 16 / uses.widest;
  if (g.size == 0) return;
  map_pointers<uses.count> pointers{};
  bool linear = true, aligned = true;
  for (int k = 0; k < uses.count; ++k) {
    pointers.of[k] = data[k];
    if (uses.of[k].uniform) continue;
    linear = linear && g.operands[k].linear;
    aligned = aligned && reinterpret_cast<std::uintptr_t>(data[k]) %
                                 static_cast<std::uintptr_t>(W * uses.of[k].bytes) ==
                             0;
  }
  const bool narrow = fits_int32(g);
  if (linear && aligned) {
    const unsigned blocks = blocks_for((g.size + W - 1) / W);
    if (narrow)
      launch(blocks, map_threads, stream, &map_packs<P, W, std::int32_t>, pointers,
             static_cast<std::int32_t>(g.size));
    else launch(blocks, map_threads, stream, &map_packs<P, W, std::int64_t>, pointers, g.size);
  } else if (narrow) {
    launch_elements<std::int32_t>(p, g, linear, pointers, stream);
  } else {
    launch_elements<std::int64_t>(p, g, linear, pointers, stream);
  }
}

}  // namespace calque::detail
