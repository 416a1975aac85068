// The kernels of sort, argsort and moves along an axis: a stable radix sort of keys and places.
//
// Elements become unsigned keys in the wanted order, with one key for both zeros and the greatest
// for every NaN; keys are sorted with the places they came from, so results keep the elements' own
// bits. Written here because it needs no memory but the plan's, is stable, and its time does not
// depend on the data. Short lines are merged instead.
#pragma once

#include <cstring>

#include "calque/backend/cpu/accumulate.hpp"
#include "calque/ops/ordering.hpp"

namespace calque::detail {

template <class T>
using sort_key = std::conditional_t<sizeof(T) == 8, std::uint64_t, std::uint32_t>;

/// The order of elements as the order of unsigned numbers.
template <bool Down, class T>
CALQUE_HIDDEN sort_key<T> key_of_element(T x) {
  using K = sort_key<T>;
  constexpr K top = K{1} << (8 * sizeof(T) - 1), all = static_cast<K>(top | (top - 1));
  K k;
  if constexpr (std::is_floating_point_v<T>) {
    if (x != x) return all;
    if (x == T(0)) x = T(0);
    std::memcpy(&k, &x, sizeof k);
    k = (k & top) != 0 ? ~k : k | top;
  } else if constexpr (std::is_same_v<T, bool>) {
    k = x;
  } else {
    k = static_cast<K>(static_cast<std::make_unsigned_t<T>>(x));
    if constexpr (std::is_signed_v<T>) k ^= top;
  }
  return Down ? static_cast<K>(~k & all) : k;
}

/// Keys of K with places of I.
template <class K, class I>
class CALQUE_HIDDEN keyed_sort {
 public:
  struct item {
    K key;
    I place;
  };
  /// Lines up to here are merged: counting digits would take longer.
  static constexpr std::int64_t short_line = 16, run = 16;  // for each byte of a key; a start

  /// Sorts `items`, with as much room in `other`; returns where the result is.
  static item* sort(item* items, item* other, std::int64_t n, int key_bytes) {
    return n <= short_line * key_bytes ? merge(items, other, n) : radix(items, other, n, key_bytes);
  }

