// The CPU matrix product against a long double (or wrapping integer) sum, at every instruction set.
#include "calque/backend/cpu/gemm.hpp"

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <random>
#include <string>
#include <type_traits>
#include <vector>

#include "support/effort.hpp"

namespace {

using calque::isa;
using calque::detail::gemm;
using calque::detail::gemm_scratch_bytes;

// Lowers the instruction set for one scope.
class at_level {
 public:
  explicit at_level(isa level) : now_(calque::detail::force_isa(level)) {}
  ~at_level() { calque::detail::force_isa(isa::avx512); }
  at_level(const at_level&) = delete;
  at_level& operator=(const at_level&) = delete;
  [[nodiscard]] bool is(isa level) const { return now_ == level; }

 private:
  isa now_;
};

template <class T>
T odd_value() {
  if constexpr (std::is_floating_point_v<T>) return std::numeric_limits<T>::quiet_NaN();
  else return static_cast<T>(77);
}

// An operand inside a larger block: `row` and `col` strides, everything else unused values.
template <class T>
struct operand {
  std::int64_t rows, cols, row, col;
  std::vector<T> memory;
  std::int64_t origin;

  operand(std::int64_t r, std::int64_t c, std::int64_t row_stride, std::int64_t col_stride,
          std::mt19937& random)
      : rows(r), cols(c), row(row_stride), col(col_stride) {
    const std::int64_t down = row * (rows > 0 ? rows - 1 : 0);
    const std::int64_t along = col * (cols > 0 ? cols - 1 : 0);
    const std::int64_t low = std::min<std::int64_t>(0, down) + std::min<std::int64_t>(0, along);
    const std::int64_t high = std::max<std::int64_t>(0, down) + std::max<std::int64_t>(0, along);
    origin = -low;
    memory.assign(static_cast<std::size_t>(high - low + 1), odd_value<T>());
    for (std::int64_t i = 0; i < rows; ++i)
      for (std::int64_t j = 0; j < cols; ++j) {
        if constexpr (std::is_floating_point_v<T>)
          at(i, j) = std::uniform_real_distribution<T>(T(-1), T(1))(random);
        else at(i, j) = static_cast<T>(random());
      }
  }
  T& at(std::int64_t i, std::int64_t j) {
    return memory[static_cast<std::size_t>(origin + i * row + j * col)];
  }
  [[nodiscard]] const T& at(std::int64_t i, std::int64_t j) const {
    return memory[static_cast<std::size_t>(origin + i * row + j * col)];
  }
  [[nodiscard]] const T* data() const { return memory.data() + origin; }
};

template <class T>
struct expectation {
  std::vector<long double> value, bound;
  std::vector<T> exact;
};

template <class T>
expectation<T> expected(const operand<T>& a, const operand<T>& b) {
  expectation<T> e;
  for (std::int64_t i = 0; i < a.rows; ++i)
    for (std::int64_t j = 0; j < b.cols; ++j) {
      if constexpr (std::is_floating_point_v<T>) {
        long double sum = 0, size = 0;
        for (std::int64_t p = 0; p < a.cols; ++p) {
          const long double x = static_cast<long double>(a.at(i, p)) * b.at(p, j);
          sum += x;
          size += std::fabs(x);
        }
        e.value.push_back(sum);
        e.bound.push_back(size * static_cast<long double>(a.cols + 1) *
                          std::numeric_limits<T>::epsilon());
      } else {
        unsigned __int128 sum = 0;
        for (std::int64_t p = 0; p < a.cols; ++p)
          sum += static_cast<unsigned __int128>(a.at(i, p)) *
                 static_cast<unsigned __int128>(b.at(p, j));
        e.exact.push_back(static_cast<T>(sum));
      }
    }
  return e;
}

// Runs one product into NaN-filled rows of c that are wider than n, in scratch of the promised size
// between guards. Returns what is wrong, or nothing.
template <class T>
std::string fault(const operand<T>& a, const operand<T>& b, const expectation<T>& e) {
  const std::int64_t m = a.rows, n = b.cols, k = a.cols, c_row = n + 3;
  std::vector<T> c(static_cast<std::size_t>(m * c_row + 1), odd_value<T>());
  const std::vector<T> untouched = c;
  const std::int64_t bytes = gemm_scratch_bytes<T>(m, n, k, a.row, a.col, b.row, b.col, c_row);
  constexpr std::size_t guard = 64;
  std::vector<unsigned char> scratch(static_cast<std::size_t>(bytes) + 2 * guard, 0xff);
  gemm<T>(m, n, k, a.data(), a.row, a.col, b.data(), b.row, b.col, c.data(), c_row,
          scratch.data() + guard);
  for (std::size_t i = 0; i < guard; ++i)
    if (scratch[i] != 0xff || scratch[scratch.size() - 1 - i] != 0xff) return "scratch overrun";
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < c_row; ++j) {
      const auto at = static_cast<std::size_t>(i * c_row + j);
      if (j >= n) {
        if (std::memcmp(&c[at], &untouched[at], sizeof(T)) != 0) return "wrote beside c";
        continue;
      }
      const auto index = static_cast<std::size_t>(i * n + j);
      bool good;
      if constexpr (std::is_floating_point_v<T>)
        good = std::fabs(static_cast<long double>(c[at]) - e.value[index]) <= e.bound[index];
      else good = c[at] == e.exact[index];
      if (!good) return "c(" + std::to_string(i) + ", " + std::to_string(j) + ") is wrong";
    }
  }
  return "";
}

