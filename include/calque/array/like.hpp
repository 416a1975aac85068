// Factories in the form that traced bodies use, where the last argument says whose: on arrays they
// make arrays, so that one body runs traced and by itself.
#pragma once

#include "calque/array/factories.hpp"

namespace calque {

/// Zeros of type T; `x` is any array and only stands where a symbol would.
///
///   auto z = cq::zeros<float>(cq::shape{3, x.extent(0)}, x);
template <element T, int Rank, class U, int R>
[[nodiscard]] array<T, Rank> zeros(const shape<Rank>& extents, const array<U, R>&) {
  return zeros<T>(extents);
}
/// Ones of type T; `x` is any array.
template <element T, int Rank, class U, int R>
[[nodiscard]] array<T, Rank> ones(const shape<Rank>& extents, const array<U, R>&) {
  return ones<T>(extents);
}
/// `v` everywhere; `x` is any array.
template <int Rank, scalar_literal S, class U, int R>
[[nodiscard]] auto full(const shape<Rank>& extents, S v, const array<U, R>&) {
  return full(extents, v);
}
/// 0, 1, …, n - 1 of type T; `x` is any array.
template <element T, std::integral N, class U, int R>
[[nodiscard]] array<T, 1> arange(N n, const array<U, R>&) {
  return arange<T>(n);
}

/// Zeros of x's type and extents.
template <class T, int Rank>
[[nodiscard]] array<std::remove_const_t<T>, Rank> zeros_like(const array<T, Rank>& x) {
  return zeros<std::remove_const_t<T>>(x.shape());
}
/// Ones of x's type and extents.
template <class T, int Rank>
[[nodiscard]] array<std::remove_const_t<T>, Rank> ones_like(const array<T, Rank>& x) {
  return ones<std::remove_const_t<T>>(x.shape());
}

}  // namespace calque
