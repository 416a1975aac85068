#include "calque/core/dtype.hpp"

#include <doctest/doctest.h>

#include <cstdint>

namespace cq = calque;
using cq::dtype;

TEST_CASE("dtype_of maps each element type to its dtype and back") {
  static_assert(cq::dtype_of<bool> == dtype::boolean);
  static_assert(cq::dtype_of<std::int8_t> == dtype::int8);
  static_assert(cq::dtype_of<std::int16_t> == dtype::int16);
  static_assert(cq::dtype_of<int> == dtype::int32);
  static_assert(cq::dtype_of<std::int64_t> == dtype::int64);
  static_assert(cq::dtype_of<std::uint8_t> == dtype::uint8);
  static_assert(cq::dtype_of<std::uint16_t> == dtype::uint16);
  static_assert(cq::dtype_of<std::uint32_t> == dtype::uint32);
  static_assert(cq::dtype_of<std::uint64_t> == dtype::uint64);
  static_assert(cq::dtype_of<float> == dtype::float32);
  static_assert(cq::dtype_of<const double> == dtype::float64);
  const auto round_trip = []<dtype... D>() {
    return ((cq::dtype_of<cq::type_of<D>> == D) && ...) &&
           ((sizeof(cq::type_of<D>) == std::size_t(cq::size_of(D))) && ...);
  };
  CHECK(round_trip.operator()<dtype::boolean, dtype::int8, dtype::int16, dtype::int32, dtype::int64,
                              dtype::uint8, dtype::uint16, dtype::uint32, dtype::uint64,
                              dtype::float32, dtype::float64>());
}

TEST_CASE("types that arrays cannot hold are no elements") {
  struct user {};
  static_assert(cq::dtype_of<char> == dtype::none);
  static_assert(cq::dtype_of<long double> == dtype::none);
  static_assert(cq::dtype_of<user> == dtype::none);
  static_assert(!cq::element<char> && !cq::element<const float> && !cq::element<float&>);
  static_assert(cq::element<float> && cq::element<bool>);
}

TEST_CASE("scalar literals are the C++ numbers, with an element type that holds them") {
  static_assert(cq::scalar_literal<long long> && cq::scalar_literal<bool>);
  static_assert(!cq::scalar_literal<char> && !cq::scalar_literal<long double>);
  static_assert(!cq::scalar_literal<const char*>);
  static_assert(std::is_same_v<cq::scalar_element<long long>, std::int64_t>);
  static_assert(std::is_same_v<cq::scalar_element<unsigned long long>, std::uint64_t>);
  static_assert(std::is_same_v<cq::scalar_element<float>, float>);
}

TEST_CASE("each dtype has one kind, a size and a short name") {
  struct row {
    dtype t;
    cq::dtype_kind kind;
    int bytes;
    const char* name;
  };
  using enum cq::dtype_kind;
  const row rows[] = {
      {dtype::none, none, 0, "none"},       {dtype::boolean, boolean, 1, "bool"},
      {dtype::int8, integer, 1, "i8"},      {dtype::int16, integer, 2, "i16"},
      {dtype::int32, integer, 4, "i32"},    {dtype::int64, integer, 8, "i64"},
      {dtype::uint8, integer, 1, "u8"},     {dtype::uint16, integer, 2, "u16"},
      {dtype::uint32, integer, 4, "u32"},   {dtype::uint64, integer, 8, "u64"},
      {dtype::float16, floating, 2, "f16"}, {dtype::bfloat16, floating, 2, "bf16"},
      {dtype::float32, floating, 4, "f32"}, {dtype::float64, floating, 8, "f64"},
  };
  for (const row& r : rows) {
    CAPTURE(r.name);
    CHECK(cq::kind_of(r.t) == r.kind);
    CHECK(cq::size_of(r.t) == r.bytes);
    CHECK(cq::name_of(r.t) == r.name);
    CHECK(cq::is_floating(r.t) == (r.kind == floating));
    CHECK(cq::is_integer(r.t) == (r.kind == integer));
    CHECK((cq::is_signed_integer(r.t) || cq::is_unsigned_integer(r.t)) == (r.kind == integer));
    CHECK(cq::is_signed_integer(r.t) == (r.name[0] == 'i'));
  }
}
