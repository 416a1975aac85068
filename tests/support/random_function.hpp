// Random functions for the compiler: `random_function<Seed>` is a captureless generic functor whose
// body is drawn from its seed by constant expressions.
//
// Every value's axes are known as classes: powers of two sizes n and m, with or without "or 1 at
// run time". So each body is valid for all n and m, extents 0 and 1 and stretched operands
// included. Sums and products of matrices get operands that make them exact, so that results are
// equal to the bit.
#pragma once

#include <cstdint>
#include <tuple>
#include <utility>

#include "calque/calque.hpp"

namespace calque::test {

/// The class of an axis: n^a * m^b elements, or (`loose`) 1 at run time.
struct ax {
  int a = 0, b = 0;
  bool loose = false;
  friend constexpr bool operator==(const ax&, const ax&) = default;
};
struct axes {
  int rank = 0;
  ax of[4]{};
  friend constexpr bool operator==(const axes&, const axes&) = default;
  [[nodiscard]] constexpr bool loose() const {
    return of[0].loose || of[1].loose || of[2].loose || of[3].loose;
  }
};
inline constexpr axes impossible{-1, {}};
inline constexpr axes whole{2, {{1, 0}, {0, 1}}};  // (n, m)

constexpr ax joined(const ax& x, const ax& y) {
  if (x == ax{}) return y;
  if (y == ax{}) return x;
  return {x.a, x.b, x.loose && y.loose};
}
constexpr bool fits(const axes& x) {
  int a = 0, b = 0;
  for (const ax& e : x.of) a += e.a, b += e.b;
  return x.rank >= 0 && x.rank <= 4 && a <= 2 && b <= 2;
}
/// NumPy's rule; `impossible` where it cannot be known to hold.
constexpr axes joined(const axes& x, const axes& y) {
  axes r;
  r.rank = x.rank > y.rank ? x.rank : y.rank;
  for (int i = 1; i <= r.rank; ++i) {
    const ax p = i <= x.rank ? x.of[x.rank - i] : ax{}, q = i <= y.rank ? y.of[y.rank - i] : ax{};
    if (p != ax{} && q != ax{} && (p.a != q.a || p.b != q.b)) return impossible;
    r.of[r.rank - i] = joined(p, q);
  }
  return fits(r) ? r : impossible;
}
/// Whether `x` broadcasts to exactly `y` whatever is 1 at run time.
constexpr bool reaches(const axes& x, const axes& y) {
  if (x.rank > y.rank) return false;
  for (int i = 1; i <= x.rank; ++i) {
    const ax p = x.of[x.rank - i], q = y.of[y.rank - i];
    if (p != ax{} && (q.loose || p.a != q.a || p.b != q.b)) return false;
  }
  return true;
}
constexpr axes reduced(const axes& x, unsigned mask, bool keep) {
  axes r;
  for (int i = 0; i < x.rank; ++i)
    if (!((mask >> i) & 1u)) r.of[r.rank++] = x.of[i];
    else if (keep) r.of[r.rank++] = ax{};
  return r;
}
constexpr axes with_last(axes x, const ax& e) {
  if (x.rank == 4) return impossible;
  x.of[x.rank++] = e;
  return x;
}

}  // namespace calque::test

/// The first element that is not 0: associative, not commutative.
struct drawn_monoid {
  static constexpr char name[] = "first_not_zero";
  template <class T>
  static constexpr T identity() {
    return T{0};
  }
  template <class T>
  constexpr T operator()(T a, T b) const {
    return a != T{0} ? a : b;
  }
};
CALQUE_REGISTER(drawn_monoid);

