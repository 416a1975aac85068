// What feeds running accumulations and reductions that keep an order is computed where they read
// it, block by block: one kernel, nothing stored between, the bits of the unfused function.
#include "calque/passes/fuse.hpp"

#include "support/launches.hpp"
#include "support/reference.hpp"
#include "tests/threads/spawned.hpp"

namespace cq = calque;

/// The last of two elements, but for zeros: neither commutative nor built in.
struct last_known {
  static constexpr char name[] = "last_known";
  template <class T>
  static constexpr T identity() {
    return T{0};
  }
  template <class T>
  constexpr T operator()(T a, T b) const {
    return b != T{0} ? b : a;
  }
};
CALQUE_REGISTER(last_known);

/// a then b as x -> x * scale + shift of small numbers, packed: order matters everywhere.
struct chained {
  static constexpr char name[] = "chained";
  template <class T>
  static constexpr T identity() {
    return T{1};
  }
  template <class T>
  constexpr T operator()(T a, T b) const {
    return a * T{0.5} + b;
  }
  template <class T, int W, class V>
  static CALQUE_HD void lanes(V& r, const V& a, const V& b) {
    V half;
    cq::lanes::splat<T, W>(half, T{0.5});
    cq::lanes::mul<T, W>(half, a, half);
    cq::lanes::add<T, W>(r, half, b);
  }
};
CALQUE_REGISTER(chained);

struct bounded {
  static constexpr char name[] = "bounded";
  template <class T>
  T operator()(T x) const {
    if (x > 1000) throw std::out_of_range("bounded: too large");
    return x;
  }
};
CALQUE_REGISTER(bounded);

namespace {

using namespace calque::test;

template <int A>
constexpr auto sums = [](auto x, auto y) { return cq::cumsum(x * y, cq::axis<A>); };
template <int A>
constexpr auto products =
    [](auto x, auto y) { return cq::cumprod(cq::where(x > y, 1.f, -1.f), cq::axis<A>); };
template <int A>
constexpr auto accumulated =
    [](auto x, auto y) { return cq::accumulate<last_known>(cq::maximum(x, y), cq::axis<A>); };
template <int A>
constexpr auto chains = [](auto x, auto y) { return cq::accumulate<chained>(x - y, cq::axis<A>); };
constexpr auto counted = [](auto x, auto y) {
  return cq::cumsum(x * cq::arange<float>(x.extent(1), x) + cq::sum(y), cq::axis<1>);
};
constexpr auto of_integers = [](auto x, auto y) { return cq::cumsum(x > y, cq::axis<1>); };
constexpr auto backwards = [](auto x, auto y) {  // the derivative runs from the other end
  return cq::grad([](auto v, auto w) { return cq::sum(cq::sin(cq::cumsum(v * w, cq::axis<1>))); })(
      x, y);
};
constexpr auto exclusive = [](auto x, auto y) {
  return cq::grad([](auto v, auto w) { return cq::sum(cq::prod(v + w, cq::axis<1>)); })(x, y);
};
template <int A>
constexpr auto reduced =
    [](auto x, auto y) { return cq::reduce<chained>(x * y, cq::axis<A>) * 2.f + 1.f; };
template <int A>
constexpr auto reduced_scalars =
    [](auto x, auto y) { return cq::reduce<last_known>(x - y, cq::axis<A>, cq::keepdims); };
constexpr auto reduced_all = [](auto x, auto y) {
  return cq::sqrt(cq::abs(cq::reduce<chained>(x * y))) + cq::reduce<last_known>(x + y);
};
constexpr auto tail_of_rows = [](auto x, auto y) {  // the tail reads, too
  return cq::reduce<last_known>(x * 2, cq::axis<1>) * cq::arange<float>(x.extent(0), y) + 1;
};

template <class Body>
void check(Body body, int kernels, const char* name, bool exact = true) {
  (void)body;
  INFO(std::string(name));
  constexpr auto fused = cq::trace(Body{});
  constexpr auto plain = cq::trace<cq::options{.pass_level = 0}>(Body{});
  using cq::shape;
  const auto draw = [](std::uint64_t seed) {
    return [r = std::mt19937(static_cast<unsigned>(seed))]() mutable {
      return static_cast<float>(static_cast<int>(r() % 2001) - 1000) / 512;
    };
  };
  const shape<2> shapes[] = {shape{0, 5},    shape{5, 0},  shape{1, 1},  shape{1, 7},
                             shape{7, 1},    shape{3, 5},  shape{9, 70}, shape{2, 5000},
                             shape{5000, 2}, shape{70, 66}};
  for (const shape<2>& s : shapes)
    for (layout how : layouts) {
      INFO("extents ", cq::to_string(s), " layout ", static_cast<int>(how));
      const auto x = laid_out<float>(s, how, draw(3)),
                 y = laid_out<float>(s, layout::plain, draw(4));
      for (int call = 0; call < 2; ++call) {  // derivatives: whatever sign zeros and NaN have
        if (exact) CHECK((spawned::bits_of(fused(x, y)) == spawned::bits_of(plain(x, y))));
        else CALQUE_CHECK_MATCHES(fused(x, y), dense_of(plain(x, y)), 0);
      }
      if (s[0] > 1 && s[1] > 1) CHECK(launches(fused, x, y) == kernels);
    }
  for (const shape<2>& s : {shape{2, 300000}, shape{800, 700}, shape{300000, 2}}) {
    INFO("extents ", cq::to_string(s));
    const auto x = laid_out<float>(s, layout::plain, draw(5)),
               y = laid_out<float>(s, layout::plain, draw(6));
    std::string unfused = spawned::bits_of(plain(x, y));
    if (!exact) unfused = spawned::bits_of(fused(x, y));
    for (const int threads : {1, 2}) {
      const spawned::in_use system;
      const cq::device_guard on{cq::cpu(0).with_threads(threads)};
      CHECK((spawned::bits_of(fused(x, y)) == unfused));
    }
  }
}

}  // namespace

