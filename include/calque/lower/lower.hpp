// From a cluster's nodes to its program type.
#pragma once

#include "calque/core/dtype.hpp"
#include "calque/graph/cluster.hpp"
#include "calque/graph/leaves.hpp"
#include "calque/lower/program.hpp"

namespace calque::detail {

enum class code_kind : std::uint8_t { load, count, splat, row, map, store, fold };

/// One instruction as plain data.
struct code {
  code_kind kind = code_kind::load;
  dtype out = dtype::none, in = dtype::none;
  std::uint64_t key = 0;
  std::int32_t operand = -1;
  std::int32_t src[3]{-1, -1, -1};
  std::int32_t sources = 0;
};
/// A program as plain data: what the instruction types are made from.
struct code_list {
  static constexpr int capacity = 288;
  code at[capacity]{};
  int size = 0;
  dtype result = dtype::none;  // of a reduction's body: the type that is reduced
  constexpr int push(const code& c) {
    at[size] = c;
    return size++;
  }
};

/// Collects the instructions of some nodes; the operands' numbers are the order of `inputs`.
class lowering {
 public:
  constexpr explicit lowering(const graph_view& g) : g_(g) { registers_.resize(g.node_count, -1); }

  constexpr void operands(const list<std::int32_t>& inputs, int first) {
    for (int i = 0; i < inputs.size(); ++i) operand(inputs[i], first + i);
  }
  constexpr void operand(std::int32_t id, int number) {
    const node& n = g_.nodes[id];
    code c;
    c.kind = n.rank == 0               ? code_kind::splat
             : index_seen(g_, id) >= 0 ? code_kind::count
             : has_one_element(n)      ? code_kind::splat
                                       : code_kind::load;
    c.out = n.type;
    c.operand = number;
    registers_[id] = out.push(c);
  }
  constexpr void compute(std::int32_t id) {
    const node& n = g_.nodes[id];
    if (n.op->kind == op_kind::sum_to) {  // assumed to sum nothing
      registers_[id] = registers_[g_.input(id, 0)];
      return;
    }
    code c;
    c.kind = code_kind::map;
    c.out = n.type;
    c.key = n.op->key;
    c.sources = n.inputs;
    for (int k = 0; k < n.inputs; ++k) c.src[k] = registers_[g_.input(id, k)];
    c.in = g_.input_node(id, n.op->form == map_form::select ? 1 : 0).type;
    registers_[id] = out.push(c);
  }
  constexpr void store(std::int32_t id, int number) {
    code c;
    c.kind = code_kind::store;
    c.out = g_.nodes[id].type;
    c.operand = number;
    c.src[0] = registers_[id];
    out.push(c);
  }

  code_list out;

 private:
  /// Whatever the sizes, as what is reduced over all axes that are kept.
  [[nodiscard]] constexpr bool has_one_element(const node& n) const {
    bool one = true;
    for (int i = 0; i < n.rank && one; ++i) one = g_.is_literal(n.dims[i], 1);
    return one;
  }

  graph_view g_;
  list<std::int32_t> registers_;  // by node
};

/// The elementwise part of cluster `c`. A map's outputs are its last operands; so are a product's,
/// after the product itself; a reduction's body stores the value to reduce as operand number
/// (number of inputs).
[[nodiscard]] constexpr code_list lower_body(const graph_view& g, int number) {
  const cluster& c = g.clusters[number];
  const cluster_inputs in = inputs_of(g, c);
  lowering l(g);
  l.operands(in.body, 0);
  const int inputs = in.body.size();
  if (c.kind == cluster_kind::product) {
    l.operand(c.root, inputs);
    l.out.at[inputs].kind = code_kind::load;
  }
  for (int i = 0; i < c.nodes; ++i) {
    const int id = g.pool[c.first + i];
    if (c.kind == cluster_kind::map ||
        (c.kind == cluster_kind::product ? id != c.root : id < c.root))
      l.compute(id);
  }
  if (c.kind == cluster_kind::product) {
    for (int i = 0; i < c.outputs; ++i) l.store(g.pool[c.first_output + i], inputs + 1 + i);
  } else if (c.kind == cluster_kind::map) {
    for (int i = 0; i < c.outputs; ++i) l.store(g.pool[c.first_output + i], inputs + i);
  } else {
    l.store(g.input(c.root, 0), inputs);
    l.out.result = g.nodes[c.root].type;
  }
  return l.out;
}
/// The tail of reduction `c`: operand 0 is the reduced value, then the tail's inputs, then outputs.
[[nodiscard]] constexpr code_list lower_tail(const graph_view& g, int number) {
  const cluster& c = g.clusters[number];
  const cluster_inputs in = inputs_of(g, c);
  lowering l(g);
  l.operand(c.root, 0);
  l.out.at[0].kind = code_kind::load;  // one for each kept element, also at rank 0
  l.operands(in.tail, 1);
  for (int i = 0; i < c.nodes; ++i)
    if (g.pool[c.first + i] > c.root) l.compute(g.pool[c.first + i]);
  for (int i = 0; i < c.outputs; ++i) l.store(g.pool[c.first_output + i], 1 + in.tail.size() + i);
  return l.out;
}
/// A node that is a kernel by itself: its inputs, each use an operand of its own, then its output.
[[nodiscard]] constexpr code_list lower_single(const graph_view& g, int id) {
  code_list l;
  const node& n = g.nodes[id];
  const auto operand = [&](const node& m, int number) {
    code c;
    c.kind = code_kind::load;
    c.out = m.type;
    c.operand = number;
    return l.push(c);
  };
  code c;
  c.kind = code_kind::map;
  c.out = n.type;
  c.key = n.op->key;
  c.sources = n.inputs;
  for (int k = 0; k < n.inputs; ++k) c.src[k] = operand(g.input_node(id, k), k);
  c.in = g.input_node(id, n.op->form == map_form::select ? 1 : 0).type;
  code s;
  s.kind = code_kind::store;
  s.out = n.type;
  s.operand = n.inputs;
  s.src[0] = l.push(c);
  l.push(s);
  return l;
}

template <code C>
constexpr auto instruction() {
  using T = type_of<C.out>;
  if constexpr (C.kind == code_kind::load) return load<C.operand, T>{};
  else if constexpr (C.kind == code_kind::count) return count_index<C.operand, T>{};
  else if constexpr (C.kind == code_kind::splat) return splat<C.operand, T>{};
  else if constexpr (C.kind == code_kind::row) return per_row<C.operand, T>{};
  else if constexpr (C.kind == code_kind::store) return store<C.operand, T, C.src[0]>{};
  else if constexpr (C.kind == code_kind::fold)
    return row_fold<typename op_for<C.key>::type, T, C.src[0], C.operand>{};
  else if constexpr (C.sources == 1)
    return ins<typename op_for<C.key>::type, T, type_of<C.in>, C.src[0]>{};
  else if constexpr (C.sources == 2)
    return ins<typename op_for<C.key>::type, T, type_of<C.in>, C.src[0], C.src[1]>{};
  else return ins<typename op_for<C.key>::type, T, type_of<C.in>, C.src[0], C.src[1], C.src[2]>{};
}

/// The program type of a `code_list` that `Code::value` holds.
template <class Code, int... D>
constexpr auto program_of(std::integer_sequence<int, D...>) {
  return program<decltype(instruction<Code::value.at[D]>())...>{};
}
template <class Code>
using lowered = decltype(program_of<Code>(std::make_integer_sequence<int, Code::value.size>{}));

}  // namespace calque::detail
