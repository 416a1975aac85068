// A growable array of plain data that works in constant expressions and at run time.
//
// `std::vector` costs several evaluation steps for each element in a constant expression; graphs
// are built there under every compiler's default step limit, so this one does the least it can.
#pragma once

#include <initializer_list>
#include <type_traits>
#include <utility>

namespace calque::detail {

template <class T>
class list {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  constexpr list() = default;
  constexpr list(std::initializer_list<T> values) {
    reserve(static_cast<int>(values.size()));
    for (const T& v : values) push(v);
  }
  constexpr list(const list& o) {
    reserve(o.size_);
    for (int i = 0; i < o.size_; ++i) data_[i] = o.data_[i];
    size_ = o.size_;
  }
  constexpr list(list&& o) noexcept
      : data_(std::exchange(o.data_, nullptr)),
        size_(std::exchange(o.size_, 0)),
        capacity_(std::exchange(o.capacity_, 0)) {}
  constexpr list& operator=(list o) noexcept {
    std::swap(data_, o.data_);
    std::swap(size_, o.size_);
    std::swap(capacity_, o.capacity_);
    return *this;
  }
  constexpr ~list() { delete[] data_; }

  constexpr void reserve(int n) {
    if (n <= capacity_) return;
    T* grown = new T[static_cast<std::size_t>(n)]{};
    for (int i = 0; i < size_; ++i) grown[i] = data_[i];
    delete[] data_;
    data_ = grown;
    capacity_ = n;
  }
  constexpr int push(const T& value) {
    if (size_ == capacity_) {
      const T copy = value;  // may live in the old block
      reserve(capacity_ ? 2 * capacity_ : 16);
      data_[size_] = copy;
    } else {
      data_[size_] = value;
    }
    return size_++;
  }
  constexpr void resize(int n, const T& value = T{}) {
    if (n > capacity_) reserve(n);
    for (int i = size_; i < n; ++i) data_[i] = value;
    size_ = n;
  }
  constexpr void pop() { --size_; }
  constexpr void clear() { size_ = 0; }

  [[nodiscard]] constexpr int size() const { return size_; }
  [[nodiscard]] constexpr bool empty() const { return size_ == 0; }
  constexpr T& operator[](int i) { return data_[i]; }
  constexpr const T& operator[](int i) const { return data_[i]; }
  constexpr T& back() { return data_[size_ - 1]; }
  constexpr const T& back() const { return data_[size_ - 1]; }
  constexpr T* begin() { return data_; }
  constexpr T* end() { return data_ + size_; }
  constexpr const T* begin() const { return data_; }
  constexpr const T* end() const { return data_ + size_; }

 private:
  T* data_ = nullptr;
  int size_ = 0, capacity_ = 0;
};

}  // namespace calque::detail
