// The counter-based generator Philox4x32-10 (J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw,
// "Parallel random numbers: as easy as 1, 2, 3", 2011), on numbers and on lanes, and what element
// of a draw comes from which of its words.
//
// A block of four words is a function of a counter and a key. Here the key is the seed; the
// counter's upper half is the number of the draw, its lower half that of the block. So an element
// is a function of seed, draw and its own index: threads and splits of a batch do not matter.
#pragma once

#include <cstdint>

#include "calque/core/config.hpp"
#include "calque/core/lane.hpp"

namespace calque::detail {

struct philox_block {
  std::uint32_t word[4];
};

inline constexpr std::uint32_t philox_multiplier[] = {0xD2511F53u, 0xCD9E8D57u};
inline constexpr std::uint32_t philox_key_step[] = {0x9E3779B9u, 0xBB67AE85u};

/// One block: `counter` encrypted with the 64-bit `key`.
CALQUE_HD constexpr philox_block philox4x32(philox_block counter, std::uint64_t key) {
  std::uint32_t k0 = static_cast<std::uint32_t>(key), k1 = static_cast<std::uint32_t>(key >> 32);
  for (int round = 0; round < 10; ++round) {
    const std::uint64_t a = std::uint64_t{0xD2511F53u} * counter.word[0];
    const std::uint64_t b = std::uint64_t{0xCD9E8D57u} * counter.word[2];
    counter = {{static_cast<std::uint32_t>(b >> 32) ^ counter.word[1] ^ k0,
                static_cast<std::uint32_t>(b),
                static_cast<std::uint32_t>(a >> 32) ^ counter.word[3] ^ k1,
                static_cast<std::uint32_t>(a)}};
    k0 += 0x9E3779B9u;
    k1 += 0xBB67AE85u;
  }
  return counter;
}

/// Blocks that kernels make at once. Elements go over them first, then over their words, so that a
/// kernel stores what it makes without moving it around.
inline constexpr int philox_group = 16;

/// Where an element of 4 or 8 bytes comes from: word `part` of its block, or words 2 `part` and the
/// next.
struct philox_place {
  std::uint64_t block;
  int part;
};
CALQUE_HD constexpr philox_place philox_place_of(std::int64_t index, int bytes) {
  const std::int64_t each = philox_group * 16 / bytes, within = index % each;
  return {static_cast<std::uint64_t>(index / each * philox_group + within % philox_group),
          static_cast<int>(within / philox_group)};
}
CALQUE_HD constexpr philox_block philox_at(std::uint64_t seed, std::uint64_t draw,
                                           std::uint64_t block) {
  return philox4x32({{static_cast<std::uint32_t>(block), static_cast<std::uint32_t>(block >> 32),
                      static_cast<std::uint32_t>(draw), static_cast<std::uint32_t>(draw >> 32)}},
                    seed);
}

/// Uniform in [0, 1): 24 bits of a word as float, 52 bits of two as double.
CALQUE_HD constexpr float unit_float(std::uint32_t w) {
  return static_cast<float>(w >> 8) * 0x1p-24f;
}
CALQUE_HD constexpr double unit_double(std::uint32_t low, std::uint32_t high) {
  return static_cast<double>((std::uint64_t{high} << 32 | low) >> 12) * 0x1p-52;
}

/// The blocks [first, first + 16) of a draw, word by word.
struct philox_lanes {
  using words = lane<std::uint32_t, philox_group>;
  words word[4];

  CALQUE_INLINE void make(std::uint64_t seed, std::uint64_t draw, std::uint64_t first) {
    std::uint32_t number[philox_group];
    for (std::uint32_t k = 0; k < philox_group; ++k)  // a group does not cross 2^32 blocks
      number[k] = static_cast<std::uint32_t>(first) + k;
    words a, b, c, d;
    lanes::load<std::uint32_t, philox_group>(a, number);
    lanes::splat<std::uint32_t, philox_group>(b, static_cast<std::uint32_t>(first >> 32));
    lanes::splat<std::uint32_t, philox_group>(c, static_cast<std::uint32_t>(draw));
    lanes::splat<std::uint32_t, philox_group>(d, static_cast<std::uint32_t>(draw >> 32));
    std::uint32_t k0 = static_cast<std::uint32_t>(seed),
                  k1 = static_cast<std::uint32_t>(seed >> 32);
    for (int round = 0; round < 10; ++round) {
      words a_high, a_low, c_high, c_low;
      multiply(a_high, a_low, a, philox_multiplier[0]);
      multiply(c_high, c_low, c, philox_multiplier[1]);
      a = c_high ^ b ^ k0;
      b = c_low;
      c = a_high ^ d ^ k1;
      d = a_low;
      k0 += philox_key_step[0];
      k1 += philox_key_step[1];
    }
    word[0] = a, word[1] = b, word[2] = c, word[3] = d;
  }

 private:
  CALQUE_INLINE static void multiply(words& high, words& low, const words& a, std::uint32_t by) {
    using wide = lane<std::uint64_t, philox_group>;
    const wide product = __builtin_convertvector(a, wide) * std::uint64_t{by};
    high = __builtin_convertvector(product >> 32, words);
    low = a * by;
  }
};

}  // namespace calque::detail
