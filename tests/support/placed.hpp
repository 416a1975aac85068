// Tensors in memory: dense, transposed, reversed, padded or broadcast; and back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <random>
#include <vector>

#include "calque/graph/constant.hpp"
#include "support/interpreter.hpp"

namespace calque::test {

inline void write_element(void* to, dtype t, const constant& c) {
  detail::visit_dtype<int>(t, [&]<class T>(T) {
    const T v = detail::constant_as<T>(c);
    std::memcpy(to, &v, sizeof(T));
    return 0;
  });
}
inline constant read_element(const void* from, dtype t) {
  return detail::visit_dtype<constant>(t, [&]<class T>(T) {
    T v;
    std::memcpy(&v, from, sizeof(T));
    return detail::make_constant<T>(v);
  });
}

enum class placement { dense, transposed, reversed, padded, broadcast };

/// A tensor's elements in a block of its own, with strides in elements.
class placed {
 public:
  placed() = default;
  placed(const tensor& t, placement how, int axis = 0) : type_(t.type), shape_(t.shape) {
    const std::size_t rank = shape_.size();
    strides_.assign(rank, 0);
    std::int64_t next = how == placement::padded ? 2 : 1;
    for (std::size_t i = 0; i < rank; ++i) {
      const std::size_t a = how == placement::transposed ? i : rank - 1 - i;
      if (how == placement::broadcast && static_cast<int>(a) == axis) continue;
      strides_[a] = next;
      next *= std::max<std::int64_t>(1, shape_[a]);
      if (how == placement::padded) ++next;
    }
    bytes_.resize(static_cast<std::size_t>((next + 2) * size_of(type_)), std::byte{0x5a});
    if (how == placement::reversed && rank > 0 && shape_[static_cast<std::size_t>(axis)] > 0) {
      const auto a = static_cast<std::size_t>(axis);
      first_ = strides_[a] * (shape_[a] - 1);
      strides_[a] = -strides_[a];
    }
    for (std::int64_t i = 0; i < t.size(); ++i)
      write_element(address(i), type_, t.data[static_cast<std::size_t>(i)]);
  }

  [[nodiscard]] tensor value() const {
    tensor t{type_, shape_, {}};
    const std::int64_t n = t.size();
    for (std::int64_t i = 0; i < n; ++i) t.data.push_back(read_element(address(i), type_));
    return t;
  }
  [[nodiscard]] void* data() { return bytes_.data() + first_ * size_of(type_); }
  [[nodiscard]] const std::int64_t* shape() const { return shape_.data(); }
  [[nodiscard]] const std::int64_t* strides() const { return strides_.data(); }
  [[nodiscard]] dtype type() const { return type_; }
  [[nodiscard]] int rank() const { return static_cast<int>(shape_.size()); }

 private:
  [[nodiscard]] const std::byte* address(std::int64_t element) const {
    std::int64_t at = first_;
    for (std::size_t i = shape_.size(); i-- > 0;) {
      at += element % shape_[i] * strides_[i];
      element /= shape_[i];
    }
    return bytes_.data() + at * size_of(type_);
  }
  [[nodiscard]] std::byte* address(std::int64_t element) {
    return const_cast<std::byte*>(static_cast<const placed*>(this)->address(element));
  }

  dtype type_ = dtype::none;
  extents shape_, strides_;
  std::vector<std::byte> bytes_;
  std::int64_t first_ = 0;
};

/// Makes a tensor constant along an axis, so that it can be placed with stride 0 there.
inline void flatten(tensor& t, int axis) {
  const auto a = static_cast<std::size_t>(axis);
  std::int64_t inner = 1;
  for (std::size_t i = a + 1; i < t.shape.size(); ++i) inner *= t.shape[i];
  for (std::int64_t i = 0; i < t.size(); ++i) {
    const std::int64_t back = i / inner % t.shape[a] * inner;
    t.data[static_cast<std::size_t>(i)] = t.data[static_cast<std::size_t>(i - back)];
  }
}

[[nodiscard]] inline bool is_flat(const tensor& t, int axis) {
  if (t.rank() == 0) return false;
  tensor flat = t;
  flatten(flat, axis);
  return same_values(flat, t);
}

}  // namespace calque::test
