// Matrix products by a BLAS library, against the library's own kernel.
#include <calque/parallel/blas.hpp>

#include "tests/threads/spawned.hpp"

namespace cq = calque;

namespace {

int products = 0;
void counted(const cq::blas_product& p) {
  ++products;
  cq::detail::multiply_by_cblas(p);
}

/// Largest difference, relative to what rounding may make of k terms.
template <class A, class B>
void check_product(const A& a, const B& b, int expected) {
  const auto own = [&] {
    const cq::blas_function before = cq::use_blas(nullptr);
    auto r = cq::matmul(a, b);
    cq::use_blas(before);
    return r.to_vector();
  }();
  products = 0;
  const auto c = cq::matmul(a, b).to_vector();
  CHECK(products == expected);
  REQUIRE(c.size() == own.size());
  using T = typename decltype(c.begin())::value_type;
  const double bound = 20.0 * static_cast<double>(a.extent(a.rank() - 1)) *
                       static_cast<double>(std::numeric_limits<T>::epsilon());
  double worst = 0;
  for (std::size_t i = 0; i < c.size(); ++i)
    worst = std::max(worst, std::abs(static_cast<double>(c[i]) - static_cast<double>(own[i])));
  CHECK(worst <= bound);
}

template <class T>
cq::array<T, 2> matrix(std::int64_t m, std::int64_t n) {
  return cq::astype<T>(cq::sin(spawned::waves(m, n)));
}

}  // namespace

TEST_CASE_TEMPLATE("products by BLAS are the library's own within rounding", T, float, double) {
  CHECK((cq::use_blas(&counted) == &cq::detail::multiply_by_cblas));  // registered by the include
  for (const auto& s : {std::array<std::int64_t, 3>{1, 1, 1},
                        {3, 5, 7},
                        {64, 64, 64},
                        {1, 40, 30},
                        {40, 1, 30},
                        {33, 17, 1},
                        {100, 10, 784}}) {
    const std::int64_t m = s[0], n = s[1], k = s[2];
    INFO(m << " x " << n << " x " << k);
    const auto a = matrix<T>(m, k), b = matrix<T>(k, n);
    const auto at = matrix<T>(k, m), bt = matrix<T>(n, k);
    check_product(a, b, 1);
    check_product(cq::transpose(at), b, 1);
    check_product(a, cq::transpose(bt), 1);
    check_product(cq::transpose(at), cq::transpose(bt), 1);
  }
  const auto a = matrix<T>(8, 12), b = matrix<T>(10, 6);
  using cq::range;
  const range all{}, step{0, range::open, 2};
  check_product(cq::slice(a, range{2, 7}, range{1, 6}), cq::slice(b, range{0, 5}, range{2, 6}), 1);
  check_product(cq::slice(a, all, step), cq::slice(b, range{0, 6}, all), 0);  // strides of two
  check_product(cq::slice(a, all, range{0, 10}), cq::flip(b, cq::axis<0>), 0);
  const auto batch = cq::reshape(matrix<T>(30, 7), cq::shape{3, 10, 7}).clone();
  check_product(batch, cq::transpose<0, 2, 1>(batch), 3);
  CHECK(cq::matmul(cq::zeros<T>(cq::shape{2, 0}), cq::zeros<T>(cq::shape{0, 3}))(1, 2) == 0);
  const spawned::in_use threads;
  const cq::device_guard on{cq::cpu(0).with_threads(2)};
  check_product(matrix<T>(200, 100), matrix<T>(100, 220), 1);
  CHECK((cq::use_blas(&cq::detail::multiply_by_cblas) == &counted));
}

TEST_CASE("products of integers stay with the library's kernel") {
  cq::use_blas(&counted);
  products = 0;
  const auto a = cq::ones<std::int32_t>(cq::shape{3, 4});
  CHECK(cq::matmul(a, cq::transpose(a))(2, 2) == 4);
  CHECK(products == 0);
  cq::use_blas(&cq::detail::multiply_by_cblas);
}
