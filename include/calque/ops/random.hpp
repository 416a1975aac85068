// Random numbers: what draws are as operations. A node reads the generator's state, two words of 64
// bits, the seed and the number of the draw; tracing advances the state by an assignment.
#pragma once

#include "calque/core/philox.hpp"
#include "calque/graph/builder.hpp"
#include "calque/ops/arithmetic.hpp"

namespace calque {
namespace op {

/// Uniform in [0, 1), float or double.
struct random_uniform {
  static constexpr char name[] = "uniform";
  static constexpr op_kind kind = op_kind::random;
};
/// Of the standard normal distribution: G. E. P. Box and M. E. Muller's transform of two uniform
/// numbers, float or double.
struct random_normal {
  static constexpr char name[] = "normal";
  static constexpr op_kind kind = op_kind::random;
};

}  // namespace op

namespace detail {

/// Draws from variable `state` and advances it.
template <class Op>
constexpr int build_draw(builder& b, int state, dtype t, int rank, const std::int32_t* dims) {
  const int now = b.value_of(state);
  node n = builder::make<Op>(t, rank);
  for (int i = 0; i < rank; ++i) n.dims[i] = dims[i];
  const int id = b.append_with(n, now);
  const std::int32_t words[] = {b.at(now).dims[0]};
  b.assign(state, b.map_of<op::add>(dtype::uint64, now, b.iota(dtype::uint64, 1, words, 0)));
  return id;
}

}  // namespace detail
}  // namespace calque

CALQUE_REGISTER(calque::op::random_uniform);
CALQUE_REGISTER(calque::op::random_normal);
