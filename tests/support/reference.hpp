// What tests of operations compare with: dense elements in a wide type, NumPy's broadcasting and
// reductions as plain loops; and random arrays in every layout that an argument may have.
#pragma once

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "calque/calque.hpp"

namespace calque::test {

/// Floating elements are followed in long double, integers in 128 bits: nothing wraps or overflows.
template <class T>
using wide = std::conditional_t<std::is_floating_point_v<T>, long double, __int128>;

/// Elements in row-major order.
template <class V>
struct dense {
  std::vector<std::int64_t> shape;
  std::vector<V> data;

  [[nodiscard]] std::int64_t size() const {
    std::int64_t n = 1;
    for (std::int64_t e : shape) n *= e;
    return n;
  }
};

template <class T, int R>
[[nodiscard]] dense<wide<std::remove_const_t<T>>> dense_of(const array<T, R>& a) {
  dense<wide<std::remove_const_t<T>>> d;
  for (std::int64_t e : a.shape()) d.shape.push_back(e);
  for (auto v : a.to_vector()) d.data.push_back(static_cast<wide<std::remove_const_t<T>>>(v));
  return d;
}

// --- reference operations ----------------------------------------------------------------------

/// The extents of some shapes broadcast together; throws std::invalid_argument where they do not
/// fit.
template <class... D>
[[nodiscard]] std::vector<std::int64_t> broadcast_shape(const D&... d) {
  std::vector<std::int64_t> r;
  for (const auto* s : {&d.shape...}) {
    while (r.size() < s->size()) r.insert(r.begin(), 1);
    for (std::size_t i = 1; i <= s->size(); ++i) {
      std::int64_t& to = r[r.size() - i];
      const std::int64_t e = (*s)[s->size() - i];
      if (e != to && e != 1 && to != 1) throw std::invalid_argument("extents do not fit");
      if (to == 1) to = e;
    }
  }
  return r;
}
/// Element `at` of `shape` in an operand that broadcasts to it.
template <class V>
[[nodiscard]] const V& broadcast_element(const dense<V>& d, const std::vector<std::int64_t>& shape,
                                         std::int64_t at) {
  std::int64_t index = 0, step = 1;
  for (std::size_t i = 1; i <= shape.size(); ++i) {
    const std::int64_t e = shape[shape.size() - i], c = at % e;
    at /= e;
    if (i > d.shape.size()) break;
    const std::int64_t own = d.shape[d.shape.size() - i];
    if (own != 1) index += c * step;
    step *= own;
  }
  return d.data[static_cast<std::size_t>(index)];
}

/// `f` of the elements of operands that broadcast together.
template <class F, class... V>
[[nodiscard]] auto zip(F f, const dense<V>&... d) {
  dense<decltype(f(std::declval<V>()...))> r;
  r.shape = broadcast_shape(d...);
  for (std::int64_t i = 0, n = r.size(); i < n; ++i)
    r.data.push_back(f(broadcast_element(d, r.shape, i)...));
  return r;
}

/// For each element of the result, `f(elements in order)`; axes in `mask` are reduced.
template <class V, class F>
[[nodiscard]] auto reduce(const dense<V>& x, unsigned mask, bool keep, F f) {
  std::vector<std::vector<V>> groups;
  dense<decltype(f(groups[0]))> r;
  std::int64_t kept = 1;
  for (std::size_t i = 0; i < x.shape.size(); ++i) {
    if (!((mask >> i) & 1u)) r.shape.push_back(x.shape[i]), kept *= x.shape[i];
    else if (keep) r.shape.push_back(1);
  }
  groups.resize(static_cast<std::size_t>(kept));
  for (std::int64_t at = 0, n = x.size(); at < n; ++at) {
    std::int64_t to = 0, rest = n, index = at;
    for (std::size_t i = 0; i < x.shape.size(); ++i) {
      rest /= x.shape[i];
      if (!((mask >> i) & 1u)) to = to * x.shape[i] + index / rest;
      index %= rest;
    }
    groups[static_cast<std::size_t>(to)].push_back(x.data[static_cast<std::size_t>(at)]);
  }
  for (const auto& g : groups) r.data.push_back(f(g));
  return r;
}

/// Whether reducing the axes in `mask` makes an element out of no elements.
template <class V>
[[nodiscard]] bool reduces_nothing(const dense<V>& x, unsigned mask) {
  bool nothing = false;
  (void)reduce(x, mask, false, [&](const auto& g) { return nothing = nothing || g.empty(); });
  return nothing;
}

/// Axis i of the result is axis perm[i] of `x`.
template <class V>
[[nodiscard]] dense<V> permuted(const dense<V>& x, const std::vector<int>& perm) {
  dense<V> r;
  std::vector<std::int64_t> steps;
  for (int p : perm) {
    r.shape.push_back(x.shape[static_cast<std::size_t>(p)]);
    std::int64_t step = 1;
    for (std::size_t i = static_cast<std::size_t>(p) + 1; i < x.shape.size(); ++i)
      step *= x.shape[i];
    steps.push_back(step);
  }
  for (std::int64_t at = 0, n = r.size(); at < n; ++at) {
    std::int64_t from = 0, index = at;
    for (std::size_t i = perm.size(); i-- > 0;) {
      from += index % r.shape[i] * steps[i];
      index /= r.shape[i];
    }
    r.data.push_back(x.data[static_cast<std::size_t>(from)]);
  }
  return r;
}

// --- comparison --------------------------------------------------------------------------------

/// Whether `got` is `want` rounded to T, give or take `ulps` units in the last place.
template <class T, class V>
[[nodiscard]] bool is_close(T got, V want, double ulps = 0) {
  if constexpr (std::is_floating_point_v<T>) {
    const T nearest = static_cast<T>(want);
    if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
    if (got == nearest) return true;
    if (std::isinf(got) || std::isinf(nearest)) return false;
    const T magnitude = std::fabs(nearest), limit = std::numeric_limits<T>::infinity();
    const long double ulp =
        magnitude < std::numeric_limits<T>::max()
            ? static_cast<long double>(std::nextafter(magnitude, limit)) - magnitude
            : magnitude * static_cast<long double>(std::numeric_limits<T>::epsilon());
    return std::fabs(static_cast<long double>(got) - static_cast<long double>(want)) <= ulps * ulp;
  } else {
    return got == static_cast<T>(want);
  }
}

/// Whether an array has the reference's extents and elements; what differs first goes into `why`.
template <class T, int R, class V>
[[nodiscard]] bool matches(const array<T, R>& got, const dense<V>& want, double ulps,
                           std::string& why) {
  using E = std::remove_const_t<T>;
  std::vector<std::int64_t> shape;
  for (std::int64_t e : got.shape()) shape.push_back(e);
  if (shape != want.shape) {
    why = "extents are " + to_string(got.shape()) + " instead of " +
          to_string(want.shape.data(), static_cast<int>(want.shape.size()));
    return false;
  }
  const std::vector<E> data = got.to_vector();
  for (std::size_t i = 0; i < data.size(); ++i)
    if (!is_close<E>(data[i], want.data[i], ulps)) {
      why = "element " + std::to_string(i) + " of " + to_string(got.shape()) + " is " +
            std::to_string(data[i]) + " instead of " +
            std::to_string(static_cast<double>(want.data[i]));
      return false;
    }
  return true;
}

/// Whether two arrays have the same extents and bits; any NaN equals any other.
template <class T, class U, int R>
[[nodiscard]] bool same_bits(const array<T, R>& a, const array<U, R>& b) {
  static_assert(std::is_same_v<std::remove_const_t<T>, std::remove_const_t<U>>);
  if (a.shape() != b.shape()) return false;
  const auto x = a.to_vector(), y = b.to_vector();
  for (std::size_t i = 0; i < x.size(); ++i) {
    if constexpr (std::is_floating_point_v<std::remove_const_t<T>>) {
      if (std::isnan(x[i]) && std::isnan(y[i])) continue;
      if (std::signbit(x[i]) != std::signbit(y[i])) return false;
    }
    if (x[i] != y[i]) return false;
  }
  return true;
}

#define CALQUE_CHECK_MATCHES(got, want, ulps)                                        \
  do {                                                                               \
    std::string calque_why;                                                          \
    CHECK_MESSAGE(::calque::test::matches(got, want, ulps, calque_why), calque_why); \
  } while (false)

// --- arguments ---------------------------------------------------------------------------------

enum class layout { plain, transposed, reversed, strided, repeated };
inline constexpr layout layouts[] = {layout::plain, layout::transposed, layout::reversed,
                                     layout::strided, layout::repeated};

template <class T, int R, class Draw>
[[nodiscard]] array<T, R> drawn(const shape<R>& s, Draw draw) {
  auto a = array<T, R>::uninitialised(s);
  T* const to = a.data();
  for (std::int64_t i = 0, n = a.size(); i < n; ++i) to[i] = draw();
  return a;
}

namespace detail {

template <int R, class F>
[[nodiscard]] shape<R> changed(const shape<R>& s, F f) {
  std::array<std::int64_t, R> e{};
  for (int i = 0; i < R; ++i) e[static_cast<std::size_t>(i)] = f(i, s[i]);
  return shape<R>(e);
}
template <class T, int R, std::size_t... I>
[[nodiscard]] array<const T, R> sliced(const array<T, R>& a, const range& r,
                                       std::index_sequence<I...>) {
  return slice(a, (static_cast<void>(I), r)...);
}

}  // namespace detail

/// An array of extents `s` with elements from `draw()`, laid out as `how` says; `repeated` has
/// stride 0 along its first axis.
template <class T, int R, class Draw>
[[nodiscard]] array<const T, R> laid_out(const shape<R>& s, layout how, Draw draw) {
  constexpr auto all = std::make_index_sequence<static_cast<std::size_t>(R)>{};
  if constexpr (R > 0) {
    switch (how) {
      case layout::plain: break;
      case layout::transposed:
        return transpose(
            drawn<T>(detail::changed(s, [&](int i, auto) { return s[R - 1 - i]; }), draw));
      case layout::reversed:
        return detail::sliced(drawn<T>(s, draw), range{range::open, range::open, -1}, all);
      case layout::strided:
        return detail::sliced(
            drawn<T>(detail::changed(s, [](int, std::int64_t e) { return 2 * e; }), draw),
            range{range::open, range::open, -2}, all);
      case layout::repeated:
        return broadcast_to(
            drawn<T>(detail::changed(s, [](int i, std::int64_t e) { return i == 0 ? 1 : e; }),
                     draw),
            s);
    }
  }
  return drawn<T>(s, draw);
}

/// Draws of elements: a few special ones among moderate ones.
template <class T>
class draws {
 public:
  explicit draws(std::uint64_t seed, double special = 0) : random_(seed), special_(special) {}

