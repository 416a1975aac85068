// Gathering and scattering tiles of any layout, and the walk that uses them.
#include "calque/backend/cpu/tile.hpp"

#include <doctest/doctest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "backend/blocks.hpp"
#include "support/effort.hpp"

namespace {

using namespace blocks;
using calque::operand_layout;
using calque::detail::gather_tile;
using calque::detail::operand_use;
using calque::detail::run_tiles;
using calque::detail::scatter_tile;
using calque::detail::tile_bytes;
using calque::detail::tile_size;

template <class T>
void gathers_and_scatters(unsigned seed) {
  std::mt19937 random(seed);
  const std::int64_t sizes[] = {1, 2, 3, 7, 33};
  for (int i = 0; i < calque::test::rounds(150); ++i) {
    CAPTURE(seed);
    CAPTURE(i);
    extents e;
    for (auto rank = random() % 5; rank > 0; --rank) e.push_back(sizes[random() % 5]);
    const std::int64_t n = count(e);
    const std::int64_t first = static_cast<std::int64_t>(random() % static_cast<unsigned long>(n));
    const std::int64_t m =
        1 + static_cast<std::int64_t>(random() % static_cast<unsigned long>(n - first));
    const int rank = static_cast<int>(e.size()), bytes = static_cast<int>(sizeof(T));

    block<T> x(e, any_strides(e, true, random));
    for (std::size_t k = 0; k < x.size(); ++k) x.raw(k) = static_cast<T>(random());
    std::vector<T> tile(static_cast<std::size_t>(m) + 1, T(77)), want = tile;
    gather_tile(tile.data(), x.data(), bytes, e.data(), x.strides().data(), rank, first, m);
    std::int64_t at = 0;
    for_each(e, [&](const extents& index) {
      if (at >= first && at < first + m) want[static_cast<std::size_t>(at - first)] = x.at(index);
      ++at;
    });
    CHECK(tile == want);

    block<T> out(e, any_strides(e, false, random)), expected(e, out.strides());
    scatter_tile(tile.data(), out.data(), bytes, e.data(), out.strides().data(), rank, first, m);
    at = 0;
    for_each(e, [&](const extents& index) {
      if (at >= first && at < first + m)
        expected.at(index) = tile[static_cast<std::size_t>(at - first)];
      ++at;
    });
    CHECK(out.same(expected));
  }
}

int calls = 0;
std::int64_t most = 0;
void add_one(void* const* data, std::int64_t n) {
  ++calls;
  most = n > most ? n : most;
  for (std::int64_t i = 0; i < n; ++i)
    static_cast<float*>(data[1])[i] = static_cast<const float*>(data[0])[i] + 1;
}

}  // namespace

TEST_CASE(
    "a tile holds a run of a domain's elements in row-major order, and goes back the same way") {
  gathers_and_scatters<std::uint8_t>(1);
  gathers_and_scatters<std::uint16_t>(2);
  gathers_and_scatters<std::uint32_t>(3);
  gathers_and_scatters<std::uint64_t>(4);
}

TEST_CASE("linear operands are passed through in one call, others in tiles") {
  constexpr operand_use uses[] = {{true, false, false, 4}, {true, false, true, 4}};
  for (const std::int64_t n : {0, 1, 511, 512, 513, 5000}) {
    block<float> x(extents{n}), wide(extents{n}, extents{2}), out(extents{n}),
        back(extents{n}, extents{-1});
    for (std::int64_t i = 0; i < n; ++i) x.at({i}) = wide.at({i}) = static_cast<float>(i);
    struct way {
      block<float>*from, *to;
      bool direct;
    };
    for (const way w : {way{&x, &out, true}, way{&wide, &out, n < 2}, way{&x, &back, n < 2},
                        way{&wide, &back, n < 2}}) {
      const operand_layout o[] = {w.from->layout(), w.to->layout()};
      scratch room(tile_bytes(o, 2));
      void* base[] = {w.from->data(), w.to->data()};
      calls = 0, most = 0;
      run_tiles({&add_one, uses}, {&n, 1, 1, 1, o}, base, 0, n,
                static_cast<std::byte*>(room.data()));
      CHECK(room.intact());
      bool right = true;
      for (std::int64_t i = 0; i < n; ++i)
        right = right && w.to->at({i}) == static_cast<float>(i + 1);
      CHECK(right);
      CHECK(calls == (w.direct ? n > 0 : (n + tile_size - 1) / tile_size));
      if (!w.direct) CHECK(most <= tile_size);
    }
  }
}

TEST_CASE("a part of a domain touches no other element") {
  constexpr operand_use uses[] = {{true, false, false, 4}, {true, false, true, 4}};
  const extents e = {30, 40};
  block<float> x(e, extents{1, 30}), out(e), expected(e);
  for_each(e, [&](const extents& i) { x.at(i) = static_cast<float>(100 * i[0] + i[1]); });
  const operand_layout o[] = {x.layout(), out.layout()};
  scratch room(tile_bytes(o, 2));
  void* base[] = {x.data(), out.data()};
  run_tiles({&add_one, uses}, {e.data(), 2, 1, 1, o}, base, 17, 1111,
            static_cast<std::byte*>(room.data()));
  std::int64_t at = 0;
  for_each(e, [&](const extents& i) {
    if (at >= 17 && at < 17 + 1111) expected.at(i) = x.at(i) + 1;
    ++at;
  });
  CHECK(out.same(expected));
}

TEST_CASE("streamed bytes arrive whole at any alignment, and none beside them") {
  std::vector<unsigned char> from(400), room(700), expected(700);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<unsigned char>(i * 7 + 1);
  bool right = true;
  for (std::size_t n = 0; n <= 300; n += n < 70 ? 1 : 23)
    for (std::size_t at = 0; at < 70; ++at) {
      std::fill(room.begin(), room.end(), 0xEE);
      expected = room;
      std::copy_n(from.begin() + 3, n, expected.begin() + static_cast<std::ptrdiff_t>(at));
      calque::detail::stream_out(room.data() + at, from.data() + 3, static_cast<std::int64_t>(n));
      calque::detail::end_streaming();
      right = right && room == expected;
    }
  CHECK(right);
}

TEST_CASE("a streamed operand goes through tiles") {
  constexpr operand_use uses[] = {{true, false, false, 4}, {true, false, true, 4}};
  for (const std::int64_t n : {1, 511, 513, 5000}) {
    block<float> x(extents{n}), out(extents{n});
    for (std::int64_t i = 0; i < n; ++i) x.at({i}) = static_cast<float>(i);
    operand_layout o[] = {x.layout(), out.layout()};
    o[1].streamed = true;
    scratch room(tile_bytes(o, 2));
    void* base[] = {x.data(), out.data()};
    calls = 0;
    run_tiles({&add_one, uses}, {&n, 1, 1, 1, o}, base, 0, n, static_cast<std::byte*>(room.data()));
    CHECK(room.intact());
    bool right = true;
    for (std::int64_t i = 0; i < n; ++i) right = right && out.at({i}) == static_cast<float>(i + 1);
    CHECK(right);
    const std::int64_t tiles = (n + tile_size - 1) / tile_size;
    CHECK((calls == tiles || calls == tiles + 1));  // one more to begin with a line
  }
}