namespace calque::test {

/// A symbol and its axes.
template <class E, axes X>
struct drawn_value {
  static constexpr axes shape = X;
  static constexpr dtype type = calque::detail::operand_traits<E>::type;
  E e;
};
template <axes X, class E>
constexpr auto value_of(const E& e) {
  if constexpr (calque::detail::operand_traits<E>::type == dtype::uint64) {  // no type joins int64
    const auto i = astype<std::int64_t>(e);
    return drawn_value<std::remove_const_t<decltype(i)>, X>{i};
  } else {
    return drawn_value<E, X>{e};
  }
}

/// Numbers that depend on a seed, a step and a counter.
constexpr int random_below(std::uint64_t seed, int step, int k, int n) {
  std::uint64_t z =
      seed * 0x9e3779b97f4a7c15u + static_cast<std::uint64_t>(step * 64 + k) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<int>((z ^ (z >> 31)) % static_cast<unsigned>(n));
}

inline constexpr dtype drawn_types[] = {dtype::float32, dtype::float64, dtype::int32,
                                        dtype::int64,   dtype::uint8,   dtype::boolean};
constexpr dtype random_type(std::uint64_t seed, int step, int k) {
  return drawn_types[random_below(seed, step, k, 6)];
}
constexpr axes random_axes(std::uint64_t seed, int step, bool loose) {
  constexpr ax choice[] = {{1, 0}, {0, 1}, {1, 0}, {0, 1}, {0, 0}, {1, 0, true}, {0, 1, true}};
  axes x;
  x.rank = random_below(seed, step, 0, 5);
  for (int i = 0; i < x.rank; ++i) x.of[i] = choice[random_below(seed, step, 1 + i, loose ? 7 : 5)];
  while (!fits(x)) x.of[--x.rank] = ax{};
  return x;
}

/// What a seed's function takes: three arrays beside the first (float of (n, m)), two variables,
/// and three numbers (float, int64 of 0 to 4, bool).
template <std::uint64_t Seed>
struct drawn_arguments {
  static constexpr dtype types[] = {random_type(Seed, 900, 0), random_type(Seed, 901, 0),
                                    drawn_types[2 + random_below(Seed, 902, 0, 4)], dtype::float32,
                                    drawn_types[1 + random_below(Seed, 903, 0, 3)]};
  static constexpr axes shapes[] = {random_axes(Seed, 910, true), random_axes(Seed, 911, true),
                                    random_axes(Seed, 912, true), whole,
                                    random_axes(Seed, 913, false)};
};

/// Calls `f(axis<…>)` with the axes of a mask.
template <unsigned Mask, class F, int... I>
constexpr auto with_axes_of(F f, std::integer_sequence<int, I...>) {
  constexpr auto nth = [](int k) {
    int i = 0;
    for (; !((Mask >> i) & 1u) || k-- > 0; ++i) {
    }
    return i;
  };
  return f(axis<nth(I)...>);
}
template <unsigned Mask, class F>
constexpr auto with_axes(F f) {
  return with_axes_of<Mask>(f, std::make_integer_sequence<int, __builtin_popcount(Mask)>{});
}

inline constexpr int drawn_kinds = 52;

/// The kind of operation at a step: all in turn. Even seeds draw no extremes, so that they are
/// valid for empty arrays; odd ones draw more.
constexpr int drawn_kind(std::uint64_t seed, int step, int steps) {
  const int kind = static_cast<int>(
      (seed * static_cast<unsigned>(steps) + static_cast<unsigned>(step)) * 17 % drawn_kinds);
  constexpr int even[][2] = {{22, 20}, {23, 21}, {24, 29}, {25, 42}, {46, 29}, {47, 42}};
  constexpr int odd[][2] = {{20, 22}, {21, 23}, {46, 24}, {47, 25}};
  if (seed % 2 == 0)
    for (const auto& k : even)
      if (k[0] == kind) return k[1];
  if (seed % 2 == 1)
    for (const auto& k : odd)
      if (k[0] == kind) return k[1];
  return kind;
}

/// One step of a body: draws an operation, and operands from the values so far.
template <std::uint64_t Seed, int Step, class Base, class V0, class V1, class Pool>
struct drawn_step {
  const Base& base;
  const V0& v0;
  const V1& v1;
  const Pool& pool;

