// The library's own door into arrays: raw pointers, strides, storage identity, detaching.
//
// For code that runs kernels, plans aliases or makes views; user code has no need of it.
//   array_access::data(a), extents(a), strides(a)     any device, no check, never detaches
//   prepare_write(a, contents::keep | discard)        detached pointer for writing
//   array_access::reach(a), identity(a)               bytes [low, high) and storage, for overlap
//   array_access::view(...), array_access::exclusive(a)   make a view; may its storage be reused?
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <type_traits>

#include "calque/array/array.hpp"

namespace calque {

template <class T>
struct is_array : std::false_type {};
template <class T, int Rank>
struct is_array<array<T, Rank>> : std::true_type {};

/// `array<T, Rank>` of any element type, read-only ones included.
template <class T>
concept any_array = is_array<std::remove_cvref_t<T>>::value;

namespace detail {

/// Does a write need the old elements?
enum class contents : bool { discard, keep };

struct array_access {
  template <class T, int Rank>
  [[nodiscard]] static const std::remove_const_t<T>* data(const array<T, Rank>& a) {
    return a.raw();
  }
  template <class T, int Rank>
  [[nodiscard]] static const std::int64_t* extents(const array<T, Rank>& a) {
    return a.extents_.data();
  }
  template <class T, int Rank>
  [[nodiscard]] static const std::int64_t* strides(const array<T, Rank>& a) {
    return a.strides_.data();
  }
  template <class T, int Rank>
  [[nodiscard]] static byte_range reach(const array<T, Rank>& a) {
    return a.reach();
  }
  /// The device that the elements are on; null for the host.
  template <class T, int Rank>
  [[nodiscard]] static device_entry* place(const array<T, Rank>& a) {
    return a.place();
  }
  /// Equal for arrays that share a counted block; null for borrowed host memory and inline values.
  template <class T, int Rank>
  [[nodiscard]] static const storage* identity(const array<T, Rank>& a) {
    return a.block_.get();
  }
  template <class T, int Rank>
  [[nodiscard]] static const storage_ref& block(const array<T, Rank>& a) {
    return a.block_;
  }
  /// Memory that the library does not own: written through, never reused for something else.
  template <class T, int Rank>
  [[nodiscard]] static bool borrowed(const array<T, Rank>& a) {
    return a.data_ != nullptr && !a.owns_block() && a.size() != 0;
  }
  /// Owned, dense, and no other handle: its storage may become that of a result (donation).
  template <class T, int Rank>
  [[nodiscard]] static bool exclusive(const array<T, Rank>& a) {
    return !array<T, Rank>::read_only && a.owns_block() && !a.block_.shared() && a.is_contiguous();
  }
  template <class T, int Rank>
  [[nodiscard]] static T* writable(array<T, Rank>& a, contents c) {
    a.detach(c == contents::keep);
    return a.raw();
  }

  /// An array over `data` that keeps `block` alive (none: borrowed host memory). Nothing is
  /// checked.
  template <class T, int Rank>
  [[nodiscard]] static array<T, Rank> make(storage_ref block, T* data,
                                           const std::array<std::int64_t, Rank>& extents,
                                           const std::array<std::int64_t, Rank>& strides) {
    array<T, Rank> a;
    a.block_ = std::move(block);
    a.data_ = data;
    a.extents_ = extents;
    a.strides_ = strides;
    return a;
  }

  /// A read-only view into `base`'s storage. `data` lies inside the elements of `base`.
  template <int Rank, class T, int BaseRank>
  [[nodiscard]] static array<const T, Rank> view(const array<const T, BaseRank>& base,
                                                 const T* data,
                                                 const std::array<std::int64_t, Rank>& extents,
                                                 const std::array<std::int64_t, Rank>& strides) {
    return make<const T, Rank>(base.block_, data, extents, strides);
  }
};

/// Pointer for writing to the elements of `a`: detached from other handles (one counted allocation
/// when shared), written through when borrowed. Read-only arrays do not compile.
template <class T, int Rank>
  requires(!std::is_const_v<T>)
[[nodiscard]] T* prepare_write(array<T, Rank>& a, contents c = contents::keep) {
  return array_access::writable(a, c);
}

/// "f32[64, 128]", as messages name an operand.
template <class T, int Rank>
[[nodiscard]] std::string label(const array<T, Rank>& a) {
  return label(dtype_of<T>, array_access::extents(a), Rank);
}

}  // namespace detail
}  // namespace calque
