// A call's arguments as leaves: where they point, without an allocation.
#include "calque/call/request_frame.hpp"

#include <doctest/doctest.h>

#include "allocation_counter/allocation_counter.hpp"
#include "calque/array/borrow.hpp"
#include "calque/array/views.hpp"

namespace cq = calque;
using cq::argument_kind;
using cq::dtype;
using cq::leaf;

namespace {

template <template <class, int> class A>
struct model {
  A<float, 2> w;
  A<double, 0> s;
};

template <int N, class... A>
cq::detail::request_frame<N> frame(const A&... args) {
  return cq::detail::request_frame<N>(args...);
}

}  // namespace

TEST_CASE("arrays and views give their extents, strides and first element") {
  const cq::array<float, 2> a{{1, 2, 3}, {4, 5, 6}};
  const auto t = cq::transpose(a);
  const auto f = frame<2>(a, t);
  const leaf &x = f.leaves()[0], &y = f.leaves()[1];
  CHECK(x.kind == argument_kind::array);
  CHECK(x.type == dtype::float32);
  CHECK(x.rank == 2);
  CHECK(x.extents[1] == 3);
  CHECK(x.strides[0] == 3);
  CHECK(x.data == a.data());
  CHECK(y.extents[0] == 3);
  CHECK(y.strides[0] == 1);
  CHECK(y.data == a.data());
}

TEST_CASE("spans and vectors are dense arrays of rank 1") {
  const std::vector<std::int16_t> v{1, 2};
  const std::span<const std::int16_t> s(v.data() + 1, 1);
  const auto f = frame<2>(v, s);
  CHECK(f.leaves()[0].extents[0] == 2);
  CHECK(f.leaves()[0].strides == nullptr);
  CHECK(f.leaves()[0].data == v.data());
  CHECK(f.leaves()[1].extents[0] == 1);
  CHECK(f.leaves()[1].data == v.data() + 1);
  CHECK(f.leaves()[1].type == dtype::int16);
}

TEST_CASE("numbers are copied into the frame; static_<N> is no leaf, a shape one of extents") {
  const cq::shape s{4, 5};  // outlives the frame, as a call's arguments do
  const auto f = frame<4>(2.5, true, cq::static_<7>, s, 9LL);
  const leaf* l = f.leaves();
  CHECK(l[0].kind == argument_kind::scalar);
  CHECK(l[0].type == dtype::float64);
  CHECK(*static_cast<const double*>(l[0].data) == 2.5);
  CHECK(l[1].type == dtype::boolean);
  CHECK(*static_cast<const bool*>(l[1].data));
  CHECK(l[2].kind == argument_kind::extents);
  CHECK(l[2].extents[1] == 5);
  CHECK(l[3].type == dtype::int64);
  CHECK(*static_cast<const std::int64_t*>(l[3].data) == 9);
}

TEST_CASE("aggregates, tuples and arrays are flattened in order") {
  const model<cq::variable> m{{cq::array<float, 2>{{1, 2}}, "w"}, {cq::array<double, 0>{3.0}, "s"}};
  const std::array<int, 2> pair{7, 8};
  const std::tuple both{m, 1.5f};
  auto f = frame<5>(both, pair);
  CHECK(f.at(0).kind == argument_kind::variable);
  CHECK(std::string(f.at(0).name) == "w");
  CHECK(f.at(0).extents[1] == 2);
  CHECK(f.at(1).rank == 0);
  CHECK(*static_cast<const double*>(f.at(1).data) == 3);
  CHECK(f.at(2).type == dtype::float32);
  CHECK(*static_cast<const int*>(f.at(4).data) == 8);
  CHECK(f.at(0).identity != f.at(1).identity);
  CHECK(f.at(0).identity == frame<2>(m).at(0).identity);
}

TEST_CASE("a variable is detached from its readers when it is about to be written") {
  const cq::variable<float, 1> v{cq::array<float, 1>{1, 2}, "v"};
  auto f = frame<1>(v);
  const void* const own = f.at(0).data;
  f.prepare_write(0);
  CHECK(f.at(0).data == own);
  const auto reader = v.value();
  f.prepare_write(0);
  CHECK(f.at(0).data != own);
  static_cast<float*>(f.at(0).data)[0] = 9;
  CHECK(reader(0) == 1);
  CHECK(v.value()(0) == 9);
}

TEST_CASE("whether a variable has a value is asked and told through the frame (B7)") {
  const cq::variable<float, 1> v{cq::shape{2}, "v"}, w{cq::array<float, 1>{1}, "w"};
  auto f = frame<3>(v, w, 1);
  CHECK(!f.initialised(0));
  CHECK(f.initialised(1));
  CHECK(f.initialised(2));
  f.mark_initialised(0);
  CHECK(frame<1>(v).initialised(0));
}

TEST_CASE("a frame allocates nothing") {
  const cq::array<float, 1> a{1, 2};
  const std::vector<double> v(100);
  const cq::variable<float, 1> w{a};
  allocation_counter c;
  const auto f = frame<4>(a, v, w, 2);
  CHECK(c.count() == 0);
  CHECK(f.leaves()[1].extents[0] == 100);
}
