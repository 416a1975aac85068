// Counted indices and numbers of extents are leaves of kernels: no step, nothing stored, and the
// values of the unfused function to the bit, for every kind of kernel, layout and thread count.
#include "calque/graph/leaves.hpp"

#include "support/launches.hpp"
#include "support/reference.hpp"
#include "tests/threads/spawned.hpp"

namespace cq = calque;

namespace {

using namespace calque::test;

template <int R, class T = float>
using grid = cq::array<const T, R>;

/// Eighths between -4 and 4: sums of their products are exact in any order.
auto eighths(std::uint64_t seed) {
  return [random = std::mt19937_64(seed)]() mutable {
    return static_cast<float>(static_cast<int>(random() % 65) - 32) / 8;
  };
}
constexpr auto column = [](auto n, auto x) {
  return cq::reshape(cq::arange<std::int64_t>(n, x), cq::shape{n, 1});
};

// --- functions of a matrix x, and how many kernels each is -------------------------------------

template <class T>
constexpr auto along = [](auto x) { return x * cq::arange<T>(x.extent(1), x); };
template <class T>
constexpr auto down = [](auto x) {
  return x + cq::reshape(cq::arange<T>(x.extent(0), x), cq::shape{x.extent(0), 1});
};
constexpr auto both = [](auto x) {
  return x * 2 + column(x.extent(0), x) * x.extent(1) + cq::arange<std::int64_t>(x.extent(1), x);
};
constexpr auto backwards = [](auto x) {
  const auto i = cq::arange<float>(x.extent(1), x);
  return x - cq::flip(i, cq::axis<0>);
};
constexpr auto half = [](auto x) {  // every other index, and windows of it that are shifted
  const auto i = cq::arange<int>(2 * x.extent(1), x);
  return cq::where(cq::slice(i, cq::range{0, cq::range::open, 2}) % 4 == 0, x, -x) +
         cq::slice(i, cq::range{x.extent(1), cq::range::open});
};
constexpr auto folded = [](auto x) {  // one row-major count over both axes
  return x + cq::reshape(cq::arange<float>(x.extent(0) * x.extent(1), x), x.shape());
};
constexpr auto turned = [](auto x) {
  return x + cq::transpose(cq::reshape(cq::arange<float>(x.extent(0) * x.extent(1), x),
                                       cq::shape{x.extent(1), x.extent(0)}));
};
constexpr auto masked = [](auto x) {
  return cq::where(cq::arange<std::int64_t>(x.extent(1), x) <= column(x.extent(0), x), x, 0.f);
};
constexpr auto only_counts = [](auto x) {
  return column(x.extent(0), x) * x.extent(1) - cq::arange<std::int64_t>(x.extent(1), x);
};
constexpr auto two_results = [](auto x) {
  const auto y = x * cq::arange<float>(x.extent(1), x);
  return std::tuple{y, y + 1};
};
constexpr auto sum_all = [](auto x) {
  return cq::sum(cq::astype<double>(x) * cq::arange<float>(x.extent(1), x));
};
constexpr auto sum_rows = [](auto x) {
  return cq::sum(cq::astype<double>(x) * cq::arange<int>(x.extent(1), x), cq::axis<1>);
};
constexpr auto sum_rows_masked = [](auto x) {
  return cq::sum(masked(x), cq::axis<1>) * 2 + cq::arange<float>(x.extent(0), x);
};
constexpr auto sum_columns = [](auto x) {
  return cq::sum(cq::astype<double>(x) + column(x.extent(0), x), cq::axis<0>) -
         cq::arange<float>(x.extent(1), x);
};
constexpr auto sum_of_counts = [](auto x) {
  return cq::sum(cq::arange<std::int64_t>(x.extent(1), x)) + 0 * x;
};
constexpr auto rows_centred = [](auto x) {  // a rows kernel: full, kept and once-a-row readings
  const auto i = cq::arange<float>(x.extent(1), x);
  const auto y = cq::astype<double>(x) + i * 0.5f;
  const auto total = cq::sum(y, cq::axis<1>, cq::keepdims) +
                     cq::reshape(cq::arange<float>(x.extent(0), x), cq::shape{x.extent(0), 1});
  return y - total + i;
};
constexpr auto columns_centred = [](auto x) {
  const auto i = cq::arange<float>(x.extent(1), x);
  const auto y = cq::astype<double>(x) + column(x.extent(0), x);
  return y - (cq::sum(y, cq::axis<0>, cq::keepdims) + i);
};
constexpr auto means = [](auto x) {
  return std::tuple{cq::mean(x), cq::mean(x, cq::axis<0>), cq::mean(x, cq::axis<1>)};
};
constexpr auto one_axis_of_means = [](auto x) {
  return x - cq::mean(x, cq::axis<1>, cq::keepdims);
};
constexpr auto shapes_as_values = [](auto x) {
  const auto n = cq::astype<float>(x.extent(0)), m = cq::astype<float>(x.extent(1));
  return x * (n + 1) / (2 * m + 3) + cq::sqrt(n * n) - cq::maximum(m, n);
};
constexpr auto filled = [](auto x) { return x + cq::full(x.shape(), 2.f, x); };
constexpr auto a_number_for_two = [](auto x) {  // kernels over different axes share it
  const auto n = cq::astype<float>(x.extent(0)) * 0.5f;
  return std::tuple{x + n, cq::sum(x, cq::axis<0>) * n, n};
};

template <class Body>
void check(Body body, int kernels) {
  (void)body;
  constexpr auto fused = cq::trace(Body{});
  constexpr auto plain = cq::trace<cq::options{.pass_level = 0}>(Body{});
  using cq::shape;
  const shape<2> shapes[] = {shape{0, 5},    shape{5, 0},    shape{1, 1},    shape{1, 7},
                             shape{7, 1},    shape{3, 5},    shape{70, 66},  shape{9, 700},
                             shape{5, 5000}, shape{2000, 3}, shape{130, 130}};
  for (const shape<2>& s : shapes)
    for (layout how : layouts) {
      INFO("extents ", cq::to_string(s), " layout ", static_cast<int>(how));
      const grid<2> x = laid_out<float>(s, how, eighths(3));
      for (int call = 0; call < 2; ++call)
        CHECK((spawned::bits_of(fused(x)) == spawned::bits_of(plain(x))));
      if (s[0] > 1 && s[1] > 1 && how == layout::plain) CHECK(launches(fused, x) == kernels);
    }
  const grid<2> x = laid_out<float>(cq::shape{600, 1500}, layout::plain, eighths(4));
  const std::string unfused = spawned::bits_of(plain(x));
  for (const int threads : {1, 2}) {
    const spawned::in_use system;
    const cq::device_guard on{cq::cpu(0).with_threads(threads)};
    CHECK((spawned::bits_of(fused(x)) == unfused));
  }
}

}  // namespace