template <class T>
void check_at_all_levels(const operand<T>& a, const operand<T>& b) {
  const expectation<T> e = expected(a, b);
  for (isa level : {isa::avx512, isa::avx2, isa::baseline}) {
    const at_level now(level);
    if (!now.is(level)) continue;
    const std::string wrong = fault(a, b, e);
    if (wrong.empty()) continue;
    CAPTURE(static_cast<int>(level));
    FAIL_CHECK(a.rows << " x " << a.cols << " (strides " << a.row << ", " << a.col << ") times "
                      << b.rows << " x " << b.cols << " (strides " << b.row << ", " << b.col
                      << "): " << wrong);
  }
}

// The four pairs of plain and transposed operands, each with `gap` unused elements after a row.
template <class T>
void check_pairs(std::int64_t m, std::int64_t n, std::int64_t k, std::int64_t gap,
                 std::mt19937& random) {
  for (bool a_transposed : {false, true})
    for (bool b_transposed : {false, true}) {
      const operand<T> a(m, k, a_transposed ? 1 : k + gap, a_transposed ? m + gap : 1, random);
      const operand<T> b(k, n, b_transposed ? 1 : n + gap, b_transposed ? k + gap : 1, random);
      check_at_all_levels(a, b);
    }
}

}  // namespace

TEST_CASE_TEMPLATE(
    "C070: all transpose pairs are right for small and odd sizes, and no NaN of the "
    "output survives",
    T, float, std::int32_t) {
  std::mt19937 random(1);
  int shape = 0;
  for (std::int64_t m : {0, 1, 2, 7, 8, 9, 31, 32, 33, 100})
    for (std::int64_t n : {0, 1, 2, 7, 8, 9, 31, 32, 33, 100})
      for (std::int64_t k : {0, 1, 2, 7, 8, 9, 31, 32, 33, 100})
        if (!calque::test::sanitized || ++shape % 7 == 0) check_pairs<T>(m, n, k, 0, random);
}

TEST_CASE_TEMPLATE("narrow, wide and unsigned types multiply, and integers wrap", T, double,
                   std::int64_t, std::uint8_t) {
  std::mt19937 random(2);
  for (std::int64_t m : {0, 1, 9, 33})
    for (std::int64_t n : {1, 9, 65})
      for (std::int64_t k : {0, 1, 33, 70}) check_pairs<T>(m, n, k, 0, random);
}