TEST_CASE("running sums and products read what elementwise operations give, unstored (B9)") {
  check(sums<0>, 1, "sums<0>");
  check(sums<1>, 1, "sums<1>");
  check(products<0>, 1, "products<0>");
  check(products<1>, 1, "products<1>");
  check(of_integers, 1, "of_integers");
  check(counted, 2, "counted");
}
TEST_CASE("so do running accumulations with a user's monoid") {
  check(accumulated<0>, 1, "accumulated<0>");
  check(accumulated<1>, 1, "accumulated<1>");
  check(chains<0>, 1, "chains<0>");
  check(chains<1>, 1, "chains<1>");
}
TEST_CASE("and accumulations from the last element on, or without the element itself") {
  check(backwards, 3, "backwards", false);
  check(exclusive, 4, "exclusive", false);
}
TEST_CASE("reductions with a user's monoid take what feeds them and what uses their results") {
  check(reduced<0>, 1, "reduced<0>");
  check(reduced<1>, 1, "reduced<1>");
  check(reduced_scalars<0>, 1, "reduced_scalars<0>");
  check(reduced_scalars<1>, 1, "reduced_scalars<1>");
  check(reduced_all, 2, "reduced_all");
  check(tail_of_rows, 1, "tail_of_rows");
}
TEST_CASE("explain shows no block between") {
  constexpr auto f = cq::trace([](auto x, auto y) { return cq::cumsum(x * y, cq::axis<0>); });
  const auto x = cq::ones<float>(cq::shape{100000});
  const std::string s = f.plan(x, x).explain();
  CHECK(s.find("1 kernels") != std::string::npos);
  CHECK(s.find("reads 800000 B, writes 400000 B to out0") != std::string::npos);
  CHECK(s.find("into a running reduction") != std::string::npos);
  CHECK(f.plan(x, x).peak_bytes().count() < 480000);
  constexpr auto g = cq::trace([](auto v) { return cq::reduce<last_known>(v * v) + 1; });
  CHECK(g.plan(x).explain().find("1 kernels") != std::string::npos);
  CHECK(g(x).item() == 2);
}
TEST_CASE("a producer that throws leaves a destination as it was, on every thread count") {
  constexpr auto f =
      cq::trace([](auto x) { return cq::cumsum(cq::apply<bounded>(x), cq::axis<0>); });
  auto x = cq::ones<float>(cq::shape{300000});
  for (const int threads : {1, 2}) {
    const spawned::in_use system;
    const cq::device_guard on{cq::cpu(0).with_threads(threads)};
    CHECK(f(x)(299999) == 300000);
    x.data()[200000] = 2000;
    CHECK_THROWS_AS((void)f(x), std::out_of_range);
    x.data()[200000] = 1;
  }
}
