// `array<T, Rank>`: a handle of shared storage with extents and strides.
//
// A copy shares; who writes to shared storage detaches first. `array<const T, Rank>` is the
// read-only form that views and borrowed constants have. Rank 0 lives inside the handle. Only
// constrained constructors: aggregates of arrays are counted by initialising their members.
// The rest of the library reaches inside through `detail::array_access` (array/access.hpp).
#pragma once

#include <array>
#include <cassert>
#include <concepts>
#include <cstdint>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "calque/array/braces.hpp"
#include "calque/array/device_copy.hpp"
#include "calque/array/layout.hpp"
#include "calque/array/storage.hpp"
#include "calque/core/device.hpp"
#include "calque/core/dtype.hpp"
#include "calque/core/error.hpp"
#include "calque/core/fits.hpp"
#include "calque/core/shape.hpp"

namespace calque {

namespace detail {

struct array_access;

template <class T, int Rank>
struct inline_value {};
template <class T>
struct inline_value<T, 0> {
  T value{};
};

/// A C++ number that a rank-0 array of `T` takes without changing its kind.
template <class U, class T>
concept scalar_for =
    std::same_as<U, T> ||
    (scalar_literal<U> && kind_of(dtype_of<scalar_element<U>>) <= kind_of(dtype_of<T>));

}  // namespace detail

/// An array of `Rank` axes on one device: a cheap handle of shared storage with value semantics.
/// Default-constructed and moved-from arrays are unallocated: every extent is 0.
///
///   cq::array<float, 2> a{{1, 2}, {3, 4}};   // braces are values
///
/// Pointers and references for writing hold until the array is copied or assigned; reading a shared
/// array through a non-const `data()` or `operator()` detaches it like a write.
template <class T, int Rank>
class array {
  static_assert(
      element<std::remove_const_t<T>>,
      "calque::array<T, Rank>: T must be bool, an integer of 8 to 64 bits, float or double");
  static_assert(Rank >= 0 && Rank <= max_rank, "calque::array<T, Rank>: Rank must be 0 to 8");

 public:
  using value_type = std::remove_const_t<T>;
  static constexpr bool read_only = std::is_const_v<T>;
  using counterpart = array<std::conditional_t<read_only, value_type, const value_type>, Rank>;

  array() = default;
  array(const array&) = default;
  array& operator=(const array&) = default;
  array(array&& other) noexcept { take(other); }
  array& operator=(array&& other) noexcept {
    take(other);
    return *this;
  }
  ~array() = default;

  /// The read-only form of an array shares it. The writable form of a read-only one shares dense
  /// owned storage (a write detaches) and copies anything else.
  array(const counterpart& other) noexcept(read_only) {  // NOLINT: implicit on purpose
    const bool share = read_only || (other.owns_block() && other.is_contiguous());
    if (share) {
      block_ = other.block_;
      data_ = const_cast<T*>(other.data_);
      extents_ = other.extents_;
      strides_ = other.strides_;
      value_ = other.value_;
    } else if constexpr (!read_only) {
      *this = other.clone();
    }
  }

  /// Nested braces, ranks 1 to 4. Ragged rows throw `shape_error`.
  array(typename detail::braces<value_type, Rank>::type values)  // NOLINT: implicit on purpose
    requires(!read_only && Rank >= 1 && Rank <= 4)
  {
    std::array<std::int64_t, Rank> extents{};
    detail::measure_braces<Rank>(values, extents.data());
    detail::check_braces<Rank>(values, extents.data());
    *this = uninitialised(calque::shape<Rank>(extents));
    detail::fill_braces<Rank>(values, data_);
  }

  /// Copies the values of a span (or a vector, or a C array).
  explicit array(std::span<const value_type> values)
    requires(!read_only && Rank == 1)
      : array(values, calque::shape<1>(values.size())) {}

  /// Copies values in row-major order; throws `shape_error` unless there is one for each element.
  array(std::span<const value_type> values, const calque::shape<Rank>& extents)
    requires(!read_only)
      : array(uninitialised(extents)) {
    copy_from(values);
  }

  explicit array(const std::vector<bool>& values)
    requires(!read_only && Rank == 1 && std::same_as<value_type, bool>)
      : array(uninitialised(calque::shape<1>(values.size()))) {
    std::copy(values.begin(), values.end(), data_);
  }

  /// A rank-0 array from a number that keeps its kind; throws `dtype_error` for an integer that
  /// does not fit.
  template <detail::scalar_for<value_type> U>
    requires(Rank == 0)
  array(U value)  // NOLINT: implicit on purpose
      : value_{detail::checked_element<value_type>(value, "array")} {}

  /// A dense array whose elements have no value yet: one allocation, of which rank 0 has no need on
  /// the host (where `entry` is null). Throws `out_of_memory`.
  [[nodiscard]] static array uninitialised(const calque::shape<Rank>& extents,
                                           detail::device_entry* entry = nullptr)
    requires(!read_only)
  {
    array a;
    if (Rank == 0 && entry == nullptr) return a;
    a.extents_ = extents.extents();
    const std::int64_t n =
        detail::dense_layout(dtype_of<value_type>, a.extents_.data(), Rank, a.strides_.data());
    if (n == 0 && entry == nullptr) {
      a.data_ = reinterpret_cast<T*>(detail::no_elements);
    } else {
      a.block_ = detail::storage_ref::allocate(n * std::int64_t{sizeof(T)}, entry);
      a.data_ = static_cast<T*>(a.block_.elements());
    }
    return a;
  }

