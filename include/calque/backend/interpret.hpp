// Kernels that evaluate one node element by element through its description: slow and for any type.
//
// Graphs built at run time have no compiled programs; with these entries they run op by op through
// the same plans and executor as traced functions. An operation's kernel is found by its key.
#pragma once

#include <cstdint>
#include <limits>
#include <vector>

#include "calque/backend/backend.hpp"
#include "calque/core/counted.hpp"
#include "calque/ops/accumulate.hpp"
#include "calque/ops/cast.hpp"
#include "calque/ops/logic.hpp"
#include "calque/ops/math.hpp"
#include "calque/ops/matmul.hpp"
#include "calque/ops/reduce.hpp"
#include "calque/ops/select.hpp"
#include "calque/ops/take.hpp"
#include "calque/ops/windows.hpp"

namespace calque {
namespace detail::interpreting {

/// Element `at` of an operand, which may be counted, as plain data, and back.
inline constant load(dtype t, const void* from, std::int64_t at) {
  return visit_dtype<constant>(t, [&]<class T>(T) {
    if (is_counted(from)) return make_constant<T>(static_cast<T>(counted_at(from, sizeof(T)) + at));
    return make_constant<T>(static_cast<const T*>(from)[at]);
  });
}
inline void save(dtype t, void* to, std::int64_t at, const constant& c) {
  visit_dtype<int>(t, [&]<class T>(T) {
    static_cast<T*>(to)[at] = constant_as<T>(c);
    return 0;
  });
}

/// Counts through axes [first, last) and keeps every operand's element index.
class walk {
 public:
  walk(const geometry& g, int first, int last) : g_(g), first_(first), last_(last) {
    for (int i = first; i < last; ++i) done_ |= g.extents[i] == 0;
  }
  [[nodiscard]] bool done() const { return done_; }
  [[nodiscard]] std::int64_t offset(int operand) const {
    std::int64_t o = 0;
    for (int i = first_; i < last_; ++i) o += at_[i] * g_.operands[operand].strides[i];
    return o;
  }
  [[nodiscard]] std::int64_t index(int axis) const { return at_[axis]; }
  void next() {
    for (int i = last_ - 1; i >= first_; --i) {
      if (++at_[i] < g_.extents[i]) return;
      at_[i] = 0;
    }
    done_ = true;
  }

