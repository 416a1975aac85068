// More than 4 GiB of elements, borrowed: counts, offsets, strides and indices have 64 bits.
//
// The memory is a private mapping of pages that are hardly ever written: reading them takes none.
#include <doctest/doctest.h>

#include <sys/mman.h>

#include <vector>

#include "calque/calque.hpp"

namespace cq = calque;

namespace {

/// Zeros that no page stands for until one is written.
class mapping {
 public:
  explicit mapping(std::int64_t bytes) : bytes_(static_cast<std::size_t>(bytes)) {
    void* const p = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (p != MAP_FAILED) data_ = static_cast<std::uint8_t*>(p);
  }
  mapping(const mapping&) = delete;
  mapping& operator=(const mapping&) = delete;
  ~mapping() {
    if (data_ != nullptr) munmap(data_, bytes_);
  }
  [[nodiscard]] std::uint8_t* data() const { return data_; }

 private:
  std::uint8_t* data_ = nullptr;
  std::size_t bytes_;
};

using places = std::vector<std::int64_t>;

}  // namespace

TEST_CASE("B9: arrays of more than 2^32 elements are counted, reduced, sliced and indexed (C034)") {
  constexpr std::int64_t half = std::int64_t{1} << 31, n = 2 * half + 4103;
  const mapping memory(n);
  if (memory.data() == nullptr) {
    MESSAGE("skipped: no 4 GiB of addresses");
    return;
  }
  std::uint8_t* const p = memory.data();
  p[5] = 2, p[half + 1] = 4, p[2 * half + 2] = 9, p[n - 3] = 9, p[n - 1] = 3;
  const auto x = cq::borrow(std::as_const(p), cq::shape{n});
  CHECK(x.size() == n);
  CHECK(cq::argmax(x, cq::axis<0>).item() == 2 * half + 2);
  CHECK(cq::sum(x).item() == 27);
  const auto halves =
      cq::reshape(cq::slice(x, cq::range{0, 2 * half}), cq::shape{std::int64_t{2}, half});
  CHECK(cq::argmax(halves, cq::axis<1>).to_vector() == places{5, 1});
  CHECK(cq::max(halves, cq::axis<1>).to_vector() == std::vector<std::uint8_t>{2, 4});

  const cq::array<std::int64_t, 1> at{n - 1, 5, half + 1, 2 * half + 2};
  CHECK(cq::take(x, at, cq::axis<0>).to_vector() == std::vector<std::uint8_t>{3, 2, 4, 9});
  CHECK_THROWS_WITH_AS((void)cq::take(x, cq::array<std::int64_t, 1>{n}, cq::axis<0>),
                       doctest::Contains("index 4294971399 is outside axis 0"), cq::index_error);
  CHECK((cq::slice(x, cq::range{-4, cq::range::open}) + 1).to_vector() ==
        std::vector<std::uint8_t>{1, 10, 1, 4});
  const auto back = cq::flip(x, cq::axis<0>);  // elements 5, half + 1, 2 half - 3 from its end on
  const auto far = cq::slice(back, cq::range{n - 6, cq::range::open, 4 - half});
  CHECK(cq::cumsum(far, cq::axis<0>).to_vector() == std::vector<std::uint64_t>{2, 6, 6});
  const auto three = cq::slice(x, cq::range{5, 2 * half, half - 4});
  CHECK(cq::cumsum(three, cq::axis<0>).to_vector() == std::vector<std::uint64_t>{2, 6, 6});
  const auto rows = cq::borrow(std::as_const(p) + 5, cq::shape{2, 2}, {half - 4, 1});
  CHECK((cq::transpose(rows) * 2).to_vector() == std::vector<std::uint8_t>{4, 8, 0, 0});
  CHECK(cq::matmul(rows, cq::transpose(rows)).to_vector() ==
        std::vector<std::uint8_t>{4, 8, 8, 16});

  auto last = cq::borrow(p + n - 4, cq::shape{2, 2}, {-(half + 1), 1});  // written in place
  last += 1;
  CHECK(static_cast<int>(p[n - 3]) == 10);
  CHECK(static_cast<int>(p[n - 5 - half]) == 1);
}
