// The CPU kernels of one graph, as a constexpr table: by cluster, and by node for what stands
// alone.
#pragma once

#include <array>

#include "calque/backend/cpu/accumulate.hpp"
#include "calque/backend/cpu/arg_reduce.hpp"
#include "calque/backend/cpu/gather.hpp"
#include "calque/backend/cpu/matmul.hpp"
#include "calque/backend/cpu/ordered_reduce.hpp"
#include "calque/backend/cpu/product.hpp"
#include "calque/backend/cpu/random.hpp"
#include "calque/backend/cpu/row_tables.hpp"
#include "calque/lower/lower.hpp"
#include "calque/ops/reduce.hpp"

namespace calque::detail {

template <class G, int C>
struct body_code {
  static constexpr code_list value = lower_body(G::view(), C);
};
template <class G, int C>
struct tail_code {
  static constexpr code_list value = lower_tail(G::view(), C);
};
template <class G, int N>
struct single_code {
  static constexpr code_list value = lower_single(G::view(), N);
};
/// A reduction that stands alone: its operand goes straight in, its result straight out.
template <class T>
using plain_body = program<load<0, T>, store<1, T, 0>>;

template <class P, class Op, class T, class Tail>
constexpr kernel_entry reduce_entry(P, Tail) {
  return {&launch_reduce<P, Op, T, Tail>, &reduce_scratch};
}
template <class P>
constexpr kernel_entry map_entry(P) {
  return {&launch_map<P>, &map_scratch, heavy_program<P>};
}
template <class T, class P>
constexpr kernel_entry product_entry(P) {
  return {&launch_product<T, P>, &product_scratch<T>};
}
template <class P>
constexpr kernel_entry single_entry(P) {
  return {&launch_single<P>, &map_scratch};
}

/// The functor that combines in a reduction of this node: sum_to sums.
template <class G, int N>
constexpr auto reduction_op() {
  constexpr node n = G::view().nodes[N];
  if constexpr (n.op->kind == op_kind::sum_to) return op::sum{};
  else return typename op_for<n.op->key>::type{};
}

template <class G, int C>
constexpr kernel_entry cluster_kernel() {
  constexpr cluster c = G::view().clusters[C];
  if constexpr (c.kind == cluster_kind::map) {
    return map_entry(lowered<body_code<G, C>>{});
  } else if constexpr (c.kind == cluster_kind::product) {
    return product_entry<type_of<G::view().nodes[c.root].type>>(lowered<body_code<G, C>>{});
  } else if constexpr (c.kind == cluster_kind::rows) {
    return {&row_cluster<G, C>::launch, &row_cluster<G, C>::scratch, true};
  } else {
    using Op = decltype(reduction_op<G, c.root>());
    using T = type_of<G::view().nodes[c.root].type>;
    using Body = lowered<body_code<G, C>>;
    constexpr op_kind kind = G::view().nodes[c.root].op->kind;
    if constexpr (kind == op_kind::along_axis) {
      return {&launch_accumulate_body<Op, T, Body>, &accumulate_scratch<true>};
    } else if constexpr (kind == op_kind::ordered_reduce) {
      using kernel = ordered_cluster<Op, T, Body, lowered<tail_code<G, C>>>;
      return {&kernel::launch, &kernel::scratch};
    } else {
      return reduce_entry<Body, Op, T>(Body{}, lowered<tail_code<G, C>>{});
    }
  }
}

/// Whether node N may run by itself: it stands outside clusters, or in one that rests on
/// assumptions. (What is elementwise and in no cluster is a number that plans compute.)
template <class G, int N>
constexpr bool stands_alone() {
  const graph_view g = G::view();
  if (!graph_view::computes(g.nodes[N].op->kind)) return false;
  const int c = g.cluster_number(N);
  if (g.clustered && c < 0 && g.nodes[N].op->kind == op_kind::map) return false;
  return c < 0 || g.clusters[c].assumptions > 0;
}

template <class G, int N>
constexpr kernel_entry node_kernel() {
  if constexpr (!stands_alone<G, N>()) {
    return {};
  } else {
    constexpr node n = G::view().nodes[N];
    if constexpr (n.op->kind == op_kind::map) {
      return single_entry(lowered<single_code<G, N>>{});
    } else if constexpr (n.op->kind == op_kind::iota || n.op->kind == op_kind::take) {
      return {};  // the planner has a kernel for every type
    } else {
      using T = type_of<G::view().input_node(N, 0).type>;
      if constexpr (n.op->kind == op_kind::matmul) {
        return {&launch_matmul<T>, &matmul_scratch<T>};
      } else if constexpr (n.op->kind == op_kind::along_axis) {
        return line_kernel<typename op_for<n.op->key>::type, T>::entry();
      } else if constexpr (n.op->kind == op_kind::random) {
        return {&launch_random<typename op_for<n.op->key>::type, type_of<n.type>>, &random_scratch};
      } else if constexpr (n.op->kind == op_kind::ordered_reduce) {
        return {&launch_ordered_reduce<typename op_for<n.op->key>::type, T>,
                &ordered_reduce_scratch};
      } else if constexpr (n.op->kind == op_kind::overlap_add) {
        return {&launch_add_to<T>, nullptr};
      } else if constexpr (n.op->kind == op_kind::scatter_add) {
        return {&launch_scatter_add<T>, nullptr};
      } else if constexpr (n.op->kind == op_kind::arg_reduce) {
        return {&launch_arg_reduce<typename op_for<n.op->key>::type::better, T>, nullptr};
      } else {
        using Op = decltype(reduction_op<G, N>());
        return reduce_entry<plain_body<T>, Op, T>(plain_body<T>{}, plain_body<T>{});
      }
    }
  }
}

/// Hidden, as its kernels are: another library must not find this one's.
template <class G>
struct CALQUE_HIDDEN cpu_table {
  template <int... C>
  static constexpr auto clusters(std::integer_sequence<int, C...>) {
    return std::array<kernel_entry, sizeof...(C) + 1>{cluster_kernel<G, C>()..., kernel_entry{}};
  }
  template <int... N>
  static constexpr auto nodes(std::integer_sequence<int, N...>) {
    return std::array<kernel_entry, sizeof...(N) + 1>{node_kernel<G, N>()..., kernel_entry{}};
  }
  static constexpr auto by_cluster =
      clusters(std::make_integer_sequence<int, G::view().cluster_count>{});
  static constexpr auto by_node = nodes(std::make_integer_sequence<int, G::view().node_count>{});

  static constexpr kernel_table table() { return {by_cluster.data(), by_node.data()}; }
};

}  // namespace calque::detail
