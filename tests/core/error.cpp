#include "calque/core/error.hpp"

#include <doctest/doctest.h>

#include <new>
#include <stdexcept>
#include <string>
#include <type_traits>

namespace cq = calque;

TEST_CASE("every exception but out_of_memory is a calque::error and a std::runtime_error") {
  const auto all = []<class... E>() {
    return (std::is_base_of_v<cq::error, E> && ...) &&
           (std::is_base_of_v<std::runtime_error, E> && ...);
  };
  CHECK(all.operator()<cq::shape_error, cq::dtype_error, cq::alias_error, cq::index_error,
                       cq::value_error, cq::device_error>());
  try {
    throw cq::shape_error("matmul: inner extents differ");
  } catch (const cq::error& e) {
    CHECK(std::string(e.what()) == "matmul: inner extents differ");
  }
}

TEST_CASE("handlers of std::bad_alloc catch out_of_memory with its text") {
  try {
    throw cq::out_of_memory("host memory: 12 bytes");
  } catch (const std::bad_alloc& e) {
    CHECK(std::string(e.what()) == "host memory: 12 bytes");
  }
  static_assert(!std::is_base_of_v<cq::error, cq::out_of_memory>);
}