  static constexpr int size = static_cast<int>(std::tuple_size_v<Pool>);
  static constexpr int below(int k, int n) { return random_below(Seed, Step, k, n); }
  template <int I>
  using at = std::tuple_element_t<static_cast<std::size_t>(I), Pool>;
  static constexpr int any_index(int k) {
    return below(k, 2) ? below(k + 1, size) : size - 1 - below(k + 1, size < 4 ? size : 4);
  }
  template <int K>
  constexpr auto any() const {
    return std::get<static_cast<std::size_t>(any_index(K))>(pool);
  }
  /// The first value from a random place on whose axes satisfy `Test`; -1 if there is none.
  template <class Test>
  static constexpr int find(int k, Test test) {
    return [&]<std::size_t... I>(std::index_sequence<I...>) {
      constexpr axes all[] = {std::tuple_element_t<I, Pool>::shape...};
      const int from = below(k, size);
      for (int i = 0; i < size; ++i)
        if (test(all[(from + i) % size])) return (from + i) % size;
      return -1;
    }(std::make_index_sequence<static_cast<std::size_t>(size)>{});
  }
  template <class X>
  constexpr auto partner(const X&) const {
    constexpr int i = find(40, [](const axes& y) { return joined(X::shape, y).rank >= 0; });
    return std::get<static_cast<std::size_t>(i)>(pool);
  }

  /// The same, of other axes if there is such a value.
  template <class X>
  constexpr auto other_partner(const X& x) const {
    constexpr int i = find(41, [](const axes& y) {
      return y.rank > 0 && y.rank <= X::shape.rank && y != X::shape &&
             joined(X::shape, y).rank >= 0;
    });
    if constexpr (i >= 0) return std::get<static_cast<std::size_t>(i)>(pool);
    else return partner(x);
  }

  /// `x` as a number, as a floating number, as an array of at least one axis.
  template <class X>
  static constexpr auto number(const X& x) {
    if constexpr (X::type == dtype::boolean) return value_of<X::shape>(astype<int>(x.e));
    else return x;
  }
  template <class X>
  static constexpr auto floating(const X& x) {
    if constexpr (is_floating(X::type)) return x;
    else return value_of<X::shape>(astype<double>(x.e));
  }
  template <class X>
  constexpr auto array_of(const X& x) const {
    if constexpr (X::shape.rank > 0) return x;
    else return value_of<whole>(x.e + base);
  }
  /// Multiples of 1/8 from -8 to 8.
  template <class X>
  static constexpr auto exact(const X& x) {
    if constexpr (is_floating(X::type)) {
      using T = type_of<X::type>;
      return value_of<X::shape>(astype<T>(minimum(maximum(astype<int>(x.e * 8), -64), 64)) *
                                0.125f);
    } else {
      return x;
    }
  }
  /// The same, and 64-bit integers from -64 to 64: whose sum is taken in double is exact then.
  template <class X>
  static constexpr auto exact_in_double(const X& x) {
    if constexpr (X::type == dtype::int64) return value_of<X::shape>(clip(x.e, -64, 64));
    else return exact(x);
  }
  template <class Op, class X, class Y>
  static constexpr auto binary(Op op, const X& x, const Y& y) {
    if constexpr (requires { op(x.e, y.e); })
      return value_of<joined(X::shape, Y::shape)>(op(x.e, y.e));
    else
      return value_of<X::shape>(op(x.e, x.e));  // two numbers of C++, where an array is asked for
  }
  template <class E>
  static constexpr dtype operand_type = calque::detail::operand_traits<E>::type;
  /// One of four functions of one operand.
  template <class... Op>
  constexpr auto on_one(Op... op) const {
    const auto x = any<0>();
    constexpr std::size_t chosen = static_cast<std::size_t>(below(9, sizeof...(Op)));
    return value_of<decltype(x)::shape>(std::get<chosen>(std::tuple{op...})(x.e));
  }
  template <class Op>
  constexpr auto on_two(Op op) const {
    const auto x = any<0>();
    return binary(op, x, partner(x));
  }
  template <class Op>
  constexpr auto on_reduced(Op op) const {
    const auto x = array_of(any<0>());
    using X = decltype(x);
    constexpr unsigned mask = 1u + static_cast<unsigned>(below(5, (1 << X::shape.rank) - 1));
    constexpr bool keep = below(6, 2) == 0;
    return with_axes<mask>([&](auto axis) {
      if constexpr (keep) return value_of<reduced(X::shape, mask, true)>(op(x, axis, keepdims));
      else return value_of<reduced(X::shape, mask, false)>(op(x, axis));
    });
  }
  template <class Op>
  constexpr auto on_one_axis(Op op) const {
    const auto x = array_of(any<0>());
    using X = decltype(x);
    constexpr int a = below(5, X::shape.rank);
    return value_of<reduced(X::shape, 1u << a, false)>(op(x.e, axis<a>));
  }