 private:
  static item* merge(item* a, item* b, std::int64_t n) {
    for (std::int64_t first = 0; first < n; first += run) {
      const std::int64_t end = first + run < n ? first + run : n;
      for (std::int64_t i = first + 1; i < end; ++i) {
        const item x = a[i];
        std::int64_t k = i;
        for (; k > first && x.key < a[k - 1].key; --k) a[k] = a[k - 1];
        a[k] = x;
      }
    }
    for (std::int64_t width = run; width < n; width *= 2) {
      for (std::int64_t first = 0; first < n; first += 2 * width) {
        const std::int64_t middle = first + width < n ? first + width : n;
        const std::int64_t end = first + 2 * width < n ? first + 2 * width : n;
        std::int64_t i = first, k = middle;
        for (std::int64_t to = first; to < end; ++to)
          b[to] = k >= end || (i < middle && a[i].key <= a[k].key) ? a[i++] : a[k++];
      }
      item* const next = b;
      b = a, a = next;
    }
    return a;
  }
  /// By digits of a byte, the lowest first; digits that all keys share are left out.
  static item* radix(item* a, item* b, std::int64_t n, int key_bytes) {
    std::int64_t count[sizeof(K)][256]{};
    for (std::int64_t i = 0; i < n; ++i)
      for (int d = 0; d < key_bytes; ++d) ++count[d][digit(a[i].key, d)];
    for (int d = 0; d < key_bytes; ++d) {
      std::int64_t* const at = count[d];
      if (at[digit(a[0].key, d)] == n) continue;
      std::int64_t sum = 0;
      for (int k = 0; k < 256; ++k) {
        const std::int64_t here = at[k];
        at[k] = sum;
        sum += here;
      }
      for (std::int64_t i = 0; i < n; ++i) b[at[digit(a[i].key, d)]++] = a[i];
      item* const next = b;
      b = a, a = next;
    }
    return a;
  }
  static int digit(K key, int d) { return static_cast<int>(key >> (8 * d) & 0xff); }
};

/// Lines along the last axis: calls f(offset of the line in each operand, in elements).
template <class F>
CALQUE_HIDDEN void for_each_line(const geometry& g, const F& f) {
  std::int64_t index[max_rank]{};
  for (std::int64_t line = 0; line < g.kept_size; ++line) {
    std::int64_t offset[3]{};
    for (int k = 0; k < g.inputs + g.outputs; ++k)
      for (int a = 0; a < g.kept; ++a) offset[k] += index[a] * g.operands[k].strides[a];
    f(offset);
    for (int a = g.kept - 1; a >= 0; --a) {
      if (++index[a] < g.extents[a]) break;
      index[a] = 0;
    }
  }
}

template <class T>
CALQUE_HIDDEN std::int64_t sort_room(const geometry& g) {
  const std::int64_t n = g.extents[g.kept];
  const bool narrow = sizeof(T) < 8 && n <= std::int64_t{0xffffffff};
  return 2 * n * (narrow ? 8 : 16);
}
template <class T>
CALQUE_HIDDEN std::int64_t sort_scratch(const geometry& g) {
  return shared_bytes(g, sort_room<T>(g));
}

template <class Op, class T, class Out>
CALQUE_HIDDEN void launch_sort(const geometry& g, void* const* data, void* scratch) {
  if (g.threads > 1)
    return share_lines(&launch_sort<Op, T, Out>, g, data, scratch, sort_room<T>(g));
  const std::int64_t n = g.extents[g.kept];
  const std::int64_t step = g.operands[0].strides[g.kept], out_step = g.operands[1].strides[g.kept];
  const auto lines = [&]<class K, class I>(K, I) {
    using sorter = keyed_sort<K, I>;
    using item = typename sorter::item;
    item* const items = static_cast<item*>(scratch);
    for_each_line(g, [&](const std::int64_t* offset) {
      const T* in = static_cast<const T*>(data[0]) + offset[0];
      Out* out = static_cast<Out*>(data[1]) + offset[1];
      for (std::int64_t i = 0; i < n; ++i)
        items[i] = {static_cast<K>(key_of_element<Op::down>(in[i * step])), static_cast<I>(i)};
      const item* sorted = sorter::sort(items, items + n, n, static_cast<int>(sizeof(T)));
      for (std::int64_t i = 0; i < n; ++i) {
        const auto place = static_cast<std::int64_t>(sorted[i].place);
        if constexpr (std::is_same_v<Op, op::argsort_of<Op::down>>) out[i * out_step] = place;
        else out[i * out_step] = in[place * step];
      }
    });
  };
  if constexpr (sizeof(T) < 8)
    if (n <= std::int64_t{0xffffffff}) return lines(std::uint32_t{}, std::uint32_t{});
  lines(std::uint64_t{}, std::uint64_t{});
}

/// Operands: values, places, result.
template <bool Put, class T>
CALQUE_HIDDEN void launch_places(const geometry& g, void* const* data, void*) {
  if (g.threads > 1) return share_lines(&launch_places<Put, T>, g, data, nullptr, 0);
  const std::int64_t n = g.extents[g.kept];
  std::int64_t step[3];
  for (int k = 0; k < 3; ++k) step[k] = g.operands[k].strides[g.kept];
  for_each_line(g, [&](const std::int64_t* offset) {
    const T* in = static_cast<const T*>(data[0]) + offset[0];
    const std::int64_t* places = static_cast<const std::int64_t*>(data[1]) + offset[1];
    T* out = static_cast<T*>(data[2]) + offset[2];
    for (std::int64_t i = 0; i < n; ++i) {
      const std::int64_t place = places[i * step[1]];
      if constexpr (Put) out[place * step[2]] = in[i * step[0]];
      else out[i * step[2]] = in[place * step[0]];
    }
  });
}

template <bool Down, class T>
struct line_kernel<op::sort_of<Down>, T> {
  static constexpr kernel_entry entry() {
    return {&launch_sort<op::sort_of<Down>, T, T>, &sort_scratch<T>};
  }
};
template <bool Down, class T>
struct line_kernel<op::argsort_of<Down>, T> {
  static constexpr kernel_entry entry() {
    return {&launch_sort<op::argsort_of<Down>, T, std::int64_t>, &sort_scratch<T>};
  }
};
template <class T>
struct line_kernel<op::take_places, T> {
  static constexpr kernel_entry entry() { return {&launch_places<false, T>, nullptr}; }
};
template <class T>
struct line_kernel<op::put_places, T> {
  static constexpr kernel_entry entry() { return {&launch_places<true, T>, nullptr}; }
};

}  // namespace calque::detail
