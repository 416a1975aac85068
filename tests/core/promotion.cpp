#include "calque/core/promotion.hpp"

#include <doctest/doctest.h>

#include <array>
#include <cstdint>
#include <sstream>
#include <string>
#include <type_traits>

namespace cq = calque;
using cq::dtype;

namespace {

constexpr std::array columns{dtype::boolean, dtype::int8,    dtype::int16,    dtype::int32,
                             dtype::int64,   dtype::uint8,   dtype::uint16,   dtype::uint32,
                             dtype::uint64,  dtype::float16, dtype::bfloat16, dtype::float32,
                             dtype::float64};

// Rows and columns in the order of `columns`; "-": no type holds both.
// clang-format off
constexpr const char* strong[] = {
    // bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64
    "bool i8   i16  i32  i64  u8   u16  u32  u64  f16  bf16 f32  f64",  // bool
    "i8   i8   i16  i32  i64  i16  i32  i64  -    f16  bf16 f32  f64",  // i8
    "i16  i16  i16  i32  i64  i16  i32  i64  -    f16  bf16 f32  f64",  // i16
    "i32  i32  i32  i32  i64  i32  i32  i64  -    f16  bf16 f32  f64",  // i32
    "i64  i64  i64  i64  i64  i64  i64  i64  -    f16  bf16 f32  f64",  // i64
    "u8   i16  i16  i32  i64  u8   u16  u32  u64  f16  bf16 f32  f64",  // u8
    "u16  i32  i32  i32  i64  u16  u16  u32  u64  f16  bf16 f32  f64",  // u16
    "u32  i64  i64  i64  i64  u32  u32  u32  u64  f16  bf16 f32  f64",  // u32
    "u64  -    -    -    -    u64  u64  u64  u64  f16  bf16 f32  f64",  // u64
    "f16  f16  f16  f16  f16  f16  f16  f16  f16  f16  f32  f32  f64",  // f16
    "bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 f32  bf16 f32  f64",  // bf16
    "f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f64",  // f32
    "f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64",  // f64
};

// Row: the array's type. Column: the weak scalar's type.
constexpr const char* weak[] = {
    // bool i8 i16 i32 i64 u8 u16 u32 u64 f16 bf16 f32 f64
    "bool i8   i16  i32  i64  u8   u16  u32  u64  f16  bf16 f32  f64",  // bool
    "i8   i8   i8   i8   i8   i8   i8   i8   i8   f16  bf16 f32  f64",  // i8
    "i16  i16  i16  i16  i16  i16  i16  i16  i16  f16  bf16 f32  f64",  // i16
    "i32  i32  i32  i32  i32  i32  i32  i32  i32  f16  bf16 f32  f64",  // i32
    "i64  i64  i64  i64  i64  i64  i64  i64  i64  f16  bf16 f32  f64",  // i64
    "u8   u8   u8   u8   u8   u8   u8   u8   u8   f16  bf16 f32  f64",  // u8
    "u16  u16  u16  u16  u16  u16  u16  u16  u16  f16  bf16 f32  f64",  // u16
    "u32  u32  u32  u32  u32  u32  u32  u32  u32  f16  bf16 f32  f64",  // u32
    "u64  u64  u64  u64  u64  u64  u64  u64  u64  f16  bf16 f32  f64",  // u64
    "f16  f16  f16  f16  f16  f16  f16  f16  f16  f16  f16  f16  f16",  // f16
    "bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16 bf16",  // bf16
    "f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f32  f32",  // f32
    "f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64  f64",  // f64
};
// clang-format on

std::string shown(dtype t) { return t == dtype::none ? "-" : std::string(cq::name_of(t)); }

template <class F>
void check_table(const char* const* table, F f) {
  for (std::size_t i = 0; i < columns.size(); ++i) {
    std::istringstream row(table[i]);
    for (std::size_t j = 0; j < columns.size(); ++j) {
      std::string expected;
      row >> expected;
      CAPTURE(cq::name_of(columns[i]));
      CAPTURE(cq::name_of(columns[j]));
      CHECK(shown(f(columns[i], columns[j])) == expected);
    }
  }
}

template <class A, class B>
constexpr bool as_in_cpp =
    cq::promote_scalars(cq::dtype_of<A>, cq::dtype_of<B>) == cq::dtype_of<decltype(A{} + B{})>;

template <class A, class... B>
constexpr bool row_as_in_cpp = (as_in_cpp<A, B> && ...);

template <class... T>
constexpr bool all_as_in_cpp() {
  return (row_as_in_cpp<T, T...> && ...);
}

}  // namespace

TEST_CASE("two strong operands promote as the table says, in either order") {
  check_table(strong, cq::promote);
  for (dtype a : columns)
    for (dtype b : columns) CHECK(cq::promote(a, b) == cq::promote(b, a));
}

TEST_CASE("a weak scalar yields to an array of the same or a higher kind") {
  check_table(weak, cq::promote_weak);
}

TEST_CASE("promotion is a constant expression") {
  static_assert(cq::promote(dtype::int8, dtype::uint8) == dtype::int16);
  static_assert(cq::promote(dtype::int64, dtype::uint64) == dtype::none);
  static_assert(cq::promote_weak(dtype::float32, dtype::float64) == dtype::float32);
  static_assert(cq::promote_weak(dtype::int32, dtype::float64) == dtype::float64);
}

TEST_CASE("two weak scalars follow the usual arithmetic conversions of C++") {
  static_assert(
      all_as_in_cpp<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                    std::uint16_t, std::uint32_t, std::uint64_t, float, double>());
}

TEST_CASE(
    "bool arithmetic counts, sums are wide, floating functions of integers are double (C002)") {
  static_assert(cq::arithmetic(dtype::boolean) == dtype::int32);
  for (dtype t : columns) {
    CAPTURE(cq::name_of(t));
    if (t != dtype::boolean) CHECK(cq::arithmetic(t) == t);
    const bool is_unsigned = cq::is_unsigned_integer(t);
    CHECK(cq::sum_type(t) == (cq::is_floating(t) ? t : is_unsigned ? dtype::uint64 : dtype::int64));
    CHECK(cq::floating(t) == (cq::is_floating(t) ? t : dtype::float64));
  }
}