  /// Of what `x` was broadcast to, the sum down to x's extents.
  template <class E, class X>
  static constexpr auto summed_back(const E& e, const X& x) {
    return sum_to(exact(value_of<X::shape>(e)).e, x.e.shape());
  }

  template <int Kind>
  constexpr auto apply() const {
    using std::get;
    if constexpr (Kind == 0) {
      const auto x = any<0>();
      return value_of<decltype(x)::shape>(-x.e);
    } else if constexpr (Kind == 1) {
      return on_two([](auto x, auto y) { return x + y; });
    } else if constexpr (Kind == 2) {
      return on_two([](auto x, auto y) { return x - y; });
    } else if constexpr (Kind == 3) {
      return on_two([](auto x, auto y) { return x * y; });
    } else if constexpr (Kind == 4) {
      return on_two([](auto x, auto y) {
        constexpr bool whole =
            !is_floating(operand_type<decltype(x)>) && !is_floating(operand_type<decltype(y)>);
        if constexpr (whole && below(7, 2) == 0) return x % y;
        else return x / y;
      });
    } else if constexpr (Kind == 5) {
      return on_two([](auto x, auto y) {
        if constexpr (below(7, 4) == 0) return pow(x, y);
        else if constexpr (below(7, 4) == 1) return atan2(x, y);
        else return maximum(x, y);
      });
    } else if constexpr (Kind == 6) {
      return on_two([](auto x, auto y) {
        if constexpr (below(7, 4) == 0) return true_divide(x, y);
        else if constexpr (below(7, 4) == 1)
          return clip(x, -!is_unsigned_integer(operand_type<decltype(x)>), y);
        else return minimum(x, y);
      });
    } else if constexpr (Kind == 7) {
      return on_two([](auto x, auto y) { return x < y; });
    } else if constexpr (Kind == 8) {
      return on_two([](auto x, auto y) { return x <= y; });
    } else if constexpr (Kind == 9) {
      return on_two([](auto x, auto y) { return x > y; });
    } else if constexpr (Kind == 10) {
      return on_two([](auto x, auto y) { return x >= y; });
    } else if constexpr (Kind == 11) {
      return on_two([](auto x, auto y) {
        if constexpr (below(7, 2) == 0) return (x == y) | !(x < y);
        else return x == y;
      });
    } else if constexpr (Kind == 12) {
      return on_two([](auto x, auto y) {
        constexpr bool whole =
            !is_floating(operand_type<decltype(x)>) && !is_floating(operand_type<decltype(y)>);
        if constexpr (whole && below(7, 3) == 0) return (x & y) ^ (x | 3);
        else if constexpr (whole && below(7, 3) == 1) return (x << y) - (y >> 1);
        else return x != y;
      });
    } else if constexpr (Kind == 13) {
      return on_two([](auto x, auto y) { return where(x > y, x, 2); });
    } else if constexpr (Kind == 14) {
      return on_one([](auto x) { return abs(x); }, [](auto x) { return sign(x); },
                    [](auto x) { return round(x); }, [](auto x) { return floor(x); });
    } else if constexpr (Kind == 15) {
      return on_one([](auto x) { return exp(x); }, [](auto x) { return expm1(x); },
                    [](auto x) { return sigmoid(x); }, [](auto x) { return sin(x); });
    } else if constexpr (Kind == 16) {
      return on_one([](auto x) { return log(x); }, [](auto x) { return log1p(x); },
                    [](auto x) { return erf(x); }, [](auto x) { return cos(x); });
    } else if constexpr (Kind == 17) {
      return on_one([](auto x) { return sqrt(x); }, [](auto x) { return rsqrt(x); },
                    [](auto x) { return ceil(x); }, [](auto x) { return tan(x); });
    } else if constexpr (Kind == 18) {
      return on_one([](auto x) { return tanh(x); }, [](auto x) { return gelu(x); },
                    [](auto x) { return silu(x); }, [](auto x) { return relu(x); });
    } else if constexpr (Kind == 19) {
      const auto x = any<0>();
      return value_of<decltype(x)::shape>(astype<type_of<random_type(Seed, Step, 7)>>(x.e));
    } else if constexpr (Kind == 20) {
      return on_reduced([](auto x, auto... o) { return sum(exact(x).e, o...); });
    } else if constexpr (Kind == 21) {
      return on_reduced([](auto x, auto... o) { return mean(exact_in_double(x).e, o...); });
    } else if constexpr (Kind == 22) {  // + 0: which zero is the larger one depends on the order
      return on_reduced([](auto x, auto... o) { return max(x.e + 0, o...); });
    } else if constexpr (Kind == 23) {
      return on_reduced([](auto x, auto... o) { return min(x.e + 0, o...); });
    } else if constexpr (Kind == 24) {
      return on_one_axis([](auto x, auto a) { return argmax(x, a); });
    } else if constexpr (Kind == 25) {
      return on_one_axis([](auto x, auto a) { return argmin(x, a); });
    } else if constexpr (Kind == 26) {
      if constexpr (below(7, 2) == 0) return transposed<below(5, 3)>(array_of(any<0>()));
      else return parts<below(8, 5)>(array_of(any<0>()));
    } else if constexpr (Kind == 27) {
      if constexpr (below(7, 2) == 0) return reshaped<false>(array_of(any<0>()));
      else return parts<below(8, 5)>(array_of(any<0>()));
    } else if constexpr (Kind == 28) {
      const auto x = array_of(any<0>());
      using X = decltype(x);
      constexpr int y = find(
          8, [](const axes& t) { return t.rank > 0 && t != X::shape && reaches(X::shape, t); });
      if constexpr (y >= 0)
        return value_of<at<y>::shape>(
            broadcast_to(x.e, get<static_cast<std::size_t>(y)>(pool).e.shape()));
      else return value_of<whole>(broadcast_to(sum(exact(x).e), base.shape()));
    } else if constexpr (Kind == 29) {
      const auto x = exact(array_of(any<0>()));
      using X = decltype(x);
      constexpr int y = find(8, [](const axes& t) {
        return t.rank > 0 && t != X::shape && joined(X::shape, t).rank >= 0;
      });
      if constexpr (y >= 0) {  // of what x and y broadcast to, back to y
        const auto& like = get<static_cast<std::size_t>(y)>(pool).e;
        const auto both =
            value_of<joined(X::shape, at<y>::shape)>(x.e + exact(value_of<at<y>::shape>(like)).e);
        return value_of<at<y>::shape>(sum_to(exact(both).e, like.shape()));
      } else {
        return value_of<axes{1, {{}}}>(sum_to(x.e, calque::shape{1}));
      }
    } else if constexpr (Kind == 30) {
      constexpr int i = find(8, [](const axes& t) { return t.rank == 2; });
      const auto x = exact(number(get<static_cast<std::size_t>(i)>(pool)));
      using X = decltype(x);
      constexpr axes product{2, {X::shape.of[0], X::shape.of[0]}};
      if constexpr (fits(product)) return value_of<product>(matmul(x.e, transpose(x.e)));
      else return value_of<X::shape>(x.e * 2);
    } else if constexpr (Kind == 31) {
      constexpr int a = below(5, 2);
      using T = type_of<drawn_types[below(6, 5)]>;
      return value_of<axes{1, {whole.of[a]}}>(arange<T>(base.extent(a), base));
    } else if constexpr (Kind == 32) {
      const auto x = array_of(any<0>());
      return value_of<decltype(x)::shape>(x.e + x.e.extent(below(5, decltype(x)::shape.rank)));
    } else if constexpr (Kind == 33) {
      return value_of<whole>(v0 * 0.5f + below(5, 3));
    } else if constexpr (Kind == 34) {
      const auto x = any<0>();
      if constexpr (reaches(decltype(x)::shape, whole)) v0.assign(astype<float>(x.e + base));
      else v0 += base;
      v1 += 1;
      return value_of<whole>(v0 - base);
    } else if constexpr (Kind == 35) {
      return branches(number(any<0>()));
    } else if constexpr (Kind == 36) {
      return steps(number(any<0>()));
    } else if constexpr (Kind == 37) {
      const auto x = floating(array_of(any<0>()));
      return value_of<decltype(x)::shape>(grad([](auto u) {
        return sum(where(u > 1, tanh(u) * u, u / (u * u + 1)) + maximum(u, 0));
      })(x.e));
    } else if constexpr (Kind == 38) {
      constexpr int i =
          find(8, [](const axes& t) { return t.rank > 0 && fits(with_last(t, {0, 1})); });
      const auto& x = get<static_cast<std::size_t>(i)>(pool).e;
      return value_of<with_last(at<i>::shape, {0, 1})>(
          one_hot<float>(astype<int>(x), base.extent(1)));
    } else if constexpr (Kind == 39) {
      const auto x = number(any<0>());
      return value_of<decltype(x)::shape>(below(5, 2) ? x.e * 1 : x.e / 1);
    } else if constexpr (Kind == 40) {
      const auto x = floating(any<0>());
      return value_of<decltype(x)::shape>(below(5, 2) ? x.e - 0 : -0.0f + x.e);
    } else if constexpr (Kind == 41) {
      const auto x = number(any<0>());
      return value_of<decltype(x)::shape>(-(-x.e));
    } else if constexpr (Kind == 42) {
      return transposed<3>(transposed<3>(array_of(any<0>())));
    } else if constexpr (Kind == 43) {
      return reshaped<true>(array_of(any<0>()));
    } else if constexpr (Kind == 44) {  // constants, also those of extents that are literals
      const auto x = array_of(any<0>());
      const auto kept = sum(exact(x).e, axis<0>, keepdims);
      const auto c = full(shape<0>(), below(5, 2) ? 2.f : 0.5f, base) * 3 + kept.extent(0);
      return value_of<decltype(x)::shape>(where(c > 2, x.e, x.e + x.e));
    } else if constexpr (Kind == 48) {
      const auto x = exact(array_of(any<0>()));
      constexpr int a = below(5, decltype(x)::shape.rank);
      return value_of<decltype(x)::shape>(cumsum(x.e, axis<a>));
    } else if constexpr (Kind == 49) {  // of 1 and -1
      return on_reduced(
          [](auto x, auto... o) { return prod(where(number(x).e > 0, 1.f, -1.f), o...); });
    } else if constexpr (Kind == 50) {
      return on_reduced([](auto x, auto... o) {
        if constexpr (below(7, 2) == 0) return all(x.e, o...);
        else return calque::any(x.e, o...);
      });
    } else if constexpr (Kind == 51) {
      const auto x = array_of(number(any<0>()));
      constexpr int a = below(5, decltype(x)::shape.rank);
      return value_of<decltype(x)::shape>(accumulate<drawn_monoid>(x.e, axis<a>) +
                                          reduce<drawn_monoid>(x.e, axis<a>, keepdims));
    } else {  // an extent that is proven equal afterwards
      const auto t = base * 2;
      const auto b = broadcast_to(t, v0.shape());
      v0.assign(t);
      return value_of<whole>(b + v0);
    }
  }

