// Elementwise operations as rows of a table, and what every row must hold: values of any layout and
// extents, first call and replay, empty ones too; the same bits eagerly and for arrays outside
// traces; derivatives. A new operation is a new row.
#pragma once

#include "support/reference.hpp"
#include "support/slopes.hpp"

namespace calque::test {

/// A row `row_NAME`: how it is called, its exact value, its bound in ulp; derivatives are checked
/// between LOW and HIGH.
#define CALQUE_ROW_OF_ONE(NAME, CALL, EXACT, ULPS, LOW, HIGH)                     \
  struct row_##NAME {                                                             \
    static constexpr const char* name = #NAME;                                    \
    [[maybe_unused]] static constexpr double ulps = ULPS, low = LOW, high = HIGH; \
    template <class X>                                                            \
    static constexpr auto call(const X& x) {                                      \
      return CALL;                                                                \
    }                                                                             \
    template <class V>                                                            \
    static auto exact([[maybe_unused]] V x) {                                     \
      return EXACT;                                                               \
    }                                                                             \
  };
#define CALQUE_ROW_OF_TWO(NAME, CALL, EXACT, ULPS, LOW, HIGH)                     \
  struct row_##NAME {                                                             \
    static constexpr const char* name = #NAME;                                    \
    [[maybe_unused]] static constexpr double ulps = ULPS, low = LOW, high = HIGH; \
    template <class X, class Y>                                                   \
    static constexpr auto call(const X& x, const Y& y) {                          \
      return CALL;                                                                \
    }                                                                             \
    template <class V>                                                            \
    static auto exact(V x, V y) {                                                 \
      return EXACT;                                                               \
    }                                                                             \
  };
#define CALQUE_ROW_OF_THREE(NAME, CALL, EXACT, ULPS, LOW, HIGH)                   \
  struct row_##NAME {                                                             \
    static constexpr const char* name = #NAME;                                    \
    [[maybe_unused]] static constexpr double ulps = ULPS, low = LOW, high = HIGH; \
    template <class X, class Y, class Z>                                          \
    static constexpr auto call(const X& x, const Y& y, const Z& z) {              \
      return CALL;                                                                \
    }                                                                             \
    template <class V>                                                            \
    static auto exact(V x, V y, V z) {                                            \
      return EXACT;                                                               \
    }                                                                             \
  };

/// Some rows as one function: a kernel for all of them.
template <class... Rows>
struct rows {
  static constexpr std::size_t size = sizeof...(Rows);
  template <class... X>
  constexpr auto operator()(const X&... x) const {
    return std::tuple{Rows::call(x...)...};
  }
  template <class F>
  static void each(F f) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (f(Rows{}, std::integral_constant<std::size_t, I>{}), ...);
    }(std::make_index_sequence<size>{});
  }
};

template <class Group, class... T, int... R>
void check_rows_at(const array<T, R>&... x) {
  constexpr auto f = calque::trace(Group{});
  for (int call = 0; call < 2; ++call) {
    const auto got = f(x...);
    Group::each([&]<class Row, std::size_t I>(Row, std::integral_constant<std::size_t, I>) {
      INFO(std::string(Row::name), ", call ", call);
      CALQUE_CHECK_MATCHES(std::get<I>(got),
                           zip([](auto... v) { return Row::exact(v...); }, dense_of(x)...),
                           Row::ulps);
    });
  }
}

/// Values against the exact ones: shapes with empty and single axes, every layout, one operand of
/// fewer axes, specials among the elements.
template <class T, int Arity, class Group>
void check_rows(double special = 0.15) {
  std::uint64_t seed = 0;
  for (const auto& s : shapes_of<2>())
    for (layout how : layouts) {
      ++seed;
      INFO("extents ", to_string(s), ", layout ", static_cast<int>(how));
      const auto x = laid_out<T>(s, how, draws<T>(seed, special));
      if constexpr (Arity == 1) {
        check_rows_at<Group>(x);
      } else {
        const auto y =
            laid_out<T>(shape{s[1]}, layouts[seed % 2 * 2], draws<T>(seed + 99, special));
        if constexpr (Arity == 2) {
          check_rows_at<Group>(x, y);
        } else {
          check_rows_at<Group>(x, y,
                               laid_out<T>(shape{s[0], 1}, layout::plain, draws<T>(seed, special)));
        }
      }
    }
}

/// The same bits traced, eagerly, and as operations on arrays, where no product and sum are
/// contracted; and in a lane's body and its tail.
template <class Group, class... T>
void check_same_bits(const array<T, 1>&... x) {
  constexpr auto f = calque::trace(Group{});
  calque::detail::force_isa(isa::baseline);
  const auto traced = f(x...);
  const auto slow = calque::eager(Group{})(x...);
  const range r{3, range::open};
  const auto part = f(slice(x, r)...);
  Group::each([&]<class Row, std::size_t I>(Row, std::integral_constant<std::size_t, I>) {
    INFO(std::string(Row::name));
    CHECK(same_bits(std::get<I>(traced), std::get<I>(slow)));
    CHECK(same_bits(std::get<I>(traced), Row::call(x...)));
    CHECK(same_bits(slice(std::get<I>(traced), r), std::get<I>(part)));
  });
  calque::detail::force_isa(isa::avx512);
}

/// Derivatives of each row against differences.
template <class Row, int... W>
void check_row_slopes() {
  INFO(std::string(Row::name));
  constexpr auto loss = [](auto... x) {
    const auto y = Row::call(x...);
    return calque::sum(y * y * 0.25 + y);
  };
  check_slopes<W...>(loss, drawn<double>(W % 2 ? shape<2>(1, 4) : shape<2>(3, 4),
                                         between(Row::low, Row::high, 5 + W))...);
}

}  // namespace calque::test