  [[nodiscard]] calque::shape<Rank> shape() const { return calque::shape<Rank>(extents_); }
  [[nodiscard]] std::int64_t extent(int axis) const {
    assert(axis >= 0 && axis < Rank);
    return extents_[static_cast<std::size_t>(axis)];
  }
  /// Steps from one element to the next along each axis, counted in elements.
  [[nodiscard]] const std::array<std::int64_t, Rank>& strides() const { return strides_; }
  [[nodiscard]] std::int64_t size() const { return detail::count(extents_.data(), Rank); }
  [[nodiscard]] std::int64_t bytes() const { return size() * std::int64_t{sizeof(T)}; }
  [[nodiscard]] static constexpr int rank() { return Rank; }
  [[nodiscard]] calque::device device() const {
    return block_ ? calque::device(detail::device_ref(block_->where)) : calque::device();
  }

  /// Row-major without gaps?
  [[nodiscard]] bool is_contiguous() const {
    return detail::is_dense(extents_.data(), strides_.data(), Rank);
  }
  /// False for default-constructed and moved-from arrays (rank 0 always has its value).
  [[nodiscard]] bool is_allocated() const { return Rank == 0 || data_ != nullptr; }
  /// Do other handles share the storage, so that a write would detach?
  [[nodiscard]] bool is_shared() const { return owns_block() && block_.shared(); }

  /// First element for reading. Host arrays; else `device_error`.
  [[nodiscard]] const value_type* data() const& {
    require_host("data");
    return raw();
  }
  /// First element for writing: shared storage is detached first.
  [[nodiscard]] T* data() &
    requires(!read_only)
  {
    require_host("data");
    detach(true);
    return raw();
  }

  /// The element at an index (checked by assertion only; `at` always checks).
  template <std::integral... Index>
    requires(sizeof...(Index) == Rank)
  [[nodiscard]] value_type operator()(Index... index) const& {
    require_host("operator()");
    return raw()[offset(index...)];
  }
  /// The element for writing: shared storage is detached first.
  template <std::integral... Index>
    requires(sizeof...(Index) == Rank && !read_only)
  [[nodiscard]] T& operator()(Index... index) & {
    require_host("operator()");
    detach(true);
    return raw()[offset(index...)];
  }

  /// As `operator()`, but throws `index_error` outside the extents.
  template <std::integral... Index>
    requires(sizeof...(Index) == Rank)
  [[nodiscard]] value_type at(Index... index) const& {
    check_index(index...);
    return (*this)(index...);
  }
  template <std::integral... Index>
    requires(sizeof...(Index) == Rank && !read_only)
  [[nodiscard]] T& at(Index... index) & {
    check_index(index...);
    return (*this)(index...);
  }

  /// The only element, on whatever device; throws `shape_error` when there is not exactly one.
  [[nodiscard]] value_type item() const {
    if (size() != 1)
      throw shape_error("item: " + label() + " has " + std::to_string(size()) +
                        " elements, not one; index it instead");
    if (place() == nullptr) [[likely]]
      return *raw();
    value_type value;
    pack(&value);
    return value;
  }
  operator value_type() const  // NOLINT: implicit on purpose
    requires(Rank == 0)
  {
    return item();
  }

  /// The array on a device: where it is there already, a handle of the same storage, else a dense
  /// copy, which is a transfer. Throws `out_of_memory`, and `device_error` for a device that is
  /// gone.
  ///
  ///   auto there = x.to(cq::device{"a0"});
  [[nodiscard]] array to(const calque::device& target) const {
    if (target == device() || !is_allocated()) return *this;
    if (!target.is_present())
      throw device_error("to: " + label() + " is on " + device().name() + " and " + target.name() +
                         " is gone; take one of the present devices");
    return copy_on(target.entry());
  }

  /// Copies the elements in row-major order; throws `shape_error` unless the sizes are equal.
  void copy_to(std::span<value_type> target) const {
    require_size("copy_to", target.size());
    pack(target.data());
  }
  [[nodiscard]] std::vector<value_type> to_vector() const {
    std::vector<value_type> values(static_cast<std::size_t>(size()));
    if constexpr (std::same_as<value_type, bool>) {
      const auto dense = copy_on(nullptr);  // std::vector<bool> has no pointer to pack into
      std::copy_n(dense.raw(), dense.size(), values.begin());
    } else {
      pack(values.data());
    }
    return values;
  }
  /// A dense copy with storage of its own, on the same device.
  [[nodiscard]] array<value_type, Rank> clone() const {
    if (!is_allocated()) return {};
    return copy_on(place());
  }