  T operator()() {
    if constexpr (std::is_same_v<T, bool>) {
      return random_() % 2 == 0;
    } else if constexpr (std::is_floating_point_v<T>) {
      constexpr T inf = std::numeric_limits<T>::infinity();
      const T rare[] = {T(0),
                        T(-0.0),
                        inf,
                        -inf,
                        std::numeric_limits<T>::quiet_NaN(),
                        std::numeric_limits<T>::max(),
                        std::numeric_limits<T>::denorm_min(),
                        -std::numeric_limits<T>::min() / 3};
      if (uniform_(random_) < special_) return rare[random_() % 8];
      return static_cast<T>(uniform_(random_) * 8 - 4);
    } else {
      const T rare[] = {T(0), std::numeric_limits<T>::min(), std::numeric_limits<T>::max(),
                        static_cast<T>(-1)};
      if (uniform_(random_) < special_) return rare[random_() % 4];
      return static_cast<T>(static_cast<T>(random_() % 19) - (std::is_signed_v<T> ? T(9) : T(0)));
    }
  }

 private:
  std::mt19937_64 random_;
  std::uniform_real_distribution<double> uniform_{0, 1};
  double special_;
};

/// Some shapes of a rank: ordinary, with extents 1 and 0, and long last and first axes.
template <int R>
[[nodiscard]] std::vector<shape<R>> shapes_of() {
  std::vector<shape<R>> all;
  constexpr std::int64_t sets[][4] = {{2, 3, 4, 5},  {1, 5, 1, 3},  {3, 0, 2, 4}, {1, 1, 1, 1},
                                      {2, 2, 3, 67}, {70, 2, 1, 3}, {0, 1, 3, 0}};
  for (const auto& set : sets) {
    std::array<std::int64_t, R> e{};
    for (int i = 0; i < R; ++i) e[static_cast<std::size_t>(i)] = set[4 - R + i];
    all.push_back(shape<R>(e));
    if (R == 0) break;
  }
  return all;
}

/// Runs `f()` at each instruction set that this machine has. Plans are made for one of them, so
/// those of the traced functions named are dropped on the way.
template <class F, class... Traced>
void at_each_isa(F f, const Traced&... traced) {
  for (isa level : {isa::baseline, isa::avx2, isa::avx512, isa::avx512}) {
    calque::detail::force_isa(level);
    (traced.clear(), ...);
    f();
  }
}

/// Lengths around the widths of vectors and of blocks.
inline constexpr std::int64_t lengths[] = {0, 1, 2, 7, 8, 9, 31, 32, 33, 1023, 1024, 1025, 100003};

}  // namespace calque::test