TEST_CASE("counted indices are read by elementwise kernels without a step of their own") {
  check(along<float>, 1);
  check(along<int>, 1);
  check(along<std::int64_t>, 1);
  check(along<double>, 1);
  check(down<float>, 1);
  check(down<int>, 1);
  check(both, 1);
  check(backwards, 1);
  check(half, 1);
  check(folded, 1);
  check(turned, 1);
  check(masked, 1);
  check(only_counts, 1);
  check(two_results, 1);
}
TEST_CASE("reductions count as they go, over trailing and leading axes, in body and tail") {
  check(sum_all, 1);
  check(sum_rows, 1);
  check(sum_rows_masked, 1);
  check(sum_columns, 1);
  check(sum_of_counts, 2);
}
TEST_CASE("rows kernels count, element by element and once a row") {
  check(rows_centred, 1);
  check(columns_centred, 2);
}
TEST_CASE("numbers of extents take no step and tie no kernels together") {
  check(means, 3);
  check(one_axis_of_means, 1);
  check(shapes_as_values, 1);
  check(filled, 1);
  check(a_number_for_two, 2);
}

namespace {

constexpr auto one_hot_of = [](auto labels, auto x) {
  return cq::one_hot<float>(labels, x.extent(1)) * x;
};
constexpr auto compared = [](auto labels, auto x) {
  const auto column_of = cq::reshape(labels, cq::shape{labels.extent(0), 1});
  return cq::where(column_of == cq::arange<std::int64_t>(x.extent(1), x), x, 0.f);
};
constexpr auto picked = [](auto labels, auto x) {  // a sum per row of what the label names
  return cq::sum(compared(labels, x), cq::axis<1>);
};
constexpr auto entropy = [](auto labels, auto x) {
  return cq::cross_entropy(x, labels, cq::no_reduction);
};
constexpr auto entropy_slopes = [](auto labels, auto x) {
  return cq::grad([](auto y, auto l) { return cq::cross_entropy(y, l); })(x, labels);
};
constexpr auto causal = [](auto, auto x) {
  return cq::softmax(cq::where(cq::arange<int>(x.extent(1), x) <= column(x.extent(0), x), x, -8.f),
                     cq::axis<1>);
};

template <class Body>
void check_labels(Body body, int kernels, double ulps) {
  (void)body;
  constexpr auto fused = cq::trace(Body{});
  constexpr auto plain = cq::trace<cq::options{.pass_level = 0}>(Body{});
  using cq::shape;
  for (const shape<2>& s : {shape{1, 1}, shape{0, 3}, shape{3, 5}, shape{9, 700}, shape{300, 10}})
    for (layout how : {layout::plain, layout::transposed, layout::strided}) {
      INFO("extents ", cq::to_string(s), " layout ", static_cast<int>(how));
      std::int64_t next = 0;
      const auto labels = laid_out<std::int64_t>(
          shape{s[0]}, how, [&] { return (next++ * 7) % (s[1] > 0 ? s[1] : 1); });
      const grid<2> x = laid_out<float>(s, how, eighths(3));
      CALQUE_CHECK_MATCHES(fused(labels, x), dense_of(plain(labels, x)), ulps);
      if (s[0] > 1) CHECK(launches(fused, labels, x) == kernels);
    }
}

// --- who else may read an index ----------------------------------------------------------------

constexpr auto returned = [](auto x) {
  const auto i = cq::arange<int>(x.extent(0), x);
  return std::tuple{i, cq::flip(i, cq::axis<0>), x * i};
};
constexpr auto taken = [](auto x) {  // take checks its indices in memory
  const auto i = cq::arange<std::int64_t>(x.extent(0), x);
  return cq::take(x, cq::flip(i, cq::axis<0>), cq::axis<0>) + i;
};
constexpr auto joined = [](auto x) {
  const auto i = cq::arange<float>(x.extent(0), x);
  return cq::concatenate<0>(i, x, x + i);
};
constexpr auto multiplied = [](auto x) {
  const auto i = cq::arange<float>(x.extent(0), x);
  return cq::dot(i, x) + cq::cumsum(i, cq::axis<0>);
};
constexpr auto one_of_them = [](auto x) {  // a look of rank 0
  const auto i = cq::arange<float>(x.extent(0) + 3, x);
  return x * cq::reshape(cq::slice(i, cq::range{2, 3}), cq::shape<0>{});
};
constexpr auto looped = [](auto x) {
  const auto i = cq::arange<float>(x.extent(0), x);
  return cq::for_loop(3, x, [&](auto, auto v) { return v * 2 + i; });
};
constexpr auto branched = [](auto x) {
  const auto i = cq::arange<float>(x.extent(0), x);
  return cq::cond(
      cq::sum(x) > 0, [&] { return x - i; }, [&] { return cq::cumsum(i, cq::axis<0>) + x; });
};
template <class Body>
void check_readers(Body body) {
  (void)body;
  constexpr auto fused = cq::trace(Body{});
  constexpr auto plain = cq::trace<cq::options{.pass_level = 0}>(Body{});
  for (std::int64_t n : {0, 1, 2, 70, 1500}) {
    INFO("extent ", n);
    const grid<1> x = laid_out<float>(cq::shape{n}, layout::plain, eighths(5));
    for (int call = 0; call < 2; ++call)
      CHECK((spawned::bits_of(fused(x)) == spawned::bits_of(plain(x))));
  }
}

}  // namespace