TEST_CASE("C070: X^T X of a 2 x 3 matrix") {
  const float x[] = {1, 2, 3, 1, 2, 3};
  const float want[] = {2, 4, 6, 4, 8, 12, 6, 12, 18};
  float got[9];
  std::vector<unsigned char> scratch(
      static_cast<std::size_t>(gemm_scratch_bytes<float>(3, 3, 2, 1, 3, 3, 1, 3)));
  gemm<float>(3, 3, 2, x, 1, 3, x, 3, 1, got, 3, scratch.data());
  for (int i = 0; i < 9; ++i) CHECK(got[i] == want[i]);
}

TEST_CASE_TEMPLATE("C070: sliced, reversed, repeated and doubly strided operands need no copy", T,
                   float, double, std::int64_t) {
  std::mt19937 random(3);
  for (std::int64_t gap : {1, 5, 16}) {
    check_pairs<T>(9, 33, 17, gap, random);
    check_pairs<T>(33, 3, 70, gap, random);
    check_pairs<T>(3, 70, 33, gap, random);
  }
  for (std::int64_t m : {1, 5, 33})
    for (std::int64_t n : {1, 6, 40}) {
      constexpr std::int64_t k = 37;
      const operand<T> everywhere(m, k, 2 * k + 1, 2, random), reversed(m, k, -k, 1, random),
          mirrored(m, k, k, -1, random), repeated(m, k, 0, 1, random), constant(m, k, 1, 0, random);
      const operand<T> right(k, n, 3 * n, 3, random), upside_down(k, n, -n, 1, random),
          backwards(k, n, n, -1, random), one_row(k, n, 0, 1, random),
          one_column(k, n, 1, 0, random);
      for (const operand<T>* a : {&everywhere, &reversed, &mirrored, &repeated, &constant})
        for (const operand<T>* b : {&right, &upside_down, &backwards, &one_row, &one_column})
          check_at_all_levels(*a, *b);
    }
}

TEST_CASE_TEMPLATE("skinny and deep shapes are right, over several blocks of k", T, float, double) {
  std::mt19937 random(4);
  check_pairs<T>(100, 10, 784, 0, random);
  check_pairs<T>(784, 10, 100, 0, random);
  check_pairs<T>(100, 784, 10, 0, random);
  check_pairs<T>(10, 100, 784, 0, random);
  check_pairs<T>(1, 300, 500, 0, random);
  check_pairs<T>(300, 1, 500, 0, random);
  check_pairs<T>(1, 1, 5000, 0, random);
  check_pairs<T>(20, 50, 1500, 3, random);
  check_pairs<T>(13, 3, 4500, 3, random);
  // Few columns by many rows, turned by fours: whole ones, some again, fewer than four.
  for (std::int64_t n : {3, 4, 5, 10, 11, 17})
    for (std::int64_t k : {3, 18, 50, 400})
      check_pairs<T>(calque::test::sanitized ? 70 : 300, n, k, 1, random);
  // Rows a whole page apart are copied first, in one block and in several.
  check_pairs<T>(40, 150, 1024, 0, random);
  check_pairs<T>(calque::test::sanitized ? 70 : 600, 150, 512, 512, random);
}

TEST_CASE("an infinity that lies before the tail of its row is not taken twice, nor lost") {
  constexpr std::int64_t m = 9, n = 10, k = 203;
  std::vector<float> a(static_cast<std::size_t>(m * k), 1.f), c(static_cast<std::size_t>(m * n));
  const std::vector<float> b(static_cast<std::size_t>(n * k), 1.f);
  for (std::int64_t i = 0; i < m; ++i)
    a[static_cast<std::size_t>(i * k + k - 4 - i)] = std::numeric_limits<float>::infinity();
  for (isa level : {isa::avx512, isa::avx2, isa::baseline}) {
    const at_level now(level);
    std::vector<unsigned char> scratch(
        static_cast<std::size_t>(gemm_scratch_bytes<float>(m, n, k, k, 1, 1, k, n)));
    gemm<float>(m, n, k, a.data(), k, 1, b.data(), 1, k, c.data(), n, scratch.data());
    for (const float x : c) CHECK(x == std::numeric_limits<float>::infinity());
  }
}