 private:
  /// Operations on parts that give x's extents.
  template <int Which, class X>
  static constexpr auto parts(const X& x) {
    constexpr int a = below(5, X::shape.rank), first = X::shape.rank - 1;
    constexpr range back{range::open, range::open, -1};
    if constexpr (Which == 0) {
      return value_of<X::shape>(flip(slice(x.e, back), axis<a>));
    } else if constexpr (Which == 1) {  // its halves change places
      const auto half = x.e.extent(0) / 2;
      return value_of<X::shape>(
          concatenate<0>(slice(x.e, range{half, range::open}), slice(x.e, range{0, half})));
    } else if constexpr (Which == 2) {
      const auto i = flip(arange<int>(x.e.extent(a), x.e), axis<0>);
      return value_of<X::shape>(take(x.e, i, axis<a>));
    } else if constexpr (Which == 3) {
      const auto y = exact(number(x));
      const auto i = arange<std::int64_t>(x.e.extent(a), x.e);
      return value_of<X::shape>(scatter_add(y.e, i, y.e, axis<a>));
    } else if constexpr (X::shape.rank < 4) {  // stacked, and a part of the frame taken away
      const auto y = stack<0>(x.e, x.e + x.e);
      return value_of<X::shape>(
          sum(astype<std::int64_t>(exact(value_of<X::shape>(slice(y, range{1, 2}))).e), axis<0>));
    } else {
      return value_of<X::shape>(flip(x.e, axis<first>));
    }
  }