 private:
  geometry g_;
  int first_, last_;
  std::int64_t at_[max_rank]{};
  bool done_ = false;
};

template <const op_info* Op>
void map(const geometry& g, void* const* data, void*) {
  constexpr int typed = Op->form == map_form::select ? 1 : 0;
  const dtype in = g.operands[typed].type, out = g.operands[g.inputs].type;
  for (walk w(g, 0, g.rank); !w.done(); w.next()) {
    constant x[4];
    for (int k = 0; k < g.inputs; ++k) x[k] = load(g.operands[k].type, data[k], w.offset(k));
    save(out, data[g.inputs], w.offset(g.inputs), Op->evaluate(in, out, x));
  }
}

/// Floating values accumulate in double and are rounded once.
template <class Op>
void reduce(const geometry& g, void* const* data, void*) {
  const dtype in = g.operands[0].type, out = g.operands[1].type;
  const dtype wide = is_floating(out) ? dtype::float64 : out;
  const constant identity = visit_dtype<constant>(
      out, []<class T>(T) { return make_constant<T>(Op::template identity<T>()); });
  for (walk kept(g, 0, g.kept); !kept.done(); kept.next()) {
    constant sum = identity;
    for (walk w(g, g.kept, g.rank); !w.done(); w.next()) {
      const constant x[2] = {sum, load(in, data[0], kept.offset(0) + w.offset(0))};
      sum = op_info_of<typename Op::combine>.evaluate(wide, wide, x);
    }
    save(out, data[1], kept.offset(1), narrowed(out, sum));
  }
}

/// The first index of the best element; NaN is better than everything.
template <class Op>
void arg_reduce(const geometry& g, void* const* data, void*) {
  const dtype in = g.operands[0].type;
  for (walk kept(g, 0, g.kept); !kept.done(); kept.next()) {
    std::int64_t best = 0;
    constant value = load(in, data[0], kept.offset(0));
    const std::int64_t step = g.operands[0].strides[g.kept];
    for (std::int64_t i = 1; i < g.extents[g.kept]; ++i) {
      const constant x[2] = {load(in, data[0], kept.offset(0) + i * step), value};
      const bool was_nan = is_floating(in) && value.f != value.f;
      const bool is_nan = is_floating(in) && x[0].f != x[0].f;
      if (was_nan) break;
      if (!is_nan && op_info_of<typename Op::better>.evaluate(in, dtype::boolean, x).i == 0)
        continue;
      value = x[0];
      best = i;
    }
    save(g.operands[1].type, data[1], kept.offset(1), {static_cast<double>(best), best});
  }
}

/// Every element combined with what came before it on its line.
template <class Op>
void accumulate(const geometry& g, void* const* data, void*) {
  const dtype t = g.operands[1].type, wide = is_floating(t) ? dtype::float64 : t;
  for (walk kept(g, 0, g.kept); !kept.done(); kept.next()) {
    constant sum = op_info_of<Op>.evaluate(wide, wide, nullptr);
    bool first = true;
    for (walk w(g, g.kept, g.rank); !w.done(); w.next(), first = false) {
      const constant x[2] = {sum, load(t, data[0], kept.offset(0) + w.offset(0))};
      const std::int64_t at = kept.offset(1) + w.offset(1);
      if (g.start != 0) save(t, data[1], at, narrowed(t, sum));
      sum = first ? x[1] : op_info_of<Op>.evaluate(wide, wide, x);
      if (g.start == 0) save(t, data[1], at, narrowed(t, sum));
    }
  }
}

/// The elements of each kept one combined in order.
template <class Op>
void ordered_reduce(const geometry& g, void* const* data, void*) {
  const dtype t = g.operands[1].type;
  for (walk kept(g, 0, g.kept); !kept.done(); kept.next()) {
    constant sum = op_info_of<Op>.evaluate(t, t, nullptr);
    bool first = true;
    for (walk w(g, g.kept, g.rank); !w.done(); w.next(), first = false) {
      const constant x[2] = {sum, load(t, data[0], kept.offset(0) + w.offset(0))};
      sum = first ? x[1] : op_info_of<Op>.evaluate(t, t, x);
    }
    save(t, data[1], kept.offset(1), sum);
  }
}

inline void scatter_add(const geometry& g, void* const* data, void*) {
  const dtype t = g.operands[2].type;
  for (walk w(g, 0, g.rank); !w.done(); w.next()) {
    const std::int64_t to =
        w.offset(2) + load(g.operands[0].type, data[0], w.offset(0)).i * g.start;
    const constant x[2] = {load(t, data[2], to), load(t, data[1], w.offset(1))};
    save(t, data[2], to, op_info_of<op::add>.evaluate(t, t, x));
  }
}

inline void overlap_add(const geometry& g, void* const* data, void*) {
  const dtype t = g.operands[1].type;
  for (walk w(g, 0, g.rank); !w.done(); w.next()) {
    const constant x[2] = {load(t, data[1], w.offset(1)), load(t, data[0], w.offset(0))};
    save(t, data[1], w.offset(1), op_info_of<op::add>.evaluate(t, t, x));
  }
}

inline void matmul(const geometry& g, void* const* data, void*) {
  const dtype t = g.operands[2].type;
  const dtype wide = is_floating(t) ? dtype::float64 : t;
  std::int64_t sixth = 0;
  walk batch(g, 3, g.rank);
  const auto at = [&](int operand, std::int64_t i, std::int64_t k) {
    const std::int64_t* s = g.operands[operand].strides;
    return batch.offset(operand) + sixth * s[2] + i * s[0] + k * s[1];
  };
  const auto each = [&](std::int64_t i) {
    for (std::int64_t j = 0; j < g.extents[1]; ++j) {
      constant sum{};
      for (std::int64_t k = 0; k < g.extents[2]; ++k) {
        const constant f[2] = {load(t, data[0], at(0, i, k)), load(t, data[1], at(1, k, j))};
        const constant x[2] = {sum, op_info_of<op::mul>.evaluate(wide, wide, f)};
        sum = op_info_of<op::add>.evaluate(wide, wide, x);
      }
      save(t, data[2], at(2, i, j), narrowed(t, sum));
    }
  };
  for (; sixth < g.kept_size; ++sixth)
    for (batch = walk(g, 3, g.rank); !batch.done(); batch.next())
      for (std::int64_t i = 0; i < g.extents[0]; ++i) each(i);
}

}  // namespace detail::interpreting

/// The interpreting kernel of one operation.
template <class Op>
[[nodiscard]] constexpr kernel_entry interpreted_kernel() {
  namespace in = detail::interpreting;
  constexpr op_kind kind = op_info_of<Op>.kind;
  if constexpr (kind == op_kind::map) return {&in::map<&op_info_of<Op>>, nullptr};
  else if constexpr (kind == op_kind::reduce) return {&in::reduce<Op>, nullptr};
  else if constexpr (kind == op_kind::arg_reduce) return {&in::arg_reduce<Op>, nullptr};
  else if constexpr (kind == op_kind::ordered_reduce) return {&in::ordered_reduce<Op>, nullptr};
  else if constexpr (kind == op_kind::along_axis) return {&in::accumulate<Op>, nullptr};
  else if constexpr (kind == op_kind::matmul) return {&in::matmul, nullptr};
  else if constexpr (kind == op_kind::overlap_add) return {&in::overlap_add, nullptr};
  else if constexpr (kind == op_kind::scatter_add) return {&in::scatter_add, nullptr};
  else if constexpr (kind == op_kind::sum_to) return {&in::reduce<op::sum>, nullptr};
  else return {};  // the plan says that no kernel computes it
}

/// The kernels of a graph built at run time, of the library's operations and those named.
template <class... More>
class interpreted_kernels {
 public:
  explicit interpreted_kernels(const graph_view& g) {
    using namespace op;
    for (int id = 0; id < g.node_count; ++id)
      entries_.push_back(
          find<neg, add, sub, mul, div, maximum, minimum, op::less, op::less_equal, op::greater,
               op::greater_equal, equal, op::not_equal, where, op::abs, cast, op::exp, op::log,
               op::sqrt, op::tanh, op::sum, reduce_max, reduce_min, argmax, argmin, sum_to, prod,
               op::all, op::any, cumsum, cumprod, op::matmul, op::scatter_add, op::overlap_add,
               op::pool_max, op::erf, op::sin, op::cos, op::tan, op::expm1, op::log1p, sigmoid,
               rsqrt, op::floor, op::ceil, op::round, op::pow, op::atan2, op::fmod, bitwise_and,
               bitwise_or, bitwise_xor, bitwise_not, shift_left, shift_right, op::remainder, sign,
               op::isnan, op::isinf, op::isfinite, More...>(g.nodes[id].op->key));
  }
  [[nodiscard]] kernel_table table() const { return {nullptr, entries_.data()}; }

 private:
  template <class... Ops>
  static kernel_entry find(std::uint64_t key) {
    kernel_entry found;
    (void)((op_info_of<Ops>.key == key ? (found = interpreted_kernel<Ops>(), true) : false) || ...);
    return found;
  }

  std::vector<kernel_entry> entries_;
};
interpreted_kernels(const graph_view&) -> interpreted_kernels<>;

}  // namespace calque