TEST_CASE("an infinity reaches its own row only: padding never meets it") {
  for (std::int64_t k : {5, 40}) {
    for (std::int64_t n : {3, 20}) {
      constexpr std::int64_t m = 11;
      const std::vector<float> b(static_cast<std::size_t>(k * n), 1.f);
      std::vector<float> a(static_cast<std::size_t>(m * k), 1.f);
      std::vector<float> c(static_cast<std::size_t>(m * n));
      a[static_cast<std::size_t>(4 * k + k - 1)] = std::numeric_limits<float>::infinity();
      for (isa level : {isa::avx512, isa::avx2, isa::baseline}) {
        const at_level now(level);
        std::vector<unsigned char> scratch(
            static_cast<std::size_t>(gemm_scratch_bytes<float>(m, n, k, k, 1, n, 1, n)));
        gemm<float>(m, n, k, a.data(), k, 1, b.data(), n, 1, c.data(), n, scratch.data());
        for (std::int64_t i = 0; i < m; ++i)
          for (std::int64_t j = 0; j < n; ++j) {
            const float x = c[static_cast<std::size_t>(i * n + j)];
            if (i == 4) CHECK(std::isinf(x));
            else CHECK(x == static_cast<float>(k));
          }
      }
    }
  }
}

TEST_CASE("the same product gives the same bits again") {
  std::mt19937 random(5);
  const operand<float> a(100, 784, 784, 1, random), b(784, 10, 10, 1, random);
  std::vector<float> first(1000), second(1000);
  std::vector<unsigned char> scratch(
      static_cast<std::size_t>(gemm_scratch_bytes<float>(100, 10, 784, 784, 1, 10, 1, 10)));
  gemm<float>(100, 10, 784, a.data(), 784, 1, b.data(), 10, 1, first.data(), 10, scratch.data());
  gemm<float>(100, 10, 784, a.data(), 784, 1, b.data(), 10, 1, second.data(), 10, scratch.data());
  CHECK(std::memcmp(first.data(), second.data(), first.size() * sizeof(float)) == 0);
}

TEST_CASE("scratch is bounded by the caches, and nothing where b is read in place") {
  const at_level now(isa::baseline);
  CHECK(gemm_scratch_bytes<float>(0, 10, 10, 10, 1, 10, 1, 10) == 0);
  CHECK(gemm_scratch_bytes<float>(10, 10, 0, 0, 1, 10, 1, 10) == 0);
  CHECK(gemm_scratch_bytes<float>(2, 64, 32, 32, 1, 64, 1, 64) == 0);
  CHECK(gemm_scratch_bytes<float>(64, 1, 100, 100, 1, 1, 1, 1) == 0);
  CHECK(gemm_scratch_bytes<float>(4000, 4000, 4000, 4001, 1, 4001, 1, 4000) <= 24 * 1024);
  CHECK(gemm_scratch_bytes<float>(4096, 4096, 4096, 4096, 1, 4096, 1, 4096) <= 512 * 1024);
}

TEST_CASE("a forced instruction set never exceeds the machine's and can be raised again") {
  const isa machine = calque::detail::detect_isa();
  {
    const at_level now(isa::baseline);
    CHECK(calque::best_isa() == isa::baseline);
  }
  CHECK(calque::best_isa() == machine);
  static_assert(calque::vector_bytes(isa::baseline) == 16);
  static_assert(calque::vector_bytes(isa::avx2) == 32);
  static_assert(calque::vector_bytes(isa::avx512) == 64);
}