  // 0, 1, 2: some order of the axes; 3: all reversed.
  template <int Order, class X>
  static constexpr auto transposed(const X& x) {
    constexpr int r = X::shape.rank;
    constexpr auto place = [](int i) {
      if (r < 2 || Order == 3) return r - 1 - i;
      return Order == 0 ? (i + 1) % r : Order == 1 ? (i == 0 ? 1 : i == 1 ? 0 : i) : i;
    };
    constexpr axes to = [&] {
      axes t = X::shape;
      for (int i = 0; i < r; ++i) t.of[i] = X::shape.of[place(i)];
      return t;
    }();
    return [&]<int... I>(std::integer_sequence<int, I...>) {
      return value_of<to>(transpose<place(I)...>(x.e));
    }(std::make_integer_sequence<int, r>{});
  }
  /// All axes in one, then (`Back`) as before.
  template <bool Back, class X>
  constexpr auto reshaped(const X& x) const {
    constexpr axes flat = [] {
      axes t{1, {}};
      for (const ax& e : X::shape.of) t.of[0].a += e.a, t.of[0].b += e.b;
      return t;
    }();
    const auto one = reshape(x.e, calque::shape{x.e.size()});
    if constexpr (Back) {
      return value_of<X::shape>(reshape(reshape(one, calque::shape{1, x.e.size()}), x.e.shape()));
    } else if constexpr (X::shape.loose()) {
      return value_of<X::shape>(reshape(one * 1, x.e.shape()));
    } else {
      return value_of<flat>(one);
    }
  }