TEST_CASE("one-hot rows, masks and losses of integer labels are one kernel") {
  check_labels(one_hot_of, 1, 0);
  check_labels(compared, 1, 0);
  check_labels(picked, 1, 0);
  check_labels(entropy, 1, 64);
  check_labels(entropy_slopes, 1, 64);
  check_labels(causal, 1, 64);
}
TEST_CASE("an index that others read too has the same values there") {
  check_readers(returned);
  check_readers(taken);
  check_readers(joined);
  check_readers(multiplied);
  check_readers(one_of_them);
  check_readers(looped);
  check_readers(branched);
}
TEST_CASE("square extents: an index along rows is none along columns") {
  constexpr auto body = [](auto x) {
    const auto y = cq::matmul(x, cq::transpose(x));  // one extent twice
    const auto i = cq::arange<float>(x.extent(0), x) * 2;
    const auto s = cq::sum(y, cq::axis<1>);
    return std::tuple{y * i + cq::sum(y, cq::axis<1>, cq::keepdims), s + i,
                      cq::sum(y * i + i, cq::axis<1>)};
  };
  constexpr auto fused = cq::trace(body);
  constexpr auto plain = cq::trace<cq::options{.pass_level = 0}>(body);
  for (std::int64_t n : {1, 2, 33, 70}) {
    const grid<2> x = laid_out<float>(cq::shape{n, 3}, layout::plain,
                                      [k = 0]() mutable { return static_cast<float>(k++ % 5); });
    CHECK((spawned::bits_of(fused(x)) == spawned::bits_of(plain(x))));
  }
}
TEST_CASE("a new value of a variable may be an index, and explain says what reads no memory") {
  constexpr auto set = cq::trace([](auto& v) { v.assign(cq::arange<float>(v.extent(0), v) * 2); });
  cq::variable<float, 1> v(cq::ones<float>(cq::shape{1000}));
  set(v);
  CHECK(v.value()(999) == 1998);
  constexpr auto f = cq::trace([](auto x) { return x * cq::arange<float>(x.extent(0), x); });
  const auto x = cq::ones<float>(cq::shape{1000});
  CHECK(f.plan(x).dump().find("mul [1000] <- arg0:f32, index:f32 -> out0:f32") !=
        std::string::npos);
  CHECK(f.plan(x).explain().find("reads 4000 B") != std::string::npos);
  static_assert(cq::graph_of<f, cq::array<float, 1>>().kernels() == 1);
}