  /// Overwrites the elements with those of an array of the same extents (an unallocated array takes
  /// the extents too, and the device). Overlapping memory is read first.
  void copy_from(const array<const value_type, Rank>& source) &
    requires(!read_only)
  {
    if (!is_allocated()) {
      *this = source.clone();
      return;
    }
    if (extents_ != source.extents_)
      throw shape_error("copy_from: " + label() + " cannot take the elements of " + source.label() +
                        "; the extents must be equal");
    detach(false);
    if (reach().overlaps(source.reach())) {
      const array<value_type, Rank> staged = source.clone();
      unpack(staged.place(), staged.raw(), staged.strides_.data());
    } else {
      unpack(source.place(), source.raw(), source.strides_.data());
    }
  }
  /// Overwrites the elements with values in row-major order; throws `shape_error` unless there is
  /// one for each element.
  void copy_from(std::span<const value_type> values) &
    requires(!read_only)
  {
    require_size("copy_from", values.size());
    array<const value_type, Rank> source;
    source.extents_ = extents_;
    source.data_ = values.data();
    detail::dense_layout(dtype_of<value_type>, extents_.data(), Rank, source.strides_.data());
    if (size() != 0) copy_from(source);
  }

 private:
  template <class, int>
  friend class array;
  friend struct detail::array_access;

  void take(array& other) noexcept {
    block_ = std::move(other.block_);
    data_ = std::exchange(other.data_, nullptr);
    extents_ = std::exchange(other.extents_, {});
    strides_ = std::exchange(other.strides_, {});
    value_ = std::exchange(other.value_, {});
  }
  [[nodiscard]] bool owns_block() const { return block_ && block_->owned; }

  /// First element on whatever device. A rank-0 array without foreign memory holds it itself.
  [[nodiscard]] const value_type* raw() const {
    if constexpr (Rank == 0) return data_ != nullptr ? data_ : &value_.value;
    else return data_;
  }
  [[nodiscard]] T* raw() { return const_cast<T*>(std::as_const(*this).raw()); }

  /// The device that the elements are on; null for the host.
  [[nodiscard]] detail::device_entry* place() const { return block_ ? block_->where : nullptr; }
  /// To host memory, or to memory of `target`, in row-major order.
  void pack(value_type* to, detail::device_entry* target = nullptr) const {
    std::array<std::int64_t, Rank> dense{};
    detail::dense_layout(dtype_of<value_type>, extents_.data(), Rank, dense.data());
    detail::copy_across(place(), raw(), strides_.data(), target, to, dense.data(), extents_.data(),
                        Rank);
  }
  void unpack(detail::device_entry* source, const value_type* from,
              const std::int64_t* from_strides) {
    detail::copy_across<value_type>(source, from, from_strides, place(), raw(), strides_.data(),
                                    extents_.data(), Rank);
  }
  [[nodiscard]] array<value_type, Rank> copy_on(detail::device_entry* target) const {
    auto copy = array<value_type, Rank>::uninitialised(shape(), target);
    pack(copy.raw(), target);
    return copy;
  }

  [[nodiscard]] detail::byte_range reach() const {
    detail::byte_range range;
    (void)detail::find_reach(raw(), sizeof(T), extents_.data(), strides_.data(), Rank, &range);
    return range;
  }

  /// Makes owned storage exclusive before a write; `keep`: with its elements.
  void detach(bool keep) {
    if (is_shared()) [[unlikely]]
      replace_storage(keep);
  }
  [[gnu::noinline]] void replace_storage(bool keep) {
    array fresh = uninitialised(shape(), place());
    if (keep) pack(fresh.raw(), place());
    *this = std::move(fresh);
  }

  template <class... Index>
  [[nodiscard]] std::int64_t offset([[maybe_unused]] Index... index) const {
    std::int64_t sum = 0;
    [[maybe_unused]] std::size_t axis = 0;
    assert(((static_cast<std::int64_t>(index) >= 0 &&
             static_cast<std::int64_t>(index) < extents_[axis++]) &&
            ...));
    axis = 0;
    ((sum += static_cast<std::int64_t>(index) * strides_[axis++]), ...);
    return sum;
  }

  template <class... Index>
  void check_index([[maybe_unused]] Index... index) const {
    [[maybe_unused]] int axis = 0;
    ((index < 0 || std::cmp_greater_equal(index, extent(axis))
          ? detail::throw_index(static_cast<std::int64_t>(index), axis, label(), extent(axis))
          : void(),
      ++axis),
     ...);
  }
  void require_host(const char* op) const {
    if (place() != nullptr) [[unlikely]]
      throw device_error(std::string(op) + ": " + label() + " is on " + device().name() +
                         "; copy it to the host first with to(cpu())");
  }
  void require_size(const char* op, std::size_t given) const {
    if (static_cast<std::uint64_t>(size()) != given) detail::throw_size(op, label(), size(), given);
  }
  [[nodiscard]] std::string label() const {
    return detail::label(dtype_of<value_type>, extents_.data(), Rank);
  }

  detail::storage_ref block_;
  T* data_ = nullptr;
  std::array<std::int64_t, Rank> extents_{};
  std::array<std::int64_t, Rank> strides_{};
  [[no_unique_address]] detail::inline_value<value_type, Rank> value_{};
};

}  // namespace calque