  template <class X>
  constexpr auto branches(const X& x) const {
    const auto y = partner(x);
    using Y = decltype(y);
    using T = type_of<X::type>;
    constexpr axes r = joined(X::shape, Y::shape);
    const auto p =
        below(9, 2) ? sum(exact(value_of<whole>(base)).e) > 1 : base.extent(0) + 0 * sum(v1) > 3;
    auto taken = cond(
        p,
        [&] {
          v0 *= 2;
          return astype<T>(x.e + y.e + base.extent(1) * 0);
        },
        [&] {
          const auto z = astype<T>(x.e - y.e);
          if constexpr (below(10, 2) == 0) v1 -= 1;
          return cond(
              base.extent(1) > base.extent(0), [&] { return astype<T>(z + z); },
              [&] { return astype<T>(maximum(z, 1)); });
        });
    return value_of<r>(taken);
  }
  template <class X>
  constexpr auto steps(const X& x) const {
    const auto start = x.e + 0;
    using T = type_of<operand_type<std::remove_const_t<decltype(start)>>>;  // as C++ joins numbers
    const auto each = [&](auto i, auto s) {
      const auto a = std::get<0>(s);
      const auto b = std::get<1>(s);
      v0 += 1;
      const auto next =
          cond(i < 1, [&] { return astype<T>(a + start); }, [&] { return astype<T>(a * 2 - i); });
      return std::tuple{next, b + sum(exact(value_of<whole>(v0 + 0)).e)};
    };
    const std::tuple state{start, sum(base) * 0};
    if constexpr (below(9, 3) == 0)
      return value_of<X::shape>(std::get<0>(for_loop(3, state, each)));
    else if constexpr (below(9, 3) == 1)
      return value_of<X::shape>(std::get<0>(for_loop(base.extent(1) / 3, state, each)));
    else return value_of<X::shape>(std::get<0>(for_loop(std::get<5>(pool).e, state, each)));
  }
};

/// A body of `Steps` random operations.
template <std::uint64_t Seed, int Steps = 16>
struct random_function {
  template <class Base, class A, class B, class C, class V0, class V1, class S, class K, class P>
  constexpr auto operator()(Base base, A a, B b, C c, V0 v0, V1 v1, S s, K k, P p) const {
    using arguments = drawn_arguments<Seed>;
    const auto start = std::tuple{value_of<whole>(base),
                                  value_of<arguments::shapes[0]>(a),
                                  value_of<arguments::shapes[1]>(b),
                                  value_of<arguments::shapes[2]>(c),
                                  value_of<axes{}>(s),
                                  value_of<axes{}>(k),
                                  value_of<axes{}>(p)};
    const auto pool = grow<0>(base, v0, v1, start);
    // a value, what is computed from it, and that summed back: a cluster of several outputs, a
    // sum_to
    const drawn_step<Seed, Steps, Base, V0, V1, decltype(pool)> last{base, v0, v1, pool};
    const auto x = last.array_of(last.number(last.template any<0>()));
    const auto y = x.e * 2;
    const auto z = y - last.other_partner(x).e;
    return std::tuple_cat(
        results(pool, std::make_integer_sequence<int, 1 + random_below(Seed, 920, 0, 4)>{}),
        std::tuple{y, z, last.summed_back(z, x)});
  }

 private:
  template <int Step, class Base, class V0, class V1, class Pool>
  static constexpr auto grow(const Base& base, const V0& v0, const V1& v1, const Pool& pool) {
    if constexpr (Step == Steps) {
      return pool;
    } else {
      constexpr int kind = drawn_kind(Seed, Step, Steps);
      const drawn_step<Seed, Step, Base, V0, V1, Pool> step{base, v0, v1, pool};
      return grow<Step + 1>(base, v0, v1,
                            std::tuple_cat(pool, std::tuple{step.template apply<kind>()}));
    }
  }
  template <class Pool, int... I>
  static constexpr auto results(const Pool& pool, std::integer_sequence<int, I...>) {
    constexpr int n = static_cast<int>(std::tuple_size_v<Pool>);
    return std::tuple{
        std::get<static_cast<std::size_t>(n - 1 - I * random_below(Seed, 921, I, 5))>(pool).e...};
  }
};

}  // namespace calque::test
